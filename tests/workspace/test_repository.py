"""Looking at a repository: where it is, what names mean, what is in its commits."""

from pathlib import Path

import pytest

from burnish.testing import repositories
from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.errors import NotARepositoryError, SubjectError, UnknownReferenceError
from burnish.workspace.repository import Repository, run_name
from burnish.workspace.subjects import freeze


def test_a_repository_is_found_from_below(repository: Repository) -> None:
    below = repository.root / "some" / "folder"
    below.mkdir(parents=True)
    found = Repository.discover(below)
    assert (found.root, found.common_dir) == (repository.root, repository.root / ".git")
    assert found.state_dir == repository.root / ".git" / "burnish"
    assert found.object_format == "sha1"


def test_a_linked_work_tree_shares_the_common_directory(tmp_path: Path) -> None:
    linked = repositories.linked_worktree(tmp_path)
    repository = Repository.discover(linked.path)
    assert repository.root == linked.path
    assert repository.common_dir == tmp_path / "main" / ".git"
    assert repository.current_branch() == "change"
    assert repository.checked_out_at("change") == linked.path
    assert repository.checked_out_at("main") == tmp_path / "main"
    assert repository.checked_out_at("nothing") is None


def test_a_bare_repository_can_be_looked_at(tmp_path: Path, branch_with_two_defects: RepositoryBuilder) -> None:
    branch_with_two_defects.git.run("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    repository = Repository.discover(tmp_path / "bare.git")
    assert freeze(repository, "change", "main").head == branch_with_two_defects.head


def test_no_repository_is_an_error_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(NotARepositoryError) as caught:
        Repository.discover(tmp_path)
    assert "git init" in caught.value.hint


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotARepositoryError):
        Repository.discover(tmp_path / "missing")


def test_the_repositorys_own_directory_is_no_place_to_work(repository: Repository) -> None:
    with pytest.raises(NotARepositoryError):
        Repository.discover(repository.root / ".git")


def test_an_unknown_name_is_answered_with_the_closest(repository: Repository) -> None:
    with pytest.raises(UnknownReferenceError) as caught:
        repository.commit_of("chnage")
    assert caught.value.hint == "Did you mean 'change'?"


@pytest.mark.parametrize("name", ["", "--all", "-x", "a\nb", "HEAD:calc.py"])
def test_what_is_no_name_of_a_commit_is_refused(repository: Repository, name: str) -> None:
    with pytest.raises(UnknownReferenceError):
        repository.commit_of(name)


def test_a_branch_comes_before_a_tag_of_the_same_name(branch_with_two_defects: RepositoryBuilder) -> None:
    branch_with_two_defects.git.run("tag", "change", "main")
    repository = Repository.discover(branch_with_two_defects.path)
    assert repository.commit_of("change") == branch_with_two_defects.head


def test_files_are_read_through_links_that_stay_inside(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path).write({"docs/RULES.md": "rules"})
    builder.link("AGENTS.md", "docs/RULES.md").link("out", "/etc/passwd").link("up", "../x").link(
        "loop", "loop"
    ).commit()
    repository = Repository.discover(tmp_path)
    assert repository.read_file("HEAD", "AGENTS.md") == b"rules"
    assert repository.read_file("HEAD", "./docs//RULES.md") == b"rules"
    for name in ("out", "up", "loop", "docs", "missing", "/etc/passwd", "../x", ".", ""):
        assert repository.read_file("HEAD", name) is None


def test_a_name_that_moved_is_read_where_it_is_now(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path).commit({"a.py": "old", "docs/b.md": "old"})
    repository, former = Repository.discover(tmp_path), builder.head
    for commit in ("main", former):
        assert repository.read_file(commit, "a.py") == repository.read_file(commit, "docs/b.md") == b"old"
    builder.commit({"a.py": "new", "docs/b.md": "new", "c.py": "new"})
    for name in ("a.py", "docs/b.md", "c.py"):
        assert repository.read_file("main", name) == b"new"
        assert repository.read_file(former, name) == (None if name == "c.py" else b"old")


def test_names_keep_their_bytes(tmp_path: Path) -> None:
    repository = Repository.discover(repositories.names_not_utf8(tmp_path).path)
    names = repository.files("HEAD")
    assert "caf\udce9.txt" in names
    assert "new\nline.txt" in names
    assert all(repository.read_file("HEAD", name) == b"one\ntwo\nthree\n" for name in names)


