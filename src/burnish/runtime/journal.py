"""A run or an epic in the ledger, as its only writer sees it: append an event, take in what others intended meanwhile.

The state in memory is never ahead of the ledger: an event is tried on the state, appended, and only then believed.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Generic, TypeVar

from burnish.core.epics import loop as epic_loop
from burnish.core.epics.events import AnyEpicEvent, EpicCancelled, EpicIntent, EpicStarted, decode_epic
from burnish.core.epics.state import Epic
from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.events import (
    INTENTS,
    AnyEvent,
    Closed,
    Event,
    Intent,
    RunStarted,
    as_stored,
    decode,
    encode,
    name_of,
)
from burnish.core.loop import IllegalEventError, evolve
from burnish.core.state import Run
from burnish.core.values import replace
from burnish.ledger.errors import VersionConflictError
from burnish.ledger.interface import Lease, Ledger, NewEvent
from burnish.system.identifiers import ProcessIdentity

LEASE_SECONDS = 60.0
RENEW_SECONDS = 20.0


class RunError(BurnishError):
    """A run that does not exist, or that does not take what was asked of it."""

    kind = ErrorKind.USAGE


def stream_of(run: str) -> str:
    return f"run/{run}"


def stored(event: Event) -> NewEvent:
    is_intent = isinstance(event, (*INTENTS, EpicCancelled))
    return NewEvent(kind=name_of(type(event)), body=encode(event), at=event.at, intent=is_intent)


def load_run(ledger: Ledger, run: str) -> Run:
    """Fold a run's events, without writing anything."""
    *_, last = states(ledger, run)
    return last


def states(ledger: Ledger, run: str) -> Iterator[Run]:
    """A run as it was after each of its events."""
    events = [decode(event.body) for event in ledger.read(stream_of(run))]
    if not events:
        raise RunError(f"There is no run '{run}'.", hint="'burnish status' lists the runs of this repository.")
    state = evolve(None, events[0])
    yield state
    is_closed = any(isinstance(event, Closed) for event in events)
    for event in events[1:]:
        state = _taken(state, event, is_closed=is_closed)
        yield state


def _taken(state: Run, event: AnyEvent, *, is_closed: bool) -> Run:
    """One stored event more. What happened under the rules of another version need not fit those of today."""
    try:
        return evolve(state, event)
    except IllegalEventError as error:
        if is_closed:
            return replace(state, version=state.version + 1)
        raise RunError(
            f"{state.id} was started by another version of burnish and does not fit this one: {error}",
            hint="Continue with that version, or start a new run.",
        ) from None


def intend(ledger: Ledger, run: str, intent: Intent) -> Run:
    """Append a person's intent. The writer of the run continues; neither loses the other's events."""
    while True:
        state = load_run(ledger, run)
        try:
            following = evolve(state, intent)
        except IllegalEventError as error:
            raise RunError(
                f"{run} does not accept this: {error}", hint=f"'burnish show {run}' shows its state."
            ) from None
        try:
            ledger.append(stream_of(run), state.version, [stored(intent)])
        except VersionConflictError:
            continue
        return following


_State = TypeVar("_State", Run, Epic)
_Event = TypeVar("_Event", bound=Event)


class StreamWriter(ABC, Generic[_State, _Event]):
    """The writer's hold on a stream, of a run or of an epic."""

    def __init__(self, ledger: Ledger, state: _State, lease: Lease) -> None:
        self._ledger = ledger
        self._lease = lease
        self.state: _State = state

    @abstractmethod
    def _evolve(self, event: _Event) -> _State: ...

    @abstractmethod
    def _decode(self, body: bytes) -> _Event: ...

    def record(self, event: _Event) -> _State:
        """Append an event. Raises an error where it no longer fits what others intended meanwhile."""
        while True:
            following = self._evolve(event)
            try:
                self._ledger.append(self._lease.stream, self.state.version, [stored(event)], self._lease)
            except VersionConflictError:
                self.catch_up()
                continue
            self.state = following
            return following

    def catch_up(self) -> tuple[_Event, ...]:
        """Take in the intents that others appended."""
        events = tuple(self._decode(event.body) for event in self._ledger.read(self._lease.stream, self.state.version))
        for event in events:
            self.state = self._evolve(event)
        return events

    def renew(self, now: float) -> None:
        self._lease = self._ledger.renew_lease(self._lease, now, LEASE_SECONDS)

    def release(self) -> None:
        self._ledger.release_lease(self._lease)


