"""Fixers that try to get out: through settings, links, names and traps. Nothing of it runs, nothing is taken."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.workspace.conftest import UsersView

from burnish.system.process import Command, run_now
from burnish.testing import repositories
from burnish.workspace import results
from burnish.workspace.clones import Clone, Clones
from burnish.workspace.errors import UnsafeResultError
from burnish.workspace.git import Git
from burnish.workspace.repository import Repository
from burnish.workspace.results import collect, hook_commands
from burnish.workspace.subjects import freeze

Deed = Callable[[Path, Path], object]


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A program that leaves a mark when it is run."""
    program = tmp_path / "trap.sh"
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/sprung'\ncat\n")
    program.chmod(0o755)
    return program


def settings_that_run_programs(path: Path, trap: Path) -> None:
    git = Git(path)
    for name in (
        "core.fsmonitor", "core.sshCommand", "diff.external", "diff.x.textconv", "diff.x.command", "core.pager",
        "filter.x.clean", "filter.x.smudge", "filter.x.process", "gpg.program", "core.editor",
    ):  # fmt: skip
        git.run("config", name, str(trap))
    git.run("config", "core.hooksPath", str(trap.parent))
    git.run("config", "core.worktree", "/")
    (path / ".gitattributes").write_text("* filter=x diff=x\n")
    for name in ("post-index-change", "reference-transaction", "pre-commit"):
        shutil.copy(trap, path / ".git" / "hooks" / name)


def test_settings_of_the_clone_run_nothing(
    repository: Repository, fixers_clone: Clone, clones: Clones, trap: Path
) -> None:
    before = clones.fingerprint(fixers_clone)
    settings_that_run_programs(fixers_clone.path, trap)
    (fixers_clone.path / "calc.py").write_text("x")

    clones.fingerprint(fixers_clone, before)
    result = collect(repository, fixers_clone, run="r", parent=fixers_clone.head, round=1, summary="", at=1e9)
    clones.copy(fixers_clone, "scratch")
    clones.remove(fixers_clone)

    assert repository.read_file(result.change.commit, "calc.py") == b"x"
    assert not (trap.parent / "sprung").exists()


def test_a_repository_in_place_of_a_submodule_runs_nothing(tmp_path: Path, trap: Path) -> None:
    repository = Repository.discover(repositories.submodule(tmp_path).path)
    subject = freeze(repository, None, "main")
    clone = Clones(repository, tmp_path / "c").make("f", subject.base_commit, subject.head, writable=True)
    inner = Git(clone.path / "lib", isolated=True)
    inner.run("init", "--quiet")
    inner.run("fetch", "--quiet", str(tmp_path / "library"), "main")
    inner.run("checkout", "--quiet", repository.git.text("rev-parse", f"{subject.head}:lib"))
    inner.run("config", "filter.x.clean", str(trap))
    (clone.path / "lib" / ".gitattributes").write_text("* filter=x\n")
    (clone.path / "lib" / "lib.py").write_text("x = 3\n")
    (clone.path / "a.py").write_text("fixed")

    result = collect(repository, clone, run="r", parent=clone.head, round=1, summary="", at=1e9)

    assert not (trap.parent / "sprung").exists()
    run_now(Command(argv=("git", "add", "--all"), folder=str(clone.path), environment=dict(os.environ)), seconds=60)
    assert (trap.parent / "sprung").exists(), "the trap should work, or this test shows nothing"
    entry = repository.git.text("ls-tree", result.change.commit, "lib")
    assert entry == repository.git.text("ls-tree", clone.head, "lib")
    assert repository.read_file(result.change.commit, "a.py") == b"fixed"


def test_a_repository_in_the_clone_is_left_out_and_named(repository: Repository, fixers_clone: Clone) -> None:
    inner = fixers_clone.path / "inner"
    inner.mkdir()
    Git(inner, isolated=True).run("init", "--quiet")
    (inner / "file").write_text("x")
    (fixers_clone.path / "calc.py").write_text("fixed")
    result = collect(repository, fixers_clone, run="r", parent=fixers_clone.head, round=1, summary="", at=1e9)
    assert result.left_out == ("inner/",)
    assert repository.files(result.change.commit) == {"calc.py", "store.py"}


def rewrites_history(path: Path) -> None:
    git = Git(path, isolated=True)
    git.run("checkout", "--quiet", "--orphan", "fresh")
    git.run("add", "--all")
    git.run("commit", "--quiet", "-m", "All new")
    git.run("branch", "--quiet", "-f", "head", "fresh")
    git.run("branch", "--quiet", "-f", "base", "fresh")


def removes_git(path: Path) -> None:
    shutil.rmtree(path / ".git")


def replaces_git_by_a_link(path: Path) -> None:
    shutil.rmtree(path / ".git")
    (path / ".git").symlink_to("/etc")


def fills_git_with_nonsense(path: Path) -> None:
    for name in ("HEAD", "index", "config", "packed-refs"):
        (path / ".git" / name).write_bytes(b"\0\xff nonsense\n" * 100)


def points_head_elsewhere(path: Path) -> None:
    (path / ".git" / "HEAD").write_text("ref: refs/../../../../etc/passwd\n")


