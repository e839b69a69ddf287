"""Remove what burnish no longer needs: old transcripts and logs, and what killed runs left. Events and seals stay."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from burnish.core.state import Ended, GoodReview, Run
from burnish.core.values import Value
from burnish.runtime.settling import unsettled
from burnish.usecases.places import run_folders
from burnish.usecases.runs import Runs
from burnish.usecases.sessions import over_since
from burnish.workspace.removal import remove_folder

DAY = 86_400.0
HOUR = 3_600.0


class Cleaned(Value):
    """What was removed, or would be."""

    blobs: int = 0
    bytes: int = 0
    folders: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    """Names of runs that never came to be, whose commits were kept for nothing."""


def clean(runs: Runs, environment: Mapping[str, str], *, now: float, days: float, dry_run: bool) -> Cleaned:
    """Remove what is older than some days and belongs to no living run."""
    limit = now - days * DAY
    folders: list[Path] = []
    keep: set[str] = set()
    for name in runs.names():
        sighting = runs.sight(name)
        keep |= _prompts(sighting.run)
        if sighting.driver is None:
            folders += run_folders(environment, name)
            if isinstance(sighting.run.phase, Ended) and sighting.run.started.at < limit:
                folders.append(runs.folder(name) / "logs")
    folders += over_since(runs.repository, limit)
    present = [folder for folder in folders if folder.exists()]
    stillborn = tuple(_stillborn(runs, min(limit, now - HOUR)))
    found = Cleaned(folders=tuple(str(folder) for folder in present), refs=stillborn)
    if dry_run:
        return found
    for folder in present:
        remove_folder(folder)
    for name in stillborn:
        runs.repository.let_go(name)
    pruned = runs.ledger.prune_blobs(limit, keep)
    return Cleaned(blobs=pruned.blobs, bytes=pruned.bytes, folders=found.folders, refs=stillborn)


def _prompts(run: Run) -> set[str]:
    """What its seal speaks of."""
    reviews = (review for round_ in run.rounds for review in round_.reviews)
    return {review.prompt for review in reviews if isinstance(review, GoodReview)} - {""}


def _stillborn(runs: Runs, limit: float) -> Iterator[str]:
    """Runs that were killed between the keeping of their commit and their first event; never one that just begins."""
    before = time.strftime("%Y%m%d-%H%M%S", time.gmtime(limit))
    known = set(runs.names())
    return (name for name in sorted(unsettled(runs.repository)) if name not in known and name < before)
