"""Whole folders: copied as they are, protected from writing, and removed whatever is in them.

Copies keep links and modes; nothing is copied over something that is there, or out of the folder.
"""

import os
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from burnish.system.process import Command, run_now
from burnish.workspace.errors import CloneError

_SECONDS = 300.0


def remove_folder(path: Path) -> None:
    """Remove a folder and everything in it, never following a link. One that is not there is fine."""
    if not os.path.lexists(path):
        return
    if path.is_symlink():
        path.unlink()
        return
    # Too deep for the recursion of the library, or not writable: the system's own tools cope with both.
    with suppress(OSError, RecursionError):
        shutil.rmtree(path)
        return
    _tool("chmod", "-R", "u+rwx", str(path))
    _tool("rm", "-rf", "--", str(path))
    if os.path.lexists(path):
        raise CloneError(f"'{path}' cannot be removed.", hint="Check who owns it, and remove it by hand.")


def _tool(*argv: str) -> None:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    run_now(Command(argv=argv, folder="/", environment=environment), seconds=_SECONDS)


def protect_folder(path: Path) -> None:
    """Take the permission to write from everything in a folder: a mistake fails, instead of being noticed later."""
    _tool("chmod", "-R", "a-w", str(path))


def copy_folder(source: Path, target: Path) -> None:
    """A writable copy of a folder. Pipes, sockets and devices are left out."""
    target.mkdir(parents=True)
    waiting = [(source, target)]
    while waiting:
        here, there = waiting.pop()
        with os.scandir(here) as listing:
            for found in listing:
                mode = found.stat(follow_symlinks=False).st_mode
                copied = there / found.name
                if stat.S_ISDIR(mode):
                    copied.mkdir()
                    waiting.append((Path(found.path), copied))
                else:
                    _copy(Path(found.path), copied, mode)


def copy_files(source: Path, target: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Copy some files of a folder; what was copied. A file that is there already is left as it is."""
    copied: list[str] = []
    for name in names:
        place = target / name
        with suppress(FileNotFoundError, NotADirectoryError):  # the user may remove files meanwhile
            mode = (source / name).lstat().st_mode
            if os.path.lexists(place) or stat.S_ISDIR(mode) or not _stays_inside(target, place):
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            _copy(source / name, place, mode)
            copied.append(name)
    return tuple(copied)


def _copy(source: Path, target: Path, mode: int) -> None:
    if stat.S_ISLNK(mode):
        target.symlink_to(source.readlink())
    elif stat.S_ISREG(mode):
        shutil.copy2(source, target)
        target.chmod(stat.S_IMODE(mode) | stat.S_IWUSR)


def _stays_inside(folder: Path, place: Path) -> bool:
    """A link in the tree may lead anywhere; nothing is written through it."""
    return place.parent.resolve().is_relative_to(folder.resolve())
