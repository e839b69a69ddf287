"""Answers of reviewers as texts, in each of the contracts."""

import json

from burnish.core.findings import Action, Finding
from burnish.core.protocol import STANDARD_DIMENSIONS
from burnish.core.reviews import Answer, ContractName, ScoreCard

UNREADABLE = "I have looked at everything and I like it."
_HEADINGS = ("CRITICAL", "HIGH", "MEDIUM", "LOW")


def answer_text(contract: ContractName, answer: Answer, revision: int = 0) -> str:
    """What a reviewer that means this answer writes about the branch `change`, after so many revisions."""
    match contract:
        case ContractName.FINDINGS:
            return findings(answer.findings)
        case ContractName.ISSUES:
            return issues(answer)
        case ContractName.REPORT:
            return report(answer.card or ScoreCard(dimensions=()), answer.findings, revision)
        case ContractName.VERDICT:
            return verdict(clean=answer.clean, follow_up=answer.follow_up)
        case ContractName.SARIF:
            raise AssertionError("No protocol of ours asks for SARIF.")


def verdict(*, clean: bool, follow_up: str = "") -> str:
    return json.dumps({"verdict": "pass" if clean else "drift", "followUpPrompt": follow_up or "Looks good."})


def findings(found: tuple[Finding, ...]) -> str:
    """A findings document with the four headings of a story's review."""
    parts = ["# Story 1.2 Code Review Findings - Round 1"]
    for heading in _HEADINGS:
        items = [finding for finding in found if finding.severity.value.upper() == heading]
        parts.append(f"## {heading}")
        parts += [_item(number, finding) for number, finding in enumerate(items, start=1)] or ["None."]
    return "\n\n".join(parts) + "\n"


def _item(number: int, finding: Finding) -> str:
    place = finding.location
    where = f"\n   - **File:** {place.file}:{place.line}" if place else ""
    return f"{number}. **[Logic]:** {finding.title}{where}\n   - **Problem:** {finding.title}"


def issues(answer: Answer) -> str:
    listed = [
        {
            "severity": finding.severity.value,
            "category": "logic",
            "file": finding.location.file if finding.location else None,
            "line": finding.location.line if finding.location else None,
            "title": finding.title,
            "description": finding.title,
            "evidence": "",
            "suggestion": "",
            **({"action": "ask"} if finding.action is Action.ASK else {}),
        }
        for finding in answer.findings
    ]
    named = [str(issue["severity"]) for issue in listed]
    counts = {name: named.count(name) for name in ("critical", "high", "medium", "low", "info")}
    summary = {**counts, "warning": 0, "verdict": "clean" if answer.clean else "issues_found"}
    return json.dumps({"reviewer": "scripted", "issues": listed, "summary": summary})


def report(card: ScoreCard, found: tuple[Finding, ...], revision: int) -> str:
    """A score card. What it claims is what the card says it claims, right or wrong."""
    scores = {one.name: {"score": one.score, "weight": _weight(one.name)} for one in card.dimensions}
    passes = card.claimed_pass
    return json.dumps(
        {
            "ticket_id": "change",
            "revision_count": revision,
            "status": "pass" if passes else "fail",
            "overall_score": 80,
            "dimension_scores": scores,
            "findings": [],
            "blocking_issues": [
                {"dimension": "code_quality", "message": one.title, "required_action": "Change it."} for one in found
            ],
            "revision_notes": card.revision_notes or None,
            "approved": passes,
            "pass_criteria_met": {"no_blocking_issues": not found},
        }
    )


def _weight(name: str) -> str:
    return next(one.weight.value for one in STANDARD_DIMENSIONS if one.name == name)
