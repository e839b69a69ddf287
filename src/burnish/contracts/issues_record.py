"""The `issues` contract, written: one file for each reviewer, and the aggregate of a round."""

from collections.abc import Collection, Mapping, Sequence

from burnish.contracts.json_text import Json, JsonObject, write_json
from burnish.core.findings import Action, Finding, Severity
from burnish.core.reviews import Answer

# The format has three names; the severities between them are written as the worse neighbour, never as the better one.
_NAMES = {
    Severity.CRITICAL: "critical",
    Severity.HIGH: "critical",
    Severity.MEDIUM: "warning",
    Severity.LOW: "warning",
    Severity.INFO: "info",
}


def render_issues(
    reviewer: str, answer: Answer, reviewed_at: str, files_reviewed: Sequence[str], *, no_evidence: bool = False
) -> str:
    """One reviewer's answer as JSON text, with its counts computed from the findings."""
    names = [_NAMES[finding.severity] for finding in answer.findings]
    record: JsonObject = {
        "reviewer": reviewer,
        "reviewed_at": reviewed_at,
        "files_reviewed": list(files_reviewed),
        "issues": [_issue(finding) for finding in answer.findings],
        "summary": {
            "critical": names.count("critical"),
            "warning": names.count("warning"),
            "info": names.count("info"),
            "verdict": _verdict(answer, no_evidence=no_evidence),
        },
    }
    if answer.former:
        record["former"] = [
            {"id": one.id, "answer": one.answer.value, "evidence": one.evidence} for one in answer.former
        ]
    return write_json(record)


def render_verdict_aggregate(
    answers: Mapping[str, Answer], *, without_evidence: Collection[str] = (), passes: bool = True
) -> str:
    """The verdict of a whole round as JSON text.

    A reviewer without evidence is listed and counts for nothing. A round without any other reviewer is not clean, and
    neither is one that does not pass because evidence is missing.
    """
    aggregate: JsonObject = {
        reviewer.replace("-", "_"): {
            "verdict": _verdict(answer, no_evidence=reviewer in without_evidence),
            "issues": len(answer.findings),
        }
        for reviewer, answer in answers.items()
    }
    counted = [answer for reviewer, answer in answers.items() if reviewer not in without_evidence]
    clean = passes and bool(counted) and all(answer.clean for answer in counted)
    aggregate["overall_verdict"] = "clean" if clean else "issues_found"
    aggregate["total_issues"] = sum(len(answer.findings) for answer in answers.values())
    return write_json(aggregate)


def _verdict(answer: Answer, *, no_evidence: bool) -> str:
    if no_evidence:
        return "no_evidence"
    return "clean" if answer.clean else "issues_found"


def _issue(finding: Finding) -> Json:
    location = finding.location
    issue: JsonObject = {
        "severity": _NAMES[finding.severity],
        "category": finding.category,
        "file": location.file if location else None,
        "line": location.line if location else None,
        "description": finding.problem or finding.title,
        "evidence": finding.evidence,
        "suggestion": finding.suggestion,
    }
    further: dict[str, str | float | None] = {
        "title": finding.title,
        "end_line": location.end_line if location else None,
        "impact": finding.impact,
        "rule": finding.rule,
        "confidence": finding.confidence,
        "action": None if finding.action is Action.FIX else finding.action.value,
    }
    return issue | {key: value for key, value in further.items() if value not in (None, "")}
