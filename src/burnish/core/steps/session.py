"""A session that reviews and fixes by itself: its word counts only where the story's own status agrees."""

from burnish.core.book import judge_round
from burnish.core.events import SessionFinished, StoryStatus
from burnish.core.protocol import ReviewBy
from burnish.core.reviews import Failure, FailureKind
from burnish.core.state import FixResult, FixStatus, MissingReview, Outcome, Review, Reviewing, Run, Scope
from burnish.core.steps import flow, review, rounds, work
from burnish.core.steps.change import take
from burnish.core.steps.refusal import RefusedError
from burnish.core.values import replace


def finished(run: Run, phase: Reviewing, event: SessionFinished) -> Run:
    """Enter what the session changed, then judge what it said."""
    if run.protocol.review.by is not ReviewBy.SESSION:
        raise RefusedError("this protocol's reviewers cannot change anything")
    seat = rounds.seat_of(phase, event.effect)
    at_work = work.running(seat.work, phase.key(seat), event.effect)
    status = FixStatus.FIXED if event.change.tree != run.tree else FixStatus.UNCHANGED
    run = take(work.charge(run, event.usage), event.change)
    run = rounds.with_last_round(run, fix=FixResult(status=status, commit=event.change.commit))
    said: Review
    if event.answer is None:
        failure = Failure(kind=FailureKind.UNREADABLE, message="the session's answer could not be read")
        said = MissingReview(reviewer=seat.reviewer, failure=failure)
    else:
        said = rounds.good_review(run, seat, at_work, event.answer, event)
    phase = rounds.place(phase, replace(seat, work=said))
    run = rounds.keep_reviews(replace(run, phase=phase), phase)
    if isinstance(said, MissingReview):
        return _unreadable(run, event, said.failure)
    run, judgement = judge_round(run, [said], Scope.FULL)
    nothing_blocks = judgement.clean
    if event.status is StoryStatus.NOT_DONE:
        judgement = replace(judgement, clean=False, reasons=(*judgement.reasons, _not_done(run)))
    return _judged(rounds.with_last_round(run, judgement=judgement), event.status, nothing_blocks)


def _unreadable(run: Run, event: SessionFinished, failure: Failure) -> Run:
    """Only the status that the session itself newly wrote can speak for it."""
    run = replace(run, infrastructure_failures=run.infrastructure_failures + 1)
    if event.newly_done and event.status is StoryStatus.DONE:
        return flow.approve(run, "the session marked the story done")
    return review.next_round(run, failure.message)


def _not_done(run: Run) -> str:
    return f"{run.subject.status_file or 'its status file'} does not say that the story is done"


def _judged(run: Run, status: StoryStatus, nothing_blocks: bool) -> Run:
    if nothing_blocks and status is not StoryStatus.NOT_DONE:
        return flow.approve(run, f"round {len(run.rounds)}: nothing blocks")
    why = "the session left the story's status as not done" if nothing_blocks else review.what_remains(run)
    if not run.may_fix:
        return flow.end(run, Outcome.FAILED, why)
    return review.next_round(run, why)
