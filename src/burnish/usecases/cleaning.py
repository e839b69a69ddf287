"""Remove what burnish no longer needs: old transcripts and logs, clones of killed runs. Events and seals stay."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from burnish.core.state import Ended, GoodReview
from burnish.core.values import Value
from burnish.usecases.driving import cache_folder
from burnish.usecases.runs import Runs
from burnish.workspace.removal import remove_folder

DAY = 86_400.0


class Cleaned(Value):
    """What was removed, or would be."""

    blobs: int = 0
    bytes: int = 0
    folders: tuple[str, ...] = ()


def clean(runs: Runs, environment: Mapping[str, str], *, now: float, days: float, dry_run: bool) -> Cleaned:
    """Remove what is older than some days and belongs to no living run."""
    limit = now - days * DAY
    folders: list[Path] = []
    keep: set[str] = set()
    for name in runs.names():
        sighting = runs.sight(name)
        run = sighting.run
        keep |= {
            review.prompt for round_ in run.rounds for review in round_.reviews if isinstance(review, GoodReview)
        } - {""}
        if sighting.driver is not None:
            continue
        folders.append(cache_folder(environment) / name)
        if isinstance(run.phase, Ended) and run.started.at < limit:
            folders.append(runs.folder(name) / "logs")
    present = [folder for folder in folders if folder.exists()]
    if dry_run:
        return Cleaned(folders=tuple(str(folder) for folder in present))
    for folder in present:
        remove_folder(folder)
        shutil.rmtree(folder, ignore_errors=True)
    pruned = runs.ledger.prune_blobs(limit, keep)
    return Cleaned(blobs=pruned.blobs, bytes=pruned.bytes, folders=tuple(str(folder) for folder in present))
