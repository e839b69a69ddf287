"""Freezing a subject: which commits are compared, and every reason why there is nothing to compare."""

import os
from pathlib import Path

import pytest
from tests.workspace.conftest import UsersView

from burnish.testing import repositories
from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.errors import AmbiguousReferenceError, SubjectError, UnknownReferenceError
from burnish.workspace.repository import Repository
from burnish.workspace.subjects import FrozenSubject, Work, freeze, freeze_as_is


def test_a_branch_is_frozen_against_its_base(repository: Repository) -> None:
    subject = freeze(repository, None, None)
    assert (subject.branch, subject.base, subject.detached, subject.empty) == ("change", "main", False, False)
    assert subject.head == repository.commit_of("change")
    assert subject.base_commit == subject.merge_base == repository.commit_of("main")
    assert subject.tree == repository.tree_of("change")


def test_a_base_that_moved_meanwhile_is_left_aside(branch_with_two_defects: RepositoryBuilder) -> None:
    former = branch_with_two_defects.git.text("rev-parse", "main")
    branch_with_two_defects.switch("main").commit({"other.py": "x = 1\n"}).switch("change")
    subject = freeze(Repository.discover(branch_with_two_defects.path), None, None)
    assert subject.merge_base == former
    assert subject.base_commit != former


def test_a_detached_head_has_no_branch_to_move(tmp_path: Path) -> None:
    builder = repositories.detached_head(tmp_path)
    subject = freeze(Repository.discover(builder.path), None, None)
    assert subject.detached
    assert (subject.head, subject.branch) == (builder.head, builder.head[:12])


def test_a_bare_commit_and_a_tag_are_subjects_without_a_branch(repository: Repository) -> None:
    repository.git.run("tag", "release", "change")
    assert freeze(repository, "release", "main").detached
    assert freeze(repository, repository.commit_of("change"), "main").detached
    assert not freeze(repository, "refs/heads/change", "main").detached


def test_no_commits_is_said(tmp_path: Path) -> None:
    repository = Repository.discover(repositories.no_commits(tmp_path).path)
    for work in Work:
        with pytest.raises(SubjectError, match="no commits"):
            freeze(repository, None, None, work=work)


def test_an_unborn_branch_beside_others_is_said(branch_with_two_defects: RepositoryBuilder) -> None:
    branch_with_two_defects.git.run("checkout", "--quiet", "--orphan", "fresh")
    repository = Repository.discover(branch_with_two_defects.path)
    with pytest.raises(SubjectError, match="no commits"):
        freeze(repository, None, None)
    assert freeze(repository, "change", "main").branch == "change"


def test_a_shallow_clone_without_a_common_commit_is_told_how_to_deepen(tmp_path: Path) -> None:
    with pytest.raises(SubjectError) as caught:
        freeze(Repository.discover(repositories.shallow(tmp_path).path), None, None)
    assert "--unshallow" in caught.value.hint


def test_histories_without_a_common_commit_are_told_apart_from_shallow(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path).commit({"a": "1"})
    builder.git.run("checkout", "--quiet", "--orphan", "other")
    builder.commit({"b": "1"})
    with pytest.raises(SubjectError, match="no common history"):
        freeze(Repository.discover(tmp_path), "other", "main")


def test_the_same_commit_is_nothing_to_review(branch_with_two_defects: RepositoryBuilder) -> None:
    branch_with_two_defects.git.run("branch", "same")
    repository = Repository.discover(branch_with_two_defects.path)
    with pytest.raises(SubjectError, match="same commit") as caught:
        freeze(repository, "change", "same")
    assert "--uncommitted" in caught.value.hint
    assert freeze(repository, "change", "same", allow_empty=True).empty


def test_a_merged_branch_is_nothing_to_review(repository: Repository) -> None:
    with pytest.raises(SubjectError, match="already part of"):
        freeze(repository, "main", "change")


def test_commits_without_a_difference_are_told_apart(branch_with_two_defects: RepositoryBuilder) -> None:
    branch_with_two_defects.switch("main").branch("void").commit(message="Nothing")
    assert freeze(Repository.discover(branch_with_two_defects.path), None, "main").empty


