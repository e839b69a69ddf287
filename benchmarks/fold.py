"""The fold of 10,000 events, in memory and out of the ledger, against reading the same events; and how it grows."""

import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.measure import Figure, compare
from benchmarks.streams import interrupted_run, many_runs, waived_run
from burnish.core.events import AnyEvent, FindingWaived, decode, encode
from burnish.core.loop import evolve, replay
from burnish.ledger.interface import NewEvent
from burnish.ledger.sqlite import SqliteLedger, open_ledger

EVENTS = 10_000
FINDINGS = 2_000
_DECODING = "decoding them from JSON (msgspec)"


def figures() -> Iterator[Figure]:
    runs, run = many_runs(EVENTS), interrupted_run(EVENTS)
    yield _fold(f"fold {EVENTS:,} events, whole runs of five reviewers", runs, limit=60)
    yield _fold(f"fold {EVENTS:,} events, one run interrupted all the time", [run], limit=30)
    half = run[: EVENTS // 2]
    yield compare(
        f"growth of the fold, {EVENTS // 2:,} to {EVENTS:,} events",
        lambda: replay(run),
        lambda: replay(half),
        against="half of it",
        limit=2.5,
    )
    yield from _waiving()
    yield _from_ledger(runs)


def _fold(name: str, runs: Sequence[tuple[AnyEvent, ...]], limit: float) -> Figure:
    bodies = [encode(event) for run in runs for event in run]
    return compare(
        name,
        lambda: [replay(run) for run in runs],
        lambda: [decode(body) for body in bodies],
        against=_DECODING,
        limit=limit,
        times=7,
    )


def _waiving() -> Iterator[Figure]:
    """Every dismissal looks through all findings of a run, so that the cost of one grows with their number."""
    whole, half = _waive_all(FINDINGS), _waive_all(FINDINGS // 2)
    figure = compare(
        f"waive each of {FINDINGS:,} findings", whole, half, against=f"each of {FINDINGS // 2:,} findings", times=3
    )
    yield figure
    each = figure.ours / FINDINGS
    yield Figure(name=f"waive one of {FINDINGS:,} findings", ours=each, peer=0.002, against="two milliseconds", limit=1)


def _waive_all(findings: int) -> Callable[[], object]:
    events = waived_run(findings)
    judged = replay(event for event in events if not isinstance(event, FindingWaived))
    waived = [event for event in events if isinstance(event, FindingWaived)]

    def fold() -> None:
        run = judged
        for event in waived:
            run = evolve(run, event)

    return fold


def _from_ledger(runs: Sequence[tuple[AnyEvent, ...]]) -> Figure:
    with tempfile.TemporaryDirectory(prefix="burnish-benchmarks-") as folder, open_ledger(Path(folder)) as ledger:
        for number, run in enumerate(runs):
            stored = [NewEvent(kind="event", body=encode(event), at=event.at, intent=True) for event in run]
            ledger.append(f"run/{number}", 0, stored)
        connection = sqlite3.connect(ledger.path)
        query = "SELECT body FROM events ORDER BY stream, version"
        try:
            return compare(
                f"read, check, decode and fold {EVENTS:,} events",
                lambda: _replay_all(ledger),
                lambda: [json.loads(body) for (body,) in connection.execute(query)],
                against="bare sqlite3 and json.loads",
                limit=30,
            )
        finally:
            connection.close()


def _replay_all(ledger: SqliteLedger) -> None:
    for stream in ledger.streams("run/"):
        replay(decode(event.body) for event in ledger.read(stream))
