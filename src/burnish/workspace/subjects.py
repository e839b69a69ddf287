"""The subject of a review, frozen: which commits are compared, fixed once so that later moves change nothing."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from pathlib import Path

from burnish.core.values import Value
from burnish.workspace import references
from burnish.workspace.commits import commit_tree
from burnish.workspace.errors import NothingToReviewError, SubjectError
from burnish.workspace.git import Git
from burnish.workspace.repository import Repository, excluding

UNCOMMITTED = "Uncommitted work"
"""The message of the commit that stands for it."""
SETTINGS, ALL_FILES = "Settings", "All other files"
"""Those of the commits that stand for files as they are."""


class Work(Enum):
    """What of the work tree is part of a subject."""

    COMMITTED = "committed"
    UNCOMMITTED = "uncommitted"
    """Everything in it: staged, unstaged and untracked."""
    STAGED = "staged"
    """What is staged, against the last commit."""


class FrozenSubject(Value):
    """A branch against its base, both as they were at one moment."""

    branch: str
    """Its name; of a detached HEAD or a bare commit, what the user called it."""
    base: str
    base_commit: str
    merge_base: str
    head: str
    tree: str
    detached: bool = False
    """There is no local branch that could be moved at the end."""
    uncommitted: bool = False
    """`head` is a commit that burnish made from the work tree; no branch points to it."""
    empty: bool = False
    """The head's tree is the merge base's: there is nothing to review."""
    as_is: bool = False
    """`head` adds the files as they are to what steers their review. burnish made both commits."""


def freeze(
    repository: Repository,
    branch: str | None,
    base: str | None,
    *,
    work: Work = Work.COMMITTED,
    ignoring: Sequence[str] = (),
    index: Path | None = None,
    allow_empty: bool = False,
) -> FrozenSubject:
    """What is to be reviewed, as it is now: names are looked up once and for all. Raises `SubjectError` where they make
    no subject.

    Uncommitted work is the work tree as it is, but nothing that is ignored, nor what the globs in `ignoring` match.
    `index` is what holds the staged files, where that is not the repository's own: `git commit --all` has another.
    With `allow_empty`, nothing to review is no error: the change is still to be made.
    """
    git = repository.git
    uncommitted = work is not Work.COMMITTED
    name, detached = _branch(git, branch, uncommitted=uncommitted)
    if work is Work.STAGED:
        base = base or "HEAD"
    # What is checked out, or was written in full, is meant whatever else has the same name.
    meant = "HEAD" if branch is None else branch if branch.startswith(references.BRANCHES) else name
    known = references.commits(git, "HEAD", meant, *filter(None, (base,)))
    if branch is None and known["HEAD"] is None:
        raise NothingToReviewError("There are no commits here yet.", hint="Commit something first: `git commit`.")
    # What was not found is looked up again where there is a better message for it.
    head = known[meant] or references.commit_of(git, meant)
    base = base or _default_base(git, name, uncommitted=uncommitted)
    base_commit = known.get(base) or references.commit_of(git, base)
    merge_base = repository.merge_base(base_commit, head)
    if merge_base is None:
        raise _no_common_commit(base, name, shallow=repository.is_shallow)
    if uncommitted:
        head = commit_work_tree(git, head, ignoring, staged=work is Work.STAGED, index=index)
    tree, former_tree = _trees(git, head, merge_base)
    subject = FrozenSubject(
        branch=name if name != "HEAD" else head[:12],
        base=base,
        base_commit=base_commit,
        merge_base=merge_base,
        head=head,
        tree=tree,
        detached=detached,
        uncommitted=uncommitted,
        empty=tree == former_tree,
    )
    if not allow_empty:
        _refuse_nothing(subject, staged=work is Work.STAGED)
    return subject


def freeze_as_is(
    repository: Repository,
    branch: str | None,
    base: str | None,
    *,
    steers: Callable[[str], bool],
    paths: Sequence[str] = (),
    work: Work = Work.COMMITTED,
    ignoring: Sequence[str] = (),
) -> FrozenSubject:
    """The files of a branch as they are: all, or those in `paths`. Raises `SubjectError` where there are none.

    They are the change. What `steers` their review comes from the base, as in any review: a branch must not bring its
    own reviewer. Only where a branch has no base, it is taken from what is committed there.
    """
    git = repository.git
    name, _ = _branch(git, branch, uncommitted=work is not Work.COMMITTED)
    meant = "HEAD" if branch is None else branch
    committed = references.commits(git, meant)[meant]
    if committed is None and branch is None:
        raise NothingToReviewError("There are no commits here yet.", hint="Commit something first: `git commit`.")
    committed = committed or references.commit_of(git, meant)
    commit = committed if work is Work.COMMITTED else commit_work_tree(git, committed, ignoring)
    at = float(git.text("show", "--no-patch", "--format=%ct", committed))
    base = base or _base_of_settings(git, name)
    policy = committed if base is None else references.commit_of(git, base)
    settings = filter(steers, repository.files(policy))
    others = (path for path in repository.files(committed) if not (steers(path) or _is_below(path, paths)))
    base_commit = commit_tree(git, _tree_of(git, (policy, settings), (committed, others)), None, SETTINGS, at)
    tree, former_tree = _trees(git, commit, base_commit)
    if tree == former_tree:
        raise NothingToReviewError(
            "There is nothing to review: only settings of tools are there, and they are taken as they are.",
            hint="Name other files, or omit the paths to review all files.",
        )
    return FrozenSubject(
        branch=name if name != "HEAD" else committed[:12],
        base=base or (name if name != "HEAD" else committed[:12]),
        base_commit=base_commit,
        merge_base=base_commit,
        head=commit_tree(git, tree, base_commit, ALL_FILES, at),
        tree=tree,
        detached=True,
        uncommitted=work is not Work.COMMITTED,
        as_is=True,
    )


def _is_below(path: str, places: Sequence[str]) -> bool:
    return not places or any(path == place or path.startswith(f"{place}/") for place in places)


def _base_of_settings(git: Git, branch: str) -> str | None:
    try:
        return references.default_base(git, branch)
    except SubjectError:
        return None


def _tree_of(git: Git, *parts: tuple[str, Iterable[str]]) -> str:
    """A tree with some of the files of some commits."""
    kept: list[bytes] = []
    for commit, paths in parts:
        wanted = frozenset(map(os.fsencode, paths))
        entries = git.about("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")
        kept += [entry + b"\0" for entry in entries if entry.partition(b"\t")[2] in wanted and entry]
    with tempfile.TemporaryDirectory(prefix="burnish-") as folder:
        environment = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        git.run("update-index", "-z", "--index-info", stdin=b"".join(kept), environment=environment)
        return git.text("write-tree", environment=environment)


def commit_work_tree(
    git: Git, head: str, ignoring: Sequence[str], *, staged: bool = False, index: Path | None = None
) -> str:
    """A commit, which nothing points to, of the work tree as it is, or of what is staged. The index is only copied."""
    index = index or Path(git.text("rev-parse", "--path-format=absolute", "--git-path", "index"))
    with tempfile.TemporaryDirectory(prefix="burnish-") as folder:
        private = Path(folder) / "index"
        environment = {"GIT_INDEX_FILE": str(private), "GIT_LITERAL_PATHSPECS": "0"}
        if index.is_file():
            shutil.copy2(index, private)  # with its time, from which git tells what may have changed since
        else:
            git.run("read-tree", head, environment=environment)
        if not staged:
            git.run("-c", "advice.addEmbeddedRepo=false", "add", "--all", *excluding(ignoring), environment=environment)
        elif git.text("ls-files", "--unmerged", environment=environment):
            raise SubjectError(
                "Some staged files are not merged yet.", hint="Resolve the conflicts and `git add` them."
            )
        tree = git.text("write-tree", environment=environment)
    if (tree,) == _trees(git, head):
        return head
    date = git.text("show", "--no-patch", "--format=%ct", head)
    return commit_tree(git, tree, head, UNCOMMITTED, float(date))


def _branch(git: Git, wanted: str | None, *, uncommitted: bool) -> tuple[str, bool]:
    """The name of the branch, and whether there is none that could be moved."""
    current = references.current_branch(git)
    if uncommitted and wanted not in (None, current, "HEAD"):
        raise SubjectError(
            f"The uncommitted work belongs to {current or 'a detached HEAD'}, not to '{wanted}'.",
            hint="Omit --branch, or check out that branch first.",
        )
    if wanted in (None, "HEAD"):
        return current or "HEAD", current is None
    name = wanted.removeprefix(references.BRANCHES)
    return name, not references.is_branch(git, name)


def _default_base(git: Git, branch: str, *, uncommitted: bool) -> str:
    try:
        return references.default_base(git, branch)
    except SubjectError:
        if uncommitted:  # on the only branch that there is: what was committed last
            return "HEAD"
        raise


def _no_common_commit(base: str, branch: str, *, shallow: bool) -> SubjectError:
    if shallow:
        return SubjectError(
            f"'{base}' and '{branch}' have no common commit in this shallow clone.",
            hint="Fetch the history with `git fetch --unshallow`, or more of it with `git fetch --deepen=100`.",
        )
    return SubjectError(
        f"'{base}' and '{branch}' have no common history.", hint="Use --base to name the branch that it came from."
    )


def _refuse_nothing(subject: FrozenSubject, *, staged: bool) -> None:
    if subject.head not in (subject.base_commit, subject.merge_base):
        return
    if staged:
        hint = "Stage files with `git add`, or use --uncommitted."
        raise NothingToReviewError("There is nothing to review: nothing is staged.", hint=hint)
    reason = "is at the same commit as" if subject.head == subject.base_commit else "is already part of"
    first = "Everything is committed." if subject.uncommitted else "Commit the work, or use --uncommitted."
    hint = f"{first} To review the files as they are: `burnish review --whole`."
    raise NothingToReviewError(f"There is nothing to review: '{subject.branch}' {reason} '{subject.base}'.", hint=hint)


def _trees(git: Git, *commits: str) -> tuple[str, ...]:
    return tuple(tree or "" for tree in git.objects(*(f"{commit}^{{tree}}" for commit in commits)))
