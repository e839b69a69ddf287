"""The `report` contract, written: the report of a review as other tools expect it, with every claim recomputed."""

import math

from burnish.contracts.json_text import Json, JsonObject
from burnish.core.findings import Finding, Severity
from burnish.core.gates import Judgement, overall_score, unmet_criteria
from burnish.core.protocol import ScoreGate
from burnish.core.reviews import ScoreCard, Weight

_NAMES = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "info",
    Severity.INFO: "info",
}


def report_fields(
    card: ScoreCard,
    findings: tuple[Finding, ...],
    gate: ScoreGate,
    *,
    ticket_id: str,
    reviewed_at: str,
    revision_count: int,
    reviewer: str = "code-review-agent",
) -> JsonObject:
    """The report as other tools expect it. Critical findings are its blocking issues."""
    unmet = unmet_criteria(gate, card)
    blocking = [finding for finding in findings if finding.severity is Severity.CRITICAL and not finding.synthetic]
    others = [finding for finding in findings if finding.severity is not Severity.CRITICAL]
    return {
        "ticket_id": ticket_id,
        "reviewed_at": reviewed_at,
        "reviewer": reviewer,
        "status": "fail" if unmet else "pass",
        "overall_score": _written_score(gate, card),
        "revision_count": revision_count,
        "dimension_scores": _scores(gate, card),
        "findings": [_finding(finding) for finding in others],
        "blocking_issues": [_blocking_issue(finding) for finding in blocking],
        "revision_notes": _notes(card, unmet),
        "approved": not unmet,
        "pass_criteria_met": _criteria(gate, card),
    }


def review_history_entry(card: ScoreCard, gate: ScoreGate, *, attempt: int, reviewed_at: str) -> JsonObject:
    """One line of a ticket's `review_history`; attempt 0 is the first review."""
    unmet = unmet_criteria(gate, card)
    return {
        "attempt": attempt,
        "reviewed_at": reviewed_at,
        "status": "fail" if unmet else "pass",
        "overall_score": _written_score(gate, card),
        "blocking_issues_count": card.blocking_issues,
        "revision_notes": _notes(card, unmet),
    }


def unscored_report(
    judgement: Judgement,
    findings: tuple[Finding, ...],
    *,
    ticket_id: str,
    reviewer: str,
    reviewed_at: str,
    revision_count: int,
) -> JsonObject:
    """The same report of a round that was judged without scores: what blocks are its blocking issues."""
    blocking = judgement.blockers
    ids = {finding.id for finding in blocking}
    others = [finding for finding in findings if finding.id not in ids and not finding.synthetic]
    return {
        "ticket_id": ticket_id,
        "reviewed_at": reviewed_at,
        "reviewer": reviewer,
        "status": _status(judgement),
        "overall_score": None,
        "revision_count": revision_count,
        "dimension_scores": {},
        "findings": [_finding(finding) for finding in others],
        "blocking_issues": [_blocking_issue(finding) for finding in blocking],
        "revision_notes": _unscored_notes(judgement),
        "approved": judgement.passes,
        "pass_criteria_met": {"no_blocking_issues": not blocking},
    }


def unscored_history_entry(judgement: Judgement, *, attempt: int, reviewed_at: str) -> JsonObject:
    return {
        "attempt": attempt,
        "reviewed_at": reviewed_at,
        "status": _status(judgement),
        "overall_score": None,
        "blocking_issues_count": len(judgement.blockers),
        "revision_notes": _unscored_notes(judgement),
    }


def _status(judgement: Judgement) -> str:
    return "pass" if judgement.passes else "fail"


def _unscored_notes(judgement: Judgement) -> str | None:
    """A failing report must say what to do: the reasons, and what blocks."""
    if judgement.passes:
        return None
    gaps = (f"{gap.subject}: {gap.reason}" for gap in judgement.gaps)
    said = (*judgement.reasons, *(finding.title for finding in judgement.blockers), *gaps)
    return "; ".join(dict.fromkeys(said)) or "not clean"


def _written_score(gate: ScoreGate, card: ScoreCard) -> int | float:
    """A whole number, rounded down so that it never reaches a threshold that the mean misses."""
    mean = overall_score(gate, card)
    whole = math.floor(mean)
    return mean if whole < gate.overall <= mean else whole


def _scores(gate: ScoreGate, card: ScoreCard) -> JsonObject:
    weights = {dimension.name: dimension.weight for dimension in gate.dimensions}
    scores: JsonObject = {}
    for dimension in card.dimensions:
        weight = weights.get(dimension.name) or dimension.weight or Weight.MODERATE
        score = int(dimension.score) if float(dimension.score).is_integer() else dimension.score
        scores[dimension.name] = {"score": score, "weight": weight.value}
    return scores


def _criteria(gate: ScoreGate, card: ScoreCard) -> JsonObject:
    scores = {dimension.name: dimension.score for dimension in card.dimensions}
    critical = [dimension.name for dimension in gate.dimensions if dimension.weight is Weight.CRITICAL]
    return {
        "all_critical_dimensions_pass": all(scores.get(name, 0) >= gate.critical for name in critical),
        "no_blocking_issues": card.blocking_issues == 0,
        "overall_score_above_threshold": overall_score(gate, card) >= gate.overall,
    }


def _notes(card: ScoreCard, unmet: tuple[str, ...]) -> str | None:
    """A failing report must say what to do: without notes of its own, the criteria it missed."""
    return card.revision_notes or "; ".join(unmet) or None


def _finding(finding: Finding) -> Json:
    location = finding.location
    return {
        "dimension": finding.category,
        "severity": _NAMES[finding.severity],
        "file": location.file if location else None,
        "line": location.line if location else None,
        "message": finding.problem or finding.title,
        "suggestion": finding.suggestion,
    }


def _blocking_issue(finding: Finding) -> Json:
    return {
        "dimension": finding.category,
        "message": finding.problem or finding.title,
        "required_action": finding.suggestion,
    }
