"""The round under way: seats that start, fail, try again and answer, and what the complete panel leads to."""

from itertools import takewhile

from burnish.core.errors import RefusedError
from burnish.core.events import (
    ProcessStarted,
    Reviewed,
    SessionFinished,
    StoryStatus,
    TimerFired,
    TreeChanged,
    WorkFailed,
    WorkLost,
    WorkStarted,
)
from burnish.core.evidence import looked
from burnish.core.finding_history import judge_round
from burnish.core.findings import Action
from burnish.core.gates import Judgement
from burnish.core.protocol import FallbackTurn, ReviewBy
from burnish.core.reviews import Answer, Failure, FailureKind
from burnish.core.state import (
    AnsweredReview,
    FailedReview,
    Outcome,
    Review,
    Reviewing,
    Round,
    Run,
    Scope,
    Seat,
)
from burnish.core.steps import flow, work
from burnish.core.steps.change import take, take_session
from burnish.core.values import replace
from burnish.core.work import (
    UNUSABLE,
    Assignment,
    EndNow,
    Pausing,
    Ready,
    Running,
    TryAgain,
    UseUpRound,
    after_failure,
    uses_up_round,
)

OWN_SESSION = Assignment(agent="session")
"""The session's own subagents: no other agent could look at a tree that changes."""


def assignment_of(run: Run, reviewer: str) -> Assignment:
    """The agent of a reviewer; a person may have chosen another one after the last round."""
    if run.other_agent is not None:
        return Assignment(agent=run.other_agent)
    assignment = _usable(run, run.roles.reviewer(reviewer))
    in_turn = run.protocol.failures.fallback is FallbackTurn.ALTERNATE and assignment.fallback is not None
    if in_turn and _failed_rounds(run, reviewer) % 2:
        return Assignment(agent=assignment.fallback or "", fallback=assignment.agent)
    return assignment


def _usable(run: Run, assignment: Assignment) -> Assignment:
    """Leave out an agent that is known to be unusable, as long as another one is left."""
    if assignment.fallback is None or not {assignment.agent, assignment.fallback} & set(run.unusable):
        return assignment
    return Assignment(agent=assignment.fallback if assignment.agent in run.unusable else assignment.agent)


def _failed_rounds(run: Run, reviewer: str) -> int:
    """In how many rounds in a row, up to the last, a reviewer gave no usable answer."""
    reviews = [review for past in run.rounds for review in past.reviews if review.reviewer == reviewer]
    failed = takewhile(lambda review: isinstance(review, FailedReview), reversed(reviews))
    return sum(1 for _ in failed)


def step(run: Run, phase: Reviewing, event: WorkStarted | ProcessStarted | WorkLost | TimerFired) -> Run:
    """A seat starts, or goes back to its start."""
    seat = phase.seat_of(event.effect)
    if not isinstance(seat.work, Ready | Running | Pausing):
        raise RefusedError(f"{seat.reviewer} has answered")
    following = work.advance(seat.work, phase.key(seat), event)
    if isinstance(event, WorkLost):
        run = work.charge(run, event.usage)
    if isinstance(event, WorkStarted):
        run = _open_round(run, phase, event.at)
    return replace(run, phase=phase.with_work(seat, following))


def _open_round(run: Run, phase: Reviewing, at: float) -> Run:
    """A round opens when its first review starts."""
    if len(run.rounds) >= phase.round:
        return run
    opened = Round(number=phase.round, scope=phase.scope, tree=run.tree, commit=run.commit, opened_at=at)
    return replace(run, rounds=(*run.rounds, opened))


def good_review(
    run: Run, seat: Seat, at_work: Running, answer: Answer, event: Reviewed | SessionFinished
) -> AnsweredReview:
    """A readable answer, with a mark where it took longer than the protocol expects."""
    limit = run.protocol.limits.slow_review_seconds
    return AnsweredReview(
        reviewer=seat.reviewer,
        agent=at_work.agent,
        answer=answer,
        started_at=at_work.since,
        finished_at=event.at,
        slow=limit is not None and event.at - at_work.since > limit,
        prompt=event.prompt if isinstance(event, Reviewed) else "",
        evidence=event.evidence,
        looked=looked(run.changed, event.evidence),
        attempt=at_work.attempt,
        story_open=isinstance(event, SessionFinished) and event.status is StoryStatus.NOT_DONE,
    )


