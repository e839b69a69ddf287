"""Start a run and drive it: plan, begin, drive, tell. Also what becomes of an earlier run of the same subject.

`burnish.usecases.resume_run` takes one up again.
"""

import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from burnish.core.budget import Budget
from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.events import RULES, Closed, Mode, Outcome, RunStarted, name_of
from burnish.core.protocol import FixInput
from burnish.core.state import Phase, Run, Sealing, Waiting
from burnish.core.values import replace
from burnish.ledger.interface import Ledger
from burnish.ledger.sqlite import open_ledger
from burnish.report.account import Account, RunSnapshot
from burnish.runtime.context import as_json, with_context
from burnish.runtime.journal import Journal, load_run, stream_of
from burnish.runtime.runner import stay_awake
from burnish.runtime.settling import unsettled
from burnish.settings.loading import PolicyOrigin
from burnish.system import clock
from burnish.system.files import make_private_directory
from burnish.system.identifiers import ProcessIdentity, is_known_dead, new_run_id, this_process
from burnish.system.process import Command, start_detached
from burnish.system.terminal import find_tmux
from burnish.usecases.drive_run import DriveOptions, RunResult, drive, run_result
from burnish.usecases.earlier_runs import openings, remembered
from burnish.usecases.finish_run import end_run
from burnish.usecases.plan_run import Plan, PlanError, RunRequest, check_ready, plan
from burnish.usecases.runs import take_over
from burnish.usecases.session_owners import living_owner
from burnish.usecases.tell_run import tell
from burnish.usecases.trust_settings import AskTrust
from burnish.usecases.write_records import room_for
from burnish.workspace.commits import ensure_signing
from burnish.workspace.repository import Repository
from burnish.workspace.write_back import is_half_written

SESSION_MARKER = "BURNISH_SESSION"


class WaitingRunError(BurnishError):
    """A run of the same subject waits for a person. Only `--supersede` ends it."""

    kind = ErrorKind.WAITING

    def __init__(self, account: Account, waiting: Waiting) -> None:
        run = account.run
        super().__init__(
            f"Run {run.id} of '{run.subject.branch}' is waiting for your decision: {waiting.reason}.",
            hint=f"`burnish status {run.id}` shows the choices. To end it and start a new run, add --supersede.",
        )
        self.account = account


class LivingRunError(PlanError):
    """A process drives a run of the same branch."""


class Surface(NamedTuple):
    """How a run that is started or resumed speaks to the surface from which that was asked."""

    notice: Callable[[str], None]
    """Is told what a person should know."""
    begun: Callable[[Run], None]
    """Is told of the run before anything is done in it."""
    options: DriveOptions
    ask_trust: AskTrust | None = None
    """Asks whether settings of the working tree are trusted."""


def start_run(folder: Path, request: RunRequest, environment: Mapping[str, str], surface: Surface) -> RunResult:
    planned = _plan(folder, request, environment, surface)
    with open_ledger(planned.repository.state_dir) as ledger:
        journal = _begin(planned, ledger, request, environment, surface)
        options = surface.options._replace(sandbox=planned.sandbox)
        driven = drive(planned.repository, ledger, journal, environment, options)
    return run_result(planned.repository, driven)


def start_in_background(folder: Path, request: RunRequest, environment: Mapping[str, str], surface: Surface) -> str:
    """Start a run and leave it to a process of its own, which outlives this one. Returns its name."""
    planned = _plan(folder, request, environment, surface)
    with open_ledger(planned.repository.state_dir) as ledger:
        journal = _begin(planned, ledger, request, environment, surface)
        terminal = {"BURNISH_TERMINAL": "tmux" if surface.options.terminal else ""}
        _send_to_background(planned.repository, journal, {**environment, **terminal})
    return journal.state.id


def preview_run(folder: Path, request: RunRequest, environment: Mapping[str, str], surface: Surface) -> list[str]:
    """What a run would call first: by agents' names or, with a story, in the words of the tools that drive stories."""
    planned = _plan(folder, request, environment, surface)
    protocol, roles, story = planned.protocol, planned.roles, planned.subject.story
    called = [(reviewer.name, roles.reviewer(reviewer.name).agent) for reviewer in roles.panel(protocol)]
    if request.mode is Mode.FIX and protocol.fix.input is not FixInput.NOTHING:
        called.append(("fixer", (*protocol.fix.by_round, roles.fix.agent)[0]))
    if request.build and roles.build is not None:
        called.insert(0, ("builder", roles.build.agent))
    if story and protocol.name == "epic":
        return [f"Would spawn {protocol.name}-{role} for Story {story} round 1" for role, _ in called]
    subject = story or planned.subject.branch
    return [f"Would call agent '{agent}' as {role} for {subject}, round 1" for role, agent in called]


