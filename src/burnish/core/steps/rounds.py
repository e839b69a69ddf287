"""The panel and the round that it fills: finding a seat, opening a round, writing reviews into it."""

from burnish.core.errors import RefusedError
from burnish.core.events import Reviewed, SessionFinished, StoryStatus
from burnish.core.evidence import looked
from burnish.core.reviews import Answer
from burnish.core.state import AnsweredReview, FailedReview, Reviewing, Round, Run, Seat
from burnish.core.values import replace
from burnish.core.work import Running


def seat_of(phase: Reviewing, effect: str) -> Seat:
    """The seat that an effect belongs to."""
    for seat in phase.seats:
        if effect.removeprefix("pause:").rpartition(":")[0] == phase.key(seat):
            return seat
    raise RefusedError(f"no seat of round {phase.round} is called '{effect}'")


def place(phase: Reviewing, seat: Seat) -> Reviewing:
    """The panel with one seat changed."""
    return replace(phase, seats=tuple(seat if other.reviewer == seat.reviewer else other for other in phase.seats))


def open_round(run: Run, phase: Reviewing, at: float) -> Run:
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
        story_open=isinstance(event, SessionFinished) and event.status is StoryStatus.NOT_DONE,
    )


def keep_reviews(run: Run, phase: Reviewing) -> Run:
    """Write what the seats have so far into the round, if one was opened."""
    if len(run.rounds) < phase.round:
        return run
    reviews = tuple(seat.work for seat in phase.seats if isinstance(seat.work, AnsweredReview | FailedReview))
    return with_last_round(run, reviews=reviews)


def with_last_round(run: Run, **changes: object) -> Run:
    """The run with some fields of its last round changed."""
    return replace(run, rounds=(*run.rounds[:-1], replace(run.rounds[-1], **changes)))
