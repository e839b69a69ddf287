"""Begin a run, or take one up again, and drive it to its end, to a question, or to an interruption."""

import asyncio
import shutil
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from burnish.core.events import AnyEvent, Cancelled, Mode, ProcessStarted, RunStarted, TimerFired, WorkStarted
from burnish.core.state import Ended, Outcome, Run
from burnish.core.values import Value
from burnish.ledger.interface import Ledger
from burnish.ledger.sqlite import open_ledger
from burnish.runtime.inputs import Inputs, frozen, inputs_of
from burnish.runtime.journal import Journal, load_run
from burnish.runtime.performing.performer import LocalPerformer
from burnish.runtime.performing.workshop import GRACE_SECONDS, RUN_MARKER, Workshop
from burnish.runtime.runner import Asker, Runner, Watcher, close, recover
from burnish.system import clock, survivors
from burnish.system.files import make_private_directory
from burnish.system.identifiers import is_known_dead, new_run_id, this_process
from burnish.system.process import Command, start_detached
from burnish.system.sandbox import Sandbox, choose
from burnish.usecases.planning import Plan, PlanError
from burnish.usecases.rebuilding import write_records
from burnish.workspace.clones import Clones
from burnish.workspace.landing import Landing, land, leave
from burnish.workspace.repository import Repository

LANDED = (Outcome.APPROVED, Outcome.ACCEPTED)


class Driven(Value):
    """Where a run is now, and what should be said of it."""

    run: Run
    interrupted: int | None = None
    """The signal that interrupted it."""
    landing: Landing | None = None
    notices: tuple[str, ...] = ()


def begin(plan: Plan, *, mode: Mode, max_rounds: int | None, interactive: bool) -> tuple[Ledger, Journal]:
    """Begin the planned run; or, where its dead twin is found, take that one up again."""
    ledger = open_ledger(plan.repository.state_dir)
    twin = _earlier(ledger, plan, mode)
    if twin is not None:
        return ledger, Journal.take_over(ledger, twin, this_process(), clock.now())
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
    plan.repository.keep(started.run, plan.subject.head)
    return ledger, Journal.begin(ledger, started, this_process())


def _earlier(ledger: Ledger, plan: Plan, mode: Mode) -> str | None:
    """The dead run of the same subject under the same policy, to be resumed. A living one is an error."""
    for stream in reversed(ledger.streams("run/")):
        run = load_run(ledger, stream.removeprefix("run/"))
        if isinstance(run.phase, Ended) or run.subject.branch != plan.subject.branch:
            continue
        lease = ledger.current_lease(stream)
        if lease is not None and lease.until > clock.now() and not is_known_dead(lease.owner):
            raise PlanError(
                f"'{run.subject.branch}' is under review already, by run {run.id} ({lease.owner}).",
                hint=f"Follow it with 'burnish wait {run.id}', or end it with 'burnish cancel {run.id}'.",
            )
        if _same(run, plan, mode):
            return run.id
        _supersede(ledger, run)
    return None


def _same(run: Run, plan: Plan, mode: Mode) -> bool:
    started = run.started
    return (
        started.mode is mode
        and started.subject == plan.subject
        and started.protocol == plan.protocol
        and started.roles == plan.roles
        and inputs_of(run) == plan.inputs
    )


def _supersede(ledger: Ledger, run: Run) -> None:
    """End a dead run whose subject or policy has moved on."""
    journal = Journal.take_over(ledger, run.id, this_process(), clock.now())
    recover(journal, clock.now)
    if not isinstance(journal.state.phase, Ended):
        journal.record(Cancelled(at=clock.now(), note="superseded by a newer run", by="burnish"))
    close(journal, clock.now)
    journal.release()


