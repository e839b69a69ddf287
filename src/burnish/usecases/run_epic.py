"""Run an epic: begin it, or go on with the one that is there, and drive it until it ends or people must decide."""

import asyncio
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from burnish.agents.services import GRACE_SECONDS
from burnish.core.epics import loop as epic_loop
from burnish.core.epics.events import AnyEpicEvent, EpicCancelled, EpicContinued, PlanChanged
from burnish.core.epics.loop import IllegalEpicEventError
from burnish.core.epics.plan import EpicPlan, Ticket
from burnish.core.epics.state import Epic, EpicReviewed, EpicUnderReview, TicketBlocked, TicketFailed, run_of
from burnish.core.events import Outcome
from burnish.core.state import Run
from burnish.core.values import Value, replace
from burnish.ledger.interface import Ledger
from burnish.ledger.sqlite import open_ledger
from burnish.report.account import EXIT_CODES, WAITING_EXIT
from burnish.runtime.epic_runner import EpicRunner
from burnish.runtime.journal import EpicJournal, RunError, cancel_epic, load_epic
from burnish.runtime.runner import stay_awake
from burnish.sources.beads import KIND as BEADS_KIND
from burnish.system import clock, survivors
from burnish.system.files import make_private_directory
from burnish.system.identifiers import new_run_id, this_process
from burnish.system.process import Command, start_detached
from burnish.usecases.bead_loop import aligned
from burnish.usecases.drive_run import exit_for_signal
from burnish.usecases.earlier_epics import changes_between
from burnish.usecases.epics import EPIC_MARKER, Epics
from burnish.usecases.mark_beads import BeadMarker, settle_beads
from burnish.usecases.perform_epic import LocalEpicPerformer
from burnish.usecases.plan_epic import EpicRequest, PlannedEpic, plan_epic, read_again
from burnish.usecases.plan_run import PlanError, refuse_inside
from burnish.usecases.request_ticket import options_of
from burnish.usecases.submit_intent import wake
from burnish.usecases.take_uncommitted import commit_uncommitted
from burnish.usecases.trust_settings import AskTrust
from burnish.usecases.write_epic_records import EpicRecordKeeper
from burnish.workspace.merging import advance_branch, set_aside
from burnish.workspace.repository import Repository

_POLL_SECONDS = 0.2
_START_SECONDS = 10.0
"""How long a process may take to begin."""
_BY_WEIGHT = (5, WAITING_EXIT, 4, 1, 6)
"""Which exit code counts where the tickets of an epic ended differently."""


class EpicSurface(NamedTuple):
    """How an epic speaks to the surface from which it was asked for."""

    notice: Callable[[str], None]
    begun: Callable[[Epic], None]
    event: Callable[[AnyEpicEvent, Epic], None]
    """Is told of each event of the epic."""
    progress: Callable[[Epic, Run], None]
    """Is told of each event of one of its runs."""
    ask_trust: AskTrust | None = None


class EpicResult(Value):
    epic: Epic
    runs: dict[str, Run]
    notices: tuple[str, ...] = ()
    signal: int | None = None

    @property
    def exit_code(self) -> int:
        return exit_for_signal(self.signal) if self.signal is not None else exit_code(self.epic)


def exit_code(epic: Epic) -> int:
    """The first present of over budget, waiting, did not run, findings remain and unproven."""
    codes = {WAITING_EXIT} if epic.waiting or epic.paused else set[int]()
    for one in epic.tickets.values():
        match one.state:
            case TicketFailed():
                codes.add(EXIT_CODES[one.state.outcome])
            case TicketBlocked():
                codes.add(EXIT_CODES[Outcome.BLOCKED])
            case _:
                pass
    if isinstance(epic.review, EpicReviewed):
        codes.add(EXIT_CODES[epic.review.outcome])
    if isinstance(epic.review, EpicUnderReview) and epic.review.waits:
        codes.add(WAITING_EXIT)
    if epic.pull_request == "":
        codes.add(EXIT_CODES[Outcome.DID_NOT_RUN])
    if epic.end is not None:
        codes.add(EXIT_CODES[epic.end.outcome])
    return next((code for code in _BY_WEIGHT if code in codes), 0 if epic.end is not None else 1)


