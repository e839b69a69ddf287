"""Who tries again, when, and when nobody does."""

import pytest

from burnish.core.protocol import FailureRule, FallbackTurn, OnFailure
from burnish.core.reviews import Failure, FailureKind
from burnish.core.work import (
    Assignment,
    Decision,
    EndNow,
    GiveUp,
    TryAgain,
    UseUpRound,
    after_failure,
    agent_for,
    attempts_allowed,
    pause_before_retry,
    uses_up_round,
)

ALONE = Assignment(agent="first")
BACKED = Assignment(agent="first", fallback="second")
RULE = FailureRule()
IN_TURN = FailureRule(fallback=FallbackTurn.ALTERNATE)
SAME_AGENT_NEVER = (FailureKind.UNAUTHORISED, FailureKind.REFUSED, FailureKind.CANNOT_RUN)


def failure(kind: FailureKind, retry_after: float | None = None) -> Failure:
    return Failure(kind=kind, message="no luck", retry_after=retry_after)


@pytest.mark.parametrize(
    ("kind", "pauses"),
    [
        (FailureKind.UNREADABLE, [0, 0, 0]),
        (FailureKind.CRASHED, [1, 1, 1]),
        (FailureKind.TIMED_OUT, [1, 1, 1]),
        (FailureKind.STUCK, [1, 1, 1]),
        (FailureKind.RATE_LIMITED, [30, 60, 120, 240, 480, 600, 600]),
    ],
)
def test_the_pause_after_each_attempt(kind: FailureKind, pauses: list[float]) -> None:
    assert [pause_before_retry(failure(kind), attempt) for attempt in range(1, len(pauses) + 1)] == pauses


@pytest.mark.parametrize("kind", FailureKind)
def test_the_pause_that_a_client_names_is_kept_to(kind: FailureKind) -> None:
    assert pause_before_retry(failure(kind, 7.5), 3) == 7.5
    assert pause_before_retry(failure(kind, 4_000), 1) == 4_000
    assert pause_before_retry(failure(kind, -1), 1) == 0
    assert pause_before_retry(failure(kind, 0), 1) == 0


@pytest.mark.parametrize(
    ("assignment", "rule", "agents"),
    [
        (ALONE, RULE, ["first"] * 3),
        (BACKED, RULE, ["first", "first", "first", "second"]),
        (BACKED, FailureRule(retries=0), ["first", "second"]),
        (ALONE, IN_TURN, ["first"] * 3),
        (BACKED, IN_TURN, ["first", "second", "first"]),
    ],
)
def test_who_makes_each_attempt(assignment: Assignment, rule: FailureRule, agents: list[str]) -> None:
    allowed = attempts_allowed(assignment, rule)
    assert [agent_for(assignment, rule, attempt) for attempt in range(1, allowed + 1)] == agents


def test_the_fallback_does_not_wait_for_the_first_agents_limits() -> None:
    limited = failure(FailureKind.RATE_LIMITED, 300)
    assert after_failure(limited, 2, BACKED, RULE) == TryAgain(attempt=3, pause=300)
    assert after_failure(limited, 3, BACKED, RULE) == TryAgain(attempt=4, pause=0)
    assert after_failure(limited, 1, BACKED, IN_TURN) == TryAgain(attempt=2, pause=0)


@pytest.mark.parametrize("kind", [FailureKind.RATE_LIMITED, FailureKind.UNREACHABLE])
def test_what_only_has_to_wait_uses_up_a_round_when_nobody_is_left_to_try(kind: FailureKind) -> None:
    rule = FailureRule(crashed=OnFailure.ROUND, fallback=FallbackTurn.ALTERNATE)
    passing = failure(kind)
    assert after_failure(passing, 1, BACKED, rule) == TryAgain(attempt=2, pause=0)
    assert after_failure(passing, 3, BACKED, rule) == UseUpRound()
    assert isinstance(after_failure(passing, 1, ALONE, rule), TryAgain)
    assert uses_up_round(passing, rule)
    assert after_failure(passing, 1, ALONE, FailureRule(crashed=OnFailure.END)) == EndNow()


def test_a_service_that_is_down_is_asked_again_after_growing_pauses() -> None:
    down = failure(FailureKind.UNREACHABLE)
    assert [pause_before_retry(down, attempt) for attempt in (1, 2, 3, 9)] == [5, 10, 20, 120]


def test_after_the_last_attempt_nobody_tries() -> None:
    crash = failure(FailureKind.CRASHED)
    assert after_failure(crash, 2, ALONE, RULE) == TryAgain(attempt=3, pause=1)
    assert after_failure(crash, 3, ALONE, RULE) == GiveUp()
    assert after_failure(crash, 3, BACKED, RULE) == TryAgain(attempt=4, pause=0)
    assert after_failure(crash, 4, BACKED, RULE) == GiveUp()


@pytest.mark.parametrize("kind", SAME_AGENT_NEVER)
def test_what_would_fail_again_goes_to_another_agent_at_once_or_to_none(kind: FailureKind) -> None:
    assert after_failure(failure(kind), 1, ALONE, RULE) == GiveUp()
    assert after_failure(failure(kind), 1, BACKED, RULE) == TryAgain(attempt=4, pause=0)
    assert after_failure(failure(kind), 1, BACKED, IN_TURN) == TryAgain(attempt=2, pause=0)


def test_an_empty_diff_is_the_same_for_everybody() -> None:
    for rule in (RULE, FailureRule(crashed=OnFailure.END), FailureRule(crashed=OnFailure.ROUND)):
        assert after_failure(failure(FailureKind.EMPTY_DIFF), 1, BACKED, rule) == GiveUp()


@pytest.mark.parametrize(
    ("rule", "unreadable", "crashed"),
    [
        (FailureRule(unreadable=OnFailure.END), EndNow(), TryAgain(attempt=2, pause=1)),
        (FailureRule(crashed=OnFailure.END), TryAgain(attempt=2, pause=0), EndNow()),
        (FailureRule(unreadable=OnFailure.ROUND), UseUpRound(), TryAgain(attempt=2, pause=1)),
        (FailureRule(crashed=OnFailure.ROUND), TryAgain(attempt=2, pause=0), UseUpRound()),
    ],
)
def test_unreadable_answers_and_crashes_have_rules_of_their_own(
    rule: FailureRule, unreadable: Decision, crashed: Decision
) -> None:
    assert after_failure(failure(FailureKind.UNREADABLE), 1, ALONE, rule) == unreadable
    assert after_failure(failure(FailureKind.CRASHED), 1, ALONE, rule) == crashed
    assert uses_up_round(failure(FailureKind.UNREADABLE), rule) is isinstance(unreadable, UseUpRound)
    assert uses_up_round(failure(FailureKind.CRASHED), rule) is isinstance(crashed, UseUpRound)
