"""The one writer of records: into the run's own folder always, into the user's checkout where a record belongs there.

The checkout is the user's. A file that git tracks, that burnish did not write, or that is reached through a symbolic
link is left alone, with a notice that says so. A record can always be written again, so a disk that is full or
read-only is a notice, too, and never ends a run.

Records describe one run. Before anything is written, what earlier runs left in its place is removed, verdicts first,
on the same conditions: files of burnish's own, unchanged since, that git does not track.

What tells burnish's own files from a user's: every version is noted down before it is written, as a digest, in the
folder of its run. In a record that other tools add fields to, theirs are kept and ours are brought up to date; its
`plugin` says whose file it is, its `sessionId` of which run it tells. Or the record itself knows what to make of a file
that is there (`take_over`).
"""

import hashlib
import json
import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple, cast

from burnish.contracts.json_text import Json, JsonObject, write_json
from burnish.core.values import Value
from burnish.records.interface import RecordFile, RefusedRecordError
from burnish.records.registry import RUN_RECORD_PATHS
from burnish.system.files import make_private_directory, sync, sync_directory, write_atomically

IsTracked = Callable[[str], bool]
"""Whether git tracks a path, given relative to the checkout's root."""
GivesWay = Callable[[str], bool]
"""Whether the records of another run, given by its name, make room for those of this one."""

ROUND_FOLDERS = "review-*"
"""Folders that hold the records of one round and go with the last of them."""
MAX_RECORD_BYTES = 64 * 1024 * 1024
"""Far above any record: a larger file is not burnish's, and is not read."""
_WRITTEN = "written-records"
RECORDS = "records"
"""The folder of a run in which it keeps its own copies."""
_OWNER = "plugin"
_SESSION = "sessionId"


class Notice(Value):
    path: str
    message: str
    hint: str = ""


class Written(Value):
    paths: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()


class Destination(NamedTuple):
    run_folder: Path
    checkout: Path | None
    """None where the checkout holds the records of another run, which stay."""
    is_tracked: IsTracked
    gives_way: GivesWay
    fills_checkout: bool = True
    """Whether records are written there. What earlier runs left goes in any case."""
    makes_room: bool = True
    """Whether what earlier runs left is removed. Once that is done, nothing new comes while a run goes on."""
    places: tuple[str, ...] = RUN_RECORD_PATHS
    """Globs of where earlier runs may have left something."""
    complete: bool = True
    """Whether the files are all that the run has on record: its own copies of others are removed."""


class _Notes:
    """What all runs of a repository had noted down, read once, when it is first asked for."""

    def __init__(self, run_folder: Path) -> None:
        self._run_folder = run_folder

    @cached_property
    def _entries(self) -> dict[str, frozenset[str]]:
        return {folder.name: _entries(folder) for folder in _folders(self._run_folder)}

    def writers(self, path: str, data: bytes) -> Iterator[str]:
        """The runs that wrote exactly this file: this one first, then the latest."""
        entry = _entry(path, data)
        return (name for name, entries in self._entries.items() if entry in entries)


def write(files: Iterable[RecordFile], destination: Destination) -> Written:
    """Bring every record up to date. Files that are as they should be are not touched."""
    files = tuple(files)
    checkout, notes = destination.checkout, _Notes(destination.run_folder)
    shown = {file.path: file for file in files if file.in_checkout and destination.fills_checkout}
    removed: list[str] = []
    paths: list[str] = []
    notices: list[Notice] = []
    if destination.complete:
        _remove_own_copies(destination.run_folder / RECORDS, {file.path for file in files})
    if checkout is not None and destination.makes_room:
        removed += _make_room(checkout, shown, destination, notes, notices)
    for file in files:
        with _noticed(file.path, "written", notices):
            _write_own_copy(file, destination.run_folder)
            if checkout and file.path in shown and _write_to_checkout(file, checkout, destination, notes):
                paths.append(file.path)
        if file.take_over and not file.is_edit and any(notice.path == file.path for notice in notices):
            checkout = None
    gone = tuple(path for path in removed if path not in paths)
    return Written(paths=tuple(paths), removed=gone, notices=tuple(notices))


@contextmanager
def _noticed(path: str, what: str, notices: list[Notice]) -> Generator[None]:
    """Whatever keeps one record from being written or removed is told, and keeps no other one from it."""
    try:
        yield
    except RefusedRecordError as refused:
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


def _make_room(
    checkout: Path, shown: Mapping[str, RecordFile], destination: Destination, notes: _Notes, notices: list[Notice]
) -> list[str]:
    """Remove the records in the checkout that are not of this run now, and verdicts that do not hold."""
    found = dict.fromkeys(
        str(path.relative_to(checkout)) for pattern in destination.places for path in sorted(checkout.glob(pattern))
    )
    outdated = [path for path in found if _is_outdated(checkout / path, shown.get(path))]
    removed: list[str] = []
    for path in outdated:
        with _noticed(path, "removed", notices):
            if _remove(checkout, path, destination, notes, is_wanted=path in shown):
                removed.append(path)
    return removed


def _is_outdated(path: Path, file: RecordFile | None) -> bool:
    if file is None:
        return True
    try:
        return file.is_verdict and _content(path) != _data(file.text)
    except RefusedRecordError:
        return False  # the writer says why


