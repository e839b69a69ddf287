"""What a failed attempt leads to. The rule is the protocol's; the decision is a value, and nothing here waits."""

from burnish.core.protocol import FailureRule, FallbackTurn, OnFailure
from burnish.core.reviews import Failure, FailureKind
from burnish.core.values import Value
from burnish.core.work import NEVER_TWICE, PASSING, UNUSABLE, Assignment, pause_before_retry


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
    """Who makes the given attempt (1 is the first)."""
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
    """Decide what follows a failed attempt."""
    if failure.kind is FailureKind.EMPTY_DIFF:
        return GiveUp()
    if failure.kind is FailureKind.OVER_BUDGET:
        # Whatever the protocol makes of failures: only somebody cheaper could help.
        return _retry(failure, attempt, assignment, rule)
    match _rule_for(failure, rule):
        case OnFailure.END:
            return EndNow()
        case OnFailure.ROUND if failure.kind in PASSING:
            again = _retry(failure, attempt, assignment, rule)
            return UseUpRound() if isinstance(again, GiveUp) else again
        case OnFailure.ROUND:
            return UseUpRound()
        case OnFailure.RETRY:
            return _retry(failure, attempt, assignment, rule)


def _rule_for(failure: Failure, rule: FailureRule) -> OnFailure:
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
    """Whether the protocol counts this failure as a round."""
    final = failure.kind in (FailureKind.EMPTY_DIFF, FailureKind.OVER_BUDGET)
    return not final and _rule_for(failure, rule) is OnFailure.ROUND
