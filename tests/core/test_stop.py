"""The end is decided while work runs: each piece is ended, and what it gives in time is kept."""

from collections.abc import Callable

import pytest

from burnish.core.events import (
    AnyEvent,
    BudgetReached,
    Built,
    Cancelled,
    Change,
    Closed,
    FixAnswer,
    Fixed,
    ProcessStarted,
    Reviewed,
    SessionFinished,
    Skipped,
    StoryStatus,
    TimerFired,
    Validated,
    ValidationStatus,
    WorkFailed,
    WorkLost,
    WorkStarted,
)
from burnish.core.findings import FixVerdict
from burnish.core.protocol import (
    FailureRule,
    FixInput,
    FixRule,
    OnFailure,
    ReviewBy,
    Reviewer,
    ReviewRule,
    SkipReason,
    ValidateRule,
)
from burnish.core.reviews import Failure, FailureKind, Usage
from burnish.core.state import (
    AnsweredReview,
    FailedReview,
    FixerAnswer,
    FixResult,
    FixStatus,
    Outcome,
    Reviewing,
    Stopping,
)
from burnish.core.values import replace
from burnish.core.work import ProcessMark, Ready
from tests.core.driving import CLEAN, PLAIN, Driven, found, problem

PAIR = replace(PLAIN, panel=(Reviewer(name="critic"), Reviewer(name="witness")))
SESSION = replace(PLAIN, review=ReviewRule(by=ReviewBy.SESSION), fix=FixRule(input=FixInput.NOTHING))
USAGE = Usage(seconds=2, tokens=30, cost_usd=0.5)
CANCELLED = (Outcome.CANCELLED, "a person cancelled the run")
NEW = Change(commit="commit-1", tree="tree-1")
SAME = Change(commit="commit-0", tree="tree-0")


def stopping(driven: Driven) -> Driven:
    """A person ends the run while its work is under way."""
    driven.start()
    driven.happen(Cancelled(at=driven.tick()))
    phase = driven.run.phase
    assert isinstance(phase, Stopping)
    assert (phase.outcome, phase.reason) == CANCELLED
    return driven


def fixing() -> Driven:
    driven = Driven()
    driven.answer(found(problem()))
    return stopping(driven)


def test_an_answer_that_arrives_in_time_is_kept_and_charged() -> None:
    driven = stopping(Driven())
    driven.happen(Reviewed(at=9, effect="review:1:critic:1", answer=CLEAN, usage=USAGE))
    assert driven.ended == CANCELLED
    assert driven.run.rounds[0].reviews == (
        AnsweredReview(reviewer="critic", agent="first", answer=CLEAN, started_at=1, finished_at=9),
    )
    assert driven.run.rounds[0].judgement is None
    assert driven.run.usage == USAGE


def test_a_failure_that_arrives_in_time_is_kept_and_charged() -> None:
    driven = stopping(Driven())
    failure = Failure(kind=FailureKind.CRASHED, message="killed")
    driven.happen(WorkFailed(at=9, effect="review:1:critic:1", failure=failure, usage=USAGE))
    assert driven.ended == CANCELLED
    assert driven.run.rounds[0].reviews == (FailedReview(reviewer="critic", failure=failure),)
    assert driven.run.usage == USAGE


def test_the_run_ends_with_its_last_piece_of_work_and_not_before() -> None:
    driven = stopping(Driven(PAIR))
    driven.happen(WorkLost(at=9, effect="review:1:witness:1"))
    assert isinstance(driven.run.phase, Stopping)
    assert driven.running == ("review:1:critic:1",)
    driven.happen(Reviewed(at=10, effect="review:1:critic:1", answer=CLEAN))
    assert driven.ended == CANCELLED
    assert [review.reviewer for review in driven.run.rounds[0].reviews] == ["critic"]


def test_a_seat_whose_work_was_lost_stays_at_its_attempt() -> None:
    driven = Driven(PAIR)
    driven.start()
    driven.fail(FailureKind.UNREADABLE)
    stopping(driven).happen(WorkLost(at=9, effect="review:1:critic:2"))
    phase = driven.run.phase
    assert isinstance(phase, Stopping)
    assert isinstance(phase.interrupted, Reviewing)
    assert phase.interrupted.seats[0].work == Ready(attempt=2)


def test_work_that_was_lost_leaves_nothing_behind() -> None:
    driven = stopping(Driven())
    driven.happen(WorkLost(at=9, effect="review:1:critic:1"))
    assert driven.ended == CANCELLED
    assert driven.run.rounds[0].reviews == ()
    assert driven.run.usage == Usage()


@pytest.mark.parametrize(("change", "status"), [(NEW, FixStatus.FIXED), (SAME, FixStatus.UNCHANGED)])
def test_a_fix_that_arrives_in_time_is_kept(change: Change, status: FixStatus) -> None:
    driven = fixing()
    (entry,) = driven.run.findings
    answer = FixAnswer(finding=entry.finding.id, fixed=True, text="closed it")
    driven.happen(
        Fixed(at=9, effect="fix:1:1", change=change, summary="closed", text="all", answers=(answer,), usage=USAGE)
    )
    assert driven.ended == CANCELLED
    assert (driven.run.commit, driven.run.tree) == (change.commit, change.tree)
    answers = (FixerAnswer(finding=entry.finding.id, verdict=FixVerdict.FIXED, text="closed it"),)
    assert driven.run.rounds[0].fix == FixResult(
        status=status, commit=change.commit, summary="closed", text="all", answers=answers
    )
    assert driven.run.usage == USAGE


