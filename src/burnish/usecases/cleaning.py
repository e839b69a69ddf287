"""Remove what burnish no longer needs: old transcripts and logs, and what killed runs left. Events and seals stay."""

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress

from burnish.core.errors import BurnishError
from burnish.core.state import Waiting
from burnish.core.values import Value
from burnish.runtime.settling import unsettled
from burnish.usecases.places import run_folders
from burnish.usecases.retention import DAY, remove_old
from burnish.usecases.runs import Runs
from burnish.usecases.sessions import over_since
from burnish.workspace.folders import remove_folder

HOUR = 3_600.0


class Cleaned(Value):
    """What was removed, or would be."""

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
            sighting = runs.sight(name)
            if sighting.driver is None and not isinstance(sighting.run.phase, Waiting):
                yield name


def _stillborn(runs: Runs, limit: float) -> Iterator[str]:
    """Runs that were killed between the keeping of their commit and their first event; never one that just begins."""
    before = time.strftime("%Y%m%d-%H%M%S", time.gmtime(limit))
    known = set(runs.names())
    return (name for name in sorted(unsettled(runs.repository)) if name not in known and name < before)
