"""Score cards, recomputed: the weighted mean, each criterion at its very edge, and what a report claims."""

import pytest

from burnish.core.gates import overall_score, unmet_criteria
from burnish.core.protocol import STANDARD_DIMENSIONS, Dimension, ScoreGate
from burnish.core.reviews import DimensionScore, ScoreCard, Weight
from burnish.core.values import replace

GATE = ScoreGate(
    dimensions=(
        Dimension(name="built", weight=Weight.CRITICAL),
        Dimension(name="clear", weight=Weight.IMPORTANT),
        Dimension(name="fast", weight=Weight.MODERATE),
    ),
    moderate=10,
)


def card(*scores: float, names: tuple[str, ...] = ("built", "clear", "fast")) -> ScoreCard:
    dimensions = tuple(DimensionScore(name=name, score=score) for name, score in zip(names, scores, strict=True))
    return ScoreCard(dimensions=dimensions, claimed_pass=True)


def test_weights_are_three_two_and_one() -> None:
    assert overall_score(GATE, card(90, 60, 30)) == (3 * 90 + 2 * 60 + 30) / 6


def test_a_dimension_without_a_score_counts_as_nothing_and_is_named() -> None:
    incomplete = card(100, 100, names=("built", "clear"))
    assert overall_score(GATE, incomplete) == 500 / 6
    assert unmet_criteria(GATE, incomplete) == ("fast has no score",)


def test_a_dimension_that_the_gate_does_not_know_counts_for_nothing() -> None:
    assert overall_score(GATE, card(90, 90, 90, 0, names=("built", "clear", "fast", "style"))) == 90


@pytest.mark.parametrize("scores", [(95, 40), (40, 95)])
def test_of_two_scores_of_one_dimension_the_lower_holds(scores: tuple[int, int]) -> None:
    assert overall_score(GATE, card(*scores, 100, 100, names=("built", "built", "clear", "fast"))) == (120 + 300) / 6


def test_every_criterion_holds_at_its_edge() -> None:
    assert unmet_criteria(replace(GATE, overall=70), card(90, 70, 10)) == ()


@pytest.mark.parametrize(
    ("scores", "unmet"),
    [
        ((89.5, 80, 80), "built 89.5 is below 90"),
        ((95, 69, 80), "clear 69 is below 70"),
        ((100, 90, 9), "fast 9 is below 10"),
        ((90, 70, 25), "overall score 72.5 is below 75"),
    ],
)
def test_a_missed_criterion_is_said_in_words(scores: tuple[float, float, float], unmet: str) -> None:
    assert unmet_criteria(GATE, card(*scores)) == (unmet,)


def test_all_missed_criteria_are_said() -> None:
    assert unmet_criteria(GATE, replace(card(0, 0, 0), claimed_pass=False, blocking_issues=2)) == (
        "built 0 is below 90",
        "clear 0 is below 70",
        "fast 0 is below 10",
        "overall score 0 is below 75",
        "2 blocking issues",
        "the report itself says fail",
    )


def test_one_blocking_issue_is_enough() -> None:
    assert unmet_criteria(GATE, replace(card(100, 100, 100), blocking_issues=1)) == ("1 blocking issue",)


def test_a_claimed_failure_always_holds() -> None:
    failing = replace(card(100, 100, 100), claimed_pass=False)
    assert unmet_criteria(GATE, failing) == ("the report itself says fail",)


@pytest.mark.parametrize(
    ("claimed", "unmet"),
    [(74.25, ("the report's own overall score 74.25 is below 75",)), (75, ()), (None, ())],
)
def test_a_claimed_overall_score_below_the_gate_holds(claimed: float | None, unmet: tuple[str, ...]) -> None:
    assert unmet_criteria(GATE, replace(card(90, 90, 90), claimed_overall=claimed)) == unmet


def test_a_claimed_overall_score_is_not_named_beside_a_recomputed_one_that_is_too_low_itself() -> None:
    low = replace(card(90, 70, 10), claimed_overall=50)
    assert unmet_criteria(GATE, low) == ("overall score 70 is below 75",)


def test_a_claimed_overall_score_is_named_where_the_recomputed_one_just_suffices() -> None:
    edge = replace(card(90, 70, 10), claimed_overall=60)
    expected = ("the report's own overall score 60 is below 70",)
    assert unmet_criteria(replace(GATE, overall=70), edge) == expected


def test_the_six_standard_dimensions() -> None:
    assert [dimension.weight.factor for dimension in STANDARD_DIMENSIONS] == [3, 3, 2, 2, 2, 1]
