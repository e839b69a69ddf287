"""Drive a run to its end, to a question, or to an interruption."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from burnish.agents.services import GRACE_SECONDS
from burnish.core.errors import BurnishError
from burnish.core.events import AnyEvent
from burnish.core.state import Reviewing, Run, Waiting
from burnish.core.values import Value, replace
from burnish.ledger.errors import LeaseHeldError
from burnish.ledger.interface import Ledger
from burnish.report.account import Account, RunSnapshot
from burnish.runtime.context import context_of
from burnish.runtime.journal import Journal, stream_of
from burnish.runtime.perform import LocalPerformer
from burnish.runtime.policy import policy_folder
from burnish.runtime.runner import Asker, Runner, Watcher, recover
from burnish.runtime.services import RUN_MARKER, Activity, LocalServices
from burnish.runtime.settling import settle
from burnish.settings.agent_kinds import AgentKind
from burnish.system import clock, survivors
from burnish.system.files import make_private_directory
from burnish.system.sandbox import Sandbox
from burnish.system.terminal import TERMINALS, find_tmux
from burnish.usecases.clean_up import keep_within_limits
from burnish.usecases.run_folders import cache_folder, make_run_folder, remove_run_folders
from burnish.usecases.runs import Runs, take_over
from burnish.usecases.tell_run import tell
from burnish.usecases.write_records import RecordKeeper, last_moment
from burnish.workspace.clones import Clones
from burnish.workspace.folders import remove_folder
from burnish.workspace.landing import Landing
from burnish.workspace.repository import Repository

_PAUSED_EXIT = 1
"""One round is behind, and the gate did not pass."""


class Driven(Value):
    run: Run
    interrupted: int | None = None
    """The signal that interrupted it."""
    landing: Landing | None = None
    notices: tuple[str, ...] = ()
    paused: bool = False
    """Whether it was left after one round, as the user asked, with more to do."""


class RunResult(Value):
    """The account of a run that was driven, and how the command that drove it ends."""

    account: Account
    notices: tuple[str, ...] = ()
    signal: int | None = None
    """The signal that interrupted it."""

    @property
    def exit_code(self) -> int:
        if self.account.paused:
            return _PAUSED_EXIT
        return self.account.exit_code if self.signal is None else exit_for_signal(self.signal)


class DriveOptions(NamedTuple):
    """How a run is driven, and which callbacks of the surface it is given."""

    watch: Watcher | None = None
    """Is told of each event."""
    ask: Asker | None = None
    """Puts a question to a person at the terminal; None where no person sits there."""
    activity: Activity | None = None
    """Is told what an agent is doing now."""
    sandbox: Sandbox | None = None
    terminal: bool = False
    """Whether each agent is shown in a tmux session."""
    one_round: bool = False
    """Whether it stops after one round more."""
    outside: str = ""
    """The agent whose work other processes do: it is left when nothing else is to be done."""


def drive(
    repository: Repository,
    ledger: Ledger,
    journal: Journal,
    environment: Mapping[str, str],
    options: DriveOptions,
) -> Driven:
    """Drive a run from where it is. Its clones are gone afterwards, and so is every process.

    A person's word that comes while the driver is about to leave relies on the driver: it goes on.
    """
    if journal.state.started.session:
        options = options._replace(outside=AgentKind.SESSION.value)
    pause = _after_round(journal.state, one_round=options.one_round)
    while True:
        driven = _drive(repository, ledger, journal, environment, options, pause=pause)
        # Where others work, the caller looks again by itself.
        following = None if options.outside else _continued(ledger, driven)
        if following is None:
            break
        journal = following
    # A limit that cannot be applied now is applied after the next run: this one's result does not depend on it.
    with suppress(BurnishError, OSError):
        keep_within_limits(Runs(repository, ledger), context_of(driven.run).settings.keep, clock.now())
    return driven


def run_result(repository: Repository, driven: Driven) -> RunResult:
    account = tell(repository, RunSnapshot(run=driven.run))
    result = "" if driven.landing is None else driven.landing.words
    account = replace(account, result=result, paused=driven.paused)
    return RunResult(account=account, notices=driven.notices, signal=driven.interrupted)


def _after_round(state: Run, *, one_round: bool) -> Callable[[Run], bool]:
    """When to pause: never, or as soon as one round more is behind and the next is to begin."""
    last = _rounds_behind(state) + 1
    return lambda run: one_round and isinstance(run.phase, Reviewing) and _rounds_behind(run) >= last


def _rounds_behind(run: Run) -> int:
    return run.phase.round - 1 if isinstance(run.phase, Reviewing) else len(run.rounds)


def _drive(
    repository: Repository,
    ledger: Ledger,
    journal: Journal,
    environment: Mapping[str, str],
    options: DriveOptions,
    *,
    pause: Callable[[Run], bool],
) -> Driven:
    run = journal.state.id
    known = survivors.adopt_orphans()
    survivors.end_all(RUN_MARKER, run, GRACE_SECONDS)
    recover(journal, clock.now, outside=options.outside)
    context = context_of(journal.state)
    copies = make_run_folder(environment, run)
    folder = repository.state_dir / "runs" / run
    make_private_directory(folder)
    records = RecordKeeper(repository, ledger)
    try:
        try:
            services = LocalServices(
                run=run,
                repository=repository,
                ledger=ledger,
                context=context,
                environment=environment,
                copies=copies,
                cache=cache_folder(environment),
                policy_folder=policy_folder(repository, Clones(repository, copies / "clones"), journal.state, context),
                sandbox=options.sandbox,
                activity=options.activity,
                tmux=find_tmux() if options.terminal else "",
            )
            records.recover(journal.state, last_moment(ledger, run))

            def watch(event: AnyEvent, run: Run) -> None:
                records.write(event, run)
                if options.watch is not None:
                    options.watch(event, run)

            performer, outside = LocalPerformer(services), options.outside
            runner = Runner(journal, performer, clock.now, watch, options.ask, pause=pause, outside=outside)
            state = asyncio.run(runner.run())
            records.bring_up_to_date(state, last_moment(ledger, run))
        finally:
            survivors.end_all(RUN_MARKER, run, GRACE_SECONDS)
            survivors.end_orphans(known, GRACE_SECONDS)
            remove_run_folders(environment, run)
            remove_folder(folder / TERMINALS)
        # After everything else: what is settled is not looked at again, so that nothing of it may be left behind.
        landing = settle(repository, state, context)
    finally:
        # Only now: a process that waits for the run must find its branch moved and its clones gone.
        journal.release()
    # A signal that came too late to interrupt anything has interrupted nothing.
    interrupted = None if runner.interrupted is None or state.outcome else int(runner.interrupted)
    paused = interrupted is None and state.outcome is None and pause(state)
    notices = (*records.notices, *services.notices)
    return Driven(run=state, interrupted=interrupted, landing=landing, notices=notices, paused=paused)


def _continued(ledger: Ledger, driven: Driven) -> Journal | None:
    """The journal of a run whose question was answered meanwhile by another process, where no other one drives it."""
    run = driven.run
    unanswered = isinstance(run.phase, Waiting) and ledger.version(stream_of(run.id)) == run.version
    if driven.interrupted is not None or driven.paused or run.outcome or unanswered:
        return None
    with suppress(LeaseHeldError):
        return take_over(ledger, run.id)
    return None


def exit_for_signal(number: int) -> int:
    """130 for SIGINT, 143 for SIGTERM."""
    return 128 + number
