"""Answers in which one thing is surely wrong, whatever the fuzzer puts around it. No parser may call one clean.

Each function builds the document of one contract: the planted fault, fuzzed fields, prose before and after, and often
a spotless answer beside it, so that a parser that overlooks the fault has something clean to find.
"""

import json
import re
from collections.abc import Callable

from burnish.core.protocol import STANDARD_DIMENSIONS
from burnish.core.reviews import ContractName, Weight
from tests.fuzz.draw import Draw, Json

_JSON_MARKS = re.compile(r'[\[\]{}"]')
_DIMENSIONS = tuple(dimension.name for dimension in STANDARD_DIMENSIONS)
_WITH_MINIMUM = tuple(dimension.name for dimension in STANDARD_DIMENSIONS if dimension.weight is not Weight.MODERATE)
_UNSEEN = (" ", "\u200e", "\x00", "\x1b[0m")
"""What cleaning removes: two keys that differ only in this become the same."""


def issues(draw: Draw) -> bytes:
    """A list of issues that is not empty, with a summary that says anything."""
    planted: Json = {**draw.members(2, ("file", "line", "severity")), "description": draw.text()}
    listed: list[Json] = [*(draw.json() for _ in range(draw.number(3))), planted]
    summary = _spotless_summary() if draw.flag() else draw.json()
    names = ("former", "status", "verdict", "agent")
    answer: dict[str, Json] = {**_extras(draw, names), "issues": listed, "summary": summary}
    return _around(draw, answer, {"issues": [], "summary": _spotless_summary()})


def verdict(draw: Draw) -> bytes:
    """A drift."""
    follow_up = draw.text() if draw.flag() else draw.json()
    answer: dict[str, Json] = {**_extras(draw, ()), "verdict": "drift", "followUpPrompt": follow_up}
    return _around(draw, answer, {"verdict": "pass", "followUpPrompt": ""})


def report(draw: Draw) -> bytes:
    """A score card with one thing that no standard gate lets pass."""
    answer = _spotless_report() | _extras(draw, ("findings", "revision_notes", "confidence"))
    name = draw.choice(_WITH_MINIMUM)
    scores: dict[str, Json] = {dimension: {"score": 95} for dimension in _DIMENSIONS}
    low: dict[str, Json] = {name: {"score": draw.number(70)}}
    twin: dict[str, Json] = {f"{name}{draw.choice(_UNSEEN)}": {"score": draw.number(70)}}
    faults: tuple[dict[str, Json], ...] = (
        {"blocking_issues": [draw.json()]},
        {"status": draw.choice(("fail", "FAIL", "failed", ""))},
        {"approved": draw.choice((False, "true", 1, []))},
        {"pass_criteria_met": {draw.text(): True, f"met{draw.choice(_UNSEEN)}": False, "met": True}},
        {"dimension_scores": scores | low},
        {"dimension_scores": {other: score for other, score in scores.items() if other != name}},
        {"dimension_scores": scores | twin if draw.flag() else twin | scores},
        {"overall_score": draw.number(70)},
    )
    return _around(draw, answer | draw.choice(faults), _spotless_report())


def sarif(draw: Draw) -> bytes:
    """A result that is neither suppressed nor gone, and does not say that all is well."""
    result: dict[str, Json] = {
        **draw.members(3, ("message", "locations", "ruleId", "ruleIndex", "properties", "rule", "fixes")),
        "kind": draw.choice(("fail", "open", "review")),
        "suppressions": [],
        "baselineState": "new",
    }
    if draw.flag():
        result["level"] = draw.json(1)
    driver: Json = {"name": "analyser", "rules": [draw.members(3, ("id", "properties", "defaultConfiguration"))]}
    run: Json = {
        **draw.members(2, ("artifacts", "originalUriBaseIds")),
        "tool": {"driver": driver},
        "results": [result],
    }
    spotless: Json = {"tool": {"driver": {"name": "analyser"}}, "results": []}
    runs: list[Json] = [run, spotless] if draw.flag() else [spotless, run]
    answer: dict[str, Json] = {**_extras(draw, ()), "version": "2.1.0", "runs": runs}
    return _around(draw, answer, {"version": "2.1.0", "runs": [spotless]})


