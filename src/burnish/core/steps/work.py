"""The steps that all kinds of work share: started, lost, and the pause before the next attempt."""

from burnish.core.errors import RefusedError
from burnish.core.events import ProcessStarted, TimerFired, WorkFailed, WorkLost, WorkStarted
from burnish.core.protocol import FailureRule
from burnish.core.reviews import Usage
from burnish.core.state import Building, Fixing, Run, Sealing, Validating
from burnish.core.values import replace
from burnish.core.work import (
    Assignment,
    EndNow,
    GiveUp,
    Pausing,
    Ready,
    Running,
    TryAgain,
    UseUpRound,
    Work,
    after_failure,
    effect_id,
    timer_id,
)

SingleWork = Building | Validating | Fixing | Sealing
"""The phases in which exactly one piece of work is under way."""

OWN_WORK = Assignment(agent="burnish")
"""Validation and seals are burnish's own work: no agent, no fallback."""


def assignment_of(run: Run, phase: SingleWork) -> Assignment:
    """Who does a phase's work. Later fixes may be given to a stronger agent."""
    if isinstance(phase, Building):
        return run.roles.build or run.roles.fix
    if isinstance(phase, Validating | Sealing):
        return OWN_WORK
    by_round = run.protocol.fix.by_round
    if not by_round:
        return run.roles.fix
    turn = min(max(phase.order.round, 1), len(by_round)) - 1
    return replace(run.roles.fix, agent=by_round[turn])


def rule_of(run: Run, phase: SingleWork) -> FailureRule:
    """The failure rule of a phase's work. What is burnish's own is always retried: it is never an agent's fault."""
    if isinstance(phase, Validating | Sealing):
        return FailureRule(retries=run.protocol.failures.retries)
    return run.protocol.failures


def advance(work: Work, key: str, event: WorkStarted | ProcessStarted | WorkLost | TimerFired) -> Work:
    """The work after an event that is not a result."""
    match work, event:
        case Ready(), WorkStarted() if event.effect == effect_id(key, work.attempt):
            return Running(attempt=work.attempt, agent=event.agent, since=event.at, share=event.share)
        case Running(), ProcessStarted() if event.effect == effect_id(key, work.attempt):
            return replace(work, process=event.process)
        case Running(), WorkLost() if event.effect == effect_id(key, work.attempt):
            return Ready(attempt=work.attempt)
        case Pausing(), TimerFired() if event.effect == timer_id(key, work.attempt):
            return Ready(attempt=work.attempt)
        case _:
            raise RefusedError(f"{key} is {type(work).__name__.lower()} at attempt {work.attempt}")


def running(work: object, key: str, effect: str) -> Running:
    """The running work that a result belongs to; a result of anything else is refused."""
    if isinstance(work, Running) and effect == effect_id(key, work.attempt):
        return work
    raise RefusedError(f"'{effect}' is not running")


def settle(run: Run, phase: SingleWork, effect: str) -> Run:
    """Take the result of a phase's only work: nothing runs any more."""
    running(phase.work, phase.key, effect)
    return replace(run, phase=replace(phase, work=Ready()))


def fail(
    event: WorkFailed, work: Running, assignment: Assignment, rule: FailureRule
) -> Work | UseUpRound | GiveUp | EndNow:
    """The next attempt, waiting for its turn, or what follows when there is none."""
    decision = after_failure(event.failure, work.attempt, assignment, rule)
    if isinstance(decision, TryAgain):
        if decision.pause <= 0:
            return Ready(attempt=decision.attempt)
        return Pausing(attempt=decision.attempt, until=event.at + decision.pause)
    return decision


def fail_single(run: Run, phase: SingleWork, event: WorkFailed) -> tuple[Run, UseUpRound | GiveUp | EndNow | None]:
    """A failed attempt at a phase's only work: the run with the next attempt, or idle, and then what follows."""
    at_work = running(phase.work, phase.key, event.effect)
    result = fail(event, at_work, assignment_of(run, phase), rule_of(run, phase))
    run = count_failure(run, event)
    if isinstance(result, UseUpRound | GiveUp | EndNow):
        return replace(run, phase=replace(phase, work=Ready())), result
    return replace(run, phase=replace(phase, work=result)), None


def charge(run: Run, usage: Usage) -> Run:
    return replace(run, usage=run.usage.plus(usage))


def count_failure(run: Run, event: WorkFailed) -> Run:
    """Count a failure of infrastructure, apart from the rounds."""
    return replace(charge(run, event.usage), infrastructure_failures=run.infrastructure_failures + 1)


def step_single(run: Run, phase: SingleWork, event: WorkStarted | ProcessStarted | WorkLost | TimerFired) -> Run:
    if isinstance(event, WorkLost):
        run = charge(run, event.usage)
    return replace(run, phase=replace(phase, work=advance(phase.work, phase.key, event)))
