"""The project's commit hooks: found where git finds them, and run on the clone as git would."""

import os
from pathlib import Path

import pytest

from burnish.core.values import replace
from burnish.system.process import Finished, run_now
from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.clones import Clone
from burnish.workspace.repository import Repository
from burnish.workspace.results import commit_hook, hook_commands


def run_all(repository: Repository, clone: Clone, message: str = "fix: it\n") -> list[Finished]:
    commands = hook_commands(repository, clone, message)
    path = {"PATH": os.environ["PATH"]}
    return [run_now(replace(one, environment=path | one.environment), seconds=60) for one in commands]


def install(builder: RepositoryBuilder, name: str, script: str, folder: str = ".git/hooks") -> None:
    builder.executable(f"{folder}/{name}", f"#!/bin/sh\n{script}\n")


def test_no_hooks_are_no_commands(repository: Repository, fixers_clone: Clone) -> None:
    assert commit_hook(repository) is None
    assert hook_commands(repository, fixers_clone, "x") == ()


def test_a_hook_that_git_would_not_run_is_none(
    branch_with_two_defects: RepositoryBuilder, repository: Repository
) -> None:
    install(branch_with_two_defects, "pre-commit.sample", "exit 1")
    branch_with_two_defects.write({".git/hooks/pre-commit": "#!/bin/sh\nexit 1\n"})
    assert commit_hook(repository) is None


def test_a_hook_sees_what_would_be_committed_and_rejects(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, fixers_clone: Clone
) -> None:
    install(branch_with_two_defects, "pre-commit", "git diff --cached --name-only; echo 'not so' >&2; exit 3")
    (fixers_clone.path / "calc.py").write_text("x")
    (fixers_clone.path / "new.py").write_text("x")
    stage, hook = run_all(repository, fixers_clone)
    assert stage.code == 0
    assert hook.code == 3
    assert hook.stdout == b"calc.py\nnew.py\n"
    assert "not so" in hook.stderr_tail


def test_the_message_is_given_to_the_hook_that_looks_at_it(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, fixers_clone: Clone
) -> None:
    install(branch_with_two_defects, "pre-commit", "exit 0")
    install(branch_with_two_defects, "commit-msg", 'cat "$1"')
    assert [Path(path).name for path in commit_hook(repository) or ()] == ["pre-commit", "commit-msg"]
    assert run_all(repository, fixers_clone, "fix: größe\n")[-1].stdout.decode() == "fix: größe\n"


@pytest.mark.parametrize("relative", [True, False])
def test_a_projects_own_folder_of_hooks_is_used(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, fixers_clone: Clone, relative: bool
) -> None:
    folder = ".husky/_"
    install(branch_with_two_defects, "pre-commit", '"$(dirname "$(dirname "$0")")/pre-commit"', folder)
    install(branch_with_two_defects, "pre-commit", "echo from the checkout", ".husky")
    place = folder if relative else str(repository.root / folder)
    branch_with_two_defects.git.run("config", "core.hooksPath", place)
    (fixers_clone.path / ".husky").mkdir()
    (fixers_clone.path / ".husky" / "pre-commit").write_text("#!/bin/sh\necho from the clone\n")
    assert run_all(repository, fixers_clone)[-1].stdout == b"from the checkout\n"


def test_a_hook_that_cannot_run_is_told_from_one_that_rejects(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, fixers_clone: Clone
) -> None:
    branch_with_two_defects.executable(".git/hooks/pre-commit", "#!/nowhere/interpreter\n")
    assert run_all(repository, fixers_clone)[-1].code is None
    install(branch_with_two_defects, "pre-commit", "exec no-such-tool")
    assert run_all(repository, fixers_clone)[-1].code == 127