def test_the_files_of_a_commit_are_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = RepositoryBuilder(tmp_path).commit({"a.py": "a"})
    first = builder.head
    repository, second = Repository.discover(tmp_path), builder.commit({"b.py": "b"}).head
    asked: list[str] = []
    listed = Repository._names_in  # pyright: ignore[reportPrivateUsage] - what it saves is a call of git

    def names_in(self: Repository, commit: str) -> frozenset[str]:
        asked.append(commit)
        return listed(self, commit)

    monkeypatch.setattr(Repository, "_names_in", names_in)
    for _ in range(3):
        assert (repository.files(first), repository.files(second)) == ({"a.py"}, {"a.py", "b.py"})
    assert asked == [first, second]
    assert repository.files("HEAD") == repository.files("HEAD") == {"a.py", "b.py"}
    assert asked[2:] == ["HEAD", "HEAD"]  # it may stand for another commit by now


def test_clean_is_told_from_not_clean(branch_with_two_defects: RepositoryBuilder, repository: Repository) -> None:
    assert repository.is_clean()
    branch_with_two_defects.write({"docs/notes.md": "x"})
    assert not repository.is_clean()
    assert repository.is_clean(untracked=False)
    assert repository.is_clean(ignoring=["docs/**"])
    branch_with_two_defects.write({"calc.py": "x"})
    assert not repository.is_clean(ignoring=["docs/**"])
    assert not repository.is_clean(untracked=False)


def test_the_base_is_what_the_remote_calls_head(tmp_path: Path) -> None:
    origin = RepositoryBuilder(tmp_path / "origin", branch="trunk").commit({"a": "1"})
    clone = origin.clone(tmp_path / "clone").branch("change").commit({"a": "2"})
    clone.git.run("branch", "main")
    assert Repository.discover(clone.path).default_base("change") == "origin/trunk"


def test_the_base_is_never_the_branch_itself(tmp_path: Path) -> None:
    origin = RepositoryBuilder(tmp_path / "origin").commit({"a": "1"}).branch("change")
    clone = origin.clone(tmp_path / "clone")
    clone.git.run("branch", "main", "HEAD")
    assert Repository.discover(clone.path).default_base("change") == "main"


def test_on_main_its_copy_on_the_remote_is_the_base(tmp_path: Path) -> None:
    clone = RepositoryBuilder(tmp_path / "origin").commit({"a": "1"}).clone(tmp_path / "clone").commit({"a": "2"})
    repository = Repository.discover(clone.path)
    assert repository.default_base("main") == "origin/main"
    assert not freeze(repository, None, None).empty


@pytest.mark.parametrize("name", ["main", "master"])
def test_without_a_remote_main_or_master_is_the_base(tmp_path: Path, name: str) -> None:
    builder = RepositoryBuilder(tmp_path, branch=name).commit({"a": "1"}).branch("change")
    assert Repository.discover(builder.path).default_base("change") == name


def test_without_any_base_the_hint_says_how_to_name_one(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path, branch="only").commit({"a": "1"})
    with pytest.raises(SubjectError) as caught:
        Repository.discover(builder.path).default_base("only")
    assert "--base" in caught.value.hint


def test_what_a_run_needs_is_kept_and_let_go(repository: Repository) -> None:
    repository.keep("r1", "change")
    assert repository.commit_of("refs/burnish/kept/r1") == repository.commit_of("change")
    repository.let_go("r1")
    with pytest.raises(UnknownReferenceError):
        repository.commit_of("refs/burnish/kept/r1")


@pytest.mark.parametrize("name", ["", "../x", "a/b", "a b", "-x", "a\n", "seals", "kept"])
def test_a_runs_name_becomes_part_of_a_ref_only_where_it_fits(name: str) -> None:
    with pytest.raises(NotARepositoryError):
        run_name(name)


def test_an_upstream_of_another_name_is_the_base_unless_settings_do_not_count(tmp_path: Path) -> None:
    origin = RepositoryBuilder(tmp_path / "origin").commit({"a": "1"})
    origin.git.run("branch", "develop")
    clone = origin.clone(tmp_path / "clone").branch("change").commit({"a": "2"})
    clone.git.run("branch", "--set-upstream-to=origin/develop", "change")
    repository = Repository.discover(clone.path)
    assert repository.default_base("change") == "origin/develop"
    assert repository.default_base("change", by_settings=False) == "origin/main"
    clone.git.run("branch", "--set-upstream-to=main", "change")
    assert repository.default_base("change") == "main"
    clone.git.run("push", "--quiet", "--set-upstream", "origin", "change")
    assert repository.default_base("change") == "origin/main"


def test_the_default_branch_of_the_settings_is_a_base_unless_settings_do_not_count(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path, branch="trunk").commit({"a": "1"}).branch("change")
    builder.git.run("config", "init.defaultBranch", "trunk")
    repository = Repository.discover(builder.path)
    assert repository.default_base("change") == "trunk"
    with pytest.raises(SubjectError):
        repository.default_base("change", by_settings=False)
