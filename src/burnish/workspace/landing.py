"""The one moment in which a user's branch moves: forward only, by compare-and-swap, and never over open work.

Wherever that cannot be done, the result is left on a branch of burnish's own.
"""

from pathlib import Path

from burnish.core.values import Value
from burnish.workspace.errors import GitError
from burnish.workspace.git import Git
from burnish.workspace.repository import Repository, run_name
from burnish.workspace.results import result_ref

_MERGE = (
    "merge",
    "--ff-only",
    "--no-autostash",
    "--no-overwrite-ignore",  # an ignored file of the user is not ours to replace
    "--no-verify-signatures",
    "--no-stat",
    "--quiet",
)


class Landing(Value):
    """Where a result is now."""

    moved: bool
    """Whether the subject's branch, or the working tree, has it."""
    ref: str = ""
    """The branch, or other ref, that has it."""
    words: str
    """That in a sentence, and why the branch was not moved."""


def land(repository: Repository, *, branch: str, expected: str, new: str, run: str) -> Landing:
    """Move a branch from the commit that was reviewed to the result, or leave it alone and say why."""
    reason = _obstacle(repository, branch, expected, new)
    if reason is None and branch_commit(repository, branch) == new:
        return _landed(branch)
    if reason is None:
        worktree = repository.checked_out_at(branch)
        if worktree is None:
            reason = _swap(repository, branch, expected, new, run)
        else:
            reason = _fast_forward(repository, worktree, expected, new)
    if reason is None:
        return _landed(branch)
    return leave(repository, new=new, run=run, reason=reason)


def _landed(branch: str) -> Landing:
    return Landing(moved=True, ref=branch, words=f"The result is on {branch}.")


def leave(repository: Repository, *, new: str, run: str, reason: str = "") -> Landing:
    """Leave a result on `burnish/<run>`, for the user to take. The subject's branch stays where it is."""
    name = f"burnish/{run_name(run)}"
    ref = name if _leave_on(repository, name, new) else result_ref(run)
    return Landing(moved=False, ref=ref, words=f"{reason} The result is on {ref}.".strip())


def _obstacle(repository: Repository, branch: str, expected: str, new: str) -> str | None:
    current = branch_commit(repository, branch)
    if current is None:
        return f"There is no branch '{branch}' to move."
    if current == new:
        return None
    if current != expected:
        return f"'{branch}' has moved since it was reviewed."
    if not repository.is_ancestor(expected, new):
        return f"The result is not a descendant of '{branch}'."
    if repository.is_busy(branch):
        return f"A rebase or bisect of '{branch}' is in progress."
    return None


def _swap(repository: Repository, branch: str, expected: str, new: str, run: str) -> str | None:
    try:
        repository.git.run("update-ref", "-m", f"burnish: {run}", f"refs/heads/{branch}", new, expected)
    except GitError as error:
        return f"'{branch}' could not be moved: {error.said}."
    return None


def _fast_forward(repository: Repository, worktree: Path, expected: str, new: str) -> str | None:
    git = Git(worktree)
    if not worktree.is_dir():
        return f"Its work tree {worktree} is missing."
    if not repository.is_clean(worktree, untracked=False):
        return f"There is uncommitted work in {worktree}."
    if git.text("rev-parse", "HEAD") != expected:
        return f"The branch in {worktree} has moved since it was reviewed."
    try:
        git.run("-c", "merge.autoStash=false", *_MERGE, new)
    except GitError as error:
        return f"It cannot be fast-forwarded in {worktree}: {error.said}."
    return None


def _leave_on(repository: Repository, name: str, new: str) -> bool:
    """Whether the branch has the result now. One that the user checked out meanwhile is not pulled from under them."""
    current = branch_commit(repository, name)
    if current == new:
        return True
    if current is not None and repository.checked_out_at(name) is not None:
        return False
    try:
        repository.git.run("update-ref", f"refs/heads/{name}", new, current or "0" * len(new))
    except GitError:  # a branch that is called `burnish` leaves no room for one below it
        return False
    return True


def branch_commit(repository: Repository, branch: str) -> str | None:
    if not branch:
        return None
    return repository.git.objects(f"refs/heads/{branch}^{{commit}}")[0]
