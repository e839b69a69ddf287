"""The subject of a review, frozen: which commits are compared, fixed once so that later moves change nothing."""

import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from burnish.core.values import Value
from burnish.workspace import references
from burnish.workspace.commits import commit_tree
from burnish.workspace.errors import GitError, SubjectError
from burnish.workspace.git import Git
from burnish.workspace.worktrees import excluding

UNCOMMITTED = "Uncommitted work"
"""The message of the commit that stands for it."""


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


class SubjectRequest(Value):
    """What a user asked for."""

    branch: str | None = None
    base: str | None = None
    uncommitted: bool = False
    """The work tree as it is: staged, unstaged and untracked work, but nothing that is ignored."""
    ignoring: tuple[str, ...] = ()
    """Globs of files that are no part of the work."""
    allow_empty: bool = False
    """Nothing to review is no error: the change is still to be made."""


def freeze(git: Git, wish: SubjectRequest, *, shallow: bool = False) -> FrozenSubject:
    """Look the names up once and for all. Raises `SubjectError` where they make no subject."""
    branch, detached = _branch(git, wish)
    # What is checked out, or was written in full, is meant whatever else has the same name.
    name = "HEAD" if wish.branch is None else wish.branch if wish.branch.startswith(references.BRANCHES) else branch
    known = references.commits(git, "HEAD", name, *filter(None, (wish.base,)))
    if wish.branch is None and known["HEAD"] is None:
        raise SubjectError("There are no commits here yet.", hint="Commit something first: `git commit`.")
    # What was not found is looked up again where there is a better message for it.
    head = known[name] or references.commit_of(git, name)
    base = wish.base or _default_base(git, branch, wish)
    base_commit = known.get(base) or references.commit_of(git, base)
    merge_base = _merge_base(git, (base, base_commit), (branch, head), shallow)
    if wish.uncommitted:
        head = commit_work_tree(git, head, wish.ignoring)
    tree, former_tree = _trees(git, head, merge_base)
    subject = FrozenSubject(
        branch=branch if branch != "HEAD" else head[:12],
        base=base,
        base_commit=base_commit,
        merge_base=merge_base,
        head=head,
        tree=tree,
        detached=detached,
        uncommitted=wish.uncommitted,
        empty=tree == former_tree,
    )
    if not wish.allow_empty:
        _refuse_nothing(subject)
    return subject


def commit_work_tree(git: Git, head: str, ignoring: Sequence[str]) -> str:
    """A commit, which nothing points to, of the work tree as it is. The user's index is only copied."""
    index = Path(git.text("rev-parse", "--path-format=absolute", "--git-path", "index"))
    with tempfile.TemporaryDirectory(prefix="burnish-") as folder:
        private = Path(folder) / "index"
        environment = {"GIT_INDEX_FILE": str(private), "GIT_LITERAL_PATHSPECS": "0"}
        if index.is_file():
            shutil.copy2(index, private)  # with its time, from which git tells what may have changed since
        else:
            git.run("read-tree", head, environment=environment)
        git.run("-c", "advice.addEmbeddedRepo=false", "add", "--all", *excluding(ignoring), environment=environment)
        tree = git.text("write-tree", environment=environment)
    if (tree,) == _trees(git, head):
        return head
    date = git.text("show", "--no-patch", "--format=%ct", head)
    return commit_tree(git, tree, head, UNCOMMITTED, float(date))


def _branch(git: Git, wish: SubjectRequest) -> tuple[str, bool]:
    current = references.current_branch(git)
    if wish.uncommitted and wish.branch not in (None, current, "HEAD"):
        raise SubjectError(
            f"The uncommitted work belongs to {current or 'a detached HEAD'}, not to '{wish.branch}'.",
            hint="Omit --branch, or check out that branch first.",
        )
    if wish.branch in (None, "HEAD"):
        return current or "HEAD", current is None
    name = str(wish.branch).removeprefix(references.BRANCHES)
    return name, not references.is_branch(git, name)


def _default_base(git: Git, branch: str, wish: SubjectRequest) -> str:
    try:
        return references.default_base(git, branch)
    except SubjectError:
        if wish.uncommitted:  # on the only branch that there is: what was committed last
            return "HEAD"
        raise


def _merge_base(git: Git, base: tuple[str, str], head: tuple[str, str], shallow: bool) -> str:
    with suppress(GitError):
        return git.about("merge-base", base[1], head[1]).decode().strip()
    if shallow:
        raise SubjectError(
            f"'{base[0]}' and '{head[0]}' have no common commit in this shallow clone.",
            hint="Fetch the history with `git fetch --unshallow`, or more of it with `git fetch --deepen=100`.",
        )
    raise SubjectError(
        f"'{base[0]}' and '{head[0]}' have no common history.", hint="Use --base to name the branch that it came from."
    )


def _refuse_nothing(subject: FrozenSubject) -> None:
    if subject.head not in (subject.base_commit, subject.merge_base):
        return
    reason = "is at the same commit as" if subject.head == subject.base_commit else "is already part of"
    hint = "Everything is committed." if subject.uncommitted else "Commit the work, or use --uncommitted."
    raise SubjectError(f"There is nothing to review: '{subject.branch}' {reason} '{subject.base}'.", hint=hint)


def _trees(git: Git, *commits: str) -> tuple[str, ...]:
    return tuple(tree or "" for tree in git.objects(*(f"{commit}^{{tree}}" for commit in commits)))
