"""One piece of work of an agent or a command: to be started, running, or pausing before the next attempt.

Reviews, fixes, builds, validations and seals are all work; they share these states and differ only in what a result or
a final failure leads to.
"""

from burnish.core.budget import Share
from burnish.core.protocol import FailureRule, FallbackTurn, OnFailure
from burnish.core.reviews import Failure, FailureKind
from burnish.core.values import Value


class Assignment(Value):
    """Who does a task, and who does it when the first one cannot."""

    agent: str
    fallback: str | None = None


class ProcessMark(Value):
    """A process that cannot be mistaken for a later one with the same number."""

    pid: int
    started: float


class Ready(Value, tag_field="state", tag="ready"):
    """To be started."""

    attempt: int = 1


class Running(Value, tag_field="state", tag="running"):
    """Started, without a result so far."""

    attempt: int
    agent: str
    since: float
    process: ProcessMark | None = None
    share: Share | None = None
    """What it has reserved of the budget; None where it costs nothing."""


class Pausing(Value, tag_field="state", tag="pausing"):
    """Failed; attempt `attempt` begins when the timer fires."""

    attempt: int
    until: float


Work = Ready | Running | Pausing


def effect_id(key: str, attempt: int) -> str:
    """The deterministic name of one attempt at a piece of work, such as `review:2:critic:1`."""
    return f"{key}:{attempt}"


def timer_id(key: str, attempt: int) -> str:
    return f"pause:{key}:{attempt}"


NEVER_TWICE = frozenset(
    {FailureKind.UNAUTHORISED, FailureKind.REFUSED, FailureKind.CANNOT_RUN, FailureKind.OVER_BUDGET}
)
"""The same agent would fail in the same way: only another one can help."""


UNUSABLE = frozenset({FailureKind.UNAUTHORISED, FailureKind.CANNOT_RUN})
"""The agent is not installed or not logged in: nothing that a run does changes that."""


PASSING = {FailureKind.RATE_LIMITED: (30.0, 600.0), FailureKind.UNREACHABLE: (5.0, 120.0)}
"""Nothing that the agent did: it only has to wait, for so many seconds at first and at most."""


def pause_before_retry(failure: Failure, attempt: int) -> float:
    """Seconds to wait after the given attempt failed. An unreadable answer is asked for again at once."""
    if failure.retry_after is not None:
        return max(0.0, failure.retry_after)
    if failure.kind is FailureKind.UNREADABLE:
        return 0.0
    first, longest = PASSING.get(failure.kind, (1.0, 1.0))
    return min(first * 2 ** (attempt - 1), longest)


# --- What a failed attempt leads to: the rule is the protocol's, the decision a value ---------------------------------


class TryAgain(Value):
    """Begin the given attempt after a pause."""

    attempt: int
    pause: float


class UseUpRound(Value):
    """The failure takes the place of a review."""


class GiveUp(Value):
    """No attempt is left: this work did not run."""


class EndNow(Value):
    """The protocol ends the run at the first failure."""


Decision = TryAgain | UseUpRound | GiveUp | EndNow


def agent_for(assignment: Assignment, rule: FailureRule, attempt: int) -> str:
    if assignment.fallback is None:
        return assignment.agent
    if rule.fallback is FallbackTurn.ALTERNATE:
        return assignment.agent if attempt % 2 else assignment.fallback
    return assignment.agent if attempt <= rule.retries + 1 else assignment.fallback


def attempts_allowed(assignment: Assignment, rule: FailureRule) -> int:
    """How many attempts there are in all: the first, the retries and, where it comes last, the fallback's."""
    comes_last = assignment.fallback is not None and rule.fallback is FallbackTurn.LAST
    return 1 + rule.retries + (1 if comes_last else 0)


def after_failure(failure: Failure, attempt: int, assignment: Assignment, rule: FailureRule) -> Decision:
    if failure.kind is FailureKind.EMPTY_DIFF:
        return GiveUp()
    then = _rule_for(failure, rule)
    if then is OnFailure.END:
        return EndNow()
    again = GiveUp()
    if then is OnFailure.RETRY or failure.kind in PASSING:
        again = _retry(failure, attempt, assignment, rule)
    return UseUpRound() if then is OnFailure.ROUND and isinstance(again, GiveUp) else again


def _rule_for(failure: Failure, rule: FailureRule) -> OnFailure:
    if failure.kind is FailureKind.OVER_BUDGET:
        return OnFailure.RETRY  # Whatever the protocol does about failures: only a cheaper agent could help.
    if failure.kind in UNUSABLE and rule.unusable is not None:
        return rule.unusable
    return rule.unreadable if failure.kind is FailureKind.UNREADABLE else rule.crashed


def _retry(failure: Failure, attempt: int, assignment: Assignment, rule: FailureRule) -> TryAgain | GiveUp:
    failed_agent = agent_for(assignment, rule, attempt)
    for following in range(attempt + 1, attempts_allowed(assignment, rule) + 1):
        other = agent_for(assignment, rule, following) != failed_agent
        if other or failure.kind not in NEVER_TWICE:
            # Another agent does not share the first one's limits, so it need not wait for them.
            return TryAgain(attempt=following, pause=0.0 if other else pause_before_retry(failure, attempt))
    return GiveUp()


def uses_up_round(failure: Failure, rule: FailureRule) -> bool:
    return failure.kind is not FailureKind.EMPTY_DIFF and _rule_for(failure, rule) is OnFailure.ROUND