def test_an_unknown_branch_or_base_is_said(repository: Repository) -> None:
    with pytest.raises(UnknownReferenceError):
        freeze(repository, "nothing", "main")
    with pytest.raises(UnknownReferenceError):
        freeze(repository, "change", "nothing")


@pytest.fixture
def work_of_every_kind(branch_with_two_defects: RepositoryBuilder) -> RepositoryBuilder:
    """Staged, staged and changed again, unstaged, deleted, untracked, ignored and renamed work, not committed."""
    builder = branch_with_two_defects.ignore("*.log").commit({"gone.py": "x\n", "old.py": "same\n" * 20})
    builder.write({"staged.py": "staged\n", "twice.py": "first\n"})
    builder.git.run("add", "staged.py", "twice.py")
    builder.write({"twice.py": "second\n", "calc.py": "unstaged\n", "new folder/untracked.py": "new\n", "x.log": "no"})
    builder.write({"gone.py": None}).git.run("mv", "old.py", "renamed.py")
    builder.executable("tool.sh", "#!/bin/sh\n").link("link", "calc.py")
    return builder


def test_uncommitted_work_is_taken_as_it_is(work_of_every_kind: RepositoryBuilder, users_view: UsersView) -> None:
    repository = Repository.discover(work_of_every_kind.path)
    before = users_view(work_of_every_kind.path)

    subject = freeze(repository, None, None, work=Work.UNCOMMITTED)

    assert users_view(work_of_every_kind.path) == before
    assert repository.files(subject.head) == {
        ".gitignore", "calc.py", "store.py", "staged.py", "twice.py", "new folder/untracked.py", "renamed.py",
        "tool.sh", "link",
    }  # fmt: skip
    assert repository.read_file(subject.head, "twice.py") == b"second\n"
    assert repository.read_file(subject.head, "calc.py") == b"unstaged\n"
    assert repository.git.text("rev-parse", f"{subject.head}^") == work_of_every_kind.head
    assert subject.uncommitted
    assert freeze(repository, None, None, work=Work.UNCOMMITTED) == subject


def test_records_are_no_uncommitted_work(work_of_every_kind: RepositoryBuilder) -> None:
    work_of_every_kind.write({".agents/tmp/state.json": "{}"})
    repository = Repository.discover(work_of_every_kind.path)
    subject = freeze(repository, None, None, work=Work.UNCOMMITTED, ignoring=[".agents/tmp/**"])
    assert not any(name.startswith(".agents") for name in repository.files(subject.head))


def test_uncommitted_work_in_the_middle_of_a_conflict(branch_with_two_defects: RepositoryBuilder) -> None:
    builder = branch_with_two_defects.switch("main").commit({"calc.py": "other\n"}).switch("change")
    builder.git.run("merge", "main", check=False)
    subject = freeze(Repository.discover(builder.path), None, None, work=Work.UNCOMMITTED)
    assert b"<<<<<<<" in (Repository.discover(builder.path).read_file(subject.head, "calc.py") or b"")


def test_uncommitted_work_on_the_only_branch_is_compared_with_its_last_commit(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path, branch="only").commit({"a": "1"}).write({"a": "2"})
    subject = freeze(Repository.discover(tmp_path), None, None, work=Work.UNCOMMITTED)
    assert (subject.base, subject.base_commit) == ("HEAD", builder.head)
    assert not subject.empty


def test_no_uncommitted_work_is_said(tmp_path: Path) -> None:
    RepositoryBuilder(tmp_path, branch="only").commit({"a": "1"})
    with pytest.raises(SubjectError, match="nothing to review"):
        freeze(Repository.discover(tmp_path), None, None, work=Work.UNCOMMITTED)


def test_uncommitted_work_belongs_to_the_branch_that_is_checked_out(repository: Repository) -> None:
    with pytest.raises(SubjectError, match="belongs to change"):
        freeze(repository, "main", None, work=Work.UNCOMMITTED)


def test_a_pipe_in_the_work_tree_is_left_alone(work_of_every_kind: RepositoryBuilder) -> None:
    os.mkfifo(work_of_every_kind.path / "pipe")
    repository = Repository.discover(work_of_every_kind.path)
    assert "pipe" not in repository.files(freeze(repository, None, None, work=Work.UNCOMMITTED).head)


