"""Begin a run, or take one up again: who may, and what becomes of an earlier run of the same subject."""

import os
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress

from burnish.config.loading import PolicyOrigin
from burnish.core.budget import Budget
from burnish.core.errors import BurnishError
from burnish.core.events import EVIDENCE, Closed, Mode, RunStarted
from burnish.core.outcomes import Outcome
from burnish.core.state import Ended, Phase, Run, Sealing
from burnish.core.steps.checks import outcome_of
from burnish.core.values import replace
from burnish.ledger.interface import Ledger
from burnish.runtime.inputs import frozen
from burnish.runtime.journal import Journal, load_run, stream_of
from burnish.runtime.runner import stay_awake
from burnish.runtime.settling import unsettled
from burnish.system import clock
from burnish.system.files import make_private_directory
from burnish.system.identifiers import is_known_dead, new_run_id, this_process
from burnish.system.process import Command, start_detached
from burnish.usecases.finishing import put_to_rest
from burnish.usecases.planning import Plan, PlanError
from burnish.usecases.rebuilding import room_for
from burnish.usecases.remembering import remembered
from burnish.usecases.runs import Runs
from burnish.workspace.authorship import ensure_signing
from burnish.workspace.repository import Repository

SUPERSEDED = "superseded by a newer run"


def begin(
    plan: Plan,
    ledger: Ledger,
    environment: Mapping[str, str],
    *,
    mode: Mode,
    max_rounds: int | None,
    interactive: bool,
) -> Journal:
    """Begin the planned run; or, where its dead twin is found, take that one up again."""
    stay_awake()
    if mode is Mode.FIX:
        ensure_signing(plan.repository, plan.subject.head)
    now = clock.now()
    started = RunStarted(
        at=now,
        run=new_run_id(now),
        mode=mode,
        subject=plan.subject,
        protocol=plan.protocol,
        roles=plan.roles,
        build=plan.build,
        skip=plan.skip,
        interactive=interactive,
        max_reviews=max_rounds,
        budget=plan.budget,
        rules=EVIDENCE,
        allow_unexamined=plan.allow_unexamined,
        local_policy=plan.inputs.policy is PolicyOrigin.WORKING_TREE,
        waivers=plan.waivers,
        owner=os.getppid(),
        parallel_agents=plan.frozen.uncommitted and _others_at_work(ledger),
        inputs=frozen(plan.inputs),
    )
    twin = _earlier(ledger, plan.repository, started, environment)
    if twin is not None:
        return Journal.take_over(ledger, twin, this_process(), clock.now())
    started = replace(started, remembered=remembered(ledger, plan.repository, started))
    plan.repository.keep(started.run, plan.subject.head)
    with room_for(plan.repository, ledger, started):
        return Journal.begin(ledger, started, this_process())


def _earlier(ledger: Ledger, repository: Repository, started: RunStarted, environment: Mapping[str, str]) -> str | None:
    """The dead run of the same subject under the same policy, to be resumed. A living one is an error."""
    open_ends = unsettled(repository)
    for run in _readable_runs(ledger, open_ends):
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


def _readable_runs(ledger: Ledger, open_ends: Collection[str]) -> Iterator[Run]:
    """The runs with anything left to do, the newest first, and perhaps others that have ended.

    One that this version cannot read keeps nobody from starting another.
    """
    for stream in reversed(ledger.streams(stream_of(""))):
        name = stream.removeprefix(stream_of(""))
        if name not in open_ends and _is_closed(ledger, stream):
            continue
        with suppress(BurnishError):
            yield load_run(ledger, name)


def _is_closed(ledger: Ledger, stream: str) -> bool:
    """Whether the last event is the end: told without folding all of them, of every run that there ever was."""
    return ledger.read(stream, ledger.version(stream) - 1)[-1].kind == Closed.__name__


def _others_at_work(ledger: Ledger) -> bool:
    """Whether another run of the repository has a living driver."""
    leases = (ledger.current_lease(stream) for stream in ledger.streams(stream_of("")))
    now = clock.now()
    return any(lease is not None and lease.until > now and not is_known_dead(lease.owner) for lease in leases)


def _same(first: RunStarted, second: RunStarted) -> bool:
    """Whether both are about the same head under the same policy.

    Who sits at the terminal is no matter, nor is what earlier runs left of a ticket's budget or found: the first is one
    of them.
    """
    one, other = (
        replace(each, at=0.0, run="", interactive=False, budget=Budget(), remembered=(), owner=0, parallel_agents=False)
        for each in (first, second)
    )
    return one == other


def _supersede(ledger: Ledger, repository: Repository, run: Run, environment: Mapping[str, str]) -> None:
    """End a dead run whose subject or policy has moved on; its work is kept, and nothing else is left of it."""
    journal = Journal.take_over(ledger, run.id, this_process(), clock.now())
    put_to_rest(repository, ledger, journal, environment, end=_superseded)


def _superseded(phase: Phase) -> Closed:
    """The end of a run that nobody will go on with. An approval that was earned stays one, though nobody sealed it."""
    if isinstance(phase, Sealing):
        outcome = outcome_of(phase)
        return Closed(at=clock.now(), outcome=outcome, reason=f"{phase.reason}; no seal, {SUPERSEDED}")
    return Closed(at=clock.now(), outcome=Outcome.CANCELLED, reason=SUPERSEDED)


def resume(repository: Repository, ledger: Ledger, run: str | None) -> Journal:
    """Take a run up again, the newest with anything left to do if none is named. Whoever still writes it is named."""
    stay_awake()
    open_ends = unsettled(repository)
    state = load_run(ledger, Runs(repository, ledger).resolve(run)) if run else _newest_open(ledger, open_ends)
    if isinstance(state.phase, Ended) and state.id not in open_ends:
        _forget_dead_driver(ledger, state.id)
        raise PlanError(
            f"{state.id} has ended: {state.phase.outcome.value}.",
            hint="Start a new one with 'burnish fix' or 'burnish review'.",
        )
    return Journal.take_over(ledger, state.id, this_process(), clock.now())


def _forget_dead_driver(ledger: Ledger, run: str) -> None:
    """Whoever was killed after everything was done has left nothing but its name on the run."""
    lease = ledger.current_lease(stream_of(run))
    if lease is not None and is_known_dead(lease.owner):
        Journal.take_over(ledger, run, this_process(), clock.now()).release()


def _newest_open(ledger: Ledger, open_ends: Collection[str]) -> Run:
    for state in _readable_runs(ledger, open_ends):
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
