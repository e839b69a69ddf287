"""What a folder holds, as a value that can be compared: content, modes, links, names; never times.

Files are read once. Later looks believe the kernel: a file whose size, inode and times of change are as they were has
the content that it had, for the time of change cannot be set by a program. Only what changed within the last second
before the first look is read again, since the kernel's clock ticks too slowly to tell two writes apart.
"""

import hashlib
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from burnish.core.values import Value
from burnish.system.clock import now
from burnish.workspace.names import shown, to_text

_JUST_NOW = 1.0
_MOST_SHOWN = 100
UNREADABLE = "unreadable"
UNREAD = "unread"


class FileFingerprint(Value):
    """One file, folder, link or other thing."""

    mode: int
    content: str
    """The digest of a file, the target of a link; empty for a folder."""
    size: int = 0
    stamp: tuple[int, ...] = ()
    """What tells without reading that a file is as it was; empty where that cannot be believed."""


_NOTHING = FileFingerprint(mode=0, content=UNREAD)


class Fingerprint(Value):
    """Everything in a folder by its name, and what else was looked at apart from the files, by what it is called."""

    entries: dict[str, FileFingerprint]
    further: dict[str, str] = msgspec.field(default_factory=dict[str, str])


def take(folder: Path, since: Fingerprint | None = None) -> Fingerprint:
    """Look at a folder. `since` is an earlier look at it, which saves reading what surely did or did not change."""
    settled = int((now() - _JUST_NOW) * 1e9)
    root = os.fsencode(folder) + b"/"
    entries: dict[str, FileFingerprint] = {}
    with suppress(OSError):
        entries["."] = FileFingerprint(mode=folder.lstat().st_mode, content="")
    waiting = [b""]
    while waiting:
        prefix = waiting.pop()
        for found in _listing(root + prefix):
            name = prefix + found.name
            text = to_text(name)
            known = since.entries.get(text, _NOTHING) if since is not None else None
            with suppress(FileNotFoundError):  # what goes away meanwhile is away
                information = found.stat(follow_symlinks=False)
                entries[text] = _entry(found.path, information, known, settled)
                if stat.S_ISDIR(information.st_mode):
                    waiting.append(name + b"/")
    return Fingerprint(entries=entries)


def _listing(folder: bytes) -> list[os.DirEntry[bytes]]:
    try:
        with os.scandir(folder) as listing:
            return list(listing)
    except OSError:  # made unreadable, or gone: the mode or the missing names will tell
        return []


def _entry(path: bytes, information: os.stat_result, known: FileFingerprint | None, settled: int) -> FileFingerprint:
    mode, size = information.st_mode, information.st_size
    if stat.S_ISLNK(mode):
        return FileFingerprint(mode=stat.S_IFMT(mode), content=str(Path(os.fsdecode(path)).readlink()))
    if not stat.S_ISREG(mode):
        return FileFingerprint(mode=mode, content="")
    stamp = (information.st_ino, size, information.st_mtime_ns, information.st_ctime_ns)
    if known is not None and known.stamp == stamp:
        return FileFingerprint(mode=mode, content=known.content, size=size, stamp=stamp)
    if known is not None and (known.size != size or known.content == UNREAD):
        return FileFingerprint(mode=mode, content=UNREAD, size=size)  # new or changed, that is clear; it may be endless
    believable = stamp if information.st_ctime_ns < settled else ()
    return FileFingerprint(mode=mode, content=_digest(path), size=size, stamp=believable)


def _digest(path: bytes) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return UNREADABLE
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


def differences(before: Fingerprint, after: Fingerprint) -> tuple[str, ...]:
    """What is not as it was, one line each, for people; empty where everything is."""
    found = _file_differences(before.entries, after.entries)
    names = sorted(before.further.keys() | after.further.keys())
    found += [f"changed: {name}" for name in names if before.further.get(name) != after.further.get(name)]
    rest = len(found) - _MOST_SHOWN
    return tuple(found if rest <= 0 else [*found[:_MOST_SHOWN], f"and {rest} more"])


def _file_differences(before: Mapping[str, FileFingerprint], after: Mapping[str, FileFingerprint]) -> list[str]:
    found: list[str] = []
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old is None:
            found.append(f"new: {shown(name)}")
        elif new is None:
            found.append(f"removed: {shown(name)}")
        elif old.content != new.content:
            found.append(f"changed: {shown(name)}")
        elif old.mode != new.mode:
            found.append(f"mode changed: {shown(name)}")
    return found
