"""Keep the tracker up with a run: a bead is `in_progress` when it is picked, `closed` when merged, else `open` again.

The ledger is the truth. What the tracker should say follows from the epic alone, so that a process that was killed
between an event and its mark makes up for it when the epic continues. What people wrote meanwhile is left alone: only a
bead that is open is claimed, and only one that is in progress is given back.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from burnish.core.epics.state import (
    Epic,
    TicketBlocked,
    TicketCompleted,
    TicketFailed,
    TicketPending,
    TicketProgress,
    TicketSkipped,
)
from burnish.core.errors import BurnishError
from burnish.core.values import Value
from burnish.ledger.sqlite import look_into_ledger
from burnish.report.output import flat
from burnish.runtime.journal import load_epic
from burnish.sources.bead_tracker import BeadStatus, BeadTracker, id_of, tracker_of
from burnish.system.files import make_private_directory, write_atomically
from burnish.workspace.landing import left_at
from burnish.workspace.repository import Repository

_OPEN_END = "beads-to-settle"
"""Stands in the folder of an epic while its tracker may not be up with it."""
_MOST_REASON = 300


class Wanted(Value):
    status: BeadStatus
    note: str = ""


class BeadMarker:
    def __init__(self, repository: Repository, environment: Mapping[str, str], name: str) -> None:
        self._repository = repository
        self._environment = environment
        self._open_end = repository.state_dir / "epics" / name / _OPEN_END
        self._marked: dict[str, Wanted] = {}
        self._seen: dict[str, TicketProgress] = {}
        self._notices: dict[str, str] = {}

    @property
    def notices(self) -> tuple[str, ...]:
        """What could not be marked, each once."""
        return tuple(self._notices.values())

    def begin(self) -> None:
        make_private_directory(self._open_end.parent)
        if not self._open_end.exists():
            write_atomically(self._open_end, b"")

    def follow(self, epic: Epic) -> None:
        """Mark every bead whose status should be another one now."""
        due: dict[str, Wanted] = {}
        for name, one in epic.tickets.items():
            if self._seen.get(name) is one and epic.end is None:
                continue
            self._seen[name] = one
            wanted = _wanted(epic, one)
            if wanted is not None and self._marked.get(name) != wanted:
                due[name] = wanted
        if due:
            self._mark(epic, due)

    def finish(self, epic: Epic) -> None:
        """Once the epic has ended and every bead is marked, nothing is left to do."""
        if epic.end is None:
            return
        self.follow(epic)
        if not self._notices:
            with suppress(OSError):
                self._open_end.unlink()

    def _mark(self, epic: Epic, due: Mapping[str, Wanted]) -> None:
        try:
            tracker, _ = tracker_of(self._repository.root / epic.plan.source, self._environment)
            status = {id_of(one.fields): str(one.fields.get("status") or "open") for one in tracker.beads()}
        except BurnishError as error:
            self._notices.setdefault("", f"The beads cannot be marked: {error.message}")
            return
        self._notices.pop("", None)
        for name, wanted in due.items():
            self._mark_one(tracker, name, wanted, status.get(name, ""))

    def _mark_one(self, tracker: BeadTracker, name: str, wanted: Wanted, now: str) -> None:
        self._marked[name] = wanted
        if not _may_follow(now, wanted.status):
            return
        try:
            tracker.mark(name, wanted.status, wanted.note)
        except BurnishError as error:
            told = f"{flat(name)} could not be marked as {wanted.status.value} in {tracker.name}: {error.message}"
            self._notices[name] = told
            self._marked.pop(name)
        else:
            self._notices.pop(name, None)


def _may_follow(now: str, wanted: BeadStatus) -> bool:
    """Whether one status may take the place of another: what people decided meanwhile stays."""
    match wanted:
        case BeadStatus.IN_PROGRESS:
            return now == BeadStatus.OPEN.value
        case BeadStatus.OPEN:
            return now == BeadStatus.IN_PROGRESS.value
        case BeadStatus.CLOSED:
            return now not in ("", BeadStatus.CLOSED.value)


def _wanted(epic: Epic, one: TicketProgress) -> Wanted | None:
    """What the tracker should say of a bead; None where the epic has nothing to say of it."""
    state = one.state
    match state:
        case TicketPending() | TicketBlocked():
            return Wanted(status=BeadStatus.OPEN) if one.runs else None
        case TicketCompleted() if not one.runs:
            return None
        case TicketCompleted() if state.commit:
            note = f"merged into {epic.started.branch} as {state.commit[:12]} by burnish run {state.run}"
            return Wanted(status=BeadStatus.CLOSED, note=note)
        case TicketCompleted():
            note = f"built without a review, so it is not merged. The work is on {left_at(state.run)}."
            return Wanted(status=BeadStatus.OPEN, note=note)
        case TicketFailed():
            reason = flat(state.reason)[:_MOST_REASON]
            note = f"{state.outcome.value}: {reason}. `burnish show {state.run}` tells more."
            return Wanted(status=BeadStatus.OPEN, note=note)
        case TicketSkipped():
            return Wanted(status=BeadStatus.OPEN, note=f"skipped: {flat(state.reason)[:_MOST_REASON]}")
        case _:
            if epic.end is not None:
                return Wanted(status=BeadStatus.OPEN, note=f"not merged: {flat(epic.end.reason)[:_MOST_REASON]}")
            return Wanted(status=BeadStatus.IN_PROGRESS)


def settle_beads(repository: Repository, environment: Mapping[str, str]) -> None:
    """Mark what a process could not that was killed after its epic had ended."""
    for open_end in _open_ends(repository):
        name = open_end.parent.name
        with suppress(BurnishError):
            ledger = look_into_ledger(repository.state_dir)
            if ledger is None:
                return
            with ledger:
                epic = load_epic(ledger, name)
            if epic.end is not None:
                marker = BeadMarker(repository, environment, name)
                marker.follow(epic)
                marker.finish(epic)


def _open_ends(repository: Repository) -> list[Path]:
    return sorted((repository.state_dir / "epics").glob(f"*/{_OPEN_END}"))