def test_a_repair_before_the_first_review_is_kept_although_no_round_is_there() -> None:
    driven = Driven(replace(PLAIN, validate=ValidateRule()))
    driven.validate(ValidationStatus.FAILED)
    stopping(driven).happen(Fixed(at=9, effect="fix:1:1", change=NEW))
    assert driven.ended == CANCELLED
    assert driven.run.tree == "tree-1"


def test_a_build_that_arrives_in_time_is_kept() -> None:
    driven = stopping(Driven(build=True))
    driven.happen(Built(at=9, effect="build:1", change=NEW, usage=USAGE))
    assert driven.ended == CANCELLED
    assert (driven.run.commit, driven.run.tree, driven.run.usage) == ("commit-1", "tree-1", USAGE)


def test_a_session_that_arrives_in_time_is_kept() -> None:
    driven = stopping(Driven(SESSION))
    driven.happen(
        SessionFinished(
            at=9, effect="review:1:critic:1", answer=CLEAN, change=NEW, status=StoryStatus.DONE, usage=USAGE
        )
    )
    assert driven.ended == CANCELLED
    assert driven.run.tree == "tree-1"
    assert driven.run.rounds[0].fix == FixResult(status=FixStatus.FIXED, commit="commit-1")
    assert driven.run.usage == USAGE


def test_a_validation_that_arrives_in_time_is_charged() -> None:
    driven = stopping(Driven(replace(PLAIN, validate=ValidateRule())))
    driven.happen(Validated(at=9, effect="validate:1:1", status=ValidationStatus.FAILED, usage=USAGE))
    assert driven.ended == CANCELLED
    assert driven.run.usage == USAGE


def test_a_process_that_came_to_life_late_is_known() -> None:
    driven = stopping(Driven())
    before = driven.run
    mark = ProcessMark(pid=7, started=1.0)
    driven.happen(ProcessStarted(at=9, effect="review:1:critic:1", process=mark))
    after = driven.run
    assert after == replace(before, version=before.version + 1, at=after.at, busy=after.busy)


@pytest.mark.parametrize(
    "event",
    [
        ProcessStarted(at=9, effect="review:1:witness:1", process=ProcessMark(pid=7, started=1.0)),
        Reviewed(at=9, effect="review:1:witness:1", answer=CLEAN),
        WorkLost(at=9, effect="review:1:critic:2"),
    ],
)
def test_what_does_not_run_cannot_end(event: AnyEvent) -> None:
    effect = getattr(event, "effect", "")
    assert stopping(Driven()).refusal(event) == (
        f"{type(event).__name__} is illegal while stopping: '{effect}' is not running"
    )


@pytest.mark.parametrize(
    "event",
    [
        Cancelled(at=9),
        BudgetReached(at=9, limit="x"),
        WorkStarted(at=9, effect="review:1:witness:1", agent="first"),
        TimerFired(at=9, effect="pause:review:1:witness:2"),
        Skipped(at=9, reason=SkipReason.REVIEW_DISABLED),
    ],
)
def test_nothing_new_begins_once_the_end_is_decided(event: AnyEvent) -> None:
    driven = stopping(Driven(PAIR))
    assert driven.refusal(event) == f"{type(event).__name__} is illegal while stopping: no such step"


def test_a_budget_stops_a_fix_and_a_skip_stops_a_build() -> None:
    driven = Driven()
    driven.answer(found(problem()))
    driven.start()
    driven.happen(BudgetReached(at=9, limit="5 USD"))
    driven.happen(WorkLost(at=10, effect="fix:1:1"))
    assert driven.ended == (Outcome.OVER_BUDGET, "budget reached: 5 USD")
    building = Driven(replace(PLAIN, skip_when=(SkipReason.NOTHING_PICKED,)), build=True)
    building.start()
    building.happen(Skipped(at=9, reason=SkipReason.NOTHING_PICKED))
    building.happen(WorkLost(at=10, effect="build:1"))
    assert building.ended == (Outcome.SKIPPED, "review skipped: nothing-picked")


@pytest.mark.parametrize("begin", [Driven, lambda: Driven(build=True), lambda: stopping(Driven())])
def test_an_end_on_record_holds_whatever_came_before(begin: Callable[[], Driven]) -> None:
    driven = begin()
    driven.happen(Closed(at=9, outcome=Outcome.STOPPED, reason="it was so"))
    assert driven.ended == (Outcome.STOPPED, "it was so")
    assert driven.run.closed
    again = driven.refusal(Closed(at=10, outcome=Outcome.FAILED, reason="not so"))
    assert again == "Closed is illegal while ended: the end is on record already"


def test_an_end_that_the_loop_decided_can_be_put_on_record_once() -> None:
    driven = Driven()
    driven.happen(Cancelled(at=1))
    assert not driven.run.closed
    driven.happen(Closed(at=2, outcome=Outcome.CANCELLED, reason="a person cancelled the run"))
    assert driven.ended == CANCELLED
    assert driven.run.closed


def test_a_pause_needs_no_end() -> None:
    driven = Driven()
    driven.fail(FailureKind.CRASHED)
    driven.happen(Cancelled(at=9))
    assert driven.ended == CANCELLED


def test_a_failure_that_ends_the_run_at_once_ends_the_others_first_and_keeps_their_answers() -> None:
    driven = Driven(replace(PAIR, failures=FailureRule(crashed=OnFailure.END)))
    driven.start()
    driven.fail(FailureKind.CRASHED, message="exit 3")
    assert isinstance(driven.run.phase, Stopping)
    driven.happen(Reviewed(at=9, effect="review:1:witness:1", answer=CLEAN))
    assert driven.ended == (Outcome.DID_NOT_RUN, "critic crashed: exit 3")
    assert [type(review) for review in driven.run.rounds[0].reviews] == [FailedReview, AnsweredReview]
