"""Landing: the branch moves once, forward only, and never over the user's work."""

from pathlib import Path

import pytest
from tests.workspace.conftest import UsersView

from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.commits import commit_tree
from burnish.workspace.git import Git
from burnish.workspace.landing import Landing, land, leave
from burnish.workspace.repository import Repository

Result = tuple[str, str]


@pytest.fixture
def result(branch_with_two_defects: RepositoryBuilder) -> Result:
    """The reviewed commit of `change` and a fix on top of it, to which nothing points."""
    builder = branch_with_two_defects
    head = builder.head
    builder.commit({"calc.py": "fixed\n", "added.py": "x\n"}, "Fix")
    tree = builder.tree
    builder.git.run("reset", "--quiet", "--hard", head)
    new = commit_tree(builder.git, tree, head, "fix", 1e9)
    builder.git.run("update-ref", "refs/burnish/r1", new)
    return head, new


def landed(repository: Repository, result: Result, branch: str = "change") -> Landing:
    return land(repository, branch=branch, expected=result[0], new=result[1], run="r1")


def assert_left(repository: Repository, landing: Landing, result: Result) -> None:
    assert not landing.moved
    assert repository.commit_of(landing.ref) == result[1]
    assert landing.ref in landing.words


def test_a_branch_that_is_not_checked_out_is_swapped(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, result: Result
) -> None:
    branch_with_two_defects.switch("main").write({"calc.py": "work on main"})
    assert landed(repository, result) == Landing(moved=True, ref="change", words="The result is on change.")
    assert repository.commit_of("change") == result[1]
    assert (branch_with_two_defects.path / "calc.py").read_text() == "work on main"
    assert repository.git.text("for-each-ref", "refs/heads/burnish") == ""


def test_a_clean_checkout_is_fast_forwarded(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, result: Result
) -> None:
    branch_with_two_defects.write({"notes.txt": "untracked and not in the way"})
    assert landed(repository, result).moved
    assert branch_with_two_defects.head == result[1]
    assert (branch_with_two_defects.path / "added.py").exists()
    assert branch_with_two_defects.git.text("status", "--porcelain") == "?? notes.txt"


def test_a_linked_checkout_is_fast_forwarded(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, result: Result, tmp_path: Path
) -> None:
    linked = branch_with_two_defects.switch("main").worktree(tmp_path / "linked", "change")
    assert landed(repository, result).moved
    assert (linked.path / "added.py").exists()
    assert not (branch_with_two_defects.path / "added.py").exists()


@pytest.mark.parametrize("staged", [True, False])
def test_uncommitted_work_is_never_touched(
    branch_with_two_defects: RepositoryBuilder,
    repository: Repository,
    result: Result,
    users_view: UsersView,
    staged: bool,
) -> None:
    branch_with_two_defects.write({"store.py": "work"})
    if staged:
        branch_with_two_defects.git.run("add", "store.py")
    before = users_view(repository.root)
    landing = landed(repository, result)
    assert_left(repository, landing, result)
    assert landing.ref == "burnish/r1"
    assert "uncommitted work" in landing.words
    assert users_view(repository.root) == before


@pytest.mark.parametrize("ignored", [True, False])
def test_a_file_in_the_way_is_never_overwritten(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, result: Result, ignored: bool
) -> None:
    branch_with_two_defects.write({"added.py": "precious"})
    if ignored:
        branch_with_two_defects.write({".git/info/exclude": "added.py\n"})
    assert_left(repository, landed(repository, result), result)
    assert (branch_with_two_defects.path / "added.py").read_text() == "precious"
    assert branch_with_two_defects.head == result[0]
    assert branch_with_two_defects.git.text("status", "--porcelain", "--untracked-files=no") == ""


def test_a_branch_that_moved_stays_where_it_is(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, result: Result
) -> None:
    moved = branch_with_two_defects.commit({"more.py": "x"}).head
    landing = landed(repository, result)
    assert_left(repository, landing, result)
    assert "has moved" in landing.words
    assert branch_with_two_defects.head == moved


def test_a_result_that_does_not_follow_is_never_forced(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, result: Result
) -> None:
    other = commit_tree(repository.git, repository.tree_of(result[1]), repository.commit_of("main"), "x", 1e9)
    landing = land(repository, branch="change", expected=result[0], new=other, run="r1")
    assert not landing.moved
    assert branch_with_two_defects.head == result[0]


def test_landing_twice_is_landing_once(repository: Repository, result: Result) -> None:
    assert landed(repository, result).moved
    assert landed(repository, result).moved


def test_a_branch_that_is_gone_leaves_the_result(repository: Repository, result: Result) -> None:
    for branch in ("gone", ""):
        assert_left(repository, landed(repository, result, branch), result)


def test_a_branch_in_the_middle_of_a_rebase_is_left_alone(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, result: Result
) -> None:
    builder = branch_with_two_defects.switch("main").commit({"calc.py": "conflict\n"}).switch("change")
    builder.git.run("rebase", "main", check=False)
    assert repository.current_branch() is None, "the rebase should have stopped at a conflict"
    landing = landed(repository, result)
    assert_left(repository, landing, result)
    assert "rebase" in landing.words
    assert repository.commit_of("change") == result[0]


def test_a_branch_called_burnish_leaves_the_result_on_its_own_ref(repository: Repository, result: Result) -> None:
    repository.git.run("branch", "burnish", "main")
    landing = leave(repository, new=result[1], run="r1")
    assert landing.ref == "refs/burnish/r1"
    assert_left(repository, landing, result)


def test_the_result_is_not_pulled_from_under_its_reader(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, result: Result
) -> None:
    branch_with_two_defects.git.run("checkout", "--quiet", "-b", "burnish/r1")
    landing = leave(repository, new=result[1], run="r1")
    assert landing.ref == "refs/burnish/r1"
    assert branch_with_two_defects.head == result[0]


def test_hooks_and_an_automatic_stash_take_no_part(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, result: Result, tmp_path: Path
) -> None:
    hook = branch_with_two_defects.path / ".git" / "hooks" / "post-merge"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch '{tmp_path}/sprung'\n")
    hook.chmod(0o755)
    branch_with_two_defects.git.run("config", "merge.autoStash", "true")
    branch_with_two_defects.write({"store.py": "work"})
    assert not landed(repository, result).moved
    branch_with_two_defects.git.run("checkout", "--quiet", "store.py")
    assert landed(repository, result).moved
    assert not (tmp_path / "sprung").exists()


def test_a_lock_that_another_git_holds_leaves_the_result(repository: Repository, result: Result) -> None:
    (repository.common_dir / "index.lock").touch()
    assert_left(repository, landed(repository, result), result)
    (repository.common_dir / "index.lock").unlink()
    assert Git(repository.root).text("rev-parse", "HEAD") == result[0]
