"""What is still open in a run, in a few lines for people."""

from collections.abc import Iterator

from burnish.cli.screen import flat
from burnish.core.finding_history import last_answers
from burnish.core.findings import Finding, FindingStatus
from burnish.core.state import Run

SHOWN = 20
"""Findings that are named before they are only counted."""


def open_findings(run: Run) -> Iterator[str]:
    """What is open, the worst first; with a blocker goes what the fixer said of it."""
    entries = [entry for entry in run.findings if entry.status is FindingStatus.OPEN]
    entries.sort(key=lambda entry: entry.finding.severity.rank)
    said = last_answers(run)
    for entry in entries[:SHOWN]:
        finding = entry.finding
        yield f"  {finding.severity.value:<8} {_place(finding)}{finding.title} [{finding.id[:8]}]"
        if entry.blocking and finding.id in said:
            answer = said[finding.id]
            yield f"           {answer.verdict.words}: {flat(answer.text)}"
    if len(entries) > SHOWN:
        yield f"  … and {len(entries) - SHOWN} more: burnish findings {run.id}"


def _place(finding: Finding) -> str:
    location = finding.location
    if location is None:
        return ""
    return f"{location.file}:{location.line}: " if location.line else f"{location.file}: "
