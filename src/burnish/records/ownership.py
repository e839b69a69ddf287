"""Which versions of which records burnish has written: what tells its own files from a user's.

Every version is noted down before it is written, as a digest, in the folder of its run. A file whose digest is not
among them was written, or changed, by somebody else.
"""

import hashlib
import os
from pathlib import Path

from burnish.system.files import sync

WRITTEN = "written-records"


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
    return any(entry in _entries(folder) for folder in (run_folder, *_others(run_folder)))


def _entry(path: str, data: bytes) -> str:
    """The path is part of the digest: a name may hold anything, a line must not."""
    return hashlib.sha256(path.encode("utf-8", errors="surrogateescape") + b"\0" + data).hexdigest()


def _entries(run_folder: Path) -> frozenset[str]:
    try:
        return frozenset((run_folder / WRITTEN).read_text(encoding="ascii", errors="replace").split())
    except OSError:
        return frozenset()


def _others(run_folder: Path) -> list[Path]:
    """The other runs, the latest first: their names begin with their time."""
    try:
        return sorted((folder for folder in run_folder.parent.iterdir() if folder != run_folder), reverse=True)
    except OSError:
        return []
