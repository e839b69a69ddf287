"""Which effects a state calls for. Work that runs is not asked for again; a pause asks for its timer."""

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
from burnish.core.protocol import ReviewBy, Reviewer
from burnish.core.retries import agent_for
from burnish.core.state import (
    Building,
    Ended,
    FindingStatus,
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
from burnish.core.steps.orders import previous_feedback
from burnish.core.steps.review import assignment_of
from burnish.core.work import Pausing, Ready, effect_id, timer_id


def effects(run: Run) -> tuple[Effect, ...]:
    """The effects of a state, in a fixed order."""
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
            return (MakeSeal(id=name, kind=phase.kind, tree=run.tree),)


def _panel(run: Run, phase: Reviewing) -> tuple[Effect, ...]:
    """Every seat that can start or waits for its next attempt. One that the budget holds back waits for the others."""
    ready = [seat for seat in phase.seats if isinstance(seat.work, Ready)]
    agents = [agent_for(assignment_of(run, seat.reviewer), run.protocol.failures, _attempt(seat)) for seat in ready]
    shared = list(zip(ready, agents, spending.shares(run, agents), strict=True))
    wanted: list[Effect] = [
        *(_review(run, phase, seat, agent, share) for seat, agent, share in shared if share),
        *(_timer(phase.key(seat), seat.work) for seat in phase.seats if isinstance(seat.work, Pausing)),
    ]
    if ready and not wanted and not flow.running_effects(phase):
        wanted.append(spending.reached(run))
    return tuple(wanted)


def _attempt(seat: Seat) -> int:
    return seat.work.attempt if isinstance(seat.work, Ready) else 1


def _review(run: Run, phase: Reviewing, seat: Seat, agent: str, share: Share) -> StartReview:
    attempt = _attempt(seat)
    reviewer = _reviewer(run, seat.reviewer)
    former = [entry.finding for entry in run.findings if entry.status is FindingStatus.OPEN]
    return StartReview(
        id=effect_id(phase.key(seat), attempt),
        round=phase.round,
        reviewer=seat.reviewer,
        agent=agent,
        attempt=attempt,
        scope=phase.scope,
        session=run.protocol.review.by is ReviewBy.SESSION,
        scratch=reviewer.scratch,
        former=tuple(former) if phase.scope is Scope.RATCHET else (),
        previous=previous_feedback(run),
        validation=run.validation,
        share=share,
    )


def _reviewer(run: Run, name: str) -> Reviewer:
    return next(reviewer for reviewer in run.protocol.panel if reviewer.name == name)
