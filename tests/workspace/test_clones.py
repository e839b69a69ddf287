"""Disposable clones: the exact tree, nothing of the user's but that, and nothing left of them at the end."""

import os
import resource
import stat
from pathlib import Path

import pytest
from tests.workspace.conftest import UsersView

from burnish.testing import repositories
from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.clones import Clone, Clones
from burnish.workspace.errors import CloneError, GitError, MissingObjectsError
from burnish.workspace.git import Git
from burnish.workspace.objects import ensure_objects, object_folders
from burnish.workspace.repository import Repository


def clone_of(path: Path, folder: Path, base: str = "main", head: str = "HEAD", *, writable: bool = True) -> Clone:
    repository = Repository.discover(path)
    clones = Clones(repository, folder)
    return clones.make("one", repository.commit_of(base), repository.commit_of(head), writable=writable)


def test_a_clone_holds_the_tree_two_refs_and_nothing_else(
    branch_with_two_defects: RepositoryBuilder, tmp_path: Path, users_view: UsersView
) -> None:
    builder = branch_with_two_defects
    builder.git.run("tag", "release")
    builder.git.run("remote", "add", "origin", "https://example.com/x")
    builder.git.run("config", "core.fsmonitor", "false")
    builder.write({"calc.py": "not committed\n", "untracked.py": "x"})
    before = users_view(builder.path)

    clone = clone_of(builder.path, tmp_path / "clones")

    git = Git(clone.path, isolated=True)
    refs = git.text("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    assert refs == [f"refs/heads/base {clone.base}", f"refs/heads/head {clone.head}"]
    assert git.text("symbolic-ref", "HEAD") == "refs/heads/head"
    assert git.text("status", "--porcelain", "--ignored") == ""
    assert git.text("remote") == ""
    assert git.text("config", "--get", "gc.auto") == "0"
    assert not list((clone.path / ".git" / "hooks").iterdir())
    assert (clone.path / ".git").is_dir()
    assert "len(values)" in (clone.path / "calc.py").read_text()
    assert git.text("diff", "--name-only", "base...head").splitlines() == ["calc.py", "store.py"]
    assert stat.S_IMODE((tmp_path / "clones").stat().st_mode) == 0o700
    assert users_view(builder.path) == before


def test_objects_are_shared_and_not_copied(fixers_clone: Clone, repository: Repository) -> None:
    assert fixers_clone.shared == (repository.common_dir / "objects",)
    assert not [path for path in (fixers_clone.path / ".git" / "objects").rglob("*") if len(path.name) == 38]


def test_objects_are_shared_through_the_users_own_sharing(
    branch_with_two_defects: RepositoryBuilder, tmp_path: Path
) -> None:
    builder = branch_with_two_defects
    odd = tmp_path / 'odd "name\nhere'
    builder.git.run("clone", "--quiet", "--shared", str(builder.path), str(odd))
    clone = clone_of(odd, tmp_path / "clones", "origin/main", "origin/change")
    assert clone.shared == (odd / ".git" / "objects", builder.path / ".git" / "objects")
    assert Git(clone.path, isolated=True).text("log", "--format=%s") == "Simplify the mean, load files\nAdd the mean"


def test_relative_and_quoted_sharing_is_followed(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path / "a").commit({"a": "1"})
    info = builder.path / ".git" / "objects" / "info"
    for name in ("b", "c d"):
        (tmp_path / name).mkdir()
    (info / "alternates").write_text('../../../b\n# a comment\n"' + str(tmp_path / "c\\040d") + '"\n/missing\n')
    found = object_folders(Repository.discover(builder.path))
    assert found == (builder.path / ".git" / "objects", tmp_path / "b", tmp_path / "c d")


def test_an_agent_can_commit_in_its_clone_without_a_user(fixers_clone: Clone) -> None:
    (fixers_clone.path / "new.py").write_text("x")
    git = Git(fixers_clone.path, isolated=True)
    git.run("add", "new.py")
    git.run("commit", "--quiet", "-m", "Add")
    assert git.text("log", "-1", "--format=%an") == "burnish agent"


def test_long_names_of_objects(tmp_path: Path) -> None:
    clone = clone_of(repositories.sha256(tmp_path / "r").path, tmp_path / "clones")
    assert (clone.path / "a.py").read_text() == "x = 2\n"
    assert len(Git(clone.path).text("rev-parse", "HEAD")) == 64


def test_a_shallow_clone_of_the_users_can_be_cloned(tmp_path: Path) -> None:
    builder = repositories.shallow(tmp_path)
    clone = clone_of(builder.path, tmp_path / "clones", "origin/main")
    assert Git(clone.path).text("log", "--format=%s") == "Simplify the mean, load files"


def test_what_a_partial_clone_lacks_is_fetched_before_agents_start(tmp_path: Path, users_view: UsersView) -> None:
    builder = repositories.partial(tmp_path)
    before = users_view(builder.path)
    clone = clone_of(builder.path, tmp_path / "clones", "origin/main")
    assert "or 1" in Git(clone.path, isolated=True).text("show", "base:calc.py")
    assert users_view(builder.path) == before


def test_what_a_partial_clone_cannot_get_is_said(tmp_path: Path) -> None:
    builder = repositories.partial(tmp_path)
    (tmp_path / "origin").rename(tmp_path / "gone")
    with pytest.raises(MissingObjectsError, match="lacks 1 object of the change") as caught:
        clone_of(builder.path, tmp_path / "clones", "origin/main")
    assert "git fetch" in caught.value.hint
    assert list((tmp_path / "clones").glob("*")) == []


def test_a_full_clone_is_not_searched_for_missing_objects(repository: Repository) -> None:
    ensure_objects(repository, "main", "change")


def test_a_linked_work_tree_can_be_cloned(tmp_path: Path) -> None:
    clone = clone_of(repositories.linked_worktree(tmp_path).path, tmp_path / "clones")
    assert (clone.path / ".git").is_dir()
    assert (clone.path / "store.py").is_file()


def test_submodules_are_left_empty_and_named(tmp_path: Path) -> None:
    clone = clone_of(repositories.submodule(tmp_path).path, tmp_path / "clones")
    assert clone.submodules == ("lib",)
    assert list((clone.path / "lib").iterdir()) == []
    assert Git(clone.path).text("status", "--porcelain") == ""


def test_odd_names_links_modes_and_pointers_are_as_in_the_commit(tmp_path: Path) -> None:
    builder = repositories.names_not_utf8(tmp_path / "r").link("link", "größe.txt").link("out", "/nowhere")
    builder.write({".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "a.bin": "a pointer"})
    builder.executable("tool.sh", "#!/bin/sh\n").commit()
    clone = clone_of(builder.path, tmp_path / "clones")
    assert (clone.path / os.fsdecode(b"caf\xe9.txt")).read_text() == "one\ntwo\nthree\n"
    assert (clone.path / "new\nline.txt").is_file()
    assert str((clone.path / "out").readlink()) == "/nowhere"
    assert (clone.path / "a.bin").read_text() == "a pointer"
    assert os.access(clone.path / "tool.sh", os.X_OK)


def test_a_reviewers_clone_is_not_writable(branch_with_two_defects: RepositoryBuilder, tmp_path: Path) -> None:
    clone = clone_of(branch_with_two_defects.path, tmp_path / "clones", writable=False)
    writable = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
    assert not any(path.lstat().st_mode & writable for path in [clone.path, *clone.path.rglob("*")])
    assert Git(clone.path).text("status", "--porcelain") == ""
    Clones(Repository.discover(branch_with_two_defects.path), tmp_path / "clones").remove(clone)
    assert not clone.path.exists()


def test_making_a_clone_again_starts_afresh(clones: Clones, fixers_clone: Clone) -> None:
    (fixers_clone.path / "left.py").write_text("by a killed run")
    again = clones.make("fixer", fixers_clone.base, fixers_clone.head, writable=True)
    assert again == fixers_clone
    assert not (again.path / "left.py").exists()


@pytest.mark.parametrize("name", ["", "..", "a/b", ".trusted", "-x", "a\n"])
def test_a_name_that_would_lead_elsewhere_is_refused(clones: Clones, name: str) -> None:
    with pytest.raises(CloneError):
        clones.make(name, "main", "change", writable=True)


def test_nothing_is_left_where_a_clone_cannot_be_made(clones: Clones, repository: Repository, tmp_path: Path) -> None:
    with pytest.raises(GitError):
        clones.make("one", repository.commit_of("main"), "1" * 40, writable=True)
    assert list((tmp_path / "cache" / "run").iterdir()) == [tmp_path / "cache" / "run" / ".trusted"]
    assert list((tmp_path / "cache" / "run" / ".trusted").iterdir()) == []


def test_a_disk_that_takes_no_more_leaves_nothing_behind(tmp_path: Path, users_view: UsersView) -> None:
    builder = RepositoryBuilder(tmp_path / "r").commit({"a": "1"}).branch("change").commit({"big": "x" * 1_000_000})
    before = users_view(builder.path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(GitError):
            clone_of(builder.path, tmp_path / "clones")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not (tmp_path / "clones" / "one").exists()
    assert users_view(builder.path) == before


def test_a_copy_has_everything_and_can_be_written(clones: Clones, repository: Repository) -> None:
    clone = clones.make("reader", repository.commit_of("main"), repository.commit_of("change"), writable=False)
    copy = clones.copy(clone, "scratch")
    (copy.path / "calc.py").write_text("changed")
    (copy.path / "new").mkdir()
    Git(copy.path).run("-c", "user.name=x", "commit", "--quiet", "-a", "-m", "x")
    assert "changed" not in (clone.path / "calc.py").read_text()
    assert copy.path != clone.path
    assert (clones.fingerprint(clone).entries.keys()) <= (clones.fingerprint(copy).entries.keys())


def test_a_copy_keeps_links_and_leaves_pipes_out(clones: Clones, fixers_clone: Clone) -> None:
    os.mkfifo(fixers_clone.path / "pipe")
    (fixers_clone.path / "link").symlink_to("/nowhere")
    copy = clones.copy(fixers_clone, "scratch")
    assert not (copy.path / "pipe").exists()
    assert str((copy.path / "link").readlink()) == "/nowhere"


def test_ignored_files_can_be_brought_along(tmp_path: Path) -> None:
    builder = repositories.branch_with_two_defects(tmp_path / "r").ignore(".env", "modules/", "*.log")
    builder.write({".env": "SECRET=1", "modules/a/b.js": "x", "modules/c.js": "y", "x.log": "no", "sub/.env": "2"})
    builder.write({"untracked.py": "not ignored"})
    repository = Repository.discover(builder.path)
    clones = Clones(repository, tmp_path / "clones")
    clone = clones.make("one", repository.commit_of("main"), repository.commit_of("change"), writable=True)

    assert sorted(clones.seed(clone, ["**/.env", "modules/"])) == [".env", "modules/a/b.js", "modules/c.js", "sub/.env"]
    assert (clone.path / ".env").read_text() == "SECRET=1"
    assert not (clone.path / "x.log").exists()
    assert not (clone.path / "untracked.py").exists()
    assert clones.seed(clone, []) == ()
    assert clones.seed(clone, ["calc.py"]) == ()


def test_nothing_is_brought_along_through_a_link(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path / "r").commit({"a": "1"}).ignore("secret").branch("change")
    builder.write({"folder/secret": "x"})
    builder.git.run("checkout", "--quiet", "-b", "linked")
    outside = tmp_path / "outside"
    outside.mkdir()
    blob = builder.git.text("hash-object", "-w", "--stdin", stdin=str(outside).encode())
    builder.git.run("update-index", "--add", "--cacheinfo", f"120000,{blob},folder")
    builder.git.run("commit", "--quiet", "-m", "A link in place of the folder")
    repository = Repository.discover(builder.path)
    clones = Clones(repository, tmp_path / "clones")
    clone = clones.make("one", repository.commit_of("main"), repository.commit_of("linked"), writable=True)
    assert clones.seed(clone, ["folder/secret"]) == ()
    assert list(outside.iterdir()) == []


def test_the_users_own_ignores_hold_in_a_clone(branch_with_two_defects: RepositoryBuilder, tmp_path: Path) -> None:
    builder = branch_with_two_defects
    everywhere = tmp_path / "ignore"
    everywhere.write_text("*.swp")
    builder.git.run("config", "core.excludesFile", str(everywhere))
    (builder.path / ".git" / "info").mkdir(exist_ok=True)
    (builder.path / ".git" / "info" / "exclude").write_text("notes/\n")
    clone = clone_of(builder.path, tmp_path / "clones")
    for name in ("a.swp", "notes/x", "real.py"):
        (clone.path / name).parent.mkdir(exist_ok=True)
        (clone.path / name).write_text("x")
    assert Git(clone.path, isolated=True).text("status", "--porcelain") == "?? real.py"


def test_everything_goes_away_whatever_was_done_to_it(clones: Clones, fixers_clone: Clone, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    locked = fixers_clone.path / "locked"
    locked.mkdir()
    (locked / "file").write_text("x")
    (locked / "file").chmod(0)
    locked.chmod(0)
    (fixers_clone.path / "out").symlink_to(outside)
    (fixers_clone.path / os.fsdecode(b"\xff\n")).write_text("x")
    os.mkfifo(fixers_clone.path / "pipe")
    clones.remove(fixers_clone)
    assert not fixers_clone.path.exists()
    assert not fixers_clone.trusted.exists()
    clones.remove(fixers_clone)
    clones.remove_all()
    assert not (tmp_path / "cache" / "run").exists()
    assert (outside / "kept").exists()


@pytest.mark.prove
def test_folders_nested_without_end_go_away(clones: Clones, fixers_clone: Clone) -> None:
    here = os.open(fixers_clone.path, os.O_RDONLY)
    for _ in range(3_000):
        os.mkdir("nested", dir_fd=here)
        further = os.open("nested", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = further
    os.close(here)
    clones.remove(fixers_clone)
    assert not fixers_clone.path.exists()


def test_a_clone_that_was_replaced_by_a_link_goes_away_alone(
    clones: Clones, fixers_clone: Clone, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    fixers_clone.path.rename(outside)
    fixers_clone.path.symlink_to(outside)
    clones.remove(fixers_clone)
    assert not fixers_clone.path.is_symlink()
    assert (outside / "calc.py").exists()
