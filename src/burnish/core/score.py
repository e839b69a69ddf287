"""Reading a score card: the weighted mean and the criteria that it does not meet, recomputed from the scores."""

from burnish.core.protocol import Dimension, ScoreGate
from burnish.core.reviews import ScoreCard, Weight


def overall_score(gate: ScoreGate, card: ScoreCard) -> float:
    """The weighted mean over the gate's dimensions; a dimension without a score counts as 0."""
    scores = _scores(card)
    total_weight = sum(dimension.weight.factor for dimension in gate.dimensions)
    weighted = sum(dimension.weight.factor * scores.get(dimension.name, 0.0) for dimension in gate.dimensions)
    return weighted / total_weight


def unmet_criteria(gate: ScoreGate, card: ScoreCard) -> tuple[str, ...]:
    """Every criterion that the card misses, in words. Empty means that the gate passes."""
    scores = _scores(card)
    unmet = [line for dimension in gate.dimensions if (line := _shortfall(gate, dimension, scores))]
    mean = overall_score(gate, card)
    if mean < gate.overall:
        unmet.append(f"overall score {mean:.4g} is below {gate.overall:g}")
    if card.claimed_overall is not None and card.claimed_overall < gate.overall <= mean:
        unmet.append(f"the report's own overall score {card.claimed_overall:.4g} is below {gate.overall:g}")
    if card.blocking_issues:
        unmet.append(f"{card.blocking_issues} blocking issue{'s' if card.blocking_issues > 1 else ''}")
    if not card.claimed_pass:
        unmet.append("the report itself says fail")
    return tuple(unmet)


def _scores(card: ScoreCard) -> dict[str, float]:
    """Scores by dimension; where a dimension was scored twice, the lower holds."""
    scores: dict[str, float] = {}
    for dimension in card.dimensions:
        scores[dimension.name] = min(dimension.score, scores.get(dimension.name, dimension.score))
    return scores


def _shortfall(gate: ScoreGate, dimension: Dimension, scores: dict[str, float]) -> str:
    score = scores.get(dimension.name)
    if score is None:
        return f"{dimension.name} has no score"
    minimum = {Weight.CRITICAL: gate.critical, Weight.IMPORTANT: gate.important, Weight.MODERATE: gate.moderate}
    if score < minimum[dimension.weight]:
        return f"{dimension.name} {score:g} is below {minimum[dimension.weight]:g}"
    return ""