def _remove(checkout: Path, path: str, destination: Destination, notes: _Notes, *, is_wanted: bool) -> bool:
    """Remove a record that this run or one that gives way to it wrote. Whether it is gone."""
    try:
        _refuse_removal(checkout, path, destination, notes)
    except RefusedRecordError:
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


def _refuse_removal(checkout: Path, path: str, destination: Destination, notes: _Notes) -> None:
    _refuse_links(checkout, path)
    existing = _content(checkout / path)
    writers = () if existing is None else notes.writers(path, existing)
    own = destination.run_folder.name
    if not any(writer == own or destination.gives_way(writer) for writer in writers):
        reason = "was changed since"
    elif destination.is_tracked(path):
        reason = "is tracked by git"
    else:
        return
    message = f"It belongs to an earlier run and {reason}, so burnish did not replace it."
    raise RefusedRecordError(message, "It has nothing about this run.")


def _write_own_copy(file: RecordFile, run_folder: Path) -> None:
    path = run_folder / RECORDS / _confined(file.path)
    if _content(path) != _data(file.text):
        make_private_directory(path.parent)
        write_atomically(path, _data(file.text))


def _data(text: str) -> bytes:
    try:
        return text.encode("utf-8", errors="surrogateescape")  # bytes of the user's that are not UTF-8 stay
    except UnicodeEncodeError:
        return text.encode("utf-8", errors="replace")


def _write_to_checkout(file: RecordFile, checkout: Path, destination: Destination, notes: _Notes) -> bool:
    path = checkout / _confined(file.path)
    _refuse_links(checkout, file.path)
    existing = _content(path)
    if file.is_edit and existing is None and not file.is_made:
        return False
    if file.take_over is not None and existing is not None:
        earlier, data = {}, _data(file.take_over(existing))
    else:
        earlier = _earlier_version(file, existing)
        data = _data(file.text if earlier is None else _merged_text(earlier, _object(file.text)))
    if existing == data:  # which is most of them after most events: git need not be asked
        return False
    if not file.is_edit and destination.is_tracked(file.path):
        raise RefusedRecordError(
            "It is tracked by git, so burnish did not replace it.", "The run's own copy has the current text."
        )
    if existing is not None and earlier is None and not any(notes.writers(file.path, existing)):
        hint = "Move it away to have it written; the run's own copy has the current text."
        raise RefusedRecordError("There is already a file that burnish did not write.", hint)
    if file.take_over is None:
        _note(destination.run_folder, file.path, data)
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(path.stat().st_mode) if file.is_edit and existing is not None else 0o644
    write_atomically(path, data, mode=mode)
    return True


def _confined(path: str) -> PurePosixPath:
    """The names in records are slugs; this holds even where one is not."""
    relative = PurePosixPath(path)
    if relative.is_absolute() or ".." in relative.parts or ".git" in relative.parts or not relative.parts:
        raise RefusedRecordError(
            "Its path leads out of the checkout.", "Check the names of the story and the reviewers."
        )
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
            raise RefusedRecordError(f"'{name}' is a symbolic link.", "burnish never writes records through a link.")


def _content(path: Path) -> bytes | None:
    """What is there, or None where nothing is. Anything but a file is refused, and never waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_RECORD_BYTES:
            raise RefusedRecordError(
                "Something that is not a record is in the way.", "Move it away to have the record written."
            )
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            return stream.read()
    finally:
        os.close(descriptor)


def _note(run_folder: Path, path: str, data: bytes) -> None:
    """Note a version down, durably, before it is written."""
    line = f"{_entry(path, data)}\n"
    descriptor = os.open(run_folder / _WRITTEN, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, line.encode())
        sync(descriptor)
    finally:
        os.close(descriptor)


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


def _earlier_version(file: RecordFile, existing: bytes | None) -> JsonObject | None:
    """What exists, where it is an older version of a shared record, with or without fields of other tools."""
    if not file.shared or existing is None:
        return None
    found, ours = _object(existing.decode("utf-8", errors="replace")), _object(file.text)
    return found if _OWNER in ours and found.get(_OWNER) == ours[_OWNER] else None


def _merged_text(found: JsonObject, ours: JsonObject) -> str:
    """Our text with the fields that only the existing file has; our keys first, in our order."""
    same_run = found.get(_SESSION) == ours.get(_SESSION)
    # Below the top, fields of another run would be put beside rounds that they do not belong to.
    return write_json(_with_unknown(ours, found) if same_run else {**ours, **found, **ours})


def _object(text: str) -> JsonObject:
    """The object that a text holds; an empty one where it holds none."""
    with suppress(ValueError, RecursionError):
        value: object = json.loads(text)
        if isinstance(value, dict):
            return cast("JsonObject", value)
    return {}


def _with_unknown(ours: JsonObject, found: JsonObject) -> JsonObject:
    both = {key: _merged(ours[key], found[key]) for key in ours if key in found}
    return {**ours, **found, **both}


def _merged(ours: Json, found: Json) -> Json:
    match ours, found:
        case dict(), dict():
            return _with_unknown(ours, found)
        case list(), list():
            # Entries have their place for good: rounds are only ever added at the end.
            pairs = list(map(_merged, ours, found))
            return [*pairs, *ours[len(pairs) :]]
        case _:
            return ours
