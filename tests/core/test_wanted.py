"""What a state asks for: every field of every effect, and nothing that runs already."""

from burnish.core.effects import (
    AskPerson,
    MakeSeal,
    Previous,
    StartBuild,
    StartFix,
    StartReview,
    StartTimer,
    StartValidation,
    StopWork,
)
from burnish.core.events import BudgetReached, Cancelled, Roles, ValidationStatus, WorkStarted
from burnish.core.findings import Severity
from burnish.core.protocol import (
    Ask,
    Choice,
    ChoiceAction,
    FailureRule,
    FallbackTurn,
    Feedback,
    FixInput,
    FixRule,
    OnFailure,
    Priority,
    ReviewBy,
    Reviewer,
    ReviewMode,
    ReviewRule,
    RoundLimits,
    ValidateRule,
)
from burnish.core.reviews import Answer, FailureKind
from burnish.core.state import FixOrder, Scope, SealKind, Validation
from burnish.core.values import replace
from burnish.core.work import Assignment
from tests.core.driving import CLEAN, PLAIN, Driven, found, problem, rewritten

PAIR = (Reviewer(name="critic"), Reviewer(name="witness", scratch=True))
BY_SESSION = replace(PLAIN, review=ReviewRule(by=ReviewBy.SESSION), fix=FixRule(input=FixInput.NOTHING))
FEEDBACK = replace(PLAIN, review=ReviewRule(feedback=Feedback.PREVIOUS))
RATCHET = replace(PLAIN, review=ReviewRule(mode=ReviewMode.RATCHET), limits=RoundLimits(reviews=4, hard_cap=5))
MANUAL = Choice(key="a", action=ChoiceAction.MANUAL, text="by hand")


def first_review(driven: Driven) -> StartReview:
    review = driven.wanted[0]
    assert isinstance(review, StartReview)
    return review


def test_a_panel_is_asked_for_at_once_each_seat_by_its_own_agent() -> None:
    roles = Roles(
        review=Assignment(agent="first"),
        fix=Assignment(agent="fixer"),
        reviewers={"witness": Assignment(agent="other")},
    )
    driven = Driven(replace(PLAIN, panel=PAIR), roles=roles)
    assert driven.wanted == (
        StartReview(id="review:1:critic:1", round=1, reviewer="critic", agent="first", attempt=1, scope=Scope.FULL),
        StartReview(
            id="review:1:witness:1",
            round=1,
            reviewer="witness",
            agent="other",
            attempt=1,
            scope=Scope.FULL,
            scratch=True,
        ),
    )


def test_a_seat_that_runs_or_has_answered_is_not_asked_for_again() -> None:
    driven = Driven(replace(PLAIN, panel=PAIR))
    driven.happen(WorkStarted(at=1, effect="review:1:critic:1", agent="first"))
    assert [effect.id for effect in driven.wanted] == ["review:1:witness:1"]
    driven.answer(CLEAN)
    assert [effect.id for effect in driven.wanted] == ["review:1:witness:1"]
    assert driven.start() == ("review:1:witness:1",)
    assert driven.wanted == ()


def test_a_session_is_told_that_it_may_write() -> None:
    assert first_review(Driven(BY_SESSION)).session
    assert not first_review(Driven()).session


def test_the_result_of_the_validation_goes_to_the_reviewer() -> None:
    driven = Driven(replace(PLAIN, validate=ValidateRule()))
    assert driven.wanted == (StartValidation(id="validate:1:1", commit="commit-0"),)
    driven.validate(output="12 passed")
    assert first_review(driven).validation == Validation(
        status=ValidationStatus.PASSED, output="12 passed", tree="tree-0"
    )


def test_a_fix_is_asked_for_with_its_order_and_its_agent() -> None:
    driven = Driven()
    driven.answer(found(problem("bad"), problem("small", Severity.LOW)))
    (must,) = (entry.finding for entry in driven.run.findings if entry.finding.title == "bad")
    order = FixOrder(number=1, round=1, must=(must,))
    assert driven.wanted == (StartFix(id="fix:1:1", agent="fixer", attempt=1, order=order),)