def test_a_name_that_others_bear_too_can_be_written_in_full(branch_with_two_defects: RepositoryBuilder) -> None:
    builder = branch_with_two_defects
    builder.git.run("update-ref", "refs/remotes/change", "main")
    repository = Repository.discover(builder.path)
    with pytest.raises(AmbiguousReferenceError):
        freeze(repository, "change", "main")
    for branch in (None, "refs/heads/change"):
        frozen = freeze(repository, branch, "main")
        assert (frozen.branch, frozen.head) == ("change", builder.head)


@pytest.fixture
def shop(tmp_path: Path) -> Repository:
    files = {
        "shop.toml": "x = 1\n",
        "app.py": "x = 1\n",
        "lib/a.py": "a = 1\n",
        "lib/b.py": "b = 1\n",
        "caf\u00e9.py": "",
    }
    RepositoryBuilder(tmp_path).commit(files)
    return Repository.discover(tmp_path)


def as_is(repository: Repository, *paths: str, work: Work = Work.COMMITTED) -> FrozenSubject:
    return freeze_as_is(repository, None, None, steers=lambda path: path.endswith(".toml"), paths=paths, work=work)


def added(repository: Repository, subject: FrozenSubject) -> set[str]:
    names = repository.git.text("diff", "-z", "--name-only", "--diff-filter=A", subject.merge_base, subject.head)
    assert repository.git.text("diff", "-z", "--name-only", "--diff-filter=a", subject.merge_base, subject.head) == ""
    return set(filter(None, names.split("\0")))


def test_files_as_they_are_are_added_to_what_steers_their_review(shop: Repository) -> None:
    subject = as_is(shop)
    assert added(shop, subject) == {"app.py", "lib/a.py", "lib/b.py", "caf\u00e9.py"}
    assert shop.files(subject.base_commit) == {"shop.toml"}
    assert subject.tree == shop.tree_of("HEAD")
    assert (subject.branch, subject.as_is, subject.detached, subject.empty) == ("main", True, True, False)
    assert as_is(shop) == subject


def test_other_files_are_the_base_of_those_that_are_named(shop: Repository) -> None:
    subject = as_is(shop, "lib")
    assert added(shop, subject) == {"lib/a.py", "lib/b.py"}
    assert shop.files(subject.base_commit) == {"shop.toml", "app.py", "caf\u00e9.py"}
    assert added(shop, as_is(shop, "lib/a.py", "app.py")) == {"lib/a.py", "app.py"}


def test_work_that_is_not_committed_never_says_how_it_is_reviewed(shop: Repository) -> None:
    (shop.root / "shop.toml").write_text("x = 2\n")
    (shop.root / "new.py").write_text("new = 1\n")
    subject = as_is(shop, work=Work.UNCOMMITTED)
    assert "new.py" in shop.files(subject.head)
    assert shop.read_file(subject.base_commit, "shop.toml") == b"x = 1\n"
    assert "new.py" not in shop.files(as_is(shop).head)


def test_a_branch_does_not_bring_its_own_settings(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path).commit({"shop.toml": "x = 1\n", "app.py": "x = 1\n"}).branch("topic")
    builder.commit({"shop.toml": "x = 2\n", "new.toml": "x = 2\n", "new.py": "x = 2\n"})
    shop = Repository.discover(tmp_path)
    subject = as_is(shop)
    assert (subject.branch, subject.base) == ("topic", "main")
    assert shop.read_file(subject.base_commit, "shop.toml") == b"x = 1\n"
    assert shop.files(subject.base_commit) == {"shop.toml"}
    assert subject.tree == shop.tree_of("topic")


def test_settings_alone_are_nothing_to_review(shop: Repository) -> None:
    with pytest.raises(SubjectError, match="only settings"):
        as_is(shop, "shop.toml")


def test_no_commits_have_no_files_as_they_are(tmp_path: Path) -> None:
    with pytest.raises(SubjectError, match="no commits"):
        as_is(Repository.discover(repositories.no_commits(tmp_path).path))
