"""The epics of a repository: found by name, folded from the ledger, with the runs that are their children."""

from collections.abc import Iterator, Mapping
from contextlib import suppress

from burnish.core.epics.events import EpicStarted, decode_epic
from burnish.core.epics.state import Epic, EpicReviewed, EpicUnderReview
from burnish.core.errors import BurnishError
from burnish.core.state import Run
from burnish.ledger.interface import Ledger
from burnish.runtime.journal import EpicJournal, RunError, epic_stream, load_epic, load_run, stream_of
from burnish.system import clock
from burnish.system.identifiers import ProcessIdentity, is_known_dead, this_process

EPIC_MARKER = "BURNISH_EPIC"
"""The epic that a process belongs to, so that those that outlive their driver are found."""


class Epics:
    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    def names(self) -> list[str]:
        """All runs of epics, the newest first."""
        prefix = epic_stream("")
        return sorted((stream.removeprefix(prefix) for stream in self.ledger.streams(prefix)), reverse=True)

    def find(self, reference: str) -> str | None:
        """The run of an epic that is meant by its name, the beginning of it, or the id of the epic: the newest."""
        names = self.names()
        if reference in names:
            return reference
        with_id = next((name for name in names if self._id(name) == reference.removeprefix("epic/")), None)
        fitting = [name for name in names if reference and name.startswith(reference)]
        if with_id is None and len(fitting) > 1:
            told = f"'{reference}' matches {len(fitting)} epics: {', '.join(fitting[:5])}."
            raise RunError(told, hint="Type more of the name.")
        return with_id or next(iter(fitting), None)

    def of(self, epic_id: str) -> Iterator[Epic]:
        """All runs of an epic, the newest first. One that this version cannot read hides none of the others."""
        for name in self.names():
            with suppress(BurnishError):
                if self._id(name) == epic_id:
                    yield load_epic(self.ledger, name)

    def _id(self, name: str) -> str:
        with suppress(BurnishError, IndexError):
            first = decode_epic(self.ledger.read(epic_stream(name), limit=1)[0].body)
            return first.plan.id if isinstance(first, EpicStarted) else ""
        return ""

    def driver(self, name: str) -> ProcessIdentity | None:
        """Who drives it now."""
        lease = self.ledger.current_lease(epic_stream(name))
        if lease is None or lease.until <= clock.now() or is_known_dead(lease.owner):
            return None
        return lease.owner

    def take_over(self, name: str) -> EpicJournal:
        return EpicJournal.take_over(self.ledger, name, this_process(), clock.now())

    def runs(self, epic: Epic) -> Mapping[str, Run]:
        """The runs of an epic that have begun, by their names."""
        found = {name: self.run(name) for name in runs_of_epic(epic)}
        return {name: run for name, run in found.items() if run is not None}

    def run(self, name: str) -> Run | None:
        """A run; None where it has not begun yet."""
        return load_run(self.ledger, name) if self.ledger.version(stream_of(name)) else None


def runs_of_epic(epic: Epic) -> tuple[str, ...]:
    """The names of all runs of an epic: those of its tickets, then the review of the whole."""
    names = [run for one in epic.tickets.values() for run in one.runs]
    if isinstance(epic.review, EpicUnderReview | EpicReviewed):
        names.append(epic.review.run)
    return tuple(names)