def test_a_validation_after_a_fix_is_of_the_new_commit() -> None:
    driven = Driven(replace(PLAIN, validate=ValidateRule(before_first_review=False, after_fix=True)))
    driven.answer(found(problem()))
    driven.fix("tree-1")
    assert driven.wanted == (StartValidation(id="validate:1:1", commit="commit of tree-1"),)


def test_a_build_is_asked_for_from_the_builder_and_else_from_the_fixer() -> None:
    fixer, builder = Assignment(agent="fixer"), Assignment(agent="builder")
    roles = Roles(review=fixer, fix=fixer, build=builder)
    assert Driven(roles=roles, build=True).wanted == (StartBuild(id="build:1", agent="builder", attempt=1),)
    assert Driven(build=True).wanted == (StartBuild(id="build:1", agent="fixer", attempt=1),)


def test_a_later_attempt_has_its_number_and_its_agent_everywhere() -> None:
    backed = Assignment(agent="first", fallback="second")
    driven = Driven(roles=Roles(review=backed, fix=backed), build=True)
    driven.fail(FailureKind.REFUSED, "build:")
    assert driven.wanted == (StartBuild(id="build:4", agent="second", attempt=4),)
    driven.build("tree-1")
    driven.fail(FailureKind.REFUSED)
    assert first_review(driven).id == "review:1:critic:4"
    assert (first_review(driven).attempt, first_review(driven).agent) == (4, "second")
    driven.answer(found(problem()))
    driven.fail(FailureKind.UNREADABLE, "fix:")
    (fix,) = driven.wanted
    assert isinstance(fix, StartFix)
    assert (fix.id, fix.attempt, fix.agent) == ("fix:1:2", 2, "first")


def test_a_pause_asks_for_its_timer_alone() -> None:
    driven = Driven()
    driven.fail(FailureKind.CRASHED)
    assert driven.wanted == (StartTimer(id="pause:review:1:critic:2", until=3.0),)
    driven.wait()
    assert first_review(driven).id == "review:1:critic:2"
    building = Driven(build=True)
    building.fail(FailureKind.RATE_LIMITED, "build:")
    assert building.wanted == (StartTimer(id="pause:build:2", until=32.0),)


def test_a_seal_is_asked_for_with_its_kind_and_the_tree() -> None:
    driven = Driven()
    driven.answer(CLEAN)
    assert driven.wanted == (MakeSeal(id="seal:1", kinds=(SealKind.APPROVED,), tree="tree-0"),)
    session = Driven(BY_SESSION)
    session.session(CLEAN)
    assert session.wanted == (MakeSeal(id="seal:1", kinds=(SealKind.SELF_REVIEWED,), tree="tree-1"),)


def test_a_person_is_asked_once_for_each_limit() -> None:
    more = Choice(key="c", action=ChoiceAction.ANOTHER_ROUND, text="again")
    asking = Ask(choices=(MANUAL, more), priority=Priority.CRITICAL)
    driven = Driven(replace(PLAIN, exhausted=asking), max_reviews=1)
    driven.answer(found(problem()))
    reason = "1 blocking finding remains after 1 review"
    expected = AskPerson(id="ask:1:1", reason=reason, choices=(MANUAL, more), priority=Priority.CRITICAL)
    assert driven.wanted == (expected,)
    driven.decide("c")
    driven.fix("tree-1", rewritten("a.py"))
    driven.answer(found(problem()))
    assert [effect.id for effect in driven.wanted] == ["ask:2:2"]


def test_a_stopping_run_asks_for_the_end_of_what_runs_and_an_ended_one_for_nothing() -> None:
    driven = Driven(replace(PLAIN, panel=PAIR))
    driven.start()
    driven.answer(CLEAN, "witness")
    driven.happen(Cancelled(at=9))
    assert driven.wanted == (StopWork(id="stop:review:1:critic:1", effect="review:1:critic:1"),)
    idle = Driven()
    idle.happen(BudgetReached(at=1, limit="5 USD"))
    assert idle.wanted == ()


