"""What every run is doing, in one row each."""

from collections.abc import Sequence
from typing import Any

import msgspec

from burnish.core.errors import BurnishError
from burnish.core.findings import FindingStatus
from burnish.core.state import Ended, Run, Stopping, Waiting
from burnish.core.values import Value
from burnish.system import clock
from burnish.usecases.activities import AtWork, doing_now
from burnish.usecases.run_view import VERSION, state_of
from burnish.usecases.runs import Runs, Sighting

USUAL_ROWS = 20
"""Older runs are only asked for by those who look for them."""


class BrokenRun(Value):
    """A run whose events cannot be read. It hides none of the others."""

    name: str
    error: str


class Listing(Value):
    """Runs, the newest first, and how many older ones were left out."""

    rows: tuple[Sighting | BrokenRun, ...] = ()
    left_out: int = 0
    at_work: dict[str, tuple[AtWork, ...]] = msgspec.field(default_factory=dict[str, tuple[AtWork, ...]])
    """What is being done, by the name of the run: only of runs that somebody drives."""


def list_runs(runs: Runs, *, everything: bool = False) -> Listing:
    """Look at the newest runs, or at all of them."""
    names = runs.names()
    wanted = names if everything else names[:USUAL_ROWS]
    rows = sorted((_row(runs, name) for name in wanted), key=_age_key, reverse=True)
    return Listing(rows=tuple(rows), left_out=len(names) - len(wanted), at_work=_at_work(runs, rows))


def one_run(runs: Runs, reference: str) -> Listing:
    """Look at a single run. Raises where it cannot be found or read."""
    row = runs.sight(runs.resolve(reference))
    return Listing(rows=(row,), at_work=_at_work(runs, [row]))


def _at_work(runs: Runs, rows: Sequence[Sighting | BrokenRun]) -> dict[str, tuple[AtWork, ...]]:
    driven = [row.run for row in rows if isinstance(row, Sighting) and row.driver is not None and not row.at_rest]
    return {run.id: doing_now(run, runs.folder(run.id)) for run in driven}


def _row(runs: Runs, name: str) -> Sighting | BrokenRun:
    try:
        return runs.sight(name)
    except BurnishError as error:
        return BrokenRun(name=name, error=_one_line(error))


def _age_key(row: Sighting | BrokenRun) -> tuple[str, float]:
    """Names begin with the second of the start; within it, the first event tells."""
    match row:
        case Sighting():
            return row.run.id[:15], row.run.started.at
        case BrokenRun():
            return row.name[:15], 0.0


def _one_line(error: BurnishError) -> str:
    return " ".join(error.message.split())


def state_word(sighting: Sighting) -> str:
    """One word: `running`, `interrupted`, `stopping`, `waiting`, or the outcome."""
    phase = sighting.run.phase
    match phase:
        case Ended():
            return phase.outcome.value
        case Waiting():
            return "waiting"
        case _ if sighting.interrupted:
            return "interrupted"
        case Stopping():
            return "stopping"
        case _:
            return "running"


def open_blockers(run: Run) -> int:
    """How many findings block at this moment. An objection that no finding stands for counts as one."""
    tracked = sum(1 for entry in run.findings if entry.status is FindingStatus.OPEN and entry.blocking)
    judgement = run.rounds[-1].judgement if run.rounds else None
    if tracked or judgement is None or judgement.clean:
        return tracked
    return sum(1 for finding in judgement.blocking if finding.synthetic)


def listing_view(listing: Listing) -> dict[str, Any]:
    """The object that `status --json` prints."""
    return {"version": VERSION, "runs": [_row_view(row, listing) for row in listing.rows], "left_out": listing.left_out}


def _row_view(row: Sighting | BrokenRun, listing: Listing) -> dict[str, Any]:
    """A run as an object of that list."""
    if isinstance(row, BrokenRun):
        return {"run": row.name, "state": "unreadable", "reason": row.error}
    run = row.run
    phase = run.phase
    return {
        "run": run.id,
        "state": state_of(run),
        "interrupted": row.interrupted,
        "outcome": phase.outcome.value if isinstance(phase, Ended) else None,
        "reason": phase.reason if isinstance(phase, Ended | Waiting | Stopping) else "",
        "protocol": run.protocol.name,
        "mode": run.started.mode.value,
        "branch": run.subject.branch,
        "base": run.subject.base,
        "rounds": len(run.rounds),
        "limit": run.limit,
        "blocking": open_blockers(run),
        "choices": [choice.key for choice in phase.choices] if isinstance(phase, Waiting) else [],
        "started_at": run.started.at,
        "process": None if row.driver is None else {"pid": row.driver.pid, "host": row.driver.host},
        "at_work": [_work_view(work) for work in listing.at_work.get(run.id, ())],
    }


def _work_view(work: AtWork) -> dict[str, Any]:
    return {
        "effect": work.effect,
        "name": work.name,
        "agent": work.agent,
        "seconds": round(max(0.0, clock.now() - work.since), 1),
        "doing": work.doing,
    }
