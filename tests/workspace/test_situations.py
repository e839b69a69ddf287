"""The whole way of a change, in every situation that tools trip over, with the user's repository as it was."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.workspace.conftest import UsersView

from burnish.testing import repositories
from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.clones import Clones
from burnish.workspace.diffs import difference
from burnish.workspace.git import Git
from burnish.workspace.landing import land
from burnish.workspace.repository import Repository
from burnish.workspace.results import collect
from burnish.workspace.subjects import Work, freeze

Situation = Callable[[Path], RepositoryBuilder]


def shallow_with_a_common_commit(folder: Path) -> RepositoryBuilder:
    """A clone of depth 2, in which the branches' common commit is the oldest one."""
    builder = RepositoryBuilder(folder / "origin").commit({"a.py": "0\n"}).commit({"a.py": "1\n"})
    builder.branch("change").commit({"a.py": "2\n"}).switch("main")
    return builder.clone(folder / "clone", "--depth=2", "--no-single-branch", "--branch=change")


@pytest.mark.parametrize(
    "situation",
    [
        repositories.branch_with_two_defects,
        repositories.detached_head,
        shallow_with_a_common_commit,
        repositories.partial,
        repositories.sha256,
        repositories.linked_worktree,
        repositories.names_not_utf8,
        repositories.submodule,
    ],
)
def test_a_fix_is_taken_in(situation: Situation, tmp_path: Path, users_view: UsersView) -> None:
    builder = situation(tmp_path / "situation")
    before = users_view(builder.path)
    repository = Repository.discover(builder.path)
    subject = freeze(repository, None, None)
    clones = Clones(repository, tmp_path / "clones")
    clone = clones.make("fixer", subject.base_commit, subject.head, writable=True)
    assert difference(repository, subject.base_commit, subject.head).files
    (clone.path / "fixed.py").write_text("fixed\n")
    Git(clone.path, isolated=True).run("add", "--all")
    Git(clone.path, isolated=True).run("commit", "--quiet", "-m", "By the agent")

    result = collect(repository, clone, run="r1", parent=subject.head, round=1, summary="Fixed", at=1e9)

    clones.remove_all()
    assert not (tmp_path / "clones").exists()
    assert repository.files(result.change.commit) == repository.files(subject.head) | {"fixed.py"}
    assert result.agent_messages == ("By the agent",)
    assert users_view(builder.path) == before
    landing = land(repository, branch=subject.branch, expected=subject.head, new=result.change.commit, run="r1")
    assert landing.moved is not subject.detached
    assert repository.commit_of(landing.ref) == result.change.commit


def test_a_repository_that_is_used_at_the_same_time(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, tmp_path: Path
) -> None:
    """The user commits to another branch in another work tree all the while; neither disturbs the other."""
    other = branch_with_two_defects.switch("main").worktree(tmp_path / "other", "change")
    branch_with_two_defects.branch("busy")
    started, stop = threading.Event(), threading.Event()
    commits: list[str] = []

    def work() -> None:
        while not stop.is_set():
            branch_with_two_defects.commit({"busy.py": str(len(commits))})
            commits.append(branch_with_two_defects.head)
            started.set()

    user = threading.Thread(target=work)
    user.start()
    try:
        assert started.wait(60)
        subject = freeze(repository, "change", "main")
        clones = Clones(repository, tmp_path / "clones")
        clone = clones.make("fixer", subject.base_commit, subject.head, writable=True)
        (clone.path / "calc.py").write_text("fixed")
        result = collect(repository, clone, run="r1", parent=subject.head, round=1, summary="", at=1e9)
        landing = land(repository, branch="change", expected=subject.head, new=result.change.commit, run="r1")
    finally:
        stop.set()
        user.join()
    assert landing.moved
    assert (other.path / "calc.py").read_text() == "fixed"
    assert repository.commit_of("busy") == commits[-1]
    repository.git.run("fsck", "--strict")


def test_what_is_kept_survives_the_users_housekeeping(
    branch_with_two_defects: RepositoryBuilder, repository: Repository
) -> None:
    branch_with_two_defects.write({"calc.py": "not committed"})
    subject = freeze(repository, None, None, work=Work.UNCOMMITTED)
    repository.keep("r1", subject.head)
    branch_with_two_defects.git.run("gc", "--quiet", "--prune=now")
    assert repository.read_file(subject.head, "calc.py") == b"not committed"
