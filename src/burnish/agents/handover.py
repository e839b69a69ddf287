"""What a fixer is given to read beside its prompt: the findings, as JSON, in the words of `burnish parse`."""

import json
from pathlib import Path
from typing import Any

from burnish.agents.interface import Request
from burnish.core.findings import Finding, Location
from burnish.system.files import write_atomically

MAX_INLINE_BYTES = 64 * 1024
"""Longer findings are in the file only: the kernel bounds the length of a variable, and refuses the whole start."""


def findings_json(findings: tuple[Finding, ...]) -> str:
    """The findings as a JSON list on one line, the worst first as they were given."""
    return json.dumps([_finding(finding) for finding in findings], ensure_ascii=False)


def write_findings(request: Request) -> None:
    """Put the findings where the request says that they are. Called by the runner before the agent starts."""
    if request.findings_file:
        text = findings_json(request.findings) + "\n"
        # The agent may run as somebody else inside its sandbox, and must not change what it was asked for.
        write_atomically(Path(request.findings_file), text.encode("utf-8", errors="replace"), mode=0o444)


def _finding(finding: Finding) -> dict[str, Any]:
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
