"""Files that are either there in full or not at all, also after a power cut.

Everything that another program may read while it is being written goes through here.
"""

import errno
import fcntl
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

TEMPORARY_SUFFIX = ".tmp"
"""What a killed writer may leave behind ends in this, and is never read."""
_NAME_LENGTH = 100
"""How much of a file's name its temporary one bears."""


def write_atomically(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace a file's content in one step: temporary file, sync, rename, sync of the directory."""
    temporary = temporary_for(path)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        try:
            os.fchmod(descriptor, mode)  # the umask has no say
            write_all(descriptor, data)
            sync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_directory(path.parent)


def temporary_for(path: Path) -> Path:
    """A new name beside a file, for what is about to take its place."""
    return path.with_name(f".{path.name[:_NAME_LENGTH]}.{os.urandom(6).hex()}{TEMPORARY_SUFFIX}")


def remove_half_written(root: Path, names: Iterable[str]) -> None:
    """Remove what killed writers left of files below a folder; nothing else, and never through a link out of it."""
    home = root.resolve()
    for path in (root / name for name in names):
        if path.parent.is_dir() and path.parent.resolve().is_relative_to(home):
            form = rf"\.{re.escape(path.name[:_NAME_LENGTH])}\.[0-9a-f]{{12}}{re.escape(TEMPORARY_SUFFIX)}"
            for found in [each for each in path.parent.iterdir() if re.fullmatch(form, each.name)]:
                with suppress(OSError):
                    found.unlink()


def write_all(descriptor: int, data: bytes) -> None:
    """Write to the end, however little is taken at once."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def make_private_directory(path: Path) -> None:
    """Create a directory for the user's eyes only, with its parents, durably. One that exists is left as it is."""
    if path.is_dir():
        return
    make_private_directory(path.parent)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        if path.is_dir():  # another process was faster
            return
        raise
    sync_directory(path.parent)


def make_own_directory(path: Path) -> None:
    """Create a directory for this user alone in a place where others can write. Raises `OSError` where that fails.

    Another user may have put a directory or a link of this name there: neither is used.
    """
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        about = os.fstat(descriptor)
        if about.st_uid != os.getuid():
            raise PermissionError(errno.EPERM, "it belongs to another user", str(path))
        if about.st_mode & 0o077:
            os.fchmod(descriptor, 0o700)
    finally:
        os.close(descriptor)


def sync(descriptor: int) -> None:
    """Wait until the disk itself holds the data; macOS needs to be asked for more than fsync."""
    full_sync: int | None = getattr(fcntl, "F_FULLFSYNC", None)
    if full_sync is not None:
        with suppress(OSError):  # not every file system knows it
            fcntl.fcntl(descriptor, full_sync)
            return
    os.fsync(descriptor)


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable: a file that was renamed stays renamed."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
