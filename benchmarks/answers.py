"""Long answers in every contract: as many findings as are read at all, with the long texts that models write."""

import json
from collections.abc import Callable
from pathlib import PurePosixPath

from burnish.core.protocol import STANDARD_DIMENSIONS
from burnish.core.reviews import ContractName

ITEM = 1_111
"""Bytes of one finding: 10 MB hold 9,000, below the limit of 10,000 above which an answer is refused as no review."""
_FRAME = 190
"""What stands around the text of a finding, in bytes, more or less."""
_WORDS = (
    "The value comes from the request and reaches the query without being bound, so that a quote in a name ends the "
    "statement.\nWith [brackets], {braces} and a path such as `src/module_7/file_3.py:12` in it. "
)


def answer(contract: ContractName, size: int) -> bytes:
    """About `size` bytes of an answer that lists problems, the more the longer it is."""
    text = (_WORDS * (ITEM // len(_WORDS) + 1))[: ITEM - _FRAME]
    files = [f"src/module_{number % 97}/file_{number % 13}.py" for number in range(size // ITEM)]
    return _WRITERS[contract](text, files).encode()


def is_file(path: str) -> bool:
    return PurePosixPath(path).suffix == ".py" and path.startswith("src/")


def _findings(text: str, files: list[str]) -> str:
    body = "".join(
        f"{number + 1}. **[Security]:** Problem {number} of the change is not handled\n"
        f"   - **File:** `{file}:{number % 400 + 1}`\n   - **Problem:** {text.replace(chr(10), ' ')}\n"
        f"   - **Fix:** Bind the value.\n\n"
        for number, file in enumerate(files)
    )
    return (
        f"# Code Review\n\n## Critical Issues (Must Fix)\n\nNone.\n\n## Important Issues (Should Fix)\n\n{body}"
        f"## Minor Issues (Consider)\n\nNone.\n\n## Summary\n\n- Critical: 0\n- Important: {len(files)}\n- Minor: 0\n"
    )


def _issues(text: str, files: list[str]) -> str:
    listed = [
        {"severity": "warning", "description": f"{number}: {text}", "file": file, "line": number % 400 + 1}
        for number, file in enumerate(files)
    ]
    counts = {"critical": 0, "warning": len(files), "info": 0, "verdict": "issues_found"}
    return json.dumps({"issues": listed, "summary": counts}, indent=2)


def _report(text: str, files: list[str]) -> str:
    listed = [
        {"severity": "warning", "dimension": "code_quality", "message": f"{number}: {text}", "file": file, "line": 7}
        for number, file in enumerate(files)
    ]
    scores = {dimension.name: {"score": 95} for dimension in STANDARD_DIMENSIONS}
    head = {"ticket_id": "t-1", "revision_count": 0, "status": "pass", "approved": True, "overall_score": 95}
    lists = {"findings": listed, "blocking_issues": []}
    return json.dumps({**head, "dimension_scores": scores, **lists, "pass_criteria_met": {"met": True}}, indent=2)


def _verdict(text: str, files: list[str]) -> str:
    """The stream of a client: everything that it read and said, then the verdict."""
    events = [
        {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "content": text, "of": file}]}}
        for file in files
    ]
    verdict = json.dumps({"verdict": "drift", "followUpPrompt": "Bind the value."})
    last = {"type": "result", "subtype": "success", "is_error": False, "result": verdict}
    return "\n".join(json.dumps(event) for event in [*events, last])


def _sarif(text: str, files: list[str]) -> str:
    results = [
        {
            "ruleId": f"R{number % 50}",
            "level": "warning",
            "message": {"text": f"{number}: {text}"},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": file}, "region": {"startLine": 7}}}],
        }
        for number, file in enumerate(files)
    ]
    rules = [{"id": f"R{number}", "shortDescription": {"text": "A rule"}} for number in range(50)]
    run = {"tool": {"driver": {"name": "analyser", "rules": rules}}, "results": results}
    return json.dumps({"version": "2.1.0", "runs": [run]}, indent=2)


_WRITERS: dict[ContractName, Callable[[str, list[str]], str]] = {
    ContractName.FINDINGS: _findings,
    ContractName.REPORT: _report,
    ContractName.ISSUES: _issues,
    ContractName.VERDICT: _verdict,
    ContractName.SARIF: _sarif,
}
