"""Which versions of which records burnish has written: what tells its own files from a user's.

Every version is noted down before it is written, as a digest, in the folder of its run. A file whose digest is not
among them was written, or changed, by another program or by hand.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from burnish.system.files import sync

WRITTEN = "written-records"
RECORDS = "records"
"""The folder of a run in which it keeps its own copies."""


def note(run_folder: Path, path: str, data: bytes) -> None:
    """Note a version down, durably, before it is written."""
    line = f"{_entry(path, data)}\n"
    descriptor = os.open(run_folder / WRITTEN, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, line.encode())
        sync(descriptor)
    finally:
        os.close(descriptor)


def was_written(run_folder: Path, path: str, data: bytes) -> bool:
    """Whether any run of this repository wrote exactly this file."""
    entry = _entry(path, data)
    return any(entry in _entries(folder) for folder in _folders(run_folder))


class Notes:
    """What all runs of a repository have noted down, read once."""

    def __init__(self, run_folder: Path) -> None:
        self._entries = {folder.name: _entries(folder) for folder in _folders(run_folder)}

    def writers(self, path: str, data: bytes) -> Iterator[str]:
        """The runs that wrote exactly this file: this one first, then the latest."""
        entry = _entry(path, data)
        return (name for name, entries in self._entries.items() if entry in entries)


def keepers(run_folder: Path, path: str) -> Iterator[str]:
    """The runs that have a record of this name, whatever the file in the checkout says by now."""
    return (folder.name for folder in _folders(run_folder) if (folder / RECORDS / path).exists())


def _entry(path: str, data: bytes) -> str:
    """The path is part of the digest: a name may hold anything, a line must not."""
    return hashlib.sha256(path.encode("utf-8", errors="surrogateescape") + b"\0" + data).hexdigest()


def _entries(run_folder: Path) -> frozenset[str]:
    try:
        return frozenset((run_folder / WRITTEN).read_text(encoding="ascii", errors="replace").split())
    except OSError:
        return frozenset()


def _folders(run_folder: Path) -> list[Path]:
    """The run's own, then the others, the latest first: their names begin with their time."""
    try:
        others = sorted((folder for folder in run_folder.parent.iterdir() if folder != run_folder), reverse=True)
    except OSError:
        others = []
    return [run_folder, *others]
