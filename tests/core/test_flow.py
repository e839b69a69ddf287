"""The ways through a run: limits, retries, validation, fixes, exhaustion, and the counters that live in the state."""

import pytest

from burnish.core.events import (
    Built,
    Cancelled,
    Change,
    Fixed,
    Mode,
    ProcessStarted,
    Reviewed,
    Roles,
    RunStarted,
    Sealed,
    Subject,
    TimerFired,
    ValidationStatus,
    WorkFailed,
    WorkLost,
    WorkStarted,
)
from burnish.core.loop import IllegalEventError, evolve, replay
from burnish.core.protocol import (
    Fail,
    FailureRule,
    FixInput,
    FixRule,
    Limits,
    OnFailure,
    Reviewer,
    ReviewMode,
    ReviewRule,
    SkipReason,
    Stop,
    Unchanged,
    ValidateRule,
)
from burnish.core.reviews import Failure, FailureKind, Usage
from burnish.core.state import (
    Building,
    FixResult,
    FixStatus,
    GoodReview,
    MissingReview,
    Outcome,
    Scope,
    Sealing,
    Validating,
    Validation,
)
from burnish.core.values import replace
from burnish.core.work import Assignment, Pausing, ProcessMark, Ready, Running
from tests.core.driving import CLEAN, PLAIN, ROLES, Driven, found, problem, rewritten

PAIR = replace(PLAIN, panel=(Reviewer(name="critic"), Reviewer(name="witness")))
VALIDATED = replace(PLAIN, validate=ValidateRule(after_fix=True))
GAINING = replace(PLAIN, fix=FixRule(input=FixInput.BLOCKING, unchanged=Unchanged.EXHAUSTED))
BY_ROUND = replace(PLAIN, failures=FailureRule(unreadable=OnFailure.ROUND, crashed=OnFailure.ROUND))
BAD = found(problem("bad"))
MARK = ProcessMark(pid=7, started=1.5)


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
    message = f"RunStarted is illegal while not started: {wanted} reviews are not within 1 and 5"
    assert str(refusal.value) == message
    assert refusal.value.event == started(wanted)
    assert refusal.value.state == "not started"


def test_a_run_begins_with_its_start() -> None:
    with pytest.raises(IllegalEventError) as refusal:
        evolve(None, Cancelled(at=1))
    assert str(refusal.value) == "Cancelled is illegal while not started: a run begins with RunStarted"


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
    driven = Driven(replace(PLAIN, limits=Limits(reviews=3, hard_cap=5, slow_review_seconds=120)))
    driven.answer(CLEAN, after=seconds)
    expected = GoodReview(
        reviewer="critic", agent="first", answer=CLEAN, started_at=1, finished_at=1 + seconds, slow=slow
    )
    assert driven.run.rounds[0].reviews == (expected,)


def test_a_review_keeps_the_digest_of_what_it_was_given() -> None:
    driven = Driven()
    driven.start()
    driven.happen(Reviewed(at=2, effect="review:1:critic:1", answer=CLEAN, prompt="digest"))
    (review,) = driven.run.rounds[0].reviews
    assert isinstance(review, GoodReview)
    assert review.prompt == "digest"


def test_without_a_limit_no_review_is_slow() -> None:
    driven = Driven()
    driven.answer(CLEAN, after=1_000_000)
    (review,) = driven.run.rounds[0].reviews
    assert isinstance(review, GoodReview)
    assert not review.slow


def test_everything_that_was_used_is_added_up() -> None:
    usage = Usage(seconds=1, tokens=10, cost_usd=0.25)
    driven = Driven(VALIDATED, build=True)
    driven.fail(FailureKind.UNREADABLE, "build:", usage=usage)
    driven.build("tree-1", usage=usage)
    driven.validate(usage=usage)
    driven.fail(FailureKind.UNREADABLE, usage=usage)
    driven.answer(BAD, usage=usage)
    driven.fix("tree-2", rewritten("a.py"), usage=usage)
    driven.validate(usage=usage)
    driven.answer(CLEAN, usage=usage)
    driven.fail(FailureKind.UNREADABLE, "seal:", usage=usage)
    driven.seal()
    assert driven.run.usage == Usage(seconds=9, tokens=90, cost_usd=2.25)
    assert driven.run.infrastructure_failures == 3
    assert len(driven.run.rounds) == 2


