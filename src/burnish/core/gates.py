"""Gates: the rule that turns the answers of a round into a judgement. Nothing is clean by default."""

from collections.abc import Sequence

from burnish.core.evidence import Gap
from burnish.core.findings import Action, Finding, Severity
from burnish.core.protocol import Dimension, Gate, ScoreGate, SeverityGate, VerdictGate
from burnish.core.reviews import Answer, ScoreCard
from burnish.core.values import Value


class Judgement(Value):
    """Whether the gate passes and, where it does not, what blocks. Clean may be with findings below the gate."""

    clean: bool
    blocking: tuple[Finding, ...] = ()
    carried: tuple[Finding, ...] = ()
    """Blocking findings of earlier rounds that were not fixed and that this round's reviewers missed."""
    reasons: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    """What keeps the change from being proven, though nothing may block."""

    @property
    def blockers(self) -> tuple[Finding, ...]:
        """All that blocks, whichever round reported it."""
        return (*self.blocking, *self.carried)

    @property
    def passes(self) -> bool:
        """Whether nothing blocks and everything was examined."""
        return self.clean and not self.gaps


def threshold(gate: Gate) -> Severity:
    """The least severity that blocks under a gate. A score card's blocking issues are critical."""
    if isinstance(gate, SeverityGate):
        return gate.block
    return Severity.HIGH if isinstance(gate, VerdictGate) else Severity.CRITICAL


def judge_answers(gate: Gate, answers: Sequence[Answer]) -> Judgement:
    """Judge one or more answers by themselves, as `burnish parse --protocol` does."""
    return judge(gate, answers, [finding for answer in answers for finding in answer.findings])


def judge(gate: Gate, answers: Sequence[Answer], findings: Sequence[Finding]) -> Judgement:
    """Judge a round by its answers and its merged findings, from which dismissed ones were left out."""
    if not answers:
        return _blocked(gate, [], ["no reviewer answered"])
    blocking = [finding for finding in findings if blocks(gate, finding)]
    reasons = [reason for answer in answers for reason in _objections(gate, answer)]
    return _blocked(gate, blocking, reasons) if blocking or reasons else Judgement(clean=True)


def blocks(gate: Gate, finding: Finding) -> bool:
    """A note is for people to know: it never counts, whatever its severity."""
    return finding.action is not Action.NOTE and finding.severity.at_least(threshold(gate))


def _objections(gate: Gate, answer: Answer) -> list[str]:
    """What an answer says against the change beside its findings."""
    if isinstance(gate, ScoreGate):
        return ["the answer has no scores"] if answer.card is None else list(unmet_criteria(gate, answer.card))
    if not answer.clean and not answer.findings and not answer.former:
        return ["the reviewer did not approve, but listed nothing"]
    return []


def _blocked(gate: Gate, blocking: list[Finding], reasons: list[str]) -> Judgement:
    """A judgement that is not clean always has something to fix, be it only the objection itself."""
    if not blocking:
        title = "The gate is not met: " + "; ".join(reasons)
        blocking = [Finding(severity=threshold(gate), title=title, category="gate", synthetic=True)]
    return Judgement(clean=False, blocking=tuple(blocking), reasons=tuple(reasons))


# --- Score cards: recomputed from the scores, whatever the report itself claims --------------------------------------


def overall_score(gate: ScoreGate, card: ScoreCard) -> float:
    """The weighted mean over the gate's dimensions; a dimension without a score counts as 0."""
    scores = _scores(card)
    weights = {dimension.name: dimension.weight.factor for dimension in gate.dimensions}
    return sum(factor * scores.get(name, 0.0) for name, factor in weights.items()) / sum(weights.values())


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
    minimum = gate.minimum[dimension.weight]
    return f"{dimension.name} {score:g} is below {minimum:g}" if score < minimum else ""