def failed(run: Run, phase: Reviewing, event: WorkFailed) -> Run:
    """A reviewer gave no usable answer. Nothing is clean by default."""
    seat = phase.seat_of(event.effect)
    at_work = work.running(seat.work, phase.key(seat), event.effect)
    run = work.count_failure(run, event)
    result = work.fail(event, at_work, assignment_of(run, seat.reviewer), run.protocol.failures)
    if event.failure.kind in UNUSABLE and run.protocol.failures.unusable is not None:
        run = replace(run, unusable=(*run.unusable, at_work.agent))
    if isinstance(result, Ready | Running | Pausing):
        return replace(run, phase=phase.with_work(seat, result))
    missing = FailedReview(reviewer=seat.reviewer, failure=event.failure, attempt=at_work.attempt)
    phase = phase.with_work(seat, missing)
    run = replace(run, phase=phase)
    if isinstance(result, EndNow):
        return flow.give_up(run, missing.failure, missing.reviewer)
    return close_when_complete(run, phase)


def answered(run: Run, phase: Reviewing, event: Reviewed) -> Run:
    if run.protocol.review.by is ReviewBy.SESSION:
        raise RefusedError("this protocol's reviewer is a session, which ends with what it changed")
    seat = phase.seat_of(event.effect)
    at_work = work.running(seat.work, phase.key(seat), event.effect)
    said = good_review(run, seat, at_work, event.answer, event)
    phase = phase.with_work(seat, said)
    return close_when_complete(replace(work.charge(run, event.usage), phase=phase), phase)


def tree_changed(run: Run, phase: Reviewing, event: TreeChanged) -> Run:
    """The tree is another one than the reviewers were given. All of them look again, as often as they may be asked."""
    if not run.started.session:
        raise RefusedError("reviewers look at a copy, which only they could change")
    if event.change.tree == run.tree:
        raise RefusedError("the tree is the one under review")
    has_begun = any(not isinstance(seat.work, Ready) or seat.work.attempt > 1 for seat in phase.seats)
    run = take(run, event.change)
    if len(run.rounds) >= phase.round:  # open, even where the review that opened it was lost
        run = run.with_last_round(tree=run.tree, commit=run.commit, reviews=())
    if not has_begun:
        return run
    run = replace(run, infrastructure_failures=run.infrastructure_failures + 1)
    named = f": {', '.join(event.files)}" if event.files else ""
    failure = Failure(kind=FailureKind.WROTE_TO_TREE, message=f"the working tree changed during the review{named}")
    attempt, rule = phase.attempt, run.protocol.failures
    again = after_failure(failure, attempt, OWN_SESSION, rule)
    if isinstance(again, TryAgain):
        seats = tuple(replace(seat, work=Ready(attempt=again.attempt)) for seat in phase.seats)
        return replace(run, phase=replace(phase, seats=seats))
    lost = (FailedReview(reviewer=seat.reviewer, failure=failure, attempt=attempt) for seat in phase.seats)
    phase = replace(phase, seats=tuple(replace(seat, work=work) for seat, work in zip(phase.seats, lost, strict=True)))
    run = flow.keep_reviews(replace(run, phase=phase), phase)
    if isinstance(again, UseUpRound):
        return next_round(run, failure.message)
    return flow.give_up(run, failure, "the round")


def close_when_complete(run: Run, phase: Reviewing) -> Run:
    """Every seat must have answered before anything is judged."""
    reviews = phase.reviews
    if len(reviews) < len(phase.seats):
        return run
    missing = [review for review in reviews if isinstance(review, FailedReview)]
    fatal = [review for review in missing if not uses_up_round(review.failure, run.protocol.failures)]
    if fatal:
        return flow.give_up(run, fatal[0].failure, fatal[0].reviewer)
    run = flow.keep_reviews(run, phase)
    if missing:
        return next_round(run, f"{missing[0].reviewer} gave no usable answer: {missing[0].failure.message}")
    good = [review for review in reviews if isinstance(review, AnsweredReview)]
    run, judgement = judge_round(run, good, phase.scope)
    scope = Scope.FULL if all(review.answer.whole for review in good) else phase.scope
    return _follow_judgement(run.with_last_round(judgement=judgement, scope=scope), judgement, scope)


