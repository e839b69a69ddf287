"""The epics of a repository: found by name, folded from the ledger, with the runs that are their children."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from burnish.core.epics.events import EpicStarted, decode_epic
from burnish.core.epics.state import Epic, EpicReviewed, EpicUnderReview, run_of
from burnish.core.errors import BurnishError
from burnish.core.state import Run
from burnish.core.values import Value
from burnish.ledger.interface import Ledger
from burnish.ledger.sqlite import look_into_ledger
from burnish.records.interface import RecordFile
from burnish.records.stories import StoriesRecorder
from burnish.records.writing import MAX_RECORD_BYTES
from burnish.report.epics import InTheWay
from burnish.runtime.journal import EpicJournal, RunError, epic_stream, load_epic, load_run, stream_of
from burnish.system import clock
from burnish.system.identifiers import ProcessIdentity, is_known_dead, this_process
from burnish.workspace.folders import read_inside
from burnish.workspace.landing import branch_commit
from burnish.workspace.names import fields, to_text
from burnish.workspace.repository import Repository

_LISTED = 5
"""How many epics are looked at for a list."""
EPIC_MARKER = "BURNISH_EPIC"
"""The epic that a process belongs to, so that those that outlive their driver are found."""


class EpicSnapshot(Value):
    """An epic as it is now, and whether a process drives it."""

    epic: Epic
    runs: dict[str, Run]
    driven: bool


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
        if with_id is not None or not reference or self.ledger.streams(stream_of(reference)):
            return with_id
        fitting = [name for name in names if name.startswith(reference)]
        if len(fitting) > 1:
            told = f"'{reference}' matches {len(fitting)} epics: {', '.join(fitting[:5])}."
            raise RunError(told, hint="Type more of the name.")
        return next(iter(fitting), None)

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
        carried = (run_of(one.state) for one in epic.tickets.values())
        names = dict.fromkeys(name for name in (*runs_of_epic(epic), *carried) if name)
        found = {name: self.run(name) for name in names}
        return {name: run for name, run in found.items() if run is not None}

    def snapshot(self, name: str) -> EpicSnapshot:
        driven = self.driver(name) is not None
        epic = load_epic(self.ledger, name)
        return EpicSnapshot(epic=epic, runs=dict(self.runs(epic)), driven=driven)

    def run(self, name: str) -> Run | None:
        """A run; None where it has not begun yet."""
        return load_run(self.ledger, name) if self.ledger.version(stream_of(name)) else None


@contextmanager
def open_epics(folder: Path) -> Generator[Epics | None]:
    """The epics of the repository around a folder; None where there is no ledger yet."""
    ledger = look_into_ledger(Repository.discover(folder).state_dir)
    if ledger is None:
        yield None
        return
    with ledger:
        yield Epics(ledger)


def find_epic(folder: Path, reference: str) -> EpicSnapshot | None:
    """The epic that is meant by a reference; None where it means none, such as a run."""
    with open_epics(folder) as epics:
        name = epics.find(reference) if epics is not None else None
        return epics.snapshot(name) if epics is not None and name is not None else None


def newest_epics(folder: Path) -> list[tuple[Epic, bool]]:
    """The newest run of each of the newest epics, and whether a process drives it."""
    found: dict[str, tuple[Epic, bool]] = {}
    with open_epics(folder) as epics:
        for name in epics.names()[:_LISTED] if epics is not None else ():
            with suppress(BurnishError):
                if epics is not None:
                    epic = load_epic(epics.ledger, name)
                    found.setdefault(epic.plan.id, (epic, epics.driver(name) is not None))
    return list(found.values())


def unfinished_epic(folder: Path) -> str | None:
    """The newest epic that has not ended and that no process drives."""
    with open_epics(folder) as epics:
        for name in epics.names() if epics is not None else ():
            with suppress(BurnishError):
                if epics is not None and load_epic(epics.ledger, name).end is None and epics.driver(name) is None:
                    return name
    return None


def files_in_the_way(folder: Path, epic: Epic, runs: Mapping[str, Run]) -> InTheWay:
    """What keeps `git merge` from taking an epic that ended into the branch that is checked out."""
    repository = Repository.discover(folder)
    tip = branch_commit(repository, epic.started.branch)
    if epic.end is None or tip is None or repository.root == repository.common_dir:
        return InTheWay()
    changed = fields(repository.git.run("diff", "--name-only", "-z", "--no-renames", f"HEAD...{tip}"))
    dirty = set(repository.uncommitted()) & {to_text(name) for name in changed}
    edits = StoriesRecorder().files(epic, runs) if dirty and epic.plan.kind == "stories" else ()
    own = {file.path for file in edits if file.path in dirty and _is_only_edited(repository, file)}
    return InTheWay(own=tuple(sorted(own)), other=tuple(sorted(dirty - own)))


def _is_only_edited(repository: Repository, file: RecordFile) -> bool:
    """Whether a file of the checkout is the committed one with what burnish wrote into it, and nothing else."""
    now = read_inside(repository.root, file.path, MAX_RECORD_BYTES)
    committed = repository.read_file("HEAD", file.path)
    if now is None or committed is None or file.take_over is None:
        return False
    return file.take_over(committed).encode("utf-8", errors="surrogateescape") == now


def runs_of_epic(epic: Epic) -> tuple[str, ...]:
    """The names of all runs of an epic: those of its tickets, then the review of the whole."""
    names = [run for one in epic.tickets.values() for run in one.runs]
    if isinstance(epic.review, EpicUnderReview | EpicReviewed):
        names.append(epic.review.run)
    return tuple(names)