def run_epic(folder: Path, request: EpicRequest, environment: Mapping[str, str], surface: EpicSurface) -> EpicResult:
    """Run the epic of a source. One that has begun and not ended is gone on with, with what the source says now."""
    settle_beads(Repository.discover(folder), environment)
    planned = plan_epic(folder, request, environment, surface.ask_trust)
    with open_ledger(planned.repository.state_dir) as ledger:
        epics = Epics(ledger)
        unfinished = _unfinished(epics, planned.started.plan.id)
        if unfinished is None:
            for notice in planned.notices:
                surface.notice(notice)
            finished = _finished(planned)
            if finished is not None:
                surface.notice(f"{finished.id} has approved all of this already; nothing has changed since.")
                return EpicResult(epic=finished, runs=dict(epics.runs(finished)))
            journal = _begin(planned, ledger)
        else:
            journal = epics.take_over(unfinished.id)
            surface.notice(f"Continuing {unfinished.id}, which began before.")
            _take_changes(journal, planned.started.plan, surface)
        return _drive(planned.repository, ledger, journal, environment, surface)


def resume_epic(folder: Path, name: str, environment: Mapping[str, str], surface: EpicSurface) -> EpicResult:
    """Go on with an epic by its name. Its source is read again: what people changed in it is told and taken in."""
    refuse_inside(environment)
    repository = Repository.discover(folder)
    with open_ledger(repository.state_dir) as ledger:
        epics = Epics(ledger)
        _check_alive(epics, name)
        journal = epics.take_over(name)
        epic = journal.state
        if epic.end is not None:
            journal.release()
            raise PlanError(
                f"{name} has already ended ({epic.end.outcome.value}).",
                hint=f"`burnish run {epic.plan.source}` starts it again, without the tickets that are merged.",
            )
        now = read_again(repository, epic, environment)
        if now is not None:
            _take_changes(journal, now, surface)
        else:
            surface.notice(f"{epic.plan.source} is gone; the epic continues as it was.")
        return _drive(repository, ledger, journal, environment, surface)


def _finishing(epic: Epic) -> str:
    names = [one.ticket.id for one in epic.running]
    what = f"Finishing {', '.join(names)}" if names else "Finishing"
    return f"{what}; nothing else is begun. Press Ctrl-C again to interrupt."


def start_epic_in_background(
    folder: Path, request: EpicRequest, environment: Mapping[str, str], surface: EpicSurface
) -> str:
    """Begin an epic, or find the one that has begun, and leave it to a process of its own. Returns its name."""
    planned = plan_epic(folder, request, environment, surface.ask_trust)
    repository = planned.repository
    with open_ledger(repository.state_dir) as ledger:
        unfinished = _unfinished(Epics(ledger), planned.started.plan.id)
        if unfinished is None:
            journal = _begin(planned, ledger)
            journal.release()
            name = journal.state.id
        else:
            name = unfinished.id
    log = repository.state_dir / "epics" / name / "runner.log"
    make_private_directory(log.parent)
    command = Command(
        argv=(sys.executable, "-P", "-m", "burnish", "resume", name, "--json"),
        folder=str(repository.root),
        environment=dict(environment),
    )
    start_detached(command, log)
    return name


def end_epic(folder: Path, name: str, environment: Mapping[str, str], *, note: str, by: str) -> Epic:
    """End an epic for good. Its driver stops the runs; where there is none, that is done here."""
    refuse_inside(environment, "does not end an epic")
    repository = Repository.discover(folder)
    with open_ledger(repository.state_dir) as ledger:
        epics = Epics(ledger)
        epic = cancel_epic(ledger, name, EpicCancelled(at=clock.now(), note=note, by=by))
        driver = epics.driver(name)
        if driver is not None:
            wake(driver)
            return epic
        surface = EpicSurface(_ignore, _ignore, _ignore, _ignore)
        return _drive(repository, ledger, epics.take_over(name), environment, surface).epic


def _ignore(*_: object) -> None:
    pass


def wait_for_epic(folder: Path, name: str, seconds: float | None) -> Epic | None:
    """The epic once nothing more happens in it by itself; None where that takes longer."""
    began = time.monotonic()
    repository = Repository.discover(folder)
    with open_ledger(repository.state_dir) as ledger:
        epics = Epics(ledger)
        while True:
            waited, epic = time.monotonic() - began, load_epic(ledger, name)
            # One that was sent to the background has no driver for a moment.
            is_driven = epics.driver(name) is not None or (
                waited < _START_SECONDS and not epic.waiting and not epic.paused
            )
            if epic.end is not None or not is_driven:
                return epic
            if seconds is not None and waited >= seconds:
                return None
            time.sleep(_POLL_SECONDS)


def _unfinished(epics: Epics, epic_id: str) -> Epic | None:
    """The newest run of this epic that has not ended. One that a process drives is an error."""
    found = next((epic for epic in epics.of(epic_id) if epic.end is None), None)
    if found is not None:
        _check_alive(epics, found.id)
    return found


