"""What earlier runs of a subject leave to the next one: blockers that stand, and what a person set aside.

A run that begins with an empty book could be started again and again until a reviewer misses what is there. So a
blocking finding outlives its run for as long as its lines are what they were, whatever the branch is called, and
whatever the protocol was. So does what a person said about a finding.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from burnish.core.errors import BurnishError
from burnish.core.events import RunStarted, Subject, decode
from burnish.core.finding_history import DISMISSED, move
from burnish.core.findings import FindingStatus, Tracked
from burnish.core.gates import blocks
from burnish.core.state import Run
from burnish.core.values import replace
from burnish.ledger.interface import Ledger
from burnish.runtime.journal import load_run, stream_of
from burnish.workspace.diffs import changes
from burnish.workspace.repository import Repository

_RUNS = 5_000
"""Runs whose first event is looked at, the newest first."""
_RELATED = 5
"""Runs that are folded. Each of them began with what those before it had left."""
_COMMITS = 1_000
"""Commits of the branch among which the head of an earlier run is looked for."""
_CLOSED = (*DISMISSED, FindingStatus.WITHDRAWN)


def remembered(ledger: Ledger, repository: Repository, started: RunStarted) -> tuple[Tracked, ...]:
    """The findings that a new run begins with, each at its place in the new tree. The newest word on each counts."""
    found: dict[str, Tracked | None] = {}
    for run in _related(ledger, repository, started.subject):
        for name, entry in _left_by(run, repository, started).items():
            found.setdefault(name, entry)
    return tuple(entry for entry in found.values() if entry is not None)


def _related(ledger: Ledger, repository: Repository, subject: Subject) -> Iterator[Run]:
    """The newest runs of the same branch, the same tree, or a commit that the branch is built on.

    Runs against another base are counted apart: else a few of them would push the others out of sight.
    """
    history = _history(repository, subject)
    same: list[RunStarted] = []
    other: list[RunStarted] = []
    for first in openings(ledger):
        earlier = first.subject
        if subject.as_is != earlier.as_is:
            continue  # what has long been in a file is nothing that a change brought
        if subject.branch != earlier.branch and subject.tree != earlier.tree and earlier.head not in history:
            continue
        group = same if earlier.base == subject.base or earlier.base_commit == subject.base_commit else other
        if len(group) < _RELATED:
            group.append(first)
        if len(same) == len(other) == _RELATED:
            break
    for first in sorted((*same, *other), key=lambda each: each.at, reverse=True):
        with suppress(BurnishError):  # one that this version cannot read
            yield load_run(ledger, first.run)


def openings(ledger: Ledger) -> Iterator[RunStarted]:
    """The first events of the newest runs, the newest first."""
    for stream in reversed(ledger.streams(stream_of(""))[-_RUNS:]):
        with suppress(BurnishError):
            first = decode(ledger.read(stream, limit=1)[0].body)
            if isinstance(first, RunStarted):
                yield first


def _history(repository: Repository, subject: Subject) -> frozenset[str]:
    commits = repository.git.text("rev-list", f"--max-count={_COMMITS}", subject.head, "--not", subject.base_commit)
    return frozenset(commits.split())


def _left_by(run: Run, repository: Repository, started: RunStarted) -> dict[str, Tracked | None]:
    """What a run says about each of its findings on the new tree; None for what is of no concern there."""
    subject = started.subject
    if run.tree != subject.tree:
        try:
            run = move(run, changes(repository, run.commit, subject.head))
        except BurnishError:  # its commits were removed
            return {}
    left: dict[str, Tracked | None] = {entry.finding.id: _kept(entry, started) for entry in run.findings}
    closed = {entry.finding.id for entry in run.findings if entry.status in _CLOSED}
    for finding in _blocked(run, subject.tree):
        if finding.finding.id not in closed:
            left[finding.finding.id] = _kept(finding, started)
    shown = {file.path for file in subject.changed} if run.subject.base != subject.base else None
    return {name: entry if entry is not None and _concerns(entry, shown) else None for name, entry in left.items()}


def _blocked(run: Run, tree: str) -> Iterable[Tracked]:
    """What blocked when a run reviewed this very tree, also where a fix that was not taken has resolved it."""
    judgements = [past.judgement for past in run.rounds if past.tree == tree and past.judgement is not None]
    blocking = (*judgements[-1].blocking, *judgements[-1].carried) if judgements else ()
    return (Tracked(finding=finding, round=0, last_reported_round=0, blocking=True) for finding in blocking)


def _kept(entry: Tracked, started: RunStarted) -> Tracked | None:
    """A finding as the new run begins with it: an open one if it blocks there, whatever it did under other rules."""
    is_open = entry.status is FindingStatus.OPEN and not entry.may_be_gone
    stands = is_open and blocks(started.protocol.gate, entry.finding)
    dismissed = entry.status in DISMISSED and not entry.lines_changed
    return (
        replace(entry, round=0, last_reported_round=0, decided=False, blocking=stands) if stands or dismissed else None
    )


def _concerns(entry: Tracked, shown: set[str] | None) -> bool:
    """Whether a finding is about the change. Against another base, other files may be part of it."""
    location = entry.finding.location
    return shown is None or location is None or location.file in shown
