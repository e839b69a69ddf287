"""Names of commits: no ref can stand in for a commit, for HEAD, or for a branch of a remote."""

from pathlib import Path

import pytest

from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.errors import AmbiguousReferenceError, UnknownReferenceError
from burnish.workspace.repository import Repository
from burnish.workspace.subjects import freeze


@pytest.fixture
def shadowed(branch_with_two_defects: RepositoryBuilder) -> RepositoryBuilder:
    """Branches and tags that point to main, named after what people write when they mean `change`."""
    main, head = (branch_with_two_defects.git.text("rev-parse", name) for name in ("main", "change"))
    for name in (head, "HEAD", head[:7]):
        for place in ("heads", "tags"):
            branch_with_two_defects.git.run("update-ref", f"refs/{place}/{name}", main)
    return branch_with_two_defects


@pytest.mark.parametrize("write", ["{head}", "HEAD", "@", "{head}~0", "HEAD~0", "HEAD^0", "@~0", "{head}^{{commit}}"])
def test_a_ref_cannot_stand_in_for_a_commit_or_for_head(shadowed: RepositoryBuilder, write: str) -> None:
    head = shadowed.git.text("rev-parse", "refs/heads/change")
    repository = Repository.discover(shadowed.path)
    assert repository.commit_of(write.format(head=head)) == head
    assert freeze(repository, write.format(head=head), "main").head == head


def test_a_review_of_a_commit_never_moves_a_branch_that_is_named_after_it(shadowed: RepositoryBuilder) -> None:
    head = shadowed.git.text("rev-parse", "refs/heads/change")
    assert freeze(Repository.discover(shadowed.path), head, "main").detached


def test_a_ref_that_is_named_like_the_beginning_of_a_commit_is_ambiguous(shadowed: RepositoryBuilder) -> None:
    short = shadowed.git.text("rev-parse", "refs/heads/change")[:7]
    with pytest.raises(AmbiguousReferenceError, match="is ambiguous") as caught:
        Repository.discover(shadowed.path).commit_of(short)
    assert f"refs/heads/{short}" in caught.value.message
    shadowed.git.run("update-ref", "-d", f"refs/heads/{short}")
    shadowed.git.run("update-ref", "-d", f"refs/tags/{short}")
    assert Repository.discover(shadowed.path).commit_of(short).startswith(short)


@pytest.mark.parametrize("place", ["heads", "tags"])
def test_a_ref_that_is_named_like_a_branch_of_a_remote_is_ambiguous(tmp_path: Path, place: str) -> None:
    origin = RepositoryBuilder(tmp_path / "origin").commit({"a": "1"})
    clone = origin.clone(tmp_path / "clone").branch("change").commit({"a": "2"})
    repository = Repository.discover(clone.path)
    assert repository.commit_of("origin/main") == origin.head
    clone.git.run("update-ref", f"refs/{place}/origin/main", clone.head)
    with pytest.raises(AmbiguousReferenceError):
        repository.commit_of("origin/main")
    with pytest.raises(AmbiguousReferenceError):
        freeze(repository, "change", "origin/main")
    assert repository.commit_of("refs/remotes/origin/main") == origin.head


def test_the_way_from_a_branch_begins_at_that_branch(branch_with_two_defects: RepositoryBuilder) -> None:
    branch_with_two_defects.git.run("tag", "change", "main")
    repository = Repository.discover(branch_with_two_defects.path)
    parent = branch_with_two_defects.git.text("rev-parse", "refs/heads/change~1")
    assert repository.commit_of("change~1") == parent
    assert repository.commit_of("refs/heads/change~1") == parent
    with pytest.raises(UnknownReferenceError):
        repository.commit_of("change~1000")


def test_grafts_and_replaced_objects_are_not_believed(branch_with_two_defects: RepositoryBuilder) -> None:
    builder = branch_with_two_defects
    repository = Repository.discover(builder.path)
    base = repository.merge_base("main", "change")
    stranger = builder.git.text("commit-tree", builder.tree, "-m", "stranger")
    (builder.path / ".git" / "info").mkdir(exist_ok=True)
    (builder.path / ".git" / "info" / "grafts").write_text(f"{builder.head} {stranger}\n")
    builder.git.run("update-ref", f"refs/replace/{builder.head}", stranger)
    assert repository.merge_base("main", "change") == base
