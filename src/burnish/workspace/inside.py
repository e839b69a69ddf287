"""Files of a folder in which somebody hostile was at work: no link on the way is followed, in it or out of it."""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from burnish.workspace.errors import UnsafeResultError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def _folder_of(root: Path, name: str) -> Generator[tuple[int, str]]:
    """The open folder that holds a file, and the file's own name in it."""
    *folders, file = name.split("/")
    descriptor = os.open(root, _FOLDER)
    try:
        for folder in folders:
            further = os.open(folder, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = further
        yield descriptor, file
    finally:
        os.close(descriptor)


def read_inside(root: Path, name: str, limit: int) -> bytes | None:
    """The beginning of a regular file below a folder; None where there is none that can be read."""
    with suppress(OSError, ValueError), _folder_of(root, name) as (folder, file):
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        with os.fdopen(descriptor, "rb") as stream:
            if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                return stream.read(limit)
    return None


def write_inside(root: Path, name: str, data: bytes) -> None:
    """Put a new file in place of whatever has this name, in a folder that exists."""
    try:
        with _folder_of(root, name) as (folder, file):
            with suppress(FileNotFoundError):
                os.unlink(file, dir_fd=folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(file, flags, 0o644, dir_fd=folder), "wb") as stream:
                stream.write(data)
    except OSError as error:
        raise UnsafeResultError(
            f"'{name}' of a clone cannot be written: {error.strerror}.", hint="Its agent changed what is in `.git`."
        ) from None
