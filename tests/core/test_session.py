"""A session that reviews and fixes by itself: its word counts only where the story's own status agrees."""

import pytest

from burnish.core.events import Change, Mode, Reviewed, SessionFinished, StoryStatus
from burnish.core.findings import Severity
from burnish.core.protocol import Ask, Choice, ChoiceAction, FixInput, FixRule, ReviewBy, ReviewRule, SeverityGate
from burnish.core.reviews import Answer, Failure, FailureKind, Usage
from burnish.core.state import (
    AnsweredReview,
    FailedReview,
    FixResult,
    FixStatus,
    Outcome,
    ReviewStatus,
    Sealing,
    SealKind,
    Waiting,
)
from burnish.core.values import replace
from burnish.report.words import review_words
from tests.core.driving import CLEAN, EXAMINED, PLAIN, Driven, found, problem

SESSION = replace(
    PLAIN,
    review=ReviewRule(by=ReviewBy.SESSION),
    fix=FixRule(input=FixInput.NOTHING),
    gate=SeverityGate(block=Severity.CRITICAL),
)
BAD = found(problem("bad", Severity.CRITICAL))
UNREADABLE = Failure(kind=FailureKind.UNREADABLE, message="the session's answer could not be read")


@pytest.mark.parametrize("status", [StoryStatus.DONE, StoryStatus.ABSENT])
@pytest.mark.parametrize("answer", [CLEAN, found(problem("small"))])
def test_nothing_critical_and_a_status_that_does_not_object_completes(answer: Answer, status: StoryStatus) -> None:
    driven = Driven(SESSION)
    driven.session(answer, status)
    assert isinstance(driven.run.phase, Sealing)
    assert driven.run.phase.kinds == (SealKind.SELF_REVIEWED,)
    driven.seal()
    assert driven.ended == (Outcome.APPROVED, "no blocking findings in round 1")


def test_a_clean_answer_is_not_believed_while_the_story_is_not_done() -> None:
    driven = Driven(SESSION, max_reviews=2)
    driven.session(CLEAN, StoryStatus.NOT_DONE)
    assert driven.reviewing.round == 2
    driven.session(CLEAN, StoryStatus.NOT_DONE, tree="tree-2")
    assert driven.ended == (Outcome.FAILED, "no more after 2 reviews and 2 revisions")


def test_a_story_that_is_not_done_is_nowhere_called_clean() -> None:
    driven = Driven(SESSION)
    driven.session(CLEAN, StoryStatus.NOT_DONE)
    (first,) = driven.run.rounds
    (said,) = first.reviews
    assert said.status is ReviewStatus.INCOMPLETE
    assert first.judgement is not None
    assert (first.judgement.clean, first.judgement.blocking) == (False, ())
    assert first.judgement.reasons == ("its status file does not mark the story as done",)
    assert review_words(said) == "incomplete: no findings, but the story is not done"


def test_a_waiver_does_not_mark_a_story_as_done() -> None:
    asks = replace(SESSION, exhausted=Ask(choices=(Choice(key="1", action=ChoiceAction.MANUAL, text="by hand"),)))
    driven = Driven(asks, max_reviews=1)
    driven.session(BAD, StoryStatus.NOT_DONE)
    (entry,) = driven.run.findings
    driven.waive(entry.finding.id)
    assert isinstance(driven.run.phase, Waiting)


def test_a_done_story_is_not_believed_while_something_critical_is_left() -> None:
    driven = Driven(SESSION)
    driven.session(BAD, StoryStatus.DONE)
    assert driven.reviewing.round == 2


def test_what_a_session_changed_is_its_fix() -> None:
    driven = Driven(SESSION)
    usage = Usage(seconds=1, tokens=2, cost_usd=3)
    driven.session(BAD, usage=usage)
    assert (driven.run.tree, driven.run.commit, driven.run.usage) == ("tree-1", "commit of tree-1", usage)
    assert driven.run.rounds[0].fix == FixResult(status=FixStatus.FIXED, commit="commit of tree-1")
    driven.session(BAD, tree="tree-1")
    assert driven.run.rounds[1].fix == FixResult(status=FixStatus.UNCHANGED, commit="commit of tree-1")
    assert driven.run.rounds[0].reviews == (
        AnsweredReview(
            reviewer="critic", agent="first", answer=BAD, started_at=1, finished_at=2, evidence=EXAMINED, looked=True
        ),
    )


def test_an_unreadable_answer_completes_only_where_the_session_itself_wrote_done() -> None:
    driven = Driven(SESSION)
    driven.session(None, StoryStatus.DONE, newly_done=True)
    assert isinstance(driven.run.phase, Sealing)
    assert driven.run.infrastructure_failures == 1
    assert driven.run.rounds[0].reviews == (FailedReview(reviewer="critic", failure=UNREADABLE),)
    driven.seal()
    assert driven.ended == (Outcome.APPROVED, "the session marked the story as done")


@pytest.mark.parametrize(
    ("status", "newly_done"),
    [(StoryStatus.DONE, False), (StoryStatus.NOT_DONE, True), (StoryStatus.ABSENT, True)],
)
def test_an_unreadable_answer_uses_up_a_round_otherwise(status: StoryStatus, newly_done: bool) -> None:
    driven = Driven(SESSION)
    driven.session(None, status, newly_done=newly_done)
    assert driven.reviewing.round == 2
    assert driven.run.rounds[0].judgement is None


def test_in_review_mode_there_is_one_session_only() -> None:
    bad = Driven(SESSION, mode=Mode.REVIEW)
    bad.session(BAD)
    assert bad.ended == (Outcome.FAILED, "1 blocking finding remains after 1 review")
    not_done = Driven(SESSION, mode=Mode.REVIEW)
    not_done.session(CLEAN, StoryStatus.NOT_DONE)
    assert not_done.ended == (Outcome.FAILED, "the session did not mark the story as done")
    unreadable = Driven(SESSION, mode=Mode.REVIEW)
    unreadable.session(None)
    assert unreadable.ended == (Outcome.DID_NOT_RUN, UNREADABLE.message)


def test_only_a_session_may_end_with_a_change_and_a_session_only_so() -> None:
    change = Change(commit="c", tree="t")
    finished = SessionFinished(at=9, effect="review:1:critic:1", answer=CLEAN, change=change, status=StoryStatus.ABSENT)
    panel = Driven()
    panel.start()
    assert panel.refusal(finished).endswith(": this protocol's reviewers cannot change anything")
    session = Driven(SESSION)
    session.start()
    refusal = session.refusal(Reviewed(at=9, effect="review:1:critic:1", answer=CLEAN))
    assert refusal.endswith(": this protocol's reviewer is a session, which ends with what it changed")
    assert session.refusal(replace(finished, effect="review:1:critic:2")).endswith(
        ": 'review:1:critic:2' is not running"
    )
