"""The door to git: nothing that a repository or an environment names is run or believed."""

from pathlib import Path

import pytest

from burnish.core.errors import ErrorKind
from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.errors import GENERAL_HINT, GitError
from burnish.workspace.git import Git


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A program that leaves a mark when it is run, whatever its arguments."""
    program = tmp_path / "trap.sh"
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/sprung'\ncat \"$1\" 2>/dev/null\nexit 0\n")
    program.chmod(0o755)
    return program


def sprung(trap: Path) -> bool:
    return (trap.parent / "sprung").exists()


def test_no_program_that_the_settings_name_is_run(tmp_path: Path, trap: Path) -> None:
    builder = RepositoryBuilder(tmp_path / "repository").commit({"a.txt": "one\n", ".gitattributes": "* diff=trap\n"})
    builder.commit({"a.txt": "two\n"}).write({"a.txt": "three\n"})
    hooks = builder.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "post-index-change", "pre-commit"):
        (hooks / name).write_bytes(trap.read_bytes())
        (hooks / name).chmod(0o755)
    for setting in ("core.fsmonitor", "diff.external", "diff.trap.command", "diff.trap.textconv", "core.pager"):
        builder.git.run("config", setting, str(trap))
    git = Git(builder.path)

    git.run("status", "--porcelain")
    git.run("diff", "HEAD")
    git.run("show", "HEAD")
    git.run("log", "-p")
    git.run("update-ref", "refs/burnish/test", "HEAD")
    git.run("checkout", "--quiet", "--detach", "HEAD~1", "--force")

    assert not sprung(trap)


def test_the_trap_of_these_tests_does_spring(tmp_path: Path, trap: Path) -> None:
    builder = RepositoryBuilder(tmp_path / "repository").commit({"a.txt": "one\n"})
    (builder.path / ".git" / "hooks").mkdir(exist_ok=True)
    hook = builder.path / ".git" / "hooks" / "post-checkout"
    hook.write_bytes(trap.read_bytes())
    hook.chmod(0o755)
    Git(builder.path).run("checkout", "--quiet", "-b", "other", hooks=True)
    assert sprung(trap)


def test_the_callers_environment_does_not_reach_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = RepositoryBuilder(tmp_path / "repository").commit({"a.txt": "one\n"})
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "nonsense")
    assert Git(builder.path).text("rev-parse", "HEAD") == builder.head


def test_an_error_names_the_command_the_code_and_the_last_word(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path / "repository").commit({"a.txt": "one\n"})
    with pytest.raises(GitError) as caught:
        builder.git.run("cat-file", "blob", "HEAD:nothing")
    error = caught.value
    assert error.command == "git cat-file blob HEAD:nothing"
    assert error.code == 128
    assert error.said.startswith("fatal: path 'nothing' does not exist")
    assert error.hint == GENERAL_HINT
    assert error.kind is ErrorKind.INFRASTRUCTURE


def test_an_error_shows_no_credentials(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path / "repository")
    with pytest.raises(GitError) as caught:
        builder.git.run("fetch", "nothing://user:secret@example.com/x")
    assert "secret" not in caught.value.message


def test_a_folder_that_is_missing_is_an_error_of_git(tmp_path: Path) -> None:
    with pytest.raises(GitError):
        Git(tmp_path / "missing").run("status")


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("fatal: write error: No space left on device", "The disk is full."),
        ("fatal: detected dubious ownership in repository at '/x'", "safe.directory"),
        ("fatal: Unable to create '/x/index.lock': File exists.", "Another git process is running"),
    ],
)
def test_what_git_says_leads_to_a_hint(said: str, hint: str) -> None:
    assert hint in GitError("git x", 128, said).hint


def test_objects_are_named_in_the_order_of_the_question(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path).commit({"a.txt": "one\n"})
    asked = ("main^{tree}", "no-such-name", "", "main\nmain", "main\0", "-x", "HEAD:a.txt^{commit}", "main^{commit}")
    assert Git(tmp_path).objects(*asked) == (builder.tree, *[None] * 6, builder.head)
    assert Git(tmp_path).objects("main") == (builder.head,)
