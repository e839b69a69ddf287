"""Which effects a state calls for. Work that runs is not asked for again; a pause asks for its timer."""

from typing import NamedTuple

from burnish.core import spending
from burnish.core.budget import Share
from burnish.core.effects import (
    AskPerson,
    Effect,
    MakeSeal,
    StartBuild,
    StartFix,
    StartReview,
    StartTimer,
    StartValidation,
    StopWork,
)
from burnish.core.finding_history import answers_to_last_round
from burnish.core.findings import FindingStatus
from burnish.core.protocol import Feedback, ReviewBy
from burnish.core.state import (
    Building,
    Ended,
    Fixing,
    Reviewing,
    Run,
    Scope,
    Sealing,
    Seat,
    Stopping,
    Validating,
    Waiting,
)
from burnish.core.steps import flow, work
from burnish.core.steps.review import assignment_of
from burnish.core.work import Pausing, Ready, agent_for, effect_id, timer_id


def effects(run: Run) -> tuple[Effect, ...]:
    phase = run.phase
    match phase:
        case Building() | Validating() | Fixing() | Sealing():
            return spending.within_time(run, phase, _single(run, phase))
        case Reviewing():
            return spending.within_time(run, phase, _panel(run, phase))
        case Waiting():
            question = f"ask:{len(run.rounds)}:{run.limit}"
            return (AskPerson(id=question, reason=phase.reason, choices=phase.choices, priority=phase.priority),)
        case Stopping():
            running = flow.running_effects(phase.interrupted)
            return tuple(StopWork(id=f"stop:{effect}", effect=effect) for effect in running)
        case Ended():
            return ()


def _timer(key: str, pausing: Pausing) -> StartTimer:
    return StartTimer(id=timer_id(key, pausing.attempt), until=pausing.until)


def _single(run: Run, phase: work.SingleWork) -> tuple[Effect, ...]:
    if isinstance(phase.work, Pausing):
        return (_timer(phase.key, phase.work),)
    if not isinstance(phase.work, Ready):
        return ()
    attempt = phase.work.attempt
    name = effect_id(phase.key, attempt)
    agent = agent_for(work.assignment_of(run, phase), work.rule_of(run, phase), attempt)
    (share,) = spending.shares(run, [agent])
    if share is None:
        return (spending.reached(run),)
    match phase:
        case Building():
            return (StartBuild(id=name, agent=agent, attempt=attempt, share=share),)
        case Validating():
            return (StartValidation(id=name, commit=run.commit),)
        case Fixing():
            return (StartFix(id=name, agent=agent, attempt=attempt, order=phase.order, share=share),)
        case Sealing():
            return (MakeSeal(id=name, kinds=phase.kinds, tree=run.tree),)


class _Turn(NamedTuple):
    """A seat whose next attempt can be started, and who makes it."""

    seat: Seat
    attempt: int
    agent: str


def _panel(run: Run, phase: Reviewing) -> tuple[Effect, ...]:
    """Every seat that can start or waits for its next attempt. One that the budget holds back waits for the others."""
    rule = run.protocol.failures
    turns = [
        _Turn(seat, attempt := seat.work.attempt, agent_for(assignment_of(run, seat.reviewer), rule, attempt))
        for seat in phase.seats
        if isinstance(seat.work, Ready)
    ]
    shares = spending.shares(run, [turn.agent for turn in turns])
    wanted: list[Effect] = [
        *(_review(run, phase, turn, share) for turn, share in zip(turns, shares, strict=True) if share),
        *(_timer(phase.key(seat), seat.work) for seat in phase.seats if isinstance(seat.work, Pausing)),
    ]
    if turns and not wanted and not flow.running_effects(phase):
        wanted.append(spending.reached(run))
    return tuple(wanted)


def _review(run: Run, phase: Reviewing, turn: _Turn, share: Share) -> StartReview:
    ratchet = phase.scope is Scope.RATCHET
    open_findings = (entry.finding for entry in run.findings if entry.status is FindingStatus.OPEN)
    # A reviewer that is to look with fresh eyes alone is not told what the fixer says.
    told = ratchet or run.protocol.review.feedback is not Feedback.NONE
    return StartReview(
        id=effect_id(phase.key(turn.seat), turn.attempt),
        round=phase.round,
        reviewer=turn.seat.reviewer,
        agent=turn.agent,
        attempt=turn.attempt,
        scope=phase.scope,
        session=run.protocol.review.by is ReviewBy.SESSION,
        scratch=any(reviewer.scratch for reviewer in run.panel if reviewer.name == turn.seat.reviewer),
        former=tuple(open_findings) if ratchet else (),
        answers=answers_to_last_round(run) if told else (),
        previous=flow.previous_feedback(run),
        validation=run.validated,
        share=share,
    )
