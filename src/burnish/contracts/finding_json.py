"""One finding as a JSON object, the same for `burnish parse`, for fixers, and for whoever reads either."""

from typing import Any

from burnish.core.findings import Finding, Location


def finding_object(finding: Finding) -> dict[str, Any]:
    """The finding, with its place spread out beside the rest."""
    return {
        "id": finding.id,
        "severity": finding.severity.value,
        "category": finding.category,
        "rule": finding.rule,
        **_place(finding.location),
        "title": finding.title,
        "problem": finding.problem,
        "impact": finding.impact,
        "evidence": finding.evidence,
        "suggestion": finding.suggestion,
        "confidence": finding.confidence,
        "action": finding.action.value,
        "also_at": [_place(location) for location in finding.also_at],
        "found_by": list(finding.found_by),
        "synthetic": finding.synthetic,
    }


def _place(location: Location | None) -> dict[str, Any]:
    if location is None:
        return {"file": None, "line": None, "end_line": None}
    return {"file": location.file, "line": location.line, "end_line": location.end_line}
