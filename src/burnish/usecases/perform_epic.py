"""Carries out the effects of an epic on this machine: each run has a process of its own; merges are made here."""

import asyncio
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from burnish.agents.services import GRACE_SECONDS
from burnish.core.epics.effects import (
    BeginIteration,
    BeginReview,
    BeginTicket,
    CloseEpic,
    DriveRun,
    EpicEffect,
    FinishMerge,
    OpenPullRequest,
    PrepareMerge,
    RollBack,
    StopRun,
    WatchRun,
)
from burnish.core.epics.events import (
    AnyEpicEvent,
    DriverLost,
    EpicClosed,
    EpicReviewContinued,
    EpicReviewEnded,
    EpicReviewStarted,
    EpicReviewWaits,
    IterationStarted,
    PullRequestFailed,
    PullRequestOpened,
    TicketContinued,
    TicketEnded,
    TicketReturned,
    TicketStarted,
    TicketWaits,
)
from burnish.core.epics.state import Epic, EpicReviewed, run_of
from burnish.core.events import Outcome, WorkFailed, decode
from burnish.core.reviews import Usage
from burnish.core.state import Run, Waiting
from burnish.core.work import PASSING, pause_before_retry
from burnish.ledger.interface import Ledger
from burnish.report.account import RunSnapshot
from burnish.report.epics import epic_markdown
from burnish.report.forms import render
from burnish.runtime.journal import load_run, stream_of
from burnish.system import clock, process
from burnish.system.files import make_private_directory
from burnish.system.identifiers import new_run_id
from burnish.system.process import Command, Finished, How, ProcessLimits
from burnish.usecases.epics import EPIC_MARKER, Epics
from burnish.usecases.merge_ticket import TicketMerger, tip_of
from burnish.usecases.open_pull_request import PullRequest, PullRequestError, open_pull_request
from burnish.usecases.tell_run import tell
from burnish.workspace.repository import Repository

POLL_SECONDS = 0.5
"""How often a run that waits for a person is looked at."""
_CHILD_GRACE_SECONDS = 4 * GRACE_SECONDS
"""A run that is asked to end ends its agents first."""
_MOST_OUTPUT = 4_000
_LEAST_WAIT = 0.1
"""A service that names no time is not asked again at once."""


