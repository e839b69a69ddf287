"""Begin a run, or take one up again: who may, and what becomes of an earlier run of the same subject."""

import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress

from burnish.core.budget import Budget
from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.events import RULES, Closed, Mode, Outcome, RunStarted, name_of
from burnish.core.state import Ended, Phase, Run, Sealing, Waiting
from burnish.core.steps.checks import outcome_of
from burnish.core.values import replace
from burnish.ledger.interface import Ledger
from burnish.runtime.inputs import frozen, without_invocation
from burnish.runtime.journal import Journal, load_run, stream_of
from burnish.runtime.runner import stay_awake
from burnish.runtime.settling import unsettled
from burnish.settings.loading import PolicyOrigin
from burnish.system import clock
from burnish.system.files import make_private_directory
from burnish.system.identifiers import is_known_dead, new_run_id, this_process
from burnish.system.process import Command, start_detached
from burnish.usecases.finishing import put_to_rest
from burnish.usecases.planning import Plan, PlanError
from burnish.usecases.rebuilding import room_for
from burnish.usecases.remembering import openings, remembered
from burnish.usecases.runs import Runs
from burnish.workspace.authorship import ensure_signing
from burnish.workspace.repository import Repository
from burnish.workspace.write_back import is_half_written


class WaitingRunError(BurnishError):
    """A run of the same subject waits for a person. Only `--supersede` ends it."""

    kind = ErrorKind.WAITING

    def __init__(self, run: Run, waiting: Waiting) -> None:
        super().__init__(
            f"Run {run.id} of '{run.subject.branch}' waits for your decision: {waiting.reason}.",
            hint=f"`burnish status {run.id}` shows the choices. To end it and start anew, add --supersede.",
        )
        self.run = run


def begin(
    plan: Plan,
    ledger: Ledger,
    environment: Mapping[str, str],
    *,
    mode: Mode,
    max_rounds: int | None,
    interactive: bool,
    supersede: bool = False,
) -> Journal:
    """Begin the planned run; or, where its dead twin is found, take that one up again.

    `supersede` ends a run of the same subject that waits for a person, or that could be resumed.
    """
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
        rules=RULES,
        allow_unexamined=plan.allow_unexamined,
        local_policy=plan.inputs.policy is PolicyOrigin.WORKING_TREE,
        waivers=plan.waivers,
        owner=os.getppid(),
        parallel_agents=plan.frozen.uncommitted and _others_at_work(ledger),
        inputs=frozen(plan.inputs, plan.invocation),
    )
    _complete_writing(ledger, plan.repository, environment)
    earlier = _open_runs(ledger, plan.repository, started)
    twin = next((run for run in earlier if _same(run.started, started)), None)
    if twin is not None and not (supersede and not isinstance(twin.phase, Ended)):
        return Journal.take_over(ledger, twin.id, this_process(), clock.now())
    replaced = _replaced(earlier, supersede=supersede)
    started = replace(
        started,
        supersedes=tuple(run.id for run in replaced),
        rounds_before=_rounds_before(ledger, started, replaced),
    )
    for run in earlier:
        _end(ledger, plan.repository, run, environment, by=started.run)
    started = replace(started, remembered=remembered(ledger, plan.repository, started))
    plan.repository.keep(started.run, plan.subject.head)
    with room_for(plan.repository, ledger, started):
        return Journal.begin(ledger, started, this_process())


def _complete_writing(ledger: Ledger, repository: Repository, environment: Mapping[str, str]) -> None:
    """Complete what a killed run has half written into a working tree, before that is taken for the user's work."""
    for name in sorted(unsettled(repository)):
        if is_half_written(repository.state_dir / "runs" / name):
            journal = Journal.take_over(ledger, name, this_process(), clock.now())
            put_to_rest(repository, ledger, journal, environment)
            raise PlanError(
                f"Run {name} was killed while it wrote its fixes into the working tree. That is completed now.",
                hint=f"`burnish show {name}` shows the run. Then give your command again.",
            )


