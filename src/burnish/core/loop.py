"""The one loop: `evolve(state, event) -> state` and `decide(state) -> effects`.

Two rules hold here and in everything that this module calls:

1. No IO, no clock, no environment, no randomness. The same events always give the same state.
2. An event that does not fit raises `IllegalEventError`, which names both, and leaves the state as it was.

`TABLE` is the whole theory of operation: which event may arrive in which phase, what handles it, and which phases it
may lead to. The diagrams in the documentation are drawn from it. Drivers (the local runner, editor hooks, workers)
append events, fold them, and carry out what `decide` asks for; they decide nothing themselves.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar, overload

from burnish.core import next_effects
from burnish.core.effects import Effect
from burnish.core.errors import RefusedError
from burnish.core.events import (
    AnyEvent,
    BudgetReached,
    Built,
    Cancelled,
    Closed,
    Decided,
    Event,
    FindingAdded,
    FindingAnnotated,
    FindingRefuted,
    FindingWaived,
    Fixed,
    ProcessStarted,
    Reviewed,
    RunStarted,
    Sealed,
    SessionAdopted,
    SessionFinished,
    Skipped,
    TimerFired,
    TreeChanged,
    Validated,
    WorkFailed,
    WorkLost,
    WorkStarted,
)
from burnish.core.spending import seconds_at_work
from burnish.core.state import (
    Building,
    Ended,
    Fixing,
    Phase,
    Reviewing,
    Run,
    Sealing,
    Stopping,
    Validating,
    Waiting,
)
from burnish.core.steps import change, checks, flow, person, review, stop, work
from burnish.core.values import Value, replace


class IllegalEventError(Exception):
    """An event that cannot happen in this state. The state is unchanged."""

    def __init__(self, event: Event, state: str, why: str) -> None:
        super().__init__(f"{type(event).__name__} is illegal while {state}: {why}")
        self.event = event
        self.state = state


class Transition(NamedTuple):
    """One cell of the table."""

    phase: type[Value]
    event: type[Event]
    handle: Callable[[Run, Any, Any], Run]
    to: tuple[type[Value], ...]


_P = TypeVar("_P", bound=Value)
_E = TypeVar("_E", bound=Event)


def _step(phase: type[_P], event: type[_E], handle: Callable[[Run, _P, _E], Run], *to: type[Value]) -> Transition:
    return Transition(phase, event, handle, to)


_SINGLE = (Building, Validating, Fixing, Sealing)
_PROGRESS = (WorkStarted, ProcessStarted, WorkLost, TimerFired)
# A seal in the making is the end already: nothing interrupts it.
_INTERRUPTIBLE = (Building, Validating, Reviewing, Fixing)
_WITH_FINDINGS = (Validating, Reviewing, Fixing, Sealing, Stopping, Ended)

STEPS: tuple[Transition, ...] = (
    *(_step(phase, event, work.step_single, phase) for phase in _SINGLE for event in _PROGRESS),
    *(_step(Reviewing, event, review.step, Reviewing) for event in _PROGRESS),
    _step(Building, Built, change.built, Validating, Reviewing, Ended),
    _step(Building, WorkFailed, change.build_failed, Building, Ended),
    _step(Validating, Validated, checks.validated, Reviewing, Fixing, Sealing, Waiting, Ended),
    _step(Validating, WorkFailed, checks.own_work_failed, Validating, Ended),
    _step(Reviewing, Reviewed, review.answered, Reviewing, Validating, Fixing, Sealing, Waiting, Ended),
    _step(Reviewing, SessionFinished, review.session_finished, Reviewing, Validating, Sealing, Waiting, Ended),
    _step(Reviewing, TreeChanged, review.tree_changed, Reviewing, Waiting, Stopping, Ended),
    *(_step(phase, SessionAdopted, person.adopted, phase) for phase in (*_SINGLE, Reviewing, Waiting)),
    _step(Reviewing, WorkFailed, review.failed, Reviewing, Waiting, Stopping, Ended),
    _step(Fixing, Fixed, change.fixed, Validating, Reviewing, Waiting, Ended),
    _step(Fixing, WorkFailed, change.fix_failed, Fixing, Validating, Reviewing, Ended),
    _step(Sealing, Sealed, checks.sealed, Ended),
    _step(Sealing, WorkFailed, checks.own_work_failed, Sealing, Ended),
    _step(Waiting, Decided, person.decided, Fixing, Reviewing, Validating, Sealing, Ended),
    *(_step(phase, Skipped, person.skipped, Stopping, Ended) for phase in (Building, Validating, Reviewing)),
    *(_step(phase, Cancelled, person.cancelled, Stopping, Ended) for phase in _INTERRUPTIBLE),
    *(_step(phase, BudgetReached, person.budget_reached, Stopping, Ended) for phase in _INTERRUPTIBLE),
    _step(Waiting, Cancelled, person.cancelled, Ended),
    _step(Waiting, BudgetReached, person.budget_reached, Ended),
    *(_step(phase, FindingRefuted, person.refuted, phase) for phase in _WITH_FINDINGS),
    *(_step(phase, FindingWaived, person.waived, phase) for phase in _WITH_FINDINGS),
    _step(Waiting, FindingRefuted, person.refuted, Waiting, Fixing, Reviewing, Validating, Sealing, Ended),
    _step(Waiting, FindingWaived, person.waived, Waiting, Fixing, Reviewing, Validating, Sealing, Ended),
    *(_step(phase, FindingAnnotated, person.annotated, phase) for phase in (*_WITH_FINDINGS, Waiting)),
    _step(Waiting, FindingAdded, person.added, Waiting),
    *(_step(phase, Closed, stop.closed, Ended) for phase in (*_SINGLE, Reviewing, Waiting, Stopping, Ended)),
    _step(Stopping, ProcessStarted, stop.process_started, Stopping),
    *(_step(Stopping, event, stop.result, Stopping, Ended) for event in (Reviewed, WorkFailed, WorkLost)),
    *(_step(Stopping, event, stop.result, Ended) for event in (Built, Fixed, SessionFinished, Validated)),
)

TABLE: dict[tuple[type[Value], type[Event]], Transition] = {(step.phase, step.event): step for step in STEPS}


def evolve(run: Run | None, event: AnyEvent) -> Run:
    """The state after an event. `None` is the state before the first."""
    if run is None:
        return _start(event)
    step = TABLE.get((type(run.phase), type(event)))
    if step is None:
        raise IllegalEventError(event, _name(run.phase), "no such step")
    try:
        following = step.handle(run, run.phase, event)
    except RefusedError as refusal:
        raise IllegalEventError(event, _name(run.phase), str(refusal)) from None
    has_ended = isinstance(following.phase, Ended) and not isinstance(run.phase, Ended)
    return replace(
        following,
        version=run.version + 1,
        at=event.at,
        busy=run.busy + seconds_at_work(run, event),
        ended_at=event.at if has_ended else run.ended_at,
    )


def _start(event: AnyEvent) -> Run:
    if not isinstance(event, RunStarted):
        raise IllegalEventError(event, "not started", "a run starts with RunStarted")
    limits = event.protocol.limits
    limit = limits.reviews if event.max_reviews is None else event.max_reviews
    if not 1 <= limit <= limits.hard_cap:
        raise IllegalEventError(event, "not started", f"{limit} reviews are not between 1 and {limits.hard_cap}")
    left = limits.hard_cap - event.rounds_before
    if left < 1:
        raise IllegalEventError(event, "not started", f"the hard cap of {limits.hard_cap} reviews is reached")
    subject = event.subject
    # The phase is a placeholder for one call: the flow alone knows which phase comes first.
    unbegun = Run(started=event, phase=Waiting(reason="", choices=()), commit=subject.head, tree=subject.tree)
    known = replace(unbegun, changed=subject.changed, findings=event.remembered, limit=min(limit, left), at=event.at)
    known = replace(known, session=event.session, owner=event.owner)
    return flow.to_start(known)


def _name(phase: Phase) -> str:
    return type(phase).__name__.lower()


@overload
def replay(events: Iterable[AnyEvent], run: Run) -> Run: ...
@overload
def replay(events: Iterable[AnyEvent]) -> Run | None: ...
def replay(events: Iterable[AnyEvent], run: Run | None = None) -> Run | None:
    """Fold a run's events, from its first one or from where it is. Recovery is nothing else."""
    for event in events:
        run = evolve(run, event)
    return run


def decide(run: Run) -> tuple[Effect, ...]:
    """What should happen now. Asking twice gives the same answer; what runs already is not asked for again."""
    return next_effects.effects(run)