def _plan(folder: Path, request: RunRequest, environment: Mapping[str, str], surface: Surface) -> Plan:
    if surface.options.terminal:
        find_tmux()  # before anything has begun
    planned = plan(folder, request, environment, surface.ask_trust)
    for notice in planned.notices:
        surface.notice(notice)
    return planned


def _begin(
    planned: Plan, ledger: Ledger, request: RunRequest, environment: Mapping[str, str], surface: Surface
) -> Journal:
    check_ready(planned, environment)
    journal = begin(
        planned,
        ledger,
        environment,
        mode=request.mode,
        max_rounds=request.max_rounds,
        interactive=request.interactive,
        supersede=request.supersede,
    )
    surface.begun(journal.state)
    if SESSION_MARKER in environment:
        from burnish.usecases.sessions import note_run  # noqa: PLC0415 - few runs are started by a session

        note_run(planned.repository, environment[SESSION_MARKER], journal.state.id)
    return journal


def begin(
    plan: Plan,
    ledger: Ledger,
    environment: Mapping[str, str],
    *,
    mode: Mode,
    max_rounds: int | None,
    interactive: bool,
    supersede: bool = False,
    name: str = "",
    session: str = "",
    owner: int | None = None,
) -> Journal:
    """Begin the planned run; or, where its dead twin is found, take that one up again.

    `session` is the client's session that reviews its own work, and `owner` its process. `supersede` ends a run of the
    same subject that waits for a person, or that could be resumed. `name` is the name of the run where it was given one
    before.
    """
    stay_awake()
    if mode is Mode.FIX:
        ensure_signing(plan.repository, plan.subject.head)
    now = clock.now()
    started = RunStarted(
        at=now,
        run=name or new_run_id(now),
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
        enforced=plan.inputs.settings.gate.enforce,
        local_policy=plan.inputs.policy is PolicyOrigin.WORKING_TREE,
        waivers=plan.waivers,
        owner=os.getppid() if owner is None else owner,
        session=session,
        parallel_agents=plan.frozen.uncommitted and any(map(partial(_living_driver, ledger), _streams(ledger))),
        context=as_json(plan.inputs),
        invocation=as_json(plan.invocation),
    )
    _complete_writing(ledger, plan.repository, environment)
    earlier = _open_runs(ledger, plan.repository, started)
    twin = next((run for run in earlier if _same(run.started, started)), None)
    if twin is not None and (twin.outcome or not supersede):
        return take_over(ledger, twin.id)
    replaced = _replaced(plan.repository, earlier, supersede=supersede)
    started = replace(
        started,
        supersedes=tuple(run.id for run in replaced),
        rounds_before=_rounds_before(ledger, started, replaced),
    )
    for run in earlier:
        end = partial(_superseded, reason=f"superseded by {started.run}")
        end_run(plan.repository, ledger, take_over(ledger, run.id), environment, end=end)
    started = replace(started, remembered=remembered(ledger, plan.repository, started))
    plan.repository.keep(started.run, plan.subject.head)
    with room_for(plan.repository, ledger, started):
        return Journal.begin(ledger, started, this_process())


def _complete_writing(ledger: Ledger, repository: Repository, environment: Mapping[str, str]) -> None:
    """Complete what a killed run has half written into a working tree, before that is taken for the user's work."""
    for name in sorted(unsettled(repository)):
        if is_half_written(repository.state_dir / "runs" / name):
            end_run(repository, ledger, take_over(ledger, name), environment)
            raise PlanError(
                (
                    f"Run {name} was killed while it wrote its fixes to the working tree. burnish has completed this "
                    "now."
                ),
                hint=f"`burnish show {name}` shows the run. Then run your command again.",
            )