_FINDINGS_LINES = (
    "",
    "None.",
    "None found.",
    "No issues found.",
    "## Summary",
    "- Critical: 0",
    "- Important: 0",
    "Critical: 0, Important: 0, Minor: 0",
    "## Important Issues (Should Fix)",
    "## Minor Issues (Consider)",
    "## Strengths",
    "## Verdict",
    "APPROVED",
    "**Verdict:** LGTM, ready to merge",
    "| Severity | Count |",
    "|---|---|",
    "| Critical | 0 |",
    "---",
    "- **File:** src/app.py:3",
    "1. **[Style]:** A name is short",
    "### 2. Another name is short",
    "All checks pass.",
)
_PLANTED_SECTIONS = (
    "## Critical Issues (Must Fix)",
    "## Critical",
    "### CRITICAL",
    "## Important Issues",
    "## Must Fix",
)
_PLANTED_ITEMS = (
    "1. **[Security]:** The query is built from user input\n   - **File:** src/app.py:12",
    "### 1. The query is built from user input\n**File:** `src/app.py` (lines 12-14)",
    "- **C1.** The query is built from user input, src/app.py:12",
    "- [CRITICAL] src/app.py:12 The query is built from user input",
)
# Lines that could rightly turn what follows into a quotation, a comment or a memory of an earlier round.
_TURNING = re.compile(
    r"^\s{0,3}(?:#|>|`{3}|~{3}|={2}|-{2})|<|`|~|\b(?:former|previous|earlier|prior|round|last|resol|fixed|verif|exampl|templ|"
    r"false|not\b|no\b|invalid|withdr|refut|quot|before|history|address|clos|done|old|status)|✅|✔",
    re.IGNORECASE,
)


def findings(draw: Draw) -> bytes:
    """A must-fix item in a section of its own, among lines that deny that there is any."""
    before = [_findings_line(draw) for _ in range(draw.number(12))]
    after = [_findings_line(draw) for _ in range(draw.number(12))]
    planted = [draw.choice(_PLANTED_SECTIONS), "", draw.choice(_PLANTED_ITEMS), ""]
    return "\n".join(["# Code Review", "", *before, "", *planted, *after, ""]).encode()


def _findings_line(draw: Draw) -> str:
    if draw.number(4):
        return draw.choice(_FINDINGS_LINES)
    lines = draw.text(80).replace("\r", "\n").split("\n")
    return "\n".join(line for line in lines if not _TURNING.search(line))


def _extras(draw: Draw, names: tuple[str, ...]) -> dict[str, Json]:
    """Further members. With `type` an object could be an event of a client's stream, which is another matter."""
    return {name: value for name, value in draw.members(2, names).items() if name != "type"}


def _around(draw: Draw, planted: dict[str, Json], spotless: dict[str, Json]) -> bytes:
    """The planted answer, perhaps beside a spotless one, in prose that holds no JSON."""
    indent, ascii_only = (None, 2)[draw.number(2)], draw.flag()
    texts = [json.dumps(planted, indent=indent, ensure_ascii=ascii_only)]
    beside = json.dumps(spotless)
    match draw.number(6):
        case 1:
            texts.append(beside)
        case 2:
            texts.insert(0, beside)
        case 3:
            texts = ["```json", *texts, "```", beside]
        case 4:
            texts = [beside, "[", *texts, "]"]
        case 5:
            texts = ['{"review":', *texts, "}", beside]
        case _:
            pass
    before, after = (_JSON_MARKS.sub("", text) for text in (draw.text(200), draw.rest()))
    return "\n".join((before, *texts, after)).encode()


def _spotless_summary() -> dict[str, Json]:
    return {"critical": 0, "warning": 0, "info": 0, "verdict": "clean"}


def _spotless_report() -> dict[str, Json]:
    return {
        "ticket_id": "t-1",
        "revision_count": 0,
        "pass_criteria_met": {"no_blocking_issues": True},
        "status": "pass",
        "approved": True,
        "overall_score": 95,
        "dimension_scores": {name: {"score": 95} for name in _DIMENSIONS},
        "blocking_issues": [],
        "findings": [],
    }


PLANTED: dict[ContractName, Callable[[Draw], bytes]] = {
    ContractName.FINDINGS: findings,
    ContractName.REPORT: report,
    ContractName.ISSUES: issues,
    ContractName.VERDICT: verdict,
    ContractName.SARIF: sarif,
}
