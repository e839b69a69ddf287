"""The scored reviews of a run, as a ticket's history wants them."""

from burnish.core.protocol import ScoreGate
from burnish.core.reviews import Answer, ContractName, DimensionScore, FailureKind, ScoreCard
from burnish.core.state import ScoredReview, scored_reviews
from burnish.core.values import replace
from tests.core.driving import PLAIN, Driven, rewritten

GATE = ScoreGate(dimensions=ScoreGate().dimensions[:1])
SCORED = replace(PLAIN, gate=GATE, contract=ContractName.REPORT)


def card(score: float) -> ScoreCard:
    return ScoreCard(dimensions=(DimensionScore(name="requirement_adherence", score=score),), claimed_pass=True)


def test_each_scored_review_is_an_attempt_counted_from_0() -> None:
    driven = Driven(SCORED)
    driven.answer(Answer(clean=False, card=card(50)))
    driven.fix("tree-1", rewritten("a.py"))
    driven.answer(Answer(clean=True, card=card(95)))
    assert scored_reviews(driven.run) == (
        ScoredReview(attempt=0, card=card(50), reviewed_at=2),
        ScoredReview(attempt=1, card=card(95), reviewed_at=6),
    )


def test_reviews_without_scores_have_no_place_in_it() -> None:
    missing = Driven(SCORED)
    missing.fail(FailureKind.REFUSED)
    assert scored_reviews(missing.run) == ()
    unscored = Driven()
    unscored.answer(Answer(clean=True))
    assert scored_reviews(unscored.run) == ()
