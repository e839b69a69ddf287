"""The records of an epic: kept up to date while it is driven, and written again from the ledger alone."""

import asyncio
import glob
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache

from burnish.core.epics.state import Epic, run_of
from burnish.core.errors import BurnishError
from burnish.core.state import Run
from burnish.core.values import Value
from burnish.ledger.interface import Ledger
from burnish.records.epic_state import REPORTS, EpicStateRecorder, folder_of
from burnish.records.interface import RecordFile
from burnish.records.stories import StoriesRecorder
from burnish.records.writing import RECORDS, Destination, Notice, Written, write
from burnish.runtime.context import context_of, has_context
from burnish.runtime.journal import load_epic
from burnish.system.files import remove_half_written
from burnish.system.locks import LockTimeoutError, hold
from burnish.usecases.epics import Epics, runs_of_epic
from burnish.usecases.runs import Runs
from burnish.workspace.repository import Repository

_PAUSE = 20.0
"""Times as long as an update took, nothing is written: the records of a large epic take up a twentieth of its time."""


class RebuiltEpic(Value):
    written: Written
    newer: str = ""
    """The later run of the same epic, whose records the checkout holds instead."""


def rebuild_epic_records(repository: Repository, ledger: Ledger, name: str) -> RebuiltEpic:
    """Write the records of an epic again; the same events give the same bytes."""
    epics = Epics(ledger)
    epic = load_epic(ledger, name)
    runs = {run: found for run in _runs_told_of(epic) if (found := epics.run(run)) is not None}
    newest = next((other.id for other in epics.of(epic.plan.id)), name)
    newer = newest if newest != name else ""
    written = _write(repository, epics, epic, runs, recorder_of(epic).files(epic, runs), has_checkout=not newer)
    return RebuiltEpic(written=written, newer=newer)


def recorder_of(epic: Epic) -> EpicStateRecorder | StoriesRecorder:
    return StoriesRecorder() if epic.plan.kind == "stories" else EpicStateRecorder()


def _runs_told_of(epic: Epic) -> Iterable[str]:
    """The runs of an epic, and those of earlier runs of it whose work it holds already."""
    carried = (run_of(one.state) for one in epic.tickets.values())
    return [name for name in dict.fromkeys((*runs_of_epic(epic), *carried)) if name]


def _write(
    repository: Repository,
    epics: Epics,
    epic: Epic,
    runs: Mapping[str, Run],
    files: Iterable[RecordFile],
    *,
    has_checkout: bool = True,
    complete: bool = True,
) -> Written:
    """`complete`: the files are all that there are; what earlier runs of the epic left in their place goes."""
    folder = folder_of(epic) if epic.plan.kind != "stories" else None

    @cache
    def earlier() -> frozenset[str]:
        return frozenset(other.id for other in epics.of(epic.plan.id)) - {epic.id}

    def gives_way(name: str) -> bool:
        return name in earlier()

    destination = Destination(
        run_folder=repository.state_dir / "epics" / epic.id,
        checkout=repository.root if has_checkout else None,
        is_tracked=repository.is_tracked,
        gives_way=gives_way,
        fills_checkout=_fills_checkout(runs),
        makes_room=complete and folder is not None,
        places=() if folder is None else (f"{glob.escape(folder)}/{REPORTS}/*.json",),
        complete=complete,
    )
    try:
        with hold(repository.state_dir / "epic-records.lock"):
            return write(files, destination)
    except LockTimeoutError as error:
        return Written(notices=(Notice(path="records", message=str(error), hint=error.hint),))


def _fills_checkout(runs: Mapping[str, Run]) -> bool:
    """As the settings of its runs say. Before the first of them has begun, nothing is put into the checkout."""
    for run in runs.values():
        with suppress(BurnishError):  # what another version of burnish began
            return not has_context(run.started) or context_of(run).settings.records is not False
    return False


class EpicRecordKeeper:
    """Writes the records after each event that changes them, and remembers what could not be written."""

    def __init__(self, repository: Repository, epics: Epics) -> None:
        self._repository = repository
        self._epics = epics
        self._runs = Runs(repository, epics.ledger)
        self._recorder: EpicStateRecorder | StoriesRecorder | None = None
        self._known: dict[str, Run] = {}
        self._written: dict[str, str] = {}
        self._notices: dict[str, str] = {}
        self._epic: Epic | None = None
        self._not_before = 0.0
        self._timer: asyncio.TimerHandle | None = None

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
        """Bring the records up to date: at once, or, where the last update was only just now, soon.

        Outside of an event loop, as before and after an epic is driven, it is always at once.
        """
        self._epic = epic
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._bring_up_to_date(epic, at_rest=True)
            return
        wait = self._not_before - time.monotonic()
        if wait <= 0:
            self._bring_up_to_date(epic)
        elif self._timer is None:
            self._timer = loop.call_later(wait, self._catch_up)

    def _catch_up(self) -> None:
        if self._epic is not None:
            self._bring_up_to_date(self._epic)

    def _bring_up_to_date(self, epic: Epic, *, at_rest: bool = False) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        began = time.monotonic()
        for run in _runs_told_of(epic):
            if run not in self._known:
                self.advance(run)
        self._recorder = self._recorder or recorder_of(epic)
        files = self._recorder.files(epic, self._known)
        if not self._written:
            _remove_half_written(self._repository, epic, files)
        # Outside of the event loop, all is looked at again; in it, only what changed. A report may also become untrue.
        complete = at_rest or not self._written or not self._written.keys() <= {file.path for file in files}
        changed = [file for file in files if self._written.get(file.path) != file.text]
        if complete or changed:
            wanted = files if complete else (files[0], *(file for file in changed if file is not files[0]))
            self._tell(_write(self._repository, self._epics, epic, self._known, wanted, complete=complete))
            self._written = {file.path: file.text for file in files}
        self._not_before = time.monotonic() + _PAUSE * (time.monotonic() - began)

    def _tell(self, written: Written) -> None:
        for notice in written.notices:
            self._notices.setdefault(notice.path, f"{notice.path}: {notice.message} {notice.hint}".strip())


def _remove_half_written(repository: Repository, epic: Epic, files: Iterable[RecordFile]) -> None:
    """What a driver that was killed left of the files that it was about to put in place."""
    edited = [file.path for file in files if file.is_edit]
    state, *reports = (file.path for file in files)
    for root in (repository.root, repository.state_dir / "epics" / epic.id / RECORDS):
        new = (path for path in reports if not (root / path).exists())
        remove_half_written(root, dict.fromkeys((state, *edited, *new)))
