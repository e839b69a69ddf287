"""Files of a folder in which a hostile process may have worked: no link below it is followed, in it or out of it."""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def folder_of(root: Path, name: str, *, make: bool = False, mode: int = 0o700) -> Generator[tuple[int, str]]:
    """The open folder that holds a file, made where it is missing and wanted, and the file's own name in it."""
    *folders, file = name.split("/")
    descriptor = os.open(root, _FOLDER)
    try:
        for folder in folders:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(folder, mode, dir_fd=descriptor)
            further = os.open(folder, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = further
        yield descriptor, file
    finally:
        os.close(descriptor)


def regular_content(descriptor: int, limit: int) -> bytes | None:
    """The beginning of an open file; None where it is no regular one. The descriptor is closed."""
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read(limit) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None


def write_new(root: Path, name: str, data: bytes, *, mode: int, make: bool = False) -> None:
    """Put a new file in place of whatever has this name."""
    with folder_of(root, name, make=make) as (folder, file):
        with suppress(FileNotFoundError):
            os.unlink(file, dir_fd=folder)
        with os.fdopen(os.open(file, _NEW, mode, dir_fd=folder), "wb") as stream:
            stream.write(data)


def create_file(root: Path, name: str, data: bytes) -> None:
    """Make a file of the user's own, and its folders. Raises `FileExistsError` where anything has this name."""
    with (
        folder_of(root, name, make=True, mode=0o777) as (folder, file),
        os.fdopen(os.open(file, _NEW, 0o666, dir_fd=folder), "wb") as stream,
    ):
        stream.write(data)
