"""The ways through a run: its start, its rounds, their limits, a panel that fails, and what comes at the end."""

import pytest

from burnish.core.events import (
    Cancelled,
    Mode,
    Reviewed,
    RunStarted,
    Subject,
    WorkStarted,
)
from burnish.core.loop import IllegalEventError, evolve, replay
from burnish.core.protocol import (
    Fail,
    FailureRule,
    OnFailure,
    Reviewer,
    ReviewMode,
    ReviewRule,
    RoundLimits,
    Stop,
    ValidateRule,
)
from burnish.core.reviews import Failure, FailureKind
from burnish.core.state import (
    AnsweredReview,
    Building,
    FailedReview,
    Outcome,
    Scope,
    Sealing,
    Validating,
)
from burnish.core.values import replace
from burnish.core.work import Pausing, Ready, Running
from tests.core.driving import CLEAN, EXAMINED, PLAIN, ROLES, Driven, found, problem, rewritten

PAIR = replace(PLAIN, panel=(Reviewer(name="critic"), Reviewer(name="witness")))
VALIDATED = replace(PLAIN, validate=ValidateRule(after_fix=True))
BY_ROUND = replace(PLAIN, failures=FailureRule(unreadable=OnFailure.ROUND, crashed=OnFailure.ROUND))
BAD = found(problem("bad"))


def started(max_reviews: int | None) -> RunStarted:
    return RunStarted(
        at=0,
        run="r",
        mode=Mode.FIX,
        subject=Subject(branch="b", base="main", base_commit="c", head="c0", tree="t0"),
        protocol=PLAIN,
        roles=ROLES,
        max_reviews=max_reviews,
    )


@pytest.mark.parametrize(("wanted", "limit"), [(None, 3), (1, 1), (4, 4), (5, 5)])
def test_the_limit_is_the_protocols_or_the_users_up_to_the_hard_cap(wanted: int | None, limit: int) -> None:
    assert evolve(None, started(wanted)).limit == limit


@pytest.mark.parametrize("wanted", [-1, 0, 6])
def test_a_limit_out_of_range_does_not_start(wanted: int) -> None:
    with pytest.raises(IllegalEventError) as refusal:
        evolve(None, started(wanted))
    message = f"RunStarted is illegal while not started: {wanted} reviews are not between 1 and 5"
    assert str(refusal.value) == message
    assert refusal.value.event == started(wanted)
    assert refusal.value.state == "not started"


def test_a_run_begins_with_its_start() -> None:
    with pytest.raises(IllegalEventError) as refusal:
        evolve(None, Cancelled(at=1))
    assert str(refusal.value) == "Cancelled is illegal while not started: a run starts with RunStarted"


def test_nothing_replayed_is_no_run() -> None:
    assert replay([]) is None


def test_a_run_begins_on_the_subjects_commit_and_tree() -> None:
    run = evolve(None, started(None))
    assert (run.id, run.commit, run.tree, run.version, run.subject.branch) == ("r", "c0", "t0", 1, "b")


def test_what_comes_first() -> None:
    assert isinstance(Driven(build=True).run.phase, Building)
    assert isinstance(Driven(VALIDATED).run.phase, Validating)
    assert Driven().reviewing.round == 1
    built = Driven(VALIDATED, build=True)
    built.build("tree-1")
    assert isinstance(built.run.phase, Validating)
    assert built.run.tree == "tree-1"


def test_a_round_opens_when_its_first_review_starts_and_only_once() -> None:
    driven = Driven(PAIR)
    assert driven.run.rounds == ()
    driven.happen(WorkStarted(at=5, effect="review:1:witness:1", agent="first"))
    (opened,) = driven.run.rounds
    assert (opened.number, opened.scope, opened.opened_at) == (1, Scope.FULL, 5)
    assert (opened.tree, opened.commit) == ("tree-0", "commit-0")
    driven.happen(WorkStarted(at=6, effect="review:1:critic:1", agent="first"))
    assert driven.run.rounds == (opened,)


def test_nothing_is_judged_before_every_seat_has_answered() -> None:
    driven = Driven(PAIR)
    driven.start()
    driven.answer(BAD)
    assert driven.reviewing.round == 1
    assert driven.run.findings == ()
    driven.answer(CLEAN, "witness")
    assert driven.fixing.order.round == 1
    assert [review.reviewer for review in driven.run.rounds[0].reviews] == ["critic", "witness"]


@pytest.mark.parametrize(("seconds", "slow"), [(119, False), (120, False), (121, True)])
def test_a_review_that_takes_too_long_is_marked(seconds: float, slow: bool) -> None:
    driven = Driven(replace(PLAIN, limits=RoundLimits(reviews=3, hard_cap=5, slow_review_seconds=120)))
    driven.answer(CLEAN, after=seconds)
    expected = AnsweredReview(
        reviewer="critic", agent="first", answer=CLEAN, started_at=1, finished_at=1 + seconds, slow=slow
    )
    expected = replace(expected, evidence=EXAMINED, looked=True)
    assert driven.run.rounds[0].reviews == (expected,)


def test_a_review_keeps_the_digest_of_what_it_was_given() -> None:
    driven = Driven()
    driven.start()
    driven.happen(Reviewed(at=2, effect="review:1:critic:1", answer=CLEAN, prompt="digest"))
    (review,) = driven.run.rounds[0].reviews
    assert isinstance(review, AnsweredReview)
    assert review.prompt == "digest"


