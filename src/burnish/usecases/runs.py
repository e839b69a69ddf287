"""The runs of a repository: found by name, folded from the ledger, and who drives each of them.

Looking takes no lease and makes no file: where there is no ledger yet, there are no runs, and none is begun here.
"""

import difflib
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.events import RunStarted, UnknownEventError, decode
from burnish.core.loop import IllegalEventError, replay
from burnish.core.state import Run
from burnish.ledger.interface import Ledger
from burnish.ledger.sqlite import look_into_ledger
from burnish.report.account import RunSnapshot
from burnish.runtime.journal import Journal, RunError, load_run, stream_of
from burnish.system import clock
from burnish.system.identifiers import ProcessIdentity, is_known_dead, this_process
from burnish.workspace.repository import Repository

LATEST = "latest"
"""The name of the run that was started last: of the branch that is checked out, where it has one."""


_SECOND = len("20261115-081500")
_NAMED_AT_MOST = 5


class NoRunsError(RunError):
    def __init__(self) -> None:
        super().__init__("There are no runs here yet.", hint="Start one with 'burnish review' or 'burnish fix'.")


class UnreadableRunError(BurnishError):
    kind = ErrorKind.UNREADABLE


class Runs:
    def __init__(self, repository: Repository, ledger: Ledger) -> None:
        self.repository = repository
        self.ledger = ledger

    def folder(self, name: str) -> Path:
        return self.repository.state_dir / "runs" / name

    def names(self) -> list[str]:
        """All runs, the newest first: names begin with the time of the start."""
        prefix = stream_of("")
        return sorted((stream.removeprefix(prefix) for stream in self.ledger.streams(prefix)), reverse=True)

    def resolve(self, reference: str) -> str:
        """The one run that is meant by `latest`, a name, or the beginning of a name.

        `latest` is that of the branch that is checked out; where it has none, that of all.
        """
        names = self.names()
        if not names:
            raise NoRunsError
        if reference == LATEST:
            branch = self.repository.current_branch()
            return (self.latest_of(branch) if branch else None) or self._newest(names)
        if reference in names:
            return reference
        fitting = [name for name in names if reference and name.startswith(reference)]
        if not fitting:
            raise _unknown(reference, names)
        if len(fitting) > 1:
            told = f"'{reference}' matches {len(fitting)} runs: {named(fitting)}."
            raise RunError(told, hint="Type more of the name.")
        return fitting[0]

    def latest_of(self, branch: str) -> str | None:
        """The latest run of a branch."""
        found: list[str] = []
        for name in self.names():
            if found and name[:_SECOND] != found[0][:_SECOND]:
                break
            if self._branch(name) == branch:
                found.append(name)
        return self._newest(found) if found else None

    def _branch(self, name: str) -> str:
        """What a run is about, from its first event; empty where this version cannot read it."""
        with suppress(BurnishError, UnknownEventError):
            first = decode(self.ledger.read(stream_of(name), limit=1)[0].body)
            return first.subject.branch if isinstance(first, RunStarted) else ""
        return ""

    def _newest(self, names: Sequence[str]) -> str:
        """Names of one second are in no order: there the first events tell."""
        together = [name for name in names if name[:_SECOND] == names[0][:_SECOND]]
        return together[0] if len(together) == 1 else max(together, key=lambda name: self.load(name).started.at)

    def load(self, name: str) -> Run:
        try:
            return load_run(self.ledger, name)
        except (UnknownEventError, IllegalEventError) as error:
            raise UnreadableRunError(
                f"The run {name} cannot be read: {str(error).rstrip('.')}.",
                hint="It may come from a newer version of burnish. Its events were not changed.",
            ) from None

    def readable(self) -> Iterator[Run]:
        """All runs, the newest first. One that this version cannot read hides none of the others."""
        for name in self.names():
            with suppress(BurnishError):
                yield self.load(name)

    def advance(self, run: Run) -> Run:
        """Take in what was appended since; the very same run where that is nothing."""
        stream = stream_of(run.id)
        if self.ledger.version(stream) == run.version:
            return run
        try:
            return replay((decode(event.body) for event in self.ledger.read(stream, run.version)), run)
        except (IllegalEventError, UnknownEventError):
            return self.load(run.id)  # which knows what to make of events under other rules

    def driver(self, name: str) -> ProcessIdentity | None:
        """Who writes the run now: None where no process does, or where it is gone."""
        lease = self.ledger.current_lease(stream_of(name))
        if lease is None or is_known_dead(lease.owner):
            return None
        # A process that can be seen is believed, even where it slept past its lease. Others must renew theirs.
        if not can_be_seen(lease.owner) and lease.until < clock.now():
            return None
        return lease.owner

    def is_abandoned(self, name: str) -> bool:
        """Whether its driver surely died: no process is about to take over what was never given back."""
        lease = self.ledger.current_lease(stream_of(name))
        return lease is not None and is_known_dead(lease.owner)

    def snapshot(self, name: str) -> RunSnapshot:
        """A run as it is now. The driver first: one that leaves meanwhile has left its last event behind."""
        driver = self.driver(name)
        return RunSnapshot(run=self.load(name), driver=driver)


@contextmanager
def open_runs(folder: Path) -> Generator[Runs]:
    """The runs of the repository around a folder. Raises `NoRunsError` rather than make a ledger."""
    with runs_of(Repository.discover(folder)) as runs:
        yield runs


@contextmanager
def runs_of(repository: Repository) -> Generator[Runs]:
    """The runs of a repository. Raises `NoRunsError` rather than make a ledger."""
    ledger = look_into_ledger(repository.state_dir)
    if ledger is None:
        raise NoRunsError
    with ledger:
        yield Runs(repository, ledger)


def take_over(ledger: Ledger, name: str) -> Journal:
    """Become the writer of a run. Raises `LeaseHeldError` where another process still is."""
    return Journal.take_over(ledger, name, this_process(), clock.now())


def can_be_seen(process: ProcessIdentity) -> bool:
    """Whether this machine tells if it is still the very same process."""
    here = this_process()
    return bool(process.started) and (process.host, process.space) == (here.host, here.space)


def _unknown(reference: str, names: Sequence[str]) -> RunError:
    close = difflib.get_close_matches(reference, names, n=_NAMED_AT_MOST, cutoff=0.5)
    hint = f"Did you mean {named(close)}?" if close else "'burnish status' lists the runs of this repository."
    return RunError(f"There is no run '{reference}'.", hint=hint)


def named(names: Sequence[str]) -> str:
    """Some names in a sentence, and how many more there are."""
    more = len(names) - _NAMED_AT_MOST
    return ", ".join(names[:_NAMED_AT_MOST]) + (f" and {more} more" if more > 0 else "")
