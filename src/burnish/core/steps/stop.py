"""The end is decided: work that still runs is ended, and a result that arrives in time is kept."""

from burnish.core.errors import RefusedError
from burnish.core.events import (
    Built,
    Closed,
    Fixed,
    ProcessStarted,
    Reviewed,
    SessionFinished,
    Validated,
    WorkFailed,
    WorkLost,
)
from burnish.core.state import (
    Active,
    Ended,
    FailedReview,
    Fixing,
    Phase,
    Reviewing,
    Run,
    Stopping,
)
from burnish.core.steps import flow, work
from burnish.core.steps.change import fix_kept, take, take_session
from burnish.core.steps.review import good_review
from burnish.core.values import replace
from burnish.core.work import Ready

EffectResult = Built | Fixed | Reviewed | SessionFinished | Validated | WorkFailed | WorkLost


def process_started(run: Run, phase: Stopping, event: ProcessStarted) -> Run:
    """A process that came to life while its end was decided: known, so that it can be ended."""
    _must_run(phase, event.effect)
    return run


def result(run: Run, phase: Stopping, event: EffectResult) -> Run:
    """One piece of work less. When none is left, the run has ended."""
    _must_run(phase, event.effect)
    interrupted = _idle(run, phase.interrupted, event)
    run = _kept(run, interrupted, event)
    if flow.running_effects(interrupted):
        return replace(run, phase=replace(phase, interrupted=interrupted))
    return flow.finish(run, interrupted, Ended(outcome=phase.outcome, reason=phase.reason))


def closed(run: Run, _phase: Phase, event: Closed) -> Run:
    """The recorded end holds, whatever the rules of today make of the events before it."""
    if run.closed:
        raise RefusedError("the end is on record already")
    return replace(run, phase=Ended(outcome=event.outcome, reason=event.reason), closed=True)


def _must_run(phase: Stopping, effect: str) -> None:
    if effect not in flow.running_effects(phase.interrupted):
        raise RefusedError(f"'{effect}' is not running")


def _idle(run: Run, interrupted: Active, event: EffectResult) -> Active:
    """The interrupted phase without the work that has just ended."""
    if not isinstance(interrupted, Reviewing):
        return replace(interrupted, work=Ready())
    seat = interrupted.seat_of(event.effect)
    at_work = work.running(seat.work, interrupted.key(seat), event.effect)
    match event:
        case Reviewed():
            after = good_review(run, seat, at_work, event.answer, event)
        case WorkFailed():
            after = FailedReview(reviewer=seat.reviewer, failure=event.failure)
        case _:
            after = Ready(attempt=at_work.attempt)
    return interrupted.with_work(seat, after)


def _kept(run: Run, interrupted: Active, event: EffectResult) -> Run:
    """What the ended work used up and changed: good work is never thrown away."""
    run = work.charge(run, event.usage)
    match event:
        case Fixed() if isinstance(interrupted, Fixing):
            return fix_kept(run, interrupted.order, event)
        case Built():
            return take(run, event.change)
        case Fixed() | SessionFinished():
            return take_session(run, event.change)
        case _:
            return run
