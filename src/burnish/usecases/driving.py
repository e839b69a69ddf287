"""Begin a run, or take one up again, and drive it to its end, to a question, or to an interruption."""

import asyncio
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from burnish.core.errors import BurnishError
from burnish.core.events import AnyEvent, Closed, Mode, ProcessStarted, RunStarted, TimerFired, WorkStarted
from burnish.core.outcomes import Outcome
from burnish.core.state import Ended, Phase, Run, Sealing, SealKind
from burnish.core.values import Value, replace
from burnish.ledger.interface import Ledger
from burnish.ledger.sqlite import open_ledger
from burnish.records.interface import RecordTexts
from burnish.records.registry import record_files
from burnish.records.writing import RECORDS
from burnish.runtime.inputs import frozen, inputs_of
from burnish.runtime.journal import Journal, load_run, stream_of
from burnish.runtime.leftovers import remove_half_written
from burnish.runtime.performing.performer import LocalPerformer
from burnish.runtime.performing.workshop import GRACE_SECONDS, RUN_MARKER, Workshop
from burnish.runtime.policy import policy_folder
from burnish.runtime.runner import Asker, Runner, Watcher, close, recover, stay_awake
from burnish.runtime.settling import settle, unsettled
from burnish.system import clock, survivors
from burnish.system.files import make_private_directory
from burnish.system.identifiers import is_known_dead, new_run_id, this_process
from burnish.system.process import Command, start_detached
from burnish.system.sandbox import Sandbox, choose
from burnish.usecases.planning import Plan, PlanError
from burnish.usecases.rebuilding import write_records
from burnish.usecases.runs import Runs
from burnish.workspace.clones import Clones
from burnish.workspace.landing import Landing
from burnish.workspace.removal import remove_folder
from burnish.workspace.repository import Repository

SUPERSEDED = "superseded by a newer run"


class Driven(Value):
    """Where a run is now, and what should be said of it."""

    run: Run
    interrupted: int | None = None
    """The signal that interrupted it."""
    landing: Landing | None = None
    notices: tuple[str, ...] = ()


def begin(
    plan: Plan, environment: Mapping[str, str], *, mode: Mode, max_rounds: int | None, interactive: bool
) -> tuple[Ledger, Journal]:
    """Begin the planned run; or, where its dead twin is found, take that one up again."""
    stay_awake()
    ledger = open_ledger(plan.repository.state_dir)
    now = clock.now()
    started = RunStarted(
        at=now,
        run=new_run_id(now),
        mode=mode,
        subject=plan.subject,
        protocol=plan.protocol,
        roles=plan.roles,
        interactive=interactive,
        max_reviews=max_rounds,
        inputs=frozen(plan.inputs),
    )
    twin = _earlier(ledger, plan.repository, started, environment)
    if twin is not None:
        return ledger, Journal.take_over(ledger, twin, this_process(), clock.now())
    plan.repository.keep(started.run, plan.subject.head)
    return ledger, Journal.begin(ledger, started, this_process())


def _earlier(ledger: Ledger, repository: Repository, started: RunStarted, environment: Mapping[str, str]) -> str | None:
    """The dead run of the same subject under the same policy, to be resumed. A living one is an error."""
    open_ends = unsettled(repository)
    for run in _readable_runs(ledger):
        is_over = isinstance(run.phase, Ended) and run.id not in open_ends
        if is_over or run.subject.branch != started.subject.branch:
            continue
        lease = ledger.current_lease(stream_of(run.id))
        if lease is not None and lease.until > clock.now() and not is_known_dead(lease.owner):
            raise PlanError(
                f"'{run.subject.branch}' is under review already, by run {run.id} ({lease.owner}).",
                hint=f"Follow it with 'burnish wait {run.id}', or end it with 'burnish cancel {run.id}'.",
            )
        if _same(run.started, started):
            return run.id
        _supersede(ledger, repository, run, environment)
    return None


def _readable_runs(ledger: Ledger) -> Iterator[Run]:
    """All runs, the newest first. One that this version cannot read keeps nobody from starting another."""
    for stream in reversed(ledger.streams(stream_of(""))):
        with suppress(BurnishError):
            yield load_run(ledger, stream.removeprefix(stream_of("")))


def _same(first: RunStarted, second: RunStarted) -> bool:
    """Whether both are about the same head under the same policy; who sits at the terminal is no matter."""
    return replace(first, at=0.0, run="", interactive=False) == replace(second, at=0.0, run="", interactive=False)


def _supersede(ledger: Ledger, repository: Repository, run: Run, environment: Mapping[str, str]) -> None:
    """End a dead run whose subject or policy has moved on; its work is kept, and nothing else is left of it."""
    journal = Journal.take_over(ledger, run.id, this_process(), clock.now())
    try:
        survivors.end_all(RUN_MARKER, run.id, GRACE_SECONDS)
        recover(journal, clock.now)
        if not isinstance(journal.state.phase, Ended):
            journal.record(_superseded(journal.state.phase))
        close(journal, clock.now)
        settle(repository, journal.state, inputs_of(journal.state))
        _Records(repository).recover(journal.state, _last_moment(ledger, run.id))
    finally:
        remove_folder(cache_folder(environment) / run.id)
        journal.release()


def _superseded(phase: Phase) -> Closed:
    """The end of a run that nobody will go on with. An approval that was earned stays one, though nobody sealed it."""
    if isinstance(phase, Sealing):
        outcome = Outcome.ACCEPTED if phase.kind is SealKind.ACCEPTED else Outcome.APPROVED
        return Closed(at=clock.now(), outcome=outcome, reason=f"{phase.reason}; no seal, {SUPERSEDED}")
    return Closed(at=clock.now(), outcome=Outcome.CANCELLED, reason=SUPERSEDED)


