"""One finding as a JSON object, the same for `burnish parse` and for fixers."""

from typing import Annotated, TypedDict

from burnish.core.findings import Action, Finding, Location, Severity, Source


class PlaceObject(TypedDict):
    """Where a problem is. All three are null if that is not known."""

    file: str | None
    line: int | None
    end_line: int | None
    """The last line, if it is another one."""


class SaidObject(PlaceObject):
    severity: Annotated[str, Severity]
    category: str
    rule: str
    """The rule of the analyser that reported it."""
    title: str
    problem: str
    impact: str
    evidence: str
    suggestion: str


class SourceObject(SaidObject):
    """What one reviewer said of a problem that several reported."""

    id: str
    found_by: list[str]


class FindingObject(SaidObject):
    """What `burnish parse` lists, and what fixers are given."""

    id: str
    """Identifies the same problem in the next answer, even if its lines have moved."""
    confidence: float | None
    """From 0 to 1, if the reviewer gave one."""
    action: Annotated[str, Action]
    """What it asks for: a fix, a person's decision, or nothing."""
    also_at: list[PlaceObject]
    """Further places of the same problem."""
    found_by: list[str]
    """The reviewers that reported it."""
    synthetic: bool
    """burnish added it, because an answer was not clean but listed nothing."""
    sources: list[SourceObject]
    """Each reviewer's report, if several reported it."""


class CountsObject(TypedDict):
    """The number of findings of each severity, computed from the findings."""

    critical: int
    high: int
    medium: int
    low: int
    info: int


def finding_object(finding: Finding) -> FindingObject:
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


def source_object(source: Source) -> SourceObject:
    """What one reviewer said of a finding that several reported."""
    return {"id": source.id, "found_by": list(source.found_by), **_said(source)}


def _said(finding: Finding | Source) -> SaidObject:
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


def _place(location: Location | None) -> PlaceObject:
    if location is None:
        return {"file": None, "line": None, "end_line": None}
    return {"file": location.file, "line": location.line, "end_line": location.end_line}