def resume(repository: Repository, run: str | None) -> tuple[Ledger, Journal]:
    """Take a run up again, the newest that has not ended if none is named. Whoever still writes it is named."""
    ledger = open_ledger(repository.state_dir)
    state = load_run(ledger, run) if run else _newest_open(ledger)
    if isinstance(state.phase, Ended):
        raise PlanError(
            f"{state.id} has ended: {state.phase.outcome.value}.",
            hint="Start a new one with 'burnish fix' or 'burnish review'.",
        )
    return ledger, Journal.take_over(ledger, state.id, this_process(), clock.now())


def _newest_open(ledger: Ledger) -> Run:
    for stream in reversed(ledger.streams("run/")):
        state = load_run(ledger, stream.removeprefix("run/"))
        if not isinstance(state.phase, Ended):
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
    survivors.end_all(RUN_MARKER, run, GRACE_SECONDS)
    recover(journal, clock.now)
    inputs = inputs_of(journal.state)
    cache = cache_folder(environment) / run
    folder = repository.state_dir / "runs" / run
    make_private_directory(folder)
    make_private_directory(cache)
    clones = Clones(repository, cache / "clones")
    notices: list[str] = []
    try:
        shop = Workshop(
            run=run,
            repository=repository,
            ledger=ledger,
            inputs=inputs,
            sandbox=sandbox or choose(inputs.settings.sandbox.value),
            clones=clones,
            policy_folder=_policy_folder(repository, clones, journal.state, inputs, notices),
            folder=folder,
            desks=cache / "desks",
            environment=environment,
        )
        records = _Records(repository)
        runner = Runner(journal, LocalPerformer(shop), clock.now, _both(records.write, watch), ask)
        state = asyncio.run(runner.run())
        landing = _land(repository, state, inputs)
    finally:
        clones.remove_all()
        shutil.rmtree(cache, ignore_errors=True)
        survivors.end_all(RUN_MARKER, run, GRACE_SECONDS)
        # Only now: whoever waits for the run must find its branch moved and its clones gone.
        journal.release()
    interrupted = int(runner.interrupted) if runner.interrupted is not None else None
    return Driven(run=state, interrupted=interrupted, landing=landing, notices=(*notices, *records.notices))


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
        written = write_records(self._repository, run, event.at)
        for notice in written.notices:
            self.notices[f"{notice.path}: {notice.message} {notice.hint}".strip()] = None


def _policy_folder(repository: Repository, clones: Clones, run: Run, inputs: Inputs, notices: list[str]) -> str:
    """Where relative commands of the policy are run from: the base's own files, where it has them."""
    commands = [
        agent.command[index].removeprefix("./")
        for agent in inputs.settings.agents.values()
        for index in agent.relative_parts
    ]
    if not commands:
        return str(repository.root)
    base = run.subject.base_commit
    missing = [name for name in commands if repository.read_file(base, name) is None]
    if missing:
        notices.append(f"{run.subject.base} has no {', '.join(missing)}: the working tree's is run.")
        return str(repository.root)
    return str(clones.make("policy", base, base, writable=False).path)


def _land(repository: Repository, run: Run, inputs: Inputs) -> Landing | None:
    """Move the branch once, when the run ended well; else leave good work where it can be taken."""
    if not isinstance(run.phase, Ended):
        return None
    repository.let_go(run.id)
    if run.commit == run.subject.head:
        return None
    if run.phase.outcome in LANDED and not inputs.detached:
        return land(repository, branch=run.subject.branch, expected=run.subject.head, new=run.commit, run=run.id)
    return leave(repository, branch=run.subject.branch, new=run.commit, run=run.id)


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Where clones live: the user's cache folder."""
    cache = environment.get("XDG_CACHE_HOME", "")
    if not cache.startswith("/"):
        cache = str(Path(environment.get("HOME", "/tmp")) / ".cache")  # noqa: S108 - only where there is no home
    return Path(cache) / "burnish"


def exit_for_signal(number: int) -> int:
    """130 for SIGINT, 143 for SIGTERM."""
    return 128 + number


SIGNALS = (signal.SIGINT, signal.SIGTERM)