def points_head_at_nothing(path: Path) -> None:
    (path / ".git" / "HEAD").write_text("1" * 40 + "\n")


@pytest.mark.parametrize(
    "deed",
    [
        rewrites_history,
        removes_git,
        replaces_git_by_a_link,
        fills_git_with_nonsense,
        points_head_elsewhere,
        points_head_at_nothing,
    ],
)
def test_what_happens_to_the_clones_git_does_not_matter(
    repository: Repository, fixers_clone: Clone, users_view: UsersView, deed: Callable[[Path], None]
) -> None:
    before = users_view(repository.root)
    (fixers_clone.path / "calc.py").write_text("fixed")
    deed(fixers_clone.path)
    result = collect(repository, fixers_clone, run="r", parent=fixers_clone.head, round=1, summary="", at=1e9)
    assert repository.git.text("rev-parse", f"{result.change.commit}^@") == fixers_clone.head
    assert repository.read_file(result.change.commit, "calc.py") == b"fixed"
    assert users_view(repository.root) == before


def links_out(path: Path) -> None:
    (path / "out").symlink_to("/etc/passwd")


def links_up(path: Path) -> None:
    (path / "folder").mkdir()
    (path / "folder" / "up").symlink_to("../../outside")


def links_into_git(path: Path) -> None:
    (path / "config").symlink_to(".git/config")


def replaces_a_file_by_a_pipe(path: Path) -> None:
    (path / "calc.py").unlink()
    os.mkfifo(path / "calc.py")


@pytest.mark.parametrize("deed", [links_out, links_up, links_into_git, replaces_a_file_by_a_pipe])
def test_what_would_reach_outside_is_refused(
    repository: Repository, fixers_clone: Clone, users_view: UsersView, deed: Callable[[Path], None]
) -> None:
    before = users_view(repository.root)
    (fixers_clone.path / "store.py").write_text("fixed")
    deed(fixers_clone.path)
    with pytest.raises(UnsafeResultError) as caught:
        collect(repository, fixers_clone, run="r", parent=fixers_clone.head, round=1, summary="", at=1e9)
    assert caught.value.hint
    assert repository.git.text("for-each-ref", "refs/burnish") == ""
    assert users_view(repository.root) == before


def test_a_folder_behind_a_link_is_not_read(repository: Repository, fixers_clone: Clone, tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "key").write_text("secret")
    (fixers_clone.path / "inside").mkdir()
    (fixers_clone.path / "inside" / "key").write_text("x")
    Git(fixers_clone.path).run("add", "--all")
    shutil.rmtree(fixers_clone.path / "inside")
    (fixers_clone.path / "inside").symlink_to(tmp_path / "secrets")
    with pytest.raises(UnsafeResultError, match="points out"):
        collect(repository, fixers_clone, run="r", parent=fixers_clone.head, round=1, summary="", at=1e9)


def test_names_that_other_systems_read_as_git_are_refused(repository: Repository, fixers_clone: Clone) -> None:
    (fixers_clone.path / "GIT~1").write_text("x")
    with pytest.raises(UnsafeResultError):
        collect(repository, fixers_clone, run="r", parent=fixers_clone.head, round=1, summary="", at=1e9)


def test_a_result_that_is_no_fix_by_its_size_is_refused(
    repository: Repository, fixers_clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "MOST_BYTES", 1_000)
    (fixers_clone.path / "big").write_bytes(b"x" * 2_000)
    with pytest.raises(UnsafeResultError, match="the limit is 1,000"):
        collect(repository, fixers_clone, run="r", parent=fixers_clone.head, round=1, summary="", at=1e9)


def test_a_message_is_bounded_and_without_escapes(repository: Repository, fixers_clone: Clone) -> None:
    (fixers_clone.path / "calc.py").write_text("x")
    git = Git(fixers_clone.path, isolated=True)
    git.run("commit", "--quiet", "-a", "-F", "-", stdin=b"\x1b[31mred\x1b[0m \xff\n" + b"long " * 10_000)
    result = collect(repository, fixers_clone, run="r", parent=fixers_clone.head, round=1, summary="", at=1e9)
    assert "\x1b" not in result.agent_messages[0]
    assert len(result.agent_messages[0]) < 2_100


def test_nothing_is_written_through_a_link_in_the_clones_git(
    repository: Repository, clones: Clones, fixers_clone: Clone, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    hook = repository.common_dir / "hooks" / "commit-msg"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)
    for name in ("COMMIT_EDITMSG", "info/exclude"):
        (fixers_clone.path / ".git" / name).unlink(missing_ok=True)
        (fixers_clone.path / ".git" / name).symlink_to(victim)
    clones.exclude(fixers_clone, ["x"])
    hook_commands(repository, fixers_clone, "message")
    assert victim.read_text() == "precious"
    shutil.rmtree(fixers_clone.path / ".git")
    (fixers_clone.path / ".git").symlink_to(tmp_path)
    with pytest.raises(UnsafeResultError):
        hook_commands(repository, fixers_clone, "message")
    assert not (tmp_path / "COMMIT_EDITMSG").exists()