def test_lost_work_is_made_again_and_counts_as_nothing() -> None:
    driven = Driven(build=True)
    driven.start()
    driven.happen(WorkLost(at=9, effect="build:1"))
    assert driven.start() == ("build:1",)
    driven.build("tree-1")
    driven.start()
    driven.happen(WorkLost(at=9, effect="review:1:critic:1"))
    assert driven.start() == ("review:1:critic:1",)
    assert driven.run.infrastructure_failures == 0
    assert len(driven.run.rounds) == 1


def test_lost_work_is_made_again_at_the_same_attempt() -> None:
    driven = Driven()
    driven.fail(FailureKind.UNREADABLE)
    driven.start()
    driven.happen(WorkLost(at=9, effect="review:1:critic:2"))
    assert driven.reviewing.seats[0].work == Ready(attempt=2)


def test_running_work_knows_its_agent_its_start_and_its_process() -> None:
    driven = Driven(build=True)
    driven.start()
    driven.happen(ProcessStarted(at=2, effect="build:1", process=MARK))
    assert driven.run.phase == Building(work=Running(attempt=1, agent="fixer", since=1, process=MARK))
    driven.build("tree-1")
    driven.start()
    driven.happen(ProcessStarted(at=5, effect="review:1:critic:1", process=MARK))
    (seat,) = driven.reviewing.seats
    assert seat.work == Running(attempt=1, agent="first", since=3, process=MARK)


def test_what_is_not_ready_running_or_pausing_cannot_start_end_or_go_on() -> None:
    driven = Driven(build=True)
    not_ready = ": build is ready at attempt 1"
    assert driven.refusal(WorkStarted(at=1, effect="build:2", agent="x")).endswith(not_ready)
    assert driven.refusal(ProcessStarted(at=1, effect="build:1", process=MARK)).endswith(not_ready)
    assert driven.refusal(WorkLost(at=1, effect="build:1")).endswith(not_ready)
    assert driven.refusal(TimerFired(at=1, effect="pause:build:1")).endswith(not_ready)
    driven.start()
    running = ": build is running at attempt 1"
    assert driven.refusal(WorkStarted(at=1, effect="build:1", agent="x")).endswith(running)
    assert driven.refusal(ProcessStarted(at=1, effect="build:2", process=MARK)).endswith(running)
    assert driven.refusal(WorkLost(at=1, effect="build:2")).endswith(running)
    driven.fail(FailureKind.CRASHED, "build:")
    pausing = ": build is pausing at attempt 2"
    assert driven.refusal(TimerFired(at=1, effect="pause:build:1")).endswith(pausing)
    assert driven.refusal(WorkStarted(at=1, effect="build:2", agent="x")).endswith(pausing)


def test_a_result_of_what_does_not_run_is_refused() -> None:
    driven = Driven()
    answer = Reviewed(at=1, effect="review:1:critic:1", answer=CLEAN)
    assert driven.refusal(answer).endswith(": 'review:1:critic:1' is not running")
    driven.start()
    failure = Failure(kind=FailureKind.CRASHED, message="x")
    late = WorkFailed(at=1, effect="review:1:critic:2", failure=failure)
    assert driven.refusal(late).endswith(": 'review:1:critic:2' is not running")
    assert driven.refusal(replace(answer, effect="review:1:nobody:1")).endswith(
        ": no seat of round 1 is called 'review:1:nobody:1'"
    )
    building = Driven(build=True)
    building.start()
    built = Built(at=1, effect="build:2", change=Change(commit="c", tree="t"))
    assert building.refusal(built) == "Built is illegal while building: 'build:2' is not running"
    sealing = Driven()
    sealing.answer(CLEAN)
    sealed = Sealed(at=1, effect="seal:1", digest="d")
    assert sealing.refusal(sealed) == "Sealed is illegal while sealing: 'seal:1' is not running"
    driven.answer(BAD)
    driven.start()
    fixed = Fixed(at=1, effect="fix:2:1", change=Change(commit="c", tree="t"))
    assert driven.refusal(fixed) == "Fixed is illegal while fixing: 'fix:2:1' is not running"


