"""The one writer of records: into the run's own folder always, into the user's checkout where a record belongs there.

The checkout is the user's. A file that git tracks, that burnish did not write, or that is reached through a symbolic
link is left alone, with a notice that says so. A record can always be written again, so a disk that is full or
read-only is a notice, too, and never ends a run.
"""

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

from burnish.core.values import Value
from burnish.records import sharing
from burnish.records.interface import RecordFile
from burnish.records.ownership import note, was_written
from burnish.system.files import make_private_directory, write_atomically

IsTracked = Callable[[str], bool]
"""Whether git tracks a path, given relative to the checkout's root."""

RECORDS = "records"
MAX_RECORD_BYTES = 64 * 1024 * 1024
"""Far above any record: a larger file is somebody else's, and is not read."""


class Notice(Value):
    """A record that could not be put where it belongs, and why."""

    path: str
    message: str
    hint: str = ""


class Written(Value):
    """What was brought up to date in the checkout, and what was not."""

    paths: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()


class _RefusedError(Exception):
    """A place in the checkout that is not ours to write to."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def write(files: Iterable[RecordFile], *, checkout: Path | None, run_folder: Path, is_tracked: IsTracked) -> Written:
    """Bring every record up to date. Files that are as they should be are not touched."""
    paths: list[str] = []
    notices: list[Notice] = []
    for file in files:
        try:
            _write_own_copy(file, run_folder)
            if checkout is not None and file.in_checkout and _write_to_checkout(file, checkout, run_folder, is_tracked):
                paths.append(file.path)
        except _RefusedError as refused:
            notices.append(Notice(path=file.path, message=str(refused), hint=refused.hint))
        except OSError as error:
            hint = "The run goes on; 'burnish records rebuild' writes it again."
            notices.append(Notice(path=file.path, message=f"It cannot be written: {error.strerror}.", hint=hint))
    return Written(paths=tuple(paths), notices=tuple(notices))


def _write_own_copy(file: RecordFile, run_folder: Path) -> None:
    path = run_folder / RECORDS / _confined(file.path)
    data = file.text.encode("utf-8", errors="replace")
    if _content(path) == data:
        return
    make_private_directory(path.parent)
    write_atomically(path, data)


def _write_to_checkout(file: RecordFile, checkout: Path, run_folder: Path, is_tracked: IsTracked) -> bool:
    path = checkout / _confined(file.path)
    _refuse_links(checkout, file.path)
    existing = _content(path)
    data = _data(file, existing)
    if existing == data:  # which is most of them after most events: nobody need be asked
        return False
    if is_tracked(file.path):
        raise _RefusedError("It is tracked by git, so it is left as it is.", "The run's own copy has the current text.")
    if existing is not None and not _is_ours(file, existing, run_folder):
        hint = "Move it away to have it written; the run's own copy has the current text."
        raise _RefusedError("A file that burnish did not write is there already.", hint)
    note(run_folder, file.path, data)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, data, mode=0o644)
    return True


def _confined(path: str) -> PurePosixPath:
    """The names in records are slugs; this holds even where one is not."""
    relative = PurePosixPath(path)
    if relative.is_absolute() or ".." in relative.parts or ".git" in relative.parts or not relative.parts:
        raise _RefusedError("Its path leads out of the checkout.", "Look at the names of the story and the reviewers.")
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
            raise _RefusedError(f"'{name}' is a symbolic link.", "Records are never written through a link.")


def _content(path: Path) -> bytes | None:
    """What is there, or None where nothing is. Anything but a file is refused, and never waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_RECORD_BYTES:
            raise _RefusedError("Something that is no record is there.", "Move it away to have the record written.")
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            return stream.read()
    finally:
        os.close(descriptor)


def _data(file: RecordFile, existing: bytes | None) -> bytes:
    may_merge = file.shared and existing is not None and sharing.is_ours(existing, file.text)
    text = sharing.merged(existing, file.text) if may_merge and existing is not None else file.text
    return text.encode("utf-8", errors="replace")


def _is_ours(file: RecordFile, existing: bytes, run_folder: Path) -> bool:
    if file.shared and sharing.is_ours(existing, file.text):
        return True
    return was_written(run_folder, file.path, existing)
