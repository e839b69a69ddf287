"""One finding as a JSON object, the same for `burnish parse` and for fixers."""

from typing import Any

from burnish.core.findings import Finding, Location, Source


def finding_object(finding: Finding) -> dict[str, Any]:
    """The finding, with its place spread out beside the rest."""
    return {
        "id": finding.id,
        **_said(finding),
        "confidence": finding.confidence,
        "action": finding.action.value,
        "also_at": [_place(location) for location in finding.also_at],
        "found_by": list(finding.found_by),
        "synthetic": finding.synthetic,
        "sources": [source_object(source) for source in finding.sources],
    }


def source_object(source: Source) -> dict[str, Any]:
    """What one reviewer said of a finding that several reported."""
    return {"id": source.id, "found_by": list(source.found_by), **_said(source)}


def _said(finding: Finding | Source) -> dict[str, Any]:
    return {
        "severity": finding.severity.value,
        "category": finding.category,
        "rule": finding.rule,
        **_place(finding.location),
        "title": finding.title,
        "problem": finding.problem,
        "impact": finding.impact,
        "evidence": finding.evidence,
        "suggestion": finding.suggestion,
    }


def _place(location: Location | None) -> dict[str, Any]:
    return {name: getattr(location, name, None) for name in ("file", "line", "end_line")}