def test_a_seat_that_has_answered_does_not_start_again() -> None:
    driven = Driven(PAIR)
    driven.start()
    driven.answer(CLEAN)
    refusal = driven.refusal(WorkStarted(at=9, effect="review:1:critic:1", agent="first"))
    assert refusal == "WorkStarted is illegal while reviewing: critic has answered"


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
    missing = MissingReview(reviewer="critic", failure=Failure(kind=FailureKind.REFUSED, message="no key"))
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
    assert driven.ended == (Outcome.APPROVED, "round 1: nothing blocks")
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


def test_a_fix_is_written_into_its_round_and_becomes_the_tree() -> None:
    driven = Driven()
    driven.answer(BAD)
    assert driven.run.fixes == 1
    driven.fix("tree-1", summary="closed the file")
    assert (driven.run.tree, driven.run.commit) == ("tree-1", "commit of tree-1")
    expected = FixResult(status=FixStatus.FIXED, commit="commit of tree-1", summary="closed the file")
    assert driven.run.rounds[0].fix == expected
    assert driven.reviewing.round == 2
    assert driven.run.revisions == 1


def test_a_fix_that_changed_nothing_goes_on_where_the_protocol_says_so() -> None:
    driven = Driven()
    driven.answer(BAD)
    driven.fix("tree-0")
    assert driven.run.rounds[0].fix == FixResult(status=FixStatus.UNCHANGED, commit="commit of tree-0", summary="done")
    assert driven.run.commit == "commit-0"
    assert driven.reviewing.round == 2


def test_a_fix_that_changed_nothing_ends_it_where_the_protocol_says_so() -> None:
    driven = Driven(GAINING)
    driven.answer(BAD)
    driven.fix("tree-0")
    assert driven.ended == (
        Outcome.FAILED,
        "no more after 1 reviews and 1 revisions (the fix changed nothing)",
    )


def test_a_fix_that_brings_an_earlier_tree_back_gains_nothing() -> None:
    driven = Driven(GAINING)
    driven.answer(BAD)
    driven.fix("tree-1", rewritten("a.py"))
    driven.answer(BAD)
    driven.fix("tree-0", rewritten("a.py"))
    reason = "no more after 2 reviews and 2 revisions (the fix brought back the tree of round 1)"
    assert driven.ended == (Outcome.FAILED, reason)
    going_on = Driven()
    going_on.answer(BAD)
    going_on.fix("tree-1", rewritten("a.py"))
    going_on.answer(BAD)
    going_on.fix("tree-0", rewritten("a.py"))
    assert going_on.reviewing.round == 3


def test_a_new_tree_gains_something() -> None:
    driven = Driven(GAINING)
    driven.answer(BAD)
    driven.fix("tree-1", rewritten("a.py"))
    assert driven.reviewing.round == 2


def test_after_a_fix_the_project_is_validated_where_the_protocol_says_so() -> None:
    driven = Driven(VALIDATED)
    driven.validate()
    driven.answer(BAD)
    driven.fix("tree-1", rewritten("a.py"))
    assert isinstance(driven.run.phase, Validating)
    assert driven.run.phase.number == 2
    assert driven.run.validations == 2


def test_failed_validations_in_a_row_are_bounded() -> None:
    driven = Driven(VALIDATED)
    for tree in ("tree-1", "tree-2"):
        driven.validate(ValidationStatus.FAILED, "1 failed")
        driven.fix(tree)
    assert driven.run.failed_validations == 2
    assert driven.run.validation == Validation(status=ValidationStatus.FAILED, output="1 failed")
    driven.validate(ValidationStatus.FAILED)
    assert driven.ended == (Outcome.FAILED, "validation failed 3 times in a row")
    assert driven.run.rounds == ()


@pytest.mark.parametrize("status", [ValidationStatus.PASSED, ValidationStatus.SKIPPED])
def test_a_validation_that_does_not_fail_begins_the_row_again(status: ValidationStatus) -> None:
    driven = Driven(VALIDATED)
    driven.validate(ValidationStatus.FAILED)
    driven.fix("tree-1")
    driven.validate(status)
    assert driven.run.failed_validations == 0
    assert driven.reviewing.round == 1


def test_a_repair_after_a_fix_adds_to_the_same_fix() -> None:
    driven = Driven(VALIDATED)
    driven.validate()
    driven.answer(BAD)
    driven.fix("tree-1", rewritten("a.py"), summary="first")
    driven.validate(ValidationStatus.FAILED)
    driven.fix("tree-1", summary="nothing")
    assert driven.run.rounds[0].fix == FixResult(status=FixStatus.FIXED, commit="commit of tree-1", summary="first")
    driven.validate(ValidationStatus.FAILED)
    driven.fix("tree-2", summary="repaired")
    assert driven.run.rounds[0].fix == FixResult(status=FixStatus.FIXED, commit="commit of tree-2", summary="repaired")
    assert isinstance(driven.run.phase, Validating)


