"""The one writer of records: into the run's own folder always, into the user's checkout where a record belongs there.

The checkout is the user's. A file that git tracks, that burnish did not write, or that is reached through a symbolic
link is left alone, with a notice that says so. A record can always be written again, so a disk that is full or
read-only is a notice, too, and never ends a run.

Records describe one run. Before anything is written, what earlier runs left in its place is removed, verdicts first,
on the same conditions: files of burnish's own, unchanged since, that git does not track.

What tells burnish's own files from a user's: every version is noted down before it is written, as a digest, in the
folder of its run. In a record that other tools add fields to, theirs are kept and ours are brought up to date; its
`plugin` says whose file it is, its `sessionId` of which run it tells.
"""

import hashlib
import json
import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import NamedTuple, cast

from burnish.contracts.json_text import Json, JsonObject, write_json
from burnish.core.values import Value
from burnish.records.interface import RecordFile
from burnish.records.registry import RECORD_PATHS
from burnish.system.files import make_private_directory, sync, sync_directory, write_atomically

IsTracked = Callable[[str], bool]
"""Whether git tracks a path, given relative to the checkout's root."""
GivesWay = Callable[[str], bool]
"""Whether the records of another run, given by its name, make room for those of this one."""

ROUND_FOLDERS = "review-*"
"""Folders that hold the records of one round and go with the last of them."""
_NOT_OF_IT = "It has nothing about this run."
MAX_RECORD_BYTES = 64 * 1024 * 1024
"""Far above any record: a larger file is not burnish's, and is not read."""
_WRITTEN = "written-records"
RECORDS = "records"
"""The folder of a run in which it keeps its own copies."""
_OWNER = "plugin"
_SESSION = "sessionId"


class Notice(Value):
    """A record that could not be put where it belongs, and why."""

    path: str
    message: str
    hint: str = ""


class Written(Value):
    """What was brought up to date in the checkout, what was removed from it, and what could not be."""

    paths: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()


class _RefusedError(Exception):
    """A place in the checkout that is not ours to write to."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class Destination(NamedTuple):
    """Where the records of one run go."""

    run_folder: Path
    checkout: Path | None
    """None where the checkout holds the records of another run, which stay."""
    is_tracked: IsTracked
    gives_way: GivesWay
    fills_checkout: bool = True
    """Whether records are written there. What earlier runs left goes in any case."""
    makes_room: bool = True
    """Whether what earlier runs left is removed. Once that is done, nothing new comes while a run goes on."""


class _Notes:
    """What all runs of a repository have noted down, read once."""

    def __init__(self, run_folder: Path) -> None:
        self._entries = {folder.name: _entries(folder) for folder in _folders(run_folder)}

    def writers(self, path: str, data: bytes) -> Iterator[str]:
        """The runs that wrote exactly this file: this one first, then the latest."""
        entry = _entry(path, data)
        return (name for name, entries in self._entries.items() if entry in entries)


def write(files: Iterable[RecordFile], destination: Destination) -> Written:
    """Bring every record up to date. Files that are as they should be are not touched."""
    files = tuple(files)
    checkout = destination.checkout
    shown = tuple(file for file in files if file.in_checkout and destination.fills_checkout)
    removed: list[str] = []
    paths: list[str] = []
    notices: list[Notice] = []
    _remove_own_copies(destination.run_folder / RECORDS, {file.path for file in files})
    if checkout is not None and destination.makes_room:
        removed += _make_room(checkout, shown, destination, notices)
    for file in files:
        with _noticed(file.path, "written", notices):
            _write_own_copy(file, destination.run_folder)
            if (
                destination.checkout is not None
                and file in shown
                and _write_to_checkout(file, destination.checkout, destination)
            ):
                paths.append(file.path)
    gone = tuple(path for path in removed if path not in paths)
    return Written(paths=tuple(paths), removed=gone, notices=tuple(notices))


@contextmanager
def _noticed(path: str, what: str, notices: list[Notice]) -> Generator[None]:
    """Whatever keeps one record from being written or removed is told, and keeps no other one from it."""
    try:
        yield
    except _RefusedError as refused:
        notices.append(Notice(path=path, message=str(refused), hint=refused.hint))
    except OSError as error:
        hint = "The run continues. Try again with 'burnish records rebuild'."
        notices.append(Notice(path=path, message=f"It cannot be {what}: {error.strerror}.", hint=hint))


def _remove_own_copies(folder: Path, wanted: set[str]) -> None:
    """What this run's records no longer hold, such as names that an older version of burnish gave them."""
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if str(path.relative_to(folder)) not in wanted and not path.is_dir():
            with suppress(OSError):
                path.unlink()