def _follow_judgement(run: Run, judgement: Judgement, scope: Scope) -> Run:
    """Clean: seal, after one full fresh review. Not clean: fix, if that is allowed and rounds are left."""
    if judgement.clean:
        if scope is Scope.RATCHET:
            return flow.to_review(run)
        return flow.approve(run, f"no blocking findings in round {len(run.rounds)}")
    if not run.may_fix:
        return flow.end_unmet(run, Outcome.FAILED, what_remains(run))
    if len(run.rounds) >= run.limit:
        return flow.exhaust(run, what_remains(run))
    questions = _questions(run, judgement)
    return flow.ask_about(run, questions) if questions else flow.to_fix(run, flow.fix_order(run))


def _questions(run: Run, judgement: Judgement) -> tuple[str, ...]:
    """The blocking findings that ask for a person's decision and have none yet."""
    decided = {entry.finding.id for entry in run.findings if entry.decided}
    return tuple(one.id for one in judgement.blockers if one.action is Action.ASK and one.id not in decided)


def what_remains(run: Run) -> str:
    """What still blocks after the last round, in a few words."""
    number = len(run.rounds)
    return f"{flow.blocking_remain(run)} after {number} review{'s' if number > 1 else ''}"


def next_round(run: Run, why: str) -> Run:
    """The round is used up without a judgement that leads anywhere."""
    if not run.may_fix:
        return flow.end(run, Outcome.DID_NOT_RUN, why)
    if len(run.rounds) >= run.limit:
        return flow.exhaust(run, why)
    return flow.to_review(run)


# --- A session that reviews and fixes by itself: its word counts only where the story's own status agrees.


def session_finished(run: Run, phase: Reviewing, event: SessionFinished) -> Run:
    """Enter what the session changed, then judge what it said."""
    if run.protocol.review.by is not ReviewBy.SESSION:
        raise RefusedError("this protocol's reviewers cannot change anything")
    seat = phase.seat_of(event.effect)
    at_work = work.running(seat.work, phase.key(seat), event.effect)
    run = take_session(work.charge(run, event.usage), event.change)
    said: Review
    if event.answer is None:
        failure = Failure(kind=FailureKind.UNREADABLE, message="the session's answer could not be read")
        said = FailedReview(reviewer=seat.reviewer, failure=failure)
    else:
        said = good_review(run, seat, at_work, event.answer, event)
    phase = phase.with_work(seat, said)
    run = flow.keep_reviews(replace(run, phase=phase), phase)
    if isinstance(said, FailedReview):
        return _unreadable(run, event, said.failure)
    run, judgement = judge_round(run, [said], Scope.FULL)
    nothing_blocks = judgement.clean
    if event.status is StoryStatus.NOT_DONE:
        why = f"{run.subject.status_file or 'its status file'} does not mark the story as done"
        judgement = replace(judgement, clean=False, reasons=(*judgement.reasons, why))
    run = run.with_last_round(judgement=judgement)
    if judgement.clean:
        return flow.approve(run, f"no blocking findings in round {len(run.rounds)}")
    why = "the session did not mark the story as done" if nothing_blocks else what_remains(run)
    return next_round(run, why) if run.may_fix else flow.end_unmet(run, Outcome.FAILED, why)


def _unreadable(run: Run, event: SessionFinished, failure: Failure) -> Run:
    """Without a readable answer, only a status that the session itself wrote counts."""
    run = replace(run, infrastructure_failures=run.infrastructure_failures + 1)
    if event.newly_done and event.status is StoryStatus.DONE:
        return flow.approve(run, "the session marked the story as done")
    return next_round(run, failure.message)
