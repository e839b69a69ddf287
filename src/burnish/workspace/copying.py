"""Files copied as they are: links as links, modes kept, never over something that is there, never out of the folder."""

import os
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


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