def _outdated(checkout: Path, shown: tuple[RecordFile, ...]) -> list[tuple[str, bool]]:
    """The records in the checkout that are not of this run now, and verdicts that do not hold.

    Each with whether one of this run's is to be written there.
    """
    wanted = {file.path: file for file in shown}
    found = dict.fromkeys(
        str(path.relative_to(checkout)) for pattern in RECORD_PATHS for path in sorted(checkout.glob(pattern))
    )
    return [
        (path, path in wanted) for path in found if path not in wanted or _is_outdated(checkout / path, wanted[path])
    ]


def _is_outdated(path: Path, file: RecordFile) -> bool:
    if not file.is_verdict:
        return False
    try:
        return _content(path) != file.text.encode("utf-8", errors="replace")
    except _RefusedError:
        return False  # the writer says why


def _make_room(
    checkout: Path, shown: tuple[RecordFile, ...], destination: Destination, notices: list[Notice]
) -> list[str]:
    """Remove what is outdated; what is gone now."""
    outdated = _outdated(checkout, shown)
    notes = _Notes(destination.run_folder) if outdated else None
    removed: list[str] = []
    for path, is_wanted in outdated:
        with _noticed(path, "removed", notices):
            if notes is not None and _remove(checkout, path, destination, notes, is_wanted=is_wanted):
                removed.append(path)
    return removed


def _remove(checkout: Path, path: str, destination: Destination, notes: _Notes, *, is_wanted: bool) -> bool:
    """Remove a record that this run or one that gives way to it wrote. Whether it is gone."""
    try:
        _refuse_links(checkout, path)
        existing = _content(checkout / path)
        writers = () if existing is None else notes.writers(path, existing)
        own = destination.run_folder.name
        if not any(writer == own or destination.gives_way(writer) for writer in writers):
            raise _RefusedError(
                "It belongs to an earlier run and was changed since, so burnish did not replace it.", _NOT_OF_IT
            )
        if destination.is_tracked(path):
            raise _RefusedError(
                "It belongs to an earlier run and is tracked by git, so burnish did not replace it.", _NOT_OF_IT
            )
    except _RefusedError:
        # Where one of this run's is to be written, the writer says so. What never was a record is not spoken of.
        was_record = any(destination.gives_way(keeper) for keeper in _keepers(destination.run_folder, path))
        if is_wanted or not was_record:
            return False
        raise
    place = checkout / path
    place.unlink()
    sync_directory(place.parent)
    if fnmatch(place.parent.name, ROUND_FOLDERS):
        with suppress(OSError):  # it holds something else
            place.parent.rmdir()
    return True


def _write_own_copy(file: RecordFile, run_folder: Path) -> None:
    path = run_folder / RECORDS / _confined(file.path)
    data = file.text.encode("utf-8", errors="replace")
    if _content(path) == data:
        return
    make_private_directory(path.parent)
    write_atomically(path, data)


def _write_to_checkout(file: RecordFile, checkout: Path, destination: Destination) -> bool:
    path = checkout / _confined(file.path)
    _refuse_links(checkout, file.path)
    existing = _content(path)
    data = _data(file, existing)
    if existing == data:  # which is most of them after most events: git need not be asked
        return False
    if destination.is_tracked(file.path):
        raise _RefusedError(
            "It is tracked by git, so burnish did not replace it.", "The run's own copy has the current text."
        )
    if existing is not None and not _is_ours(file, existing, destination.run_folder):
        hint = "Move it away to have it written; the run's own copy has the current text."
        raise _RefusedError("There is already a file that burnish did not write.", hint)
    _note(destination.run_folder, file.path, data)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, data, mode=0o644)
    return True


def _confined(path: str) -> PurePosixPath:
    """The names in records are slugs; this holds even where one is not."""
    relative = PurePosixPath(path)
    if relative.is_absolute() or ".." in relative.parts or ".git" in relative.parts or not relative.parts:
        raise _RefusedError("Its path leads out of the checkout.", "Check the names of the story and the reviewers.")
    return relative


