"""The records of a run, kept up to date while it is driven."""

from burnish.core.events import AnyEvent, ProcessStarted, TimerFired, WorkStarted
from burnish.core.state import Run
from burnish.ledger.interface import Ledger
from burnish.records.interface import RecordFile, RecordTexts
from burnish.records.ownership import RECORDS
from burnish.records.registry import record_files
from burnish.runtime.leftovers import remove_half_written
from burnish.usecases.rebuilding import write_records
from burnish.workspace.repository import Repository


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
