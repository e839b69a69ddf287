"""What a run's history says of scores: one entry for each scored review, as a ticket's `review_history` wants it."""

from burnish.core.reviews import ScoreCard
from burnish.core.state import GoodReview, Run
from burnish.core.values import Value


class ScoredReview(Value):
    """A scored review. Attempt 0 is the original work, 1 and 2 are its revisions."""

    attempt: int
    card: ScoreCard
    reviewed_at: float


def scored_reviews(run: Run) -> tuple[ScoredReview, ...]:
    """The scored reviews of a run, the oldest first."""
    return tuple(
        ScoredReview(attempt=round_.number - 1, card=review.answer.card, reviewed_at=review.finished_at)
        for round_ in run.rounds
        for review in round_.reviews
        if isinstance(review, GoodReview) and review.answer.card is not None
    )