def test_without_a_limit_no_review_is_slow() -> None:
    driven = Driven()
    driven.answer(CLEAN, after=1_000_000)
    (review,) = driven.run.rounds[0].reviews
    assert isinstance(review, AnsweredReview)
    assert not review.slow


def test_a_failed_seat_pauses_and_tries_again_beside_the_others() -> None:
    driven = Driven(PAIR)
    driven.start()
    driven.fail(FailureKind.RATE_LIMITED, retry_after=7)
    critic, witness = driven.reviewing.seats
    assert critic.work == Pausing(attempt=2, until=10.0)
    assert isinstance(witness.work, Running)
    driven.wait()
    assert driven.reviewing.seats[0].work == Ready(attempt=2)
    assert driven.run.infrastructure_failures == 1


def test_a_reviewer_without_an_answer_ends_the_run_once_all_are_done() -> None:
    driven = Driven(PAIR)
    driven.start()
    driven.fail(FailureKind.REFUSED, message="no key")
    assert driven.reviewing.round == 1
    driven.answer(CLEAN, "witness")
    assert driven.ended == (Outcome.DID_NOT_RUN, "critic refused: no key")
    missing = FailedReview(reviewer="critic", failure=Failure(kind=FailureKind.REFUSED, message="no key"))
    assert driven.run.rounds[0].reviews[0] == missing
    assert driven.run.rounds[0].judgement is None


def test_a_failure_uses_up_a_round_where_the_protocol_says_so() -> None:
    driven = Driven(BY_ROUND, max_reviews=2)
    driven.fail(FailureKind.CRASHED)
    assert driven.reviewing.round == 2
    assert [review.status.value for review in driven.run.rounds[0].reviews] == ["did-not-run"]
    driven.fail(FailureKind.UNREADABLE)
    assert driven.ended == (Outcome.FAILED, "no more after 2 reviews and 0 revisions")
    assert driven.run.infrastructure_failures == 2


def test_a_failure_that_no_round_can_mend_ends_the_run_even_so() -> None:
    driven = Driven(replace(BY_ROUND, panel=PAIR.panel))
    driven.start()
    driven.fail(FailureKind.CRASHED)
    driven.fail(FailureKind.EMPTY_DIFF, ":witness:", message="nothing to review")
    assert driven.ended == (Outcome.DID_NOT_RUN, "witness empty-diff: nothing to review")


def test_in_review_mode_a_used_up_round_did_not_run() -> None:
    driven = Driven(BY_ROUND, mode=Mode.REVIEW)
    driven.fail(FailureKind.CRASHED, message="exit 9")
    assert driven.ended == (Outcome.DID_NOT_RUN, "critic gave no usable answer: exit 9")


def test_clean_is_sealed_and_approved() -> None:
    driven = Driven()
    driven.answer(found(problem("small", problem().severity.LOW)))
    assert isinstance(driven.run.phase, Sealing)
    driven.seal()
    assert driven.ended == (Outcome.APPROVED, "no blocking findings in round 1")
    assert driven.run.seal == "digest"


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        (Fail(reason="over: {reviews}/{revisions}"), Outcome.FAILED),
        (Stop(reason="over: {reviews}/{revisions}"), Outcome.STOPPED),
    ],
)
def test_at_the_limit_the_protocol_has_its_word_filled_in(rule: Fail | Stop, outcome: Outcome) -> None:
    driven = Driven(replace(PLAIN, exhausted=rule), max_reviews=2)
    driven.answer(BAD)
    driven.fix("tree-1", rewritten("a.py"))
    driven.answer(BAD)
    assert driven.ended == (outcome, "over: 2/1")


RATCHET = replace(PLAIN, review=ReviewRule(mode=ReviewMode.RATCHET), limits=RoundLimits(reviews=4, hard_cap=5))


def test_ratchet_rounds_stand_between_two_full_ones() -> None:
    driven = Driven(RATCHET)
    assert driven.reviewing.scope is Scope.FULL
    driven.answer(BAD)
    driven.fix("tree-1", rewritten("a.py"))
    assert driven.reviewing.scope is Scope.RATCHET
    driven.answer(CLEAN)
    assert driven.reviewing.scope is Scope.FULL
    driven.answer(CLEAN)
    assert isinstance(driven.run.phase, Sealing)
    assert [round_.scope for round_ in driven.run.rounds] == [Scope.FULL, Scope.RATCHET, Scope.FULL]


def test_reviewers_that_always_look_at_everything_need_no_second_look() -> None:
    driven = Driven(RATCHET)
    driven.answer(BAD)
    driven.fix("tree-1", rewritten("a.py"))
    assert driven.reviewing.scope is Scope.RATCHET
    driven.answer(replace(CLEAN, whole=True))
    assert isinstance(driven.run.phase, Sealing)


def test_the_last_round_that_is_allowed_is_full() -> None:
    driven = Driven(RATCHET, max_reviews=2)
    driven.answer(BAD)
    driven.fix("tree-1", rewritten("a.py"))
    assert driven.reviewing.scope is Scope.FULL


def test_a_round_after_one_without_a_judgement_is_a_ratchet() -> None:
    driven = Driven(replace(RATCHET, failures=BY_ROUND.failures))
    driven.answer(BAD)
    driven.fix("tree-1", rewritten("a.py"))
    driven.fail(FailureKind.CRASHED)
    assert driven.reviewing.scope is Scope.RATCHET


def test_fresh_rounds_are_always_full() -> None:
    driven = Driven()
    driven.answer(BAD)
    driven.fix("tree-1", rewritten("a.py"))
    assert driven.reviewing.scope is Scope.FULL
