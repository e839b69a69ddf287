"""What burnish no longer needs, and removes: old prompts, transcripts and logs, and what killed runs left behind.

Only runs that have ended and are settled lose anything, the oldest first. Events, records and seals stay, and with
them every decision, waiver and open blocker.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from burnish.core.errors import BurnishError
from burnish.core.events import Closed, name_of
from burnish.core.state import Waiting
from burnish.core.values import Value, replace
from burnish.ledger.interface import StoredEvent
from burnish.runtime.journal import stream_of
from burnish.runtime.settling import unsettled
from burnish.settings.types import KeepSettings
from burnish.system.files import write_atomically
from burnish.usecases.run_folders import run_folders
from burnish.usecases.runs import Runs
from burnish.usecases.sessions import over_since
from burnish.workspace.folders import remove_folder

DAY = 86_400.0
MEGABYTE = 1_000_000
LOGS, RUNNER_LOG = "logs", "runner.log"
_REMOVED = "logs-removed"
"""A file that stays in the folder of a run whose logs are gone."""
_BEING_STORED_SECONDS = 60.0
"""A run that is at work stores a text before the event that names it."""
HOUR = 3_600.0


class Removal(Value):
    runs: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    blobs: int = 0
    bytes: int = 0


class _Kept(NamedTuple):
    name: str
    ended_at: float
    paths: tuple[Path, ...]
    digests: frozenset[str]
    logged_bytes: int


class _Survey(NamedTuple):
    """The ended runs, the oldest first, and what no limit may touch."""

    ended: Sequence[_Kept]
    open_digests: frozenset[str]
    any_open: bool
    all_readable: bool


def keep_within_limits(runs: Runs, keep: KeepSettings, now: float) -> Removal:
    """Remove what exceeds the limits. Where nothing can exceed them, only sizes and names are looked at."""
    before, most = now - keep.days * DAY, keep.megabytes * MEGABYTE
    if not _may_exceed(runs, before, most):
        return Removal()
    return remove_old(runs, before=before, most=most, now=now)


def remove_old(runs: Runs, *, before: float, now: float, most: float | None = None, dry_run: bool = False) -> Removal:
    """Remove prompts, transcripts and logs of runs that ended before a time, or that exceed a number of bytes."""
    survey = _survey(runs)
    sizes = runs.ledger.blob_sizes()
    leaving, staying = _leaving(survey, sizes, before, most)
    paths = tuple(path for run in leaving for path in run.paths)
    found = Removal(runs=tuple(run.name for run in leaving if run.paths), paths=tuple(map(str, paths)))
    if dry_run:
        going = sizes.keys() - staying if survey.all_readable else ()
        return replace(found, blobs=len(going), bytes=sum(sizes[digest] for digest in going))
    for run in leaving:
        if run.paths:  # said first: a process that is killed meanwhile leaves logs of which some are gone
            write_atomically(runs.folder(run.name) / _REMOVED, b"")
        for path in run.paths:
            _remove(path)
    if not survey.all_readable:  # what belongs to a run that cannot be read is not known
        return found
    pruned = runs.ledger.prune_blobs(now - _BEING_STORED_SECONDS if survey.any_open else now, staying)
    return replace(found, blobs=pruned.blobs, bytes=pruned.bytes)


def logs_were_removed(runs: Runs, name: str) -> bool:
    return (runs.folder(name) / _REMOVED).exists()


def _may_exceed(runs: Runs, before: float, most: float) -> bool:
    """Whether any ended run could be over a limit. Names of runs begin with the time at which they began."""
    oldest = time.strftime("%Y%m%d-%H%M%S", time.gmtime(before))
    kept = {name: paths for name in _folders(runs) if (paths := _kept_paths(runs, name))}
    if any(name < oldest for name in kept):
        return True
    logged = sum(_size(path) for paths in kept.values() for path in paths)
    return logged + sum(runs.ledger.blob_sizes().values()) > most


def _folders(runs: Runs) -> list[str]:
    folder = runs.folder("")
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def _survey(runs: Runs) -> _Survey:
    ended: list[_Kept] = []
    open_digests: frozenset[str] = frozenset()
    any_open, all_readable = False, True
    unfinished = unsettled(runs.repository)
    for name in runs.names():
        try:
            events = runs.ledger.read(stream_of(name))
        except BurnishError:
            all_readable = False
            continue
        digests = frozenset(_named_in(events))
        if events[-1].kind != name_of(Closed) or name in unfinished or runs.driver(name) is not None:
            open_digests |= digests
            any_open = True
            continue
        paths = _kept_paths(runs, name)
        ended.append(_Kept(name, events[-1].at, paths, digests, sum(map(_size, paths))))
    ended.sort(key=lambda run: run.ended_at)
    return _Survey(ended, open_digests, any_open, all_readable)


def _leaving(
    survey: _Survey, sizes: Mapping[str, int], before: float, most: float | None
) -> tuple[list[_Kept], frozenset[str]]:
    """The runs over the limit of age, then the oldest until the rest is within the limit of size.

    Also the digests of what stays, for several runs may have stored the same text.
    """
    used = Counter(digest for run in survey.ended for digest in run.digests)
    used.update(survey.open_digests)
    total = sum(run.logged_bytes for run in survey.ended) + sum(sizes.values())
    leaving: list[_Kept] = []
    for run in survey.ended:
        if run.ended_at >= before and (most is None or total <= most):
            break
        leaving.append(run)
        used.subtract(run.digests)
        total -= run.logged_bytes + sum(sizes.get(digest, 0) for digest in run.digests if not used[digest])
    return leaving, frozenset(digest for digest, times in used.items() if times > 0)


class _Texts(msgspec.Struct):
    prompt: str = ""
    said: str = ""
    transcript: str = ""


def _named_in(events: Sequence[StoredEvent]) -> Iterator[str]:
    for event in events:
        with suppress(msgspec.DecodeError):
            texts = msgspec.json.decode(event.body, type=_Texts)
            yield from filter(None, (texts.prompt, texts.said, texts.transcript))


def _kept_paths(runs: Runs, name: str) -> tuple[Path, ...]:
    places = (runs.folder(name) / part for part in (LOGS, RUNNER_LOG))
    return tuple(place for place in places if place.exists())


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else (path,)
    return sum(file.lstat().st_size for file in files if file.is_file())


def _remove(path: Path) -> None:
    if path.is_dir():
        remove_folder(path)
    else:
        path.unlink(missing_ok=True)


class Cleaned(Value):
    blobs: int = 0
    bytes: int = 0
    folders: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    """Names of runs that never came to be, whose commits were kept for nothing."""


def clean(runs: Runs, environment: Mapping[str, str], *, now: float, days: float, dry_run: bool) -> Cleaned:
    """Remove what is older than some days, and the copies that dead processes left. A waiting run keeps everything."""
    limit = now - days * DAY
    old = remove_old(runs, before=limit, now=now, dry_run=dry_run)
    left = [folder for name in _undriven(runs) for folder in run_folders(environment, name)]
    folders = [folder for folder in (*left, *over_since(runs.repository, limit)) if folder.exists()]
    stillborn = tuple(_stillborn(runs, min(limit, now - HOUR)))
    if not dry_run:
        for folder in folders:
            remove_folder(folder)
        for name in stillborn:
            runs.repository.let_go(name)
    names = (*(str(folder) for folder in folders), *old.paths)
    return Cleaned(blobs=old.blobs, bytes=old.bytes, folders=names, refs=stillborn)


def _undriven(runs: Runs) -> Iterator[str]:
    """Runs whose copies are no one's any more: those that have ended, and those whose process died at work."""
    for name in runs.names():
        with suppress(BurnishError):  # one that cannot be read keeps what it has
            snapshot = runs.snapshot(name)
            if snapshot.driver is None and not isinstance(snapshot.run.phase, Waiting):
                yield name


def _stillborn(runs: Runs, limit: float) -> Iterator[str]:
    """Runs that were killed between the keeping of their commit and their first event; never one that just begins."""
    before = time.strftime("%Y%m%d-%H%M%S", time.gmtime(limit))
    known = set(runs.names())
    return (name for name in sorted(unsettled(runs.repository)) if name not in known and name < before)
