"""The records of a run: kept up to date while it is driven, and written again from its events alone."""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cache

from burnish.core.errors import BurnishError
from burnish.core.events import AnyEvent, ProcessStarted, RunStarted, TimerFired, WorkStarted, as_stored, decode
from burnish.core.loop import evolve
from burnish.core.protocol import RecordLayout
from burnish.core.state import Run
from burnish.core.values import Value
from burnish.ledger.interface import Ledger
from burnish.records.interface import RecordFile, RecordTexts
from burnish.records.registry import record_files, share_a_place
from burnish.records.ticket import ticket_trail
from burnish.records.writing import RECORDS, Destination, Notice, Written, write
from burnish.runtime.context import context_of
from burnish.runtime.journal import load_run, states, stream_of
from burnish.system.files import remove_half_written
from burnish.system.locks import LockTimeoutError, hold
from burnish.workspace.diffs import overview
from burnish.workspace.names import shown
from burnish.workspace.repository import Repository


class Rebuilt(Value):
    written: Written
    layout: RecordLayout
    newer: str = ""
    """The run whose records the checkout holds instead."""


def last_moment(ledger: Ledger, run: str) -> float:
    stream = stream_of(run)
    return ledger.read(stream, ledger.version(stream) - 1)[-1].at


def reviewed_paths(repository: Repository, run: Run) -> dict[int, tuple[str, ...]]:
    base = run.subject.base_commit
    seen = {round_.number: overview(repository, base, round_.commit, run.subject.paths) for round_ in run.rounds}
    return {number: tuple(shown(entry.path) for entry in found.entries) for number, found in seen.items()}


def record_texts(repository: Repository, ledger: Ledger, run: Run, at: float) -> RecordTexts:
    """What the records of a run say beside its state; `at` is the time of its last event."""
    is_ticket = run.protocol.layout is RecordLayout.TICKET
    return RecordTexts(
        updated_at=at,
        reviewed=reviewed_paths(repository, run),
        brief_path=context_of(run).brief_path,
        statuses=ticket_trail(states(ledger, run.id)) if is_ticket else (),
    )


@contextmanager
def room_for(repository: Repository, ledger: Ledger, started: RunStarted) -> Generator[None]:
    """Make room for the records of a run that is about to begin; the run begins inside.

    What earlier runs left goes first: killed in between, no verdict stands that a newer run has made untrue. No other
    run writes records until this one has begun, and then none that it replaces does.
    """
    with hold(repository.state_dir / "records.lock"):
        run = evolve(None, as_stored(started))
        write(record_files(run, RecordTexts(updated_at=started.at)), _destination(repository, ledger, run))
        yield


def write_records(repository: Repository, ledger: Ledger, run: Run, at: float, *, makes_room: bool = True) -> Written:
    """Bring the records of a run up to date; `at` is the time of its last event.

    `makes_room`: what earlier runs left is looked for, which costs more the more of it there is.
    """
    return _write(repository, ledger, run, at, makes_room=makes_room).written


def rebuild(repository: Repository, ledger: Ledger, name: str) -> Rebuilt:
    """Write the records of a run again; the same events give the same bytes."""
    return _write(repository, ledger, load_run(ledger, name), last_moment(ledger, name))


def _write(repository: Repository, ledger: Ledger, run: Run, at: float, *, makes_room: bool = True) -> Rebuilt:
    layout = run.protocol.layout
    files = record_files(run, record_texts(repository, ledger, run, at))
    try:
        with hold(repository.state_dir / "records.lock"):
            newer = _newer(ledger, run)
            destination = _destination(repository, ledger, run, has_checkout=not newer)
            written = write(files, destination._replace(makes_room=makes_room))
            return Rebuilt(written=written, layout=layout, newer=newer)
    except LockTimeoutError as error:
        notice = Notice(path="records", message=str(error), hint=error.hint)
        return Rebuilt(written=Written(notices=(notice,)), layout=layout)


def _destination(repository: Repository, ledger: Ledger, run: Run, *, has_checkout: bool = True) -> Destination:
    @cache
    def gives_way(name: str) -> bool:
        return _gives_way(ledger, name, run)

    return Destination(
        run_folder=repository.state_dir / "runs" / run.id,
        checkout=repository.root if has_checkout else None,
        is_tracked=repository.is_tracked,
        gives_way=gives_way,
        fills_checkout=context_of(run).settings.records is not False,
    )


def _gives_way(ledger: Ledger, name: str, run: Run) -> bool:
    """Whether the records of another run make room for those of this one. A run that never began has none to keep."""
    if name == run.id:
        return False
    try:
        other = _as_begun(ledger, name)
    except BurnishError:
        return False  # of a newer burnish: it is not known what it is about
    return other is None or share_a_place(run, other)


def _newer(ledger: Ledger, run: Run) -> str:
    """The run that began later and whose records the checkout holds instead; empty if there is none."""
    prefix = stream_of("")
    for stream in reversed(ledger.streams(prefix)):
        name = stream.removeprefix(prefix)
        if name == run.id:
            continue
        with suppress(BurnishError):
            other = _as_begun(ledger, name)
            if other is None or other.started.at < run.started.at - 1.0:
                break  # the names are in the order of the time, to the second
            if _order(other) > _order(run) and share_a_place(run, other):
                return name
    return ""


def _order(run: Run) -> tuple[float, str]:
    return run.started.at, run.id


def _as_begun(ledger: Ledger, name: str) -> Run | None:
    """A run as its first event tells it; None where it has none."""
    first = ledger.read(stream_of(name), 0, 1)
    return evolve(None, decode(first[0].body)) if first else None


class RecordKeeper:
    """Writes the records after each event, and remembers what could not be written."""

    def __init__(self, repository: Repository, ledger: Ledger) -> None:
        self._repository = repository
        self._ledger = ledger
        self._described: tuple[RecordFile, ...] = ()
        self.notices: dict[str, None] = {}

    def write(self, event: AnyEvent, run: Run) -> None:
        if isinstance(event, ProcessStarted | TimerFired):
            return
        # The start of work may be all that a record waits for; mostly it changes nothing but the time of the update.
        if isinstance(event, WorkStarted) and record_files(run, RecordTexts()) == self._described:
            return
        self._bring_up_to_date(run, event.at, makes_room=False)

    def recover(self, run: Run, at: float) -> None:
        """A run that was killed may have left its records behind its last event, and some of them half written."""
        names = [file.path for file in record_files(run, RecordTexts())]
        remove_half_written(self._repository.state_dir / "runs" / run.id / RECORDS, names)
        remove_half_written(self._repository.root, names)
        self.bring_up_to_date(run, at)

    def bring_up_to_date(self, run: Run, at: float) -> None:
        self._bring_up_to_date(run, at, makes_room=True)

    def _bring_up_to_date(self, run: Run, at: float, *, makes_room: bool) -> None:
        self._described = record_files(run, RecordTexts())
        written = write_records(self._repository, self._ledger, run, at, makes_room=makes_room)
        for notice in written.notices:
            self.notices[f"{notice.path}: {notice.message} {notice.hint}".strip()] = None