def resume(repository: Repository, run: str | None) -> tuple[Ledger, Journal]:
    """Take a run up again, the newest with anything left to do if none is named. Whoever still writes it is named."""
    stay_awake()
    ledger = open_ledger(repository.state_dir)
    open_ends = unsettled(repository)
    state = load_run(ledger, Runs(repository, ledger).resolve(run)) if run else _newest_open(ledger, open_ends)
    if isinstance(state.phase, Ended) and state.id not in open_ends:
        raise PlanError(
            f"{state.id} has ended: {state.phase.outcome.value}.",
            hint="Start a new one with 'burnish fix' or 'burnish review'.",
        )
    return ledger, Journal.take_over(ledger, state.id, this_process(), clock.now())


def _newest_open(ledger: Ledger, open_ends: Collection[str]) -> Run:
    for state in _readable_runs(ledger):
        if not isinstance(state.phase, Ended) or state.id in open_ends:
            return state
    raise PlanError("There is no run to go on with.", hint="Start one with 'burnish fix' or 'burnish review'.")


def send_to_background(repository: Repository, journal: Journal, environment: Mapping[str, str]) -> None:
    """Hand a run that has just begun to a process of its own, which outlives this one."""
    run = journal.state.id
    folder = repository.state_dir / "runs" / run
    make_private_directory(folder)
    journal.release()
    command = Command(
        argv=(sys.executable, "-m", "burnish", "resume", run, "--json"),
        folder=str(repository.root),
        environment=dict(environment),
    )
    start_detached(command, folder / "runner.log")


def drive(
    repository: Repository,
    ledger: Ledger,
    journal: Journal,
    environment: Mapping[str, str],
    *,
    watch: Watcher,
    ask: Asker | None,
    sandbox: Sandbox | None = None,
) -> Driven:
    """Drive a run from where it is. Its clones are gone afterwards, and so is every process."""
    run = journal.state.id
    known = survivors.adopt_orphans()
    survivors.end_all(RUN_MARKER, run, GRACE_SECONDS)
    recover(journal, clock.now)
    inputs = inputs_of(journal.state)
    cache = cache_folder(environment) / run
    folder = repository.state_dir / "runs" / run
    make_private_directory(folder)
    make_private_directory(cache)
    clones = Clones(repository, cache / "clones")
    records = _Records(repository)
    try:
        policy = policy_folder(repository, clones, journal.state, inputs)
        shop = Workshop(
            run=run,
            repository=repository,
            ledger=ledger,
            inputs=inputs,
            sandbox=sandbox or choose(inputs.settings.sandbox.value),
            clones=clones,
            policy_folder=policy.path,
            folder=folder,
            desks=cache / "desks",
            environment=environment,
        )
        records.recover(journal.state, _last_moment(ledger, run))
        runner = Runner(journal, LocalPerformer(shop), clock.now, _both(records.write, watch), ask)
        state = asyncio.run(runner.run())
        records.bring_up_to_date(state, _last_moment(ledger, run))
        landing = settle(repository, state, inputs)
    finally:
        try:
            survivors.end_all(RUN_MARKER, run, GRACE_SECONDS)
            survivors.end_orphans(known, GRACE_SECONDS)
            remove_folder(cache)
        finally:
            # Only now: whoever waits for the run must find its branch moved and its clones gone.
            journal.release()
    # A signal that came too late to interrupt anything has interrupted nothing.
    cut_short = runner.interrupted is not None and not isinstance(state.phase, Ended)
    interrupted = int(runner.interrupted) if runner.interrupted is not None and cut_short else None
    return Driven(run=state, interrupted=interrupted, landing=landing, notices=(*policy.notices, *records.notices))


def _last_moment(ledger: Ledger, run: str) -> float:
    """When the last event of a run happened."""
    stream = stream_of(run)
    return ledger.read(stream, ledger.version(stream) - 1)[-1].at


def _both(first: Watcher, second: Watcher) -> Watcher:
    def watch(event: AnyEvent, run: Run) -> None:
        first(event, run)
        second(event, run)

    return watch


class _Records:
    """Writes the records after each event, and remembers what could not be written."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self.notices: dict[str, None] = {}

    def write(self, event: AnyEvent, run: Run) -> None:
        if isinstance(event, WorkStarted | ProcessStarted | TimerFired):
            return
        self.bring_up_to_date(run, event.at)

    def recover(self, run: Run, at: float) -> None:
        """A run that was killed may have left its records behind its last event, and some of them half written."""
        names = [file.path for file in record_files(run, RecordTexts())]
        remove_half_written(self._repository.state_dir / "runs" / run.id / RECORDS, names)
        remove_half_written(self._repository.root, names)
        self.bring_up_to_date(run, at)

    def bring_up_to_date(self, run: Run, at: float) -> None:
        written = write_records(self._repository, run, at)
        for notice in written.notices:
            self.notices[f"{notice.path}: {notice.message} {notice.hint}".strip()] = None


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Where clones live: the user's cache folder."""
    cache = environment.get("XDG_CACHE_HOME", "")
    if not cache.startswith("/"):
        cache = str(Path(environment.get("HOME", "/tmp")) / ".cache")  # noqa: S108 - only where there is no home
    return Path(cache) / "burnish"


def exit_for_signal(number: int) -> int:
    """130 for SIGINT, 143 for SIGTERM."""
    return 128 + number
