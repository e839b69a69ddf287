"""How a user takes a result that burnish left beside a branch: one command that works as the repository is now."""

import os
from pathlib import Path

from burnish.core.values import Value
from burnish.system.shell import shell_line
from burnish.workspace import worktrees
from burnish.workspace.errors import WorkspaceError
from burnish.workspace.git import Git
from burnish.workspace.landing import branch_commit
from burnish.workspace.names import fields, to_text
from burnish.workspace.references import BRANCHES
from burnish.workspace.repository import Repository, run_name
from burnish.workspace.results import result_ref

_MOST_MOVED = 3
"""Files that are moved out of the way in one command."""


class Taking(Value):
    """A command line and what it does."""

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
    return _merge(place, place.worktree, ref, result, folder, forward=forward)


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
        stored = repository.git.text("rev-parse", "--verify", "--quiet", f"{own}^{{commit}}", check=False)
        return own if stored == result.commit else result.commit
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


def _merge(place: _Place, worktree: Path, ref: str, result: ResultCommits, folder: Path, *, forward: bool) -> Taking:
    git = Git(worktree)
    since = place.commit if forward else git.text("merge-base", place.commit, result.commit)
    changed = _names(git.run("diff-tree", "-r", "-z", "--name-only", since, result.commit))
    tracked = _names(git.run("ls-files", "-z"))
    blocked = sorted(name for name in changed - tracked if os.path.lexists(worktree / name))
    if len(blocked) > _MOST_MOVED:
        return _look(ref, result)
    dirty = frozenset(worktrees.uncommitted(worktree, untracked=False))
    aside = bool(dirty & changed) if forward else bool(dirty)
    here = () if _is_in(folder, worktree) else ("-C", str(worktree))
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


def _is_in(folder: Path, worktree: Path) -> bool:
    return folder.resolve().is_relative_to(worktree.resolve())