def _open_runs(ledger: Ledger, repository: Repository, started: RunStarted) -> list[Run]:
    """The runs of the same subject that have anything left to do, the newest first. A living one is an error.

    A review changes no code and asks no person: it runs beside a fix that waits or was interrupted.
    """
    open_ends = unsettled(repository)
    found: list[Run] = []
    for run in _readable_runs(ledger, open_ends):
        is_over = isinstance(run.phase, Ended) and run.id not in open_ends
        if is_over or run.subject.branch != started.subject.branch:
            continue
        lease = ledger.current_lease(stream_of(run.id))
        if lease is not None and lease.until > clock.now() and not is_known_dead(lease.owner):
            raise PlanError(
                f"'{run.subject.branch}' is under review already, by run {run.id} ({lease.owner}).",
                hint=f"Follow it with `burnish wait {run.id}`, or end it with `burnish cancel {run.id}`.",
            )
        if started.mode is Mode.FIX or run.started.mode is Mode.REVIEW:
            found.append(run)
    return found


def _replaced(earlier: Sequence[Run], *, supersede: bool) -> list[Run]:
    """The runs that end so that a new one can begin. One that waits for a person is not ended unasked."""
    going_on = [run for run in earlier if not isinstance(run.phase, Ended)]
    for run in going_on:
        if isinstance(run.phase, Waiting) and not supersede:
            raise WaitingRunError(run, run.phase)
    return going_on


def _rounds_before(ledger: Ledger, started: RunStarted, replaced: Sequence[Run]) -> int:
    """How many rounds count towards the hard cap already: those of ended runs on the very same tree.

    Each run carries the rounds of those before it, so the newest one tells. A person's new commits make another tree.
    """
    if started.mode is not Mode.FIX:
        return 0
    tree, ending = started.subject.tree, {run.id for run in replaced}
    names = (first.run for first in openings(ledger) if first.mode is Mode.FIX and first.subject.tree == tree)
    newest = next(names, None)
    if newest is None:
        return 0
    last = load_run(ledger, newest)
    was_ended = last.id in ending or (isinstance(last.phase, Ended) and last.phase.outcome is Outcome.CANCELLED)
    before = last.started.rounds_before + (len(last.rounds) if was_ended else 0)
    _check_cap(started, before)
    return before


def _check_cap(started: RunStarted, before: int) -> None:
    cap = started.protocol.limits.hard_cap
    left = cap - before
    if before and (left < 1 or (started.max_reviews or 1) > left):
        asked = f", so --max-rounds {started.max_reviews} is too many" if left >= 1 else ""
        raise PlanError(
            f"Runs that were ended have made {before} of the {cap} reviews that '{started.protocol.name}' allows for "
            f"{started.subject.head[:12]}{asked}.",
            hint=f"Ask for at most {left}." if left >= 1 else "Commit a change by hand: then the count starts anew.",
        )


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
    return ledger.read(stream, ledger.version(stream) - 1)[-1].kind == name_of(Closed)


def _others_at_work(ledger: Ledger) -> bool:
    """Whether another run of the repository has a living driver."""
    leases = (ledger.current_lease(stream) for stream in ledger.streams(stream_of("")))
    now = clock.now()
    return any(lease is not None and lease.until > now and not is_known_dead(lease.owner) for lease in leases)


def _same(first: RunStarted, second: RunStarted) -> bool:
    """Whether both are about the same head under the same policy.

    How it was typed and who sits at the terminal is no matter, nor is what earlier runs left of a ticket's budget,
    found, or used up: the first is one of them.
    """
    one, other = (
        replace(
            each,
            at=0.0,
            run="",
            interactive=False,
            budget=Budget(),
            remembered=(),
            owner=0,
            parallel_agents=False,
            supersedes=(),
            rounds_before=0,
            inputs=without_invocation(each.inputs),
        )
        for each in (first, second)
    )
    return one == other


def _end(ledger: Ledger, repository: Repository, run: Run, environment: Mapping[str, str], *, by: str) -> None:
    """End a dead run in favour of another; its work is kept, and nothing else is left of it."""
    journal = Journal.take_over(ledger, run.id, this_process(), clock.now())
    put_to_rest(repository, ledger, journal, environment, end=lambda phase: _superseded(phase, f"superseded by {by}"))


def _superseded(phase: Phase, reason: str) -> Closed:
    """The end of a run that nobody will go on with. An approval that was earned stays one, though nobody sealed it."""
    if isinstance(phase, Sealing):
        return Closed(at=clock.now(), outcome=outcome_of(phase), reason=f"{phase.reason}; no seal, {reason}")
    return Closed(at=clock.now(), outcome=Outcome.CANCELLED, reason=reason)


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