class LocalEpicPerformer:
    def __init__(
        self,
        repository: Repository,
        ledger: Ledger,
        environment: Mapping[str, str],
        told: Callable[[str], None],
    ) -> None:
        """`told` is told of each event of a run, by the run's name."""
        self._repository = repository
        self._ledger = ledger
        self._environment = environment
        self._told = told
        self._epics = Epics(ledger)
        self._merging = TicketMerger(repository, ledger, environment)

    async def perform(self, effect: EpicEffect, epic: Epic) -> AnyEpicEvent | None:
        match effect:
            case BeginTicket() | BeginReview() | CloseEpic():
                return self._at_once(effect, epic)
            case BeginIteration():
                await asyncio.sleep(max(0.0, effect.at - clock.now()))
                return IterationStarted(at=clock.now(), number=effect.number)
            case DriveRun():
                return await self._drive(effect, epic)
            case WatchRun():
                return await self._watch(effect)
            case StopRun():
                return await self._stop(effect, epic)
            case OpenPullRequest():
                return await asyncio.to_thread(self._open_pull_request, epic)
            case PrepareMerge() | FinishMerge() | RollBack():
                return await self._merging.perform(effect, epic)

    def _at_once(self, effect: BeginTicket | BeginReview | CloseEpic, epic: Epic) -> AnyEpicEvent:
        """What only has to be put on record."""
        now = clock.now()
        match effect:
            case BeginTicket():
                onto = effect.onto if effect.conflict else tip_of(self._repository, epic)
                return TicketStarted(
                    at=now,
                    ticket=effect.ticket,
                    run=new_run_id(now),
                    onto=onto,
                    conflict=effect.conflict,
                    handed=effect.handed,
                    reserved=effect.reserved,
                )
            case BeginReview():
                tip = tip_of(self._repository, epic)
                return EpicReviewStarted(at=now, run=new_run_id(now), onto=tip, reserved=effect.reserved)
            case CloseEpic():
                return EpicClosed(at=now, outcome=effect.outcome, reason=effect.reason)

    async def _drive(self, effect: DriveRun, epic: Epic) -> AnyEpicEvent | None:
        folder = self._repository.state_dir / "runs" / effect.run
        make_private_directory(folder)
        finished = await self._burnish(
            epic, "epic-run", epic.id, effect.run, log=folder / "runner.log", on_line=lambda: self._told(effect.run)
        )
        self._told(effect.run)
        return self._end_of(effect, epic, finished)

    async def _burnish(
        self, epic: Epic, *arguments: str, log: Path | None = None, on_line: Callable[[], None] = lambda: None
    ) -> Finished:
        """Run a command of burnish as a process. When this is cancelled, the process is asked to end and waited for."""
        command = Command(
            argv=(sys.executable, "-P", "-m", "burnish", *arguments),
            folder=str(self._repository.root),
            environment={**self._environment, EPIC_MARKER: epic.id},
        )
        stop = asyncio.Event()
        limits = ProcessLimits(grace_seconds=_CHILD_GRACE_SECONDS)
        running = asyncio.ensure_future(
            process.run(command, limits, log=log, stop=stop, on_line=lambda _line: on_line())
        )
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            stop.set()
            await running
            raise

    def _end_of(self, effect: DriveRun, epic: Epic, finished: Finished) -> AnyEpicEvent | None:
        run, now = self._epics.run(effect.run), clock.now()
        if run is not None and run.outcome is not None:
            return self._returned(effect.ticket, run, epic) or self._ended(effect.ticket, run)
        if run is not None and isinstance(run.phase, Waiting):
            if effect.ticket:
                return TicketWaits(at=now, ticket=effect.ticket, run=run.id, reason=run.phase.reason)
            return EpicReviewWaits(at=now, run=run.id, reason=run.phase.reason)
        reason = _last_line(finished) or f"its process ended with {_code(finished)}"
        if run is not None or finished.how is not How.EXITED or finished.code is None or finished.code > 128:
            used = run.usage if run is not None else Usage()
            return DriverLost(at=now, run=effect.run, reason=reason, usage=used)
        # It could not begin, and would not the next time: nothing of it is in the ledger.
        if not effect.ticket:
            outcome = Outcome.DID_NOT_RUN
            return EpicReviewEnded(at=now, run=effect.run, outcome=outcome, reason=reason, commit=epic.tip)
        return TicketEnded(
            at=now,
            ticket=effect.ticket,
            run=effect.run,
            outcome=Outcome.DID_NOT_RUN,
            reason=reason,
            commit=epic.tip,
            tree="",
        )

    def _returned(self, ticket: str, run: Run, epic: Epic) -> TicketReturned | None:
        """What becomes of a ticket of a list that its run has not worked on; None where it has."""
        if not ticket or not epic.started.iterations:
            return None
        nothing = run.picked or (run.out_of_work and run.tree == run.subject.tree)
        wait = 0.0
        if run.outcome is Outcome.DID_NOT_RUN and not run.rounds:
            wait = self._wait_of(run)
        if not wait and not (nothing and run.outcome is Outcome.SKIPPED):
            return None
        return TicketReturned(
            at=clock.now(),
            ticket=ticket,
            run=run.id,
            reason=getattr(run.phase, "reason", ""),
            picked=run.picked,
            commit=run.commit if run.picked else "",
            out_of_work=run.out_of_work,
            wait=wait,
            usage=run.usage,
        )

    def _wait_of(self, run: Run) -> float:
        """Seconds after which a builder that has reached a limit of its service can be tried again; 0 for others."""
        events = (decode(event.body) for event in reversed(self._ledger.read(stream_of(run.id))))
        failed = next((event for event in events if isinstance(event, WorkFailed)), None)
        if failed is None or not failed.effect.startswith("build:") or failed.failure.kind not in PASSING:
            return 0.0
        return max(_LEAST_WAIT, pause_before_retry(failed.failure, 1))

    def _ended(self, ticket: str, run: Run) -> AnyEpicEvent:
        now, outcome = clock.now(), run.outcome or Outcome.DID_NOT_RUN
        reason = getattr(run.phase, "reason", "")
        if not ticket:
            return EpicReviewEnded(
                at=now, run=run.id, outcome=outcome, reason=reason, commit=run.commit, usage=run.usage
            )
        return TicketEnded(
            at=now,
            ticket=ticket,
            run=run.id,
            outcome=outcome,
            reason=reason,
            commit=run.commit,
            tree=run.tree,
            out_of_work=run.out_of_work,
            usage=run.usage,
        )

    async def _watch(self, effect: WatchRun) -> AnyEpicEvent:
        """Wait until a run no longer waits: a person has decided, from another terminal."""
        while True:
            run = self._epics.run(effect.run)
            if run is None or not isinstance(run.phase, Waiting):
                break
            await asyncio.sleep(POLL_SECONDS)
        if effect.ticket:
            return TicketContinued(at=clock.now(), ticket=effect.ticket, run=effect.run)
        return EpicReviewContinued(at=clock.now(), run=effect.run)

    async def _stop(self, effect: StopRun, epic: Epic) -> AnyEpicEvent | None:
        run = self._epics.run(effect.run)
        if run is not None and run.outcome is None:
            await self._burnish(epic, "cancel", effect.run)
            run = self._epics.run(effect.run)
        if run is not None and run.outcome is not None:
            return self._ended(effect.ticket, run)
        now, reason, outcome = clock.now(), epic.cancelled or "cancelled", Outcome.CANCELLED
        if not effect.ticket:
            return EpicReviewEnded(at=now, run=effect.run, outcome=outcome, reason=reason, commit=epic.tip)
        return TicketEnded(
            at=now, ticket=effect.ticket, run=effect.run, outcome=outcome, reason=reason, commit="", tree=""
        )

    def _open_pull_request(self, epic: Epic) -> AnyEpicEvent:
        if isinstance(epic.review, EpicReviewed):
            run = load_run(self._ledger, epic.review.run)
            report, trees = render(tell(self._repository, RunSnapshot(run=run)), "markdown"), (run.tree,)
        else:
            runs = self._epics.runs(epic)
            report = epic_markdown(epic)
            trees = tuple(runs[name].tree for one in epic.merged if (name := run_of(one.state)) in runs)
        request = PullRequest(
            branch=epic.started.branch,
            base=epic.started.base,
            title=epic.plan.title or epic.plan.id,
            body=report,
            trees=trees,
        )
        try:
            return PullRequestOpened(
                at=clock.now(), url=open_pull_request(self._repository, request, self._environment)
            )
        except PullRequestError as error:
            return PullRequestFailed(at=clock.now(), reason=f"{error.message} {error.hint}".strip())


def _last_line(finished: Finished) -> str:
    """What the process said last: an error has its message before its hint."""
    said = [line.strip() for line in finished.stderr_tail.splitlines() if line.strip()]
    errors = [line.removeprefix("error: ") for line in said if line.startswith("error: ")]
    return (errors or said or [finished.message])[-1][-_MOST_OUTPUT:]


def _code(finished: Finished) -> str:
    return f"signal {finished.signal}" if finished.code is None else f"exit code {finished.code}"
