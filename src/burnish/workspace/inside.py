"""Files of a clone in which a hostile agent may have worked."""

import os
from contextlib import suppress
from pathlib import Path

from burnish.system.nofollow import READING, folder_of, regular_content, write_new
from burnish.workspace.errors import UnsafeResultError


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