def test_a_repair_is_validated_even_where_fixes_are_not() -> None:
    driven = Driven(replace(PLAIN, validate=ValidateRule()))
    driven.validate(ValidationStatus.FAILED)
    driven.fix("tree-1")
    assert isinstance(driven.run.phase, Validating)


def test_a_repair_that_changed_nothing_fails_where_nothing_can_be_gained() -> None:
    driven = Driven(replace(GAINING, validate=ValidateRule()))
    driven.validate(ValidationStatus.FAILED)
    driven.fix("tree-0")
    assert driven.ended == (Outcome.FAILED, "validation fails and the fix changed nothing")


@pytest.mark.parametrize("kind", [FailureKind.CANNOT_RUN, FailureKind.EMPTY_DIFF])
def test_a_validation_that_cannot_run_is_infrastructure(kind: FailureKind) -> None:
    driven = Driven(VALIDATED)
    driven.fail(kind, "validate:", message="exit 127")
    assert driven.ended == (Outcome.DID_NOT_RUN, "validation could not be done: exit 127")
    assert driven.run.infrastructure_failures == 1


def test_a_seal_that_cannot_be_stored_did_not_run() -> None:
    driven = Driven(replace(PLAIN, failures=FailureRule(retries=1, crashed=OnFailure.END)))
    driven.answer(CLEAN)
    driven.fail(FailureKind.CRASHED, "seal:")
    driven.wait()
    driven.fail(FailureKind.CRASHED, "seal:", message="disk full")
    assert driven.ended == (Outcome.DID_NOT_RUN, "the seal could not be done: disk full")
    assert driven.run.seal == ""


@pytest.mark.parametrize(("skip_when", "note"), [((), ""), ((SkipReason.BUILD_FAILED,), "; review skipped")])
def test_without_a_build_there_is_nothing_to_review(skip_when: tuple[SkipReason, ...], note: str) -> None:
    driven = Driven(replace(PLAIN, skip_when=skip_when), build=True)
    driven.fail(FailureKind.REFUSED, "build:", message="no key")
    assert driven.ended == (Outcome.DID_NOT_RUN, f"the builder refused: no key{note}")
    assert driven.run.infrastructure_failures == 1


def test_a_fixer_without_a_result_ends_the_run_and_is_written_into_the_round() -> None:
    driven = Driven()
    driven.answer(BAD)
    driven.fail(FailureKind.REFUSED, "fix:", message="no key", usage=Usage(tokens=5))
    assert driven.ended == (Outcome.DID_NOT_RUN, "the fixer refused: no key")
    assert (driven.run.infrastructure_failures, driven.run.usage) == (1, Usage(tokens=5))
    assert driven.run.rounds[0].fix == FixResult(status=FixStatus.DID_NOT_RUN)


def test_a_fixer_without_a_result_goes_on_to_the_next_round_where_failures_use_rounds_up() -> None:
    driven = Driven(BY_ROUND)
    driven.answer(BAD)
    driven.fail(FailureKind.CRASHED, "fix:")
    assert driven.run.rounds[0].fix == FixResult(status=FixStatus.DID_NOT_RUN)
    assert driven.reviewing.round == 2
    repairing = Driven(replace(BY_ROUND, validate=ValidateRule()))
    repairing.validate(ValidationStatus.FAILED)
    repairing.fail(FailureKind.CRASHED, "fix:")
    assert isinstance(repairing.run.phase, Validating)


def test_the_fallback_fixes_when_the_fixer_cannot() -> None:
    backed = Assignment(agent="fixer", fallback="spare")
    driven = Driven(roles=Roles(review=Assignment(agent="first"), fix=backed))
    driven.answer(BAD)
    driven.fail(FailureKind.UNAUTHORISED, "fix:")
    driven.start()
    assert isinstance(driven.fixing.work, Running)
    assert driven.fixing.work.agent == "spare"


RATCHET = replace(PLAIN, review=ReviewRule(mode=ReviewMode.RATCHET), limits=Limits(reviews=4, hard_cap=5))


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