def _finished(planned: PlannedEpic) -> Epic | None:
    """The last run of the epic, where it ended well and neither the source nor the branch has changed since."""
    earlier, started = planned.earlier, planned.started
    if started.iterations:
        return None  # beads that are done are not listed, so there is nothing to compare with
    if earlier is None or earlier.end is None or earlier.end.outcome not in (Outcome.APPROVED, Outcome.ACCEPTED):
        return None
    if started.tip == started.baseline and not epic_loop.evolve(None, started).index.unsettled:
        return earlier  # all of it is part of the base already
    wants_more = started.pull_request and not earlier.pull_request
    if not started.plan.reviewed_whole and not earlier.plan.reviewed_whole and not wants_more:
        # Nothing is left to do, and the branch is where that run left it.
        same = planned.same_rules and not changes_between(earlier.plan, started.plan)
        left = epic_loop.evolve(None, started).index.unsettled
        return earlier if same and not left and started.tip == earlier.tip else None
    return earlier if started.reviewed is not None and not wants_more else None


def _check_alive(epics: Epics, name: str) -> None:
    owner = epics.driver(name)
    if owner is not None:
        raise RunError(
            f"The epic {name} is already running ({owner}).",
            hint=f"Follow it with `burnish status {name}`, or end it with `burnish cancel {name}`.",
        )


def _begin(planned: PlannedEpic, ledger: Ledger) -> EpicJournal:
    now = clock.now()
    started = replace(planned.started, at=now, epic=new_run_id(now))
    repository = planned.repository
    for branch, commit in planned.set_aside.items():
        set_aside(repository, branch, commit, started.epic)
    if planned.uncommitted:
        commit_uncommitted(repository, started.plan, planned.uncommitted, started.epic)
    advance_branch(repository, started.branch, started.tip or started.baseline, started.epic)
    return EpicJournal.begin(ledger, started, this_process())


def _take_changes(journal: EpicJournal, now: EpicPlan, surface: EpicSurface) -> None:
    """Tell what people changed in the source since the epic began, and take in what can still be taken in."""
    epic = journal.state
    if epic.paused:
        journal.record(EpicContinued(at=clock.now()))
    now = (
        aligned(epic, now, review=options_of(epic).review) if now.kind == BEADS_KIND else _without_own_words(epic, now)
    )
    told = changes_between(epic.plan, now)
    if not told:
        return
    try:
        following = journal.record(PlanChanged(at=clock.now(), plan=now))
    except IllegalEpicEventError:
        surface.notice(f"{now.source} has changed, but the epic is under review already. Run it again afterwards.")
        return
    surface.notice(f"{now.source} has changed: {'; '.join(told)}.")
    kept = [one.id for one in now.tickets if following.tickets[one.id].ticket != one]
    if kept:
        surface.notice(f"Already begun, so they keep what they began with: {', '.join(kept)}.")


def _without_own_words(epic: Epic, now: EpicPlan) -> EpicPlan:
    """A source in which burnish itself writes how tickets stand: of those that have begun, that is no news."""

    def heard(ticket: Ticket) -> Ticket:
        known = epic.tickets.get(ticket.id)
        if known is None or not (known.runs or run_of(known.state) or isinstance(known.state, TicketBlocked)):
            return ticket
        then = known.ticket
        return replace(ticket, done=then.done, skipped=then.skipped, begun=then.begun, built=then.built)

    return replace(now, tickets=tuple(map(heard, now.tickets)))


def _drive(
    repository: Repository,
    ledger: Ledger,
    journal: EpicJournal,
    environment: Mapping[str, str],
    surface: EpicSurface,
) -> EpicResult:
    stay_awake()
    epics, name = Epics(ledger), journal.state.id
    survivors.end_all(EPIC_MARKER, name, GRACE_SECONDS)
    records = EpicRecordKeeper(repository, epics)
    beads = BeadMarker(repository, environment, name) if journal.state.plan.kind == BEADS_KIND else None
    surface.begun(journal.state)
    try:
        if beads is not None:
            beads.begin()
            beads.follow(journal.state)
        records.write(journal.state)

        def told(run: str) -> None:
            state = records.advance(run)
            if state is not None:
                records.write(journal.state)
                surface.progress(journal.state, state)

        def watch(event: AnyEpicEvent, epic: Epic) -> None:
            if beads is not None:
                beads.follow(epic)
            records.write(epic)
            surface.event(event, epic)

        performer = LocalEpicPerformer(repository, ledger, environment, told)
        runner = EpicRunner(journal, performer, clock.now, watch, lambda epic: surface.notice(_finishing(epic)))
        epic = asyncio.run(runner.run())
        records.write(epic)
        if beads is not None:
            beads.finish(epic)
    finally:
        journal.release()
    interrupted = None if runner.interrupted is None or epic.end is not None else int(runner.interrupted)
    notices = (*records.notices, *(beads.notices if beads is not None else ()))
    return EpicResult(epic=epic, runs=dict(epics.runs(epic)), notices=notices, signal=interrupted)