def _open_runs(ledger: Ledger, repository: Repository, started: RunStarted) -> list[Run]:
    """The runs of the same subject that have anything left to do, the newest first. A living one is an error.

    A review changes no code and asks no person: it runs beside a fix that waits or was interrupted.
    """
    open_ends = unsettled(repository)
    found: list[Run] = []
    for run in unfinished_runs(ledger, open_ends):
        is_over = run.outcome is not None and run.id not in open_ends
        if is_over or run.subject.branch != started.subject.branch:
            continue
        owner = _living_driver(ledger, stream_of(run.id)) or living_owner(repository, run.id)
        if owner is not None:
            raise LivingRunError(
                f"'{run.subject.branch}' is already under review by run {run.id} ({owner}).",
                hint=f"Follow it with `burnish wait {run.id}`, or end it with `burnish cancel {run.id}`.",
            )
        if started.mode is Mode.FIX or run.started.mode is Mode.REVIEW:
            found.append(run)
    return found


def _replaced(repository: Repository, earlier: Sequence[Run], *, supersede: bool) -> list[Run]:
    """The runs that end so that a new one can begin. One that waits for a person is not ended unasked."""
    going_on = [run for run in earlier if run.outcome is None]
    for run in going_on:
        if isinstance(run.phase, Waiting) and not supersede:
            raise WaitingRunError(tell(repository, RunSnapshot(run=run)), run.phase)
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
    was_ended = last.id in ending or last.outcome is Outcome.CANCELLED
    before = last.started.rounds_before + was_ended * len(last.rounds)
    _check_cap(started, before)
    return before


def _check_cap(started: RunStarted, before: int) -> None:
    cap = started.protocol.limits.hard_cap
    left = cap - before
    if before and (left < 1 or (started.max_reviews or 1) > left):
        asked = f", so --max-rounds {started.max_reviews} is too many" if left >= 1 else ""
        raise PlanError(
            (
                f"Earlier runs have made {before} of the {cap} reviews that '{started.protocol.name}' allows for "
                f"{started.subject.head[:12]}{asked}."
            ),
            hint=f"Use --max-rounds {left} or less." if left >= 1 else "Commit a change by hand to start a new count.",
        )


def unfinished_runs(ledger: Ledger, open_ends: Collection[str]) -> Iterator[Run]:
    """The runs with anything left to do, the newest first, and perhaps others that have ended.

    One that this version cannot read does not prevent another.
    """
    for stream in reversed(_streams(ledger)):
        name = stream.removeprefix(stream_of(""))
        if name not in open_ends and _is_closed(ledger, stream):
            continue
        with suppress(BurnishError):
            yield load_run(ledger, name)


def _streams(ledger: Ledger) -> Sequence[str]:
    return ledger.streams(stream_of(""))


def _is_closed(ledger: Ledger, stream: str) -> bool:
    """Whether the last event is the end: told without folding all of them, of every run that there ever was."""
    return ledger.read(stream, ledger.version(stream) - 1)[-1].kind == name_of(Closed)


def _living_driver(ledger: Ledger, stream: str) -> ProcessIdentity | None:
    lease = ledger.current_lease(stream)
    if lease is None or lease.until <= clock.now() or is_known_dead(lease.owner):
        return None
    return lease.owner


def _same(first: RunStarted, second: RunStarted) -> bool:
    """Whether both are about the same head under the same policy.

    How it was typed and who sits at the terminal is no matter, nor is what earlier runs left of a ticket's budget,
    found, or used up: the first is one of them.
    """
    one, other = (
        replace(
            with_context(each),
            at=0.0,
            run="",
            interactive=False,
            budget=Budget(),
            remembered=(),
            owner=0,
            parallel_agents=False,
            supersedes=(),
            rounds_before=0,
        )
        for each in (first, second)
    )
    return one == other


def _superseded(phase: Phase, reason: str) -> Closed:
    """The end of a run that is replaced. An approval that was earned stays one, though it was not sealed."""
    if isinstance(phase, Sealing):
        return Closed(at=clock.now(), outcome=phase.outcome, reason=f"{phase.reason}; no seal: {reason}")
    return Closed(at=clock.now(), outcome=Outcome.CANCELLED, reason=reason)


def _send_to_background(repository: Repository, journal: Journal, environment: Mapping[str, str]) -> None:
    """Hand a run that has just begun to a process of its own, which outlives this one."""
    run = journal.state.id
    folder = repository.state_dir / "runs" / run
    make_private_directory(folder)
    journal.release()
    command = Command(
        argv=(sys.executable, "-P", "-m", "burnish", "resume", run, "--json"),
        folder=str(repository.root),
        environment=dict(environment),
    )
    start_detached(command, folder / "runner.log")