def _refuse_links(checkout: Path, path: str) -> None:
    """A link in the way may lead anywhere, also to a file that is tracked under another name."""
    place = checkout
    for part in PurePosixPath(path).parts:
        place /= part
        try:
            mode = place.lstat().st_mode
        except FileNotFoundError:
            return
        if stat.S_ISLNK(mode):
            name = place.relative_to(checkout)
            raise _RefusedError(f"'{name}' is a symbolic link.", "burnish never writes records through a link.")


def _content(path: Path) -> bytes | None:
    """What is there, or None where nothing is. Anything but a file is refused, and never waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_RECORD_BYTES:
            raise _RefusedError(
                "Something that is not a record is in the way.", "Move it away to have the record written."
            )
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            return stream.read()
    finally:
        os.close(descriptor)


def _data(file: RecordFile, existing: bytes | None) -> bytes:
    may_merge = file.shared and existing is not None and _is_same_record(existing, file.text)
    text = _merged_text(existing, file.text) if may_merge and existing is not None else file.text
    return text.encode("utf-8", errors="replace")


def _is_ours(file: RecordFile, existing: bytes, run_folder: Path) -> bool:
    if file.shared and _is_same_record(existing, file.text):
        return True
    return _was_written(run_folder, file.path, existing)


def _note(run_folder: Path, path: str, data: bytes) -> None:
    """Note a version down, durably, before it is written."""
    line = f"{_entry(path, data)}\n"
    descriptor = os.open(run_folder / _WRITTEN, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, line.encode())
        sync(descriptor)
    finally:
        os.close(descriptor)


def _was_written(run_folder: Path, path: str, data: bytes) -> bool:
    """Whether any run of this repository wrote exactly this file."""
    entry = _entry(path, data)
    return any(entry in _entries(folder) for folder in _folders(run_folder))


def _keepers(run_folder: Path, path: str) -> Iterator[str]:
    """The runs that have a record of this name, whatever the file in the checkout says by now."""
    return (folder.name for folder in _folders(run_folder) if (folder / RECORDS / path).exists())


def _entry(path: str, data: bytes) -> str:
    """The path is part of the digest: a name may hold anything, a line must not."""
    return hashlib.sha256(path.encode("utf-8", errors="surrogateescape") + b"\0" + data).hexdigest()


def _entries(run_folder: Path) -> frozenset[str]:
    try:
        return frozenset((run_folder / _WRITTEN).read_text(encoding="ascii", errors="replace").split())
    except OSError:
        return frozenset()


def _folders(run_folder: Path) -> list[Path]:
    """The run's own, then the others, the latest first: their names begin with their time."""
    try:
        others = sorted((folder for folder in run_folder.parent.iterdir() if folder != run_folder), reverse=True)
    except OSError:
        others = []
    return [run_folder, *others]


def _is_same_record(existing: bytes, text: str) -> bool:
    """Whether the file that exists is an older version of this record, with or without fields of other tools."""
    found, ours = _object(existing.decode("utf-8", errors="replace")), _object(text)
    return found is not None and ours is not None and _OWNER in ours and found.get(_OWNER) == ours[_OWNER]


def _merged_text(existing: bytes, text: str) -> str:
    """Our text with the fields that only the existing file has."""
    found, ours = _object(existing.decode("utf-8", errors="replace")), _object(text)
    if found is None or ours is None:
        return text
    same_run = found.get(_SESSION) == ours.get(_SESSION)
    # Below the top, fields of another run would be put beside rounds that they do not belong to.
    kept = _with_unknown(ours, found) if same_run else {**found, **ours}
    return write_json(_in_order(ours, kept))


def _object(text: str) -> JsonObject | None:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("JsonObject", value) if isinstance(value, dict) else None


def _in_order(ours: JsonObject, kept: JsonObject) -> JsonObject:
    """Our keys first, in our order."""
    return {**{key: kept[key] for key in ours}, **{key: value for key, value in kept.items() if key not in ours}}


def _with_unknown(ours: JsonObject, found: JsonObject) -> JsonObject:
    both = {key: _merged(value, found[key]) if key in found else value for key, value in ours.items()}
    return {**both, **{key: value for key, value in found.items() if key not in ours}}


def _merged(ours: Json, found: Json) -> Json:
    if isinstance(ours, dict) and isinstance(found, dict):
        return _with_unknown(ours, found)
    if isinstance(ours, list) and isinstance(found, list):
        # Entries have their place for good: rounds are only ever added at the end.
        pairs = [_merged(ours[place], found[place]) for place in range(min(len(ours), len(found)))]
        return [*pairs, *ours[len(pairs) :]]
    return ours
