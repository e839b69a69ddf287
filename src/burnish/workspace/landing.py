"""Where a result goes: the one moment in which a user's branch moves, and how to take what was left beside it.

A branch moves forward only, by compare-and-swap, and never over open work. Wherever that cannot be done, the result is
left on a branch of burnish's own, with one command to take it that works as the repository is now.
"""

import os
from pathlib import Path

from burnish.core.values import Value
from burnish.system.shell import shell_line
from burnish.workspace.errors import GitError, WorkspaceError
from burnish.workspace.git import Git
from burnish.workspace.names import fields, to_text
from burnish.workspace.references import BRANCHES
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
_MOST_MOVED = 3
"""Files that are moved out of the way in one command."""


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
    reason = move_branch(repository, branch, expected, new, run)
    if reason:
        return leave(repository, new=new, run=run, reason=reason)
    return Landing(moved=True, ref=branch, words=f"The result is on {branch}.")


def leave(repository: Repository, *, new: str, run: str, reason: str = "") -> Landing:
    """Leave a result on `burnish/<run>`, for the user to take. The subject's branch stays where it is."""
    name = f"burnish/{run_name(run)}"
    ref = name if _leave_on(repository, name, new) else result_ref(run)
    return Landing(moved=False, ref=ref, words=f"{reason} The result is on {ref}.".strip())


def move_branch(repository: Repository, branch: str, expected: str, new: str, run: str) -> str:
    """Move a branch forward, in its work tree where it is checked out. Why it was not moved; empty where it is there
    now."""
    current = branch_commit(repository, branch)
    if current is None:
        return f"There is no branch '{branch}' to move."
    if current == new:
        return ""
    if current != expected:
        return f"'{branch}' has moved since it was reviewed."
    if not repository.is_ancestor(expected, new):
        return f"The result is not a descendant of '{branch}'."
    if repository.is_busy(branch):
        return f"A rebase or bisect of '{branch}' is in progress."
    worktree = repository.checked_out_at(branch)
    if worktree is not None:
        return _fast_forward(repository, worktree, expected, new)
    try:
        repository.git.run("update-ref", "-m", f"burnish: {run}", f"refs/heads/{branch}", new, expected)
    except GitError as error:
        return f"'{branch}' could not be moved: {error.said}."
    return ""


def _fast_forward(repository: Repository, worktree: Path, expected: str, new: str) -> str:
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
    return ""


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


class Taking(Value):
    command: str
    does: str


class ResultCommits(Value):
    """A run's commits, and the branch that they are for."""

    run: str
    branch: str
    head: str
    """What was reviewed."""
    commit: str


def how_to_take(repository: Repository, result: ResultCommits, folder: Path) -> Taking:
    """The command that brings the result to its branch; where none can, the one that shows it.

    `folder` is where the user is.
    """
    ref = _ref(repository, result)
    place = _place(repository, result)
    if place is None or repository.is_busy(result.branch):
        return _look(ref, result)
    forward = repository.is_ancestor(place.commit, result.commit)
    if place.worktree is None:
        return _move(ref, result) if forward else _look(ref, result)
    if not place.worktree.is_dir() or not (forward or _merges(repository, place.commit, result.commit)):
        return _look(ref, result)
    return _merge(repository, place, place.worktree, ref=ref, result=result, folder=folder, forward=forward)


class _Place(Value):
    """What a result is taken into."""

    name: str
    commit: str
    worktree: Path | None
    """Where it is checked out."""


def _place(repository: Repository, result: ResultCommits) -> _Place | None:
    """The branch; where the subject was none, the detached HEAD that it was."""
    current = branch_commit(repository, result.branch)
    if current is not None:
        return _Place(name=result.branch, commit=current, worktree=repository.checked_out_at(result.branch))
    if repository.current_branch() is None and repository.commit_of("HEAD") == result.head:
        return _Place(name="what is checked out", commit=result.head, worktree=repository.root)
    return None


def _ref(repository: Repository, result: ResultCommits) -> str:
    """A name of the result that git cannot take for anything else."""
    name = f"burnish/{run_name(result.run)}"
    if branch_commit(repository, name) != result.commit:
        own = result_ref(result.run)
        return own if _plain(repository, own) == result.commit else result.commit
    try:
        return name if repository.commit_of(name) == _plain(repository, name) else f"{BRANCHES}{name}"
    except WorkspaceError:
        return f"{BRANCHES}{name}"


def _plain(repository: Repository, name: str) -> str:
    """What git itself takes a name for; a tag comes before a branch."""
    return repository.git.text("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", check=False)


def _look(ref: str, result: ResultCommits) -> Taking:
    command = shell_line("git", "--no-pager", "log", "--patch", f"{result.head}..{ref}")
    return Taking(command=command, does="shows the result, which cannot be merged now")


def _move(ref: str, result: ResultCommits) -> Taking:
    full = ref if ref.startswith("refs/") or ref == result.commit else f"{BRANCHES}{ref}"
    command = shell_line("git", "fetch", "--quiet", ".", f"{full}:{BRANCHES}{result.branch}")
    return Taking(command=command, does=f"fast-forwards {result.branch} to the result")


def _merges(repository: Repository, current: str, commit: str) -> bool:
    """Whether both can be merged without a conflict. Versions of git that cannot tell are not believed."""
    return repository.git.finish("merge-tree", "--write-tree", current, commit).code == 0


def _merge(
    repository: Repository,
    place: _Place,
    worktree: Path,
    *,
    ref: str,
    result: ResultCommits,
    folder: Path,
    forward: bool,
) -> Taking:
    git = Git(worktree)
    since = place.commit if forward else git.text("merge-base", place.commit, result.commit)
    changed = _names(git.run("diff-tree", "-r", "-z", "--name-only", since, result.commit))
    tracked = _names(git.run("ls-files", "-z"))
    blocked = sorted(name for name in changed - tracked if os.path.lexists(worktree / name))
    if len(blocked) > _MOST_MOVED:
        return _look(ref, result)
    dirty = frozenset(repository.uncommitted(worktree=worktree, untracked=False))
    aside = bool(dirty & changed) if forward else bool(dirty)
    here = () if folder.resolve().is_relative_to(worktree.resolve()) else ("-C", str(worktree))
    how = ("--ff-only",) if forward else ("--no-edit",)
    stash = ("--autostash",) if aside else ()
    moves = [_moved_aside(worktree / name, folder) for name in blocked]
    merge = shell_line("git", *here, "merge", *how, *stash, ref)
    first = "moves the files in the way aside and " if moves else ""
    verb = "brings the result into" if forward else "merges the result into"
    kept = ", keeping your uncommitted work" if aside else ""
    return Taking(command=" && ".join([*moves, merge]), does=f"{first}{verb} {place.name}{kept}")


def _names(listing: bytes) -> frozenset[str]:
    return frozenset(map(to_text, fields(listing)))


def _moved_aside(path: Path, folder: Path) -> str:
    number = 1
    while os.path.lexists(free := path.with_name(f"{path.name}.{number}")):
        number += 1
    return shell_line("mv", "--", os.path.relpath(path, folder), os.path.relpath(free, folder))