def test_a_ratchet_round_is_given_the_open_findings_and_a_full_one_none() -> None:
    driven = Driven(RATCHET)
    driven.answer(found(problem("bad"), problem("small", Severity.LOW, line=9)))
    driven.waive(driven.tracked("small").finding.id)
    driven.fix("tree-1", rewritten("b.py"))
    review = first_review(driven)
    assert review.scope is Scope.RATCHET
    assert [finding.title for finding in review.former] == ["bad"]
    driven.answer(CLEAN)
    driven.run = replace(driven.run, phase=replace(Driven().reviewing, round=2, scope=Scope.FULL))
    assert first_review(driven).former == ()


def test_every_reviewers_feedback_is_told() -> None:
    driven = Driven(replace(FEEDBACK, panel=PAIR))
    driven.answer(Answer(clean=False, findings=(problem(),), follow_up="close it"))
    driven.answer(Answer(clean=False, findings=(problem("other", line=9),), follow_up="open it"), "witness")
    driven.fix("tree-1", rewritten("a.py"))
    assert first_review(driven).previous == Previous(attempt=1, feedback="close it\n\nopen it")


def test_what_blocked_is_told_where_the_reviewer_left_no_words() -> None:
    driven = Driven(FEEDBACK)
    driven.answer(Answer(clean=False, findings=(replace(problem(), suggestion="Remove it."),)))
    driven.fix("tree-1", rewritten("a.py"))
    told = first_review(driven).previous
    assert told is not None
    assert told.feedback == "- a.py:3: wrong result: Remove it."


def test_a_second_attempt_is_told_of_the_round_before_like_the_first() -> None:
    driven = Driven(FEEDBACK)
    driven.answer(Answer(clean=False, findings=(problem(),), follow_up="handle the error"))
    driven.fix("tree-1", rewritten("a.py"))
    first = first_review(driven).previous
    driven.fail(FailureKind.UNREADABLE)
    assert first_review(driven).previous == first == Previous(attempt=1, feedback="handle the error")


def test_a_round_without_an_answer_has_no_feedback() -> None:
    driven = Driven(replace(FEEDBACK, failures=FailureRule(crashed=OnFailure.ROUND)))
    driven.fail(FailureKind.CRASHED)
    assert first_review(driven).previous == Previous(attempt=0, feedback="")


def test_a_later_reviewer_is_told_of_the_round_before_where_the_protocol_says_so() -> None:
    said = Answer(clean=False, findings=(problem(),), follow_up="handle the error")
    driven = Driven(FEEDBACK)
    assert first_review(driven).previous is None
    driven.answer(said)
    driven.fix("tree-1", rewritten("a.py"))
    assert first_review(driven).previous == Previous(attempt=1, feedback="handle the error")
    fresh = Driven()
    fresh.answer(said)
    fresh.fix("tree-1", rewritten("a.py"))
    assert first_review(fresh).previous is None


def test_two_agents_take_turns_over_the_rounds_that_their_failures_use_up() -> None:
    rule = FailureRule(crashed=OnFailure.ROUND, fallback=FallbackTurn.ALTERNATE)
    roles = Roles(review=Assignment(agent="first", fallback="second"), fix=Assignment(agent="fixer"))
    driven = Driven(replace(PLAIN, failures=rule, limits=RoundLimits(reviews=5, hard_cap=5)), roles=roles)
    seen: list[str] = []
    for _ in range(3):
        seen.append(first_review(driven).agent)
        driven.start()
        driven.fail(FailureKind.CRASHED)
    assert seen == ["first", "second", "first"]
    driven.start()
    driven.answer(found(problem()))
    driven.start()
    driven.fix("tree-1", rewritten("a.py"))
    assert first_review(driven).agent == "first"
