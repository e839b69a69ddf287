"""Keep the records of an epic up to date while it is driven. They are copies; the ledger is the truth."""

from collections.abc import Mapping

from burnish.core.epics.state import Epic
from burnish.core.state import Run
from burnish.records.epic_state import epic_files
from burnish.records.writing import Destination, Written, write
from burnish.usecases.epics import Epics, runs_of_epic
from burnish.usecases.runs import Runs
from burnish.workspace.repository import Repository


class EpicRecordKeeper:
    def __init__(self, repository: Repository, epics: Epics) -> None:
        self._repository = repository
        self._epics = epics
        self._runs = Runs(repository, epics.ledger)
        self._known: dict[str, Run] = {}
        self._notices: dict[str, str] = {}

    @property
    def notices(self) -> tuple[str, ...]:
        """What could not be written, each once."""
        return tuple(self._notices.values())

    def advance(self, run: str) -> Run | None:
        """Take in what happened in a run since; None where it has not begun."""
        known = self._known.get(run)
        found = self._epics.run(run) if known is None else self._runs.advance(known)
        if found is not None:
            self._known[run] = found
        return found

    def write(self, epic: Epic) -> None:
        for run in runs_of_epic(epic):
            if run not in self._known:
                self.advance(run)
        for notice in self._written(epic, self._known).notices:
            self._notices.setdefault(notice.path, f"{notice.path}: {notice.message} {notice.hint}".strip())

    def _written(self, epic: Epic, runs: Mapping[str, Run]) -> Written:
        destination = Destination(
            run_folder=self._repository.state_dir / "epics" / epic.id,
            checkout=self._repository.root,
            is_tracked=self._repository.is_tracked,
            gives_way=lambda _name: True,
            makes_room=False,
        )
        return write(epic_files(epic, runs), destination)
