"""What a command is given to read: a file or the standard input, never more of it than was asked for.

It also knows the files around a command: the root of the enclosing repository and what lies below it. It must not
interpret what it reads.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from burnish.core.errors import BurnishError, ErrorKind

STANDARD_INPUT = "-"
MAX_SOURCE_BYTES = 4 * 1024 * 1024
"""A source file that is longer was not written by hand; its lines are not looked at."""


class InputError(BurnishError):
    """Something that the user named cannot be read."""

    kind = ErrorKind.USAGE


def read_input(name: str, limit: int) -> bytes:
    """Read a file, or the standard input for `-`; at most one byte over the limit, so that a reader can tell."""
    if name == STANDARD_INPUT:
        return _read_bounded(sys.stdin.buffer, limit)
    try:
        with Path(name).open("rb") as stream:
            return _read_bounded(stream, limit)
    except FileNotFoundError:
        raise InputError(
            f"There is no file '{name}'.", hint="Look at the path, or use '-' to read from a pipe."
        ) from None
    except IsADirectoryError:
        raise InputError(f"'{name}' is a directory.", hint="Name one file in it.") from None
    except PermissionError:
        raise InputError(f"'{name}' may not be read.", hint="Look at its permissions.") from None
    except (OSError, ValueError) as error:
        raise InputError(f"'{name}' cannot be read: {error}.", hint="Look at the path.") from None


def _read_bounded(stream: BinaryIO, limit: int) -> bytes:
    # A pipe gives what it has, so that one call may return less than there is.
    chunks: list[bytes] = []
    left = limit + 1
    while left > 0 and (chunk := stream.read(min(left, 1024 * 1024))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def enclosing_root(start: Path) -> Path:
    """The root of the repository around a folder, or the folder itself where there is none."""
    start = start.resolve()
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), start)


class SourceTree:
    """The files below a root, by their relative paths. What lies outside is as if it did not exist."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def is_file(self, path: str) -> bool:
        return self._inside(path) is not None

    def lines(self, path: str) -> Sequence[str] | None:
        """The lines of a file, or None where there is no such file of readable size."""
        file = self._inside(path)
        if file is None:
            return None
        try:
            with file.open("rb") as stream:
                raw = _read_bounded(stream, MAX_SOURCE_BYTES)
        except OSError:
            return None
        return None if len(raw) > MAX_SOURCE_BYTES else raw.decode("utf-8", errors="replace").split("\n")

    def _inside(self, path: str) -> Path | None:
        try:
            named = self._root / path
            if not named.is_file():
                return None
            file = named.resolve()
            return file if file.is_relative_to(self._root) else None
        except (OSError, ValueError):
            # A name that no file can have: too long, or with a NUL in it.
            return None
