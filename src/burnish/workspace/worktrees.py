"""The user's own work trees: where a branch is checked out, and whether work in it is not committed. Only looks."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from burnish.core.values import Value
from burnish.workspace.git import Git
from burnish.workspace.names import fields, to_bytes, to_text
from burnish.workspace.references import BRANCHES

_WITH_GLOBS = {"GIT_LITERAL_PATHSPECS": "0"}


class WorkTree(Value):
    """One checkout of the repository, and the branch in it."""

    path: Path
    branch: str | None


def work_trees(git: Git) -> tuple[WorkTree, ...]:
    """The main work tree and the linked ones."""
    finished = git.finish("worktree", "list", "--porcelain", "-z")
    if finished.code == 0:
        lines = finished.stdout.split(b"\0")
    else:  # before 2.36 there was no -z
        lines = git.run("worktree", "list", "--porcelain").split(b"\n")
    found: list[WorkTree] = []
    for line in lines:
        word, _, rest = line.partition(b" ")
        if word == b"worktree":
            found.append(WorkTree(path=Path(to_text(rest)), branch=None))
        elif word == b"branch" and found:
            found[-1] = WorkTree(path=found[-1].path, branch=to_text(rest).removeprefix(BRANCHES))
    return tuple(found)


def is_clean(worktree: Path, *, ignoring: Sequence[str] = (), untracked: bool = True) -> bool:
    """Whether everything in a work tree is committed. `ignoring` are globs of files that do not count."""
    return not uncommitted(worktree, ignoring=ignoring, untracked=untracked)


def uncommitted(worktree: Path, *, ignoring: Sequence[str] = (), untracked: bool = True) -> tuple[str, ...]:
    """The files of a work tree that differ from what is committed in it."""
    listing = Git(worktree).run(
        "status",
        "--porcelain",
        "-z",
        "--no-renames",
        "--ignore-submodules=dirty",
        f"--untracked-files={'all' if untracked else 'no'}",
        *excluding(ignoring),
        environment=_WITH_GLOBS,
    )
    return tuple(to_text(line[3:]) for line in fields(listing))


def excluding(globs: Iterable[str]) -> list[str]:
    """The arguments that leave files out, for a command that understands globs."""
    return ["--", ":/", *(f":(top,exclude,glob){pattern}" for pattern in globs)]


def is_busy(common_dir: Path, branch: str) -> bool:
    """Whether a rebase or a bisection is under way that will come back to this branch."""
    homes = [common_dir, *sorted((common_dir / "worktrees").glob("*"))]
    places = [home / place for home in homes for place in ("rebase-merge/head-name", "rebase-apply/head-name")]
    places += [home / "BISECT_START" for home in homes]
    names = {_first_line(place).removeprefix(to_bytes(BRANCHES)) for place in places if place.is_file()}
    return to_bytes(branch) in names


def _first_line(path: Path) -> bytes:
    try:
        return path.read_bytes().split(b"\n")[0].strip()
    except OSError:
        return b""