class Journal(StreamWriter[Run, AnyEvent]):
    """The writer's hold on a run."""

    @classmethod
    def begin(cls, ledger: Ledger, started: RunStarted, owner: ProcessIdentity) -> "Journal":
        """Start a run. Its first event holds everything that governs it."""
        lease = ledger.acquire_lease(stream_of(started.run), owner, started.at, LEASE_SECONDS)
        first = as_stored(started)
        state = evolve(None, first)
        ledger.append(lease.stream, 0, [stored(first)], lease)
        return cls(ledger, state, lease)

    @classmethod
    def take_over(cls, ledger: Ledger, run: str, owner: ProcessIdentity, now: float) -> "Journal":
        """Become the writer of a run that has no writer any more."""
        load_run(ledger, run)
        lease = ledger.acquire_lease(stream_of(run), owner, now, LEASE_SECONDS)
        return cls(ledger, load_run(ledger, run), lease)

    def record(self, event: AnyEvent) -> Run:
        return super().record(as_stored(event))

    def _evolve(self, event: AnyEvent) -> Run:
        return evolve(self.state, event)

    def _decode(self, body: bytes) -> AnyEvent:
        return decode(body)


class EpicJournal(StreamWriter[Epic, AnyEpicEvent]):
    """The writer's hold on an epic."""

    @classmethod
    def begin(cls, ledger: Ledger, started: EpicStarted, owner: ProcessIdentity) -> "EpicJournal":
        lease = ledger.acquire_lease(epic_stream(started.epic), owner, started.at, LEASE_SECONDS)
        ledger.append(lease.stream, 0, [stored(started)], lease)
        return cls(ledger, epic_loop.evolve(None, started), lease)

    @classmethod
    def take_over(cls, ledger: Ledger, epic: str, owner: ProcessIdentity, now: float) -> "EpicJournal":
        """Become the writer of an epic that has no writer any more."""
        lease = ledger.acquire_lease(epic_stream(epic), owner, now, LEASE_SECONDS)
        return cls(ledger, load_epic(ledger, epic), lease)

    def _evolve(self, event: AnyEpicEvent) -> Epic:
        return epic_loop.evolve(self.state, event)

    def _decode(self, body: bytes) -> AnyEpicEvent:
        return decode_epic(body)


def epic_stream(epic: str) -> str:
    return f"epic/{epic}"


def load_epic(ledger: Ledger, epic: str) -> Epic:
    """Fold an epic's events, without writing anything."""
    state = epic_loop.replay(decode_epic(event.body) for event in ledger.read(epic_stream(epic)))
    if state is None:
        raise RunError(f"There is no epic '{epic}'.", hint="'burnish status' lists the epics of this repository.")
    return state


def cancel_epic(ledger: Ledger, epic: str, intent: EpicIntent) -> Epic:
    """Append a person's intent. The writer of the epic continues; neither loses the other's events."""
    while True:
        state = load_epic(ledger, epic)
        try:
            following = epic_loop.evolve(state, intent)
        except epic_loop.IllegalEpicEventError as error:
            told = f"{epic} does not accept this: {error}"
            raise RunError(told, hint=f"'burnish status {epic}' shows its state.") from None
        try:
            ledger.append(epic_stream(epic), state.version, [stored(intent)])
        except VersionConflictError:
            continue
        return following
