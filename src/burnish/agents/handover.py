"""What a fixer is given to read beside its prompt: the findings, as JSON, in the words of `burnish parse`."""

import json
from pathlib import Path

from burnish.agents.interface import Request
from burnish.contracts.finding_json import finding_object
from burnish.core.findings import Finding
from burnish.system.files import write_atomically

MAX_INLINE_BYTES = 64 * 1024
"""Longer findings are in the file only: the kernel bounds the length of a variable, and refuses the whole start."""


def findings_json(findings: tuple[Finding, ...]) -> str:
    """The findings as a JSON list on one line, the worst first as they were given."""
    return json.dumps([finding_object(finding) for finding in findings], ensure_ascii=False)


def write_findings(request: Request) -> None:
    """Put the findings where the request says that they are. Called by the runner before the agent starts."""
    if request.findings_file:
        text = findings_json(request.findings) + "\n"
        # The agent may run as somebody else inside its sandbox, and must not change what it was asked for.
        write_atomically(Path(request.findings_file), text.encode("utf-8", errors="replace"), mode=0o444)
