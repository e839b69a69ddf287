"""Whole folders: copied as they are, protected from writing, and removed whatever is in them; and single files of a
clone in which a hostile agent may have worked.

Copies keep links and modes; nothing is copied over something that is there, or out of the folder.
"""

import os
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from burnish.system.nofollow import READING, folder_of, regular_content, write_new
from burnish.system.process import Command, run_now
from burnish.workspace.errors import CloneError, UnsafeResultError

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


def read_inside(root: Path, name: str, limit: int) -> bytes | None:
    """The beginning of a regular file below a folder; None where there is none that can be read."""
    with suppress(OSError, ValueError), folder_of(root, name) as (folder, file):
        return regular_content(os.open(file, READING, dir_fd=folder), limit)
    return None


def write_inside(root: Path, name: str, data: bytes) -> None:
    """Put a new file in place of whatever has this name, in a folder that exists."""
    try:
        write_new(root, name, data, mode=0o644)
    except OSError as error:
        raise UnsafeResultError(
            f"'{name}' of a clone cannot be written: {error.strerror}.", hint="Its agent changed files in `.git`."
        ) from None
