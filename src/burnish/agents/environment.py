"""What an agent sees beside its prompt: an allow-list of the user's variables, what burnish tells it, its findings.

Secrets are in variables with all kinds of names, so nothing is passed on that is not known to be harmless or named in
the agent's own settings.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from burnish.agents.interface import Request, Role
from burnish.contracts.finding_json import finding_object
from burnish.core.findings import Finding
from burnish.system.files import write_atomically

MAX_INLINE_BYTES = 64 * 1024
"""Longer findings are in the file only: the kernel bounds the length of a variable, and refuses the whole start."""

PASSED_ON = frozenset({"HOME", "LANG", "PATH", "TZ"})
_PLAIN_OUTPUT = {"TERM": "dumb", "NO_COLOR": "1"}
"""The output of an agent goes to a parser: colours and cursor movements would only get in the way."""


def agent_environment(request: Request, named: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Everything that an agent sees. What burnish says goes last: nothing of the user's can stand in for it."""
    allowed = PASSED_ON | set(named)
    kept = {name: value for name, value in environment.items() if name in allowed or name.startswith("LC_")}
    if "PATH" in kept:
        kept["PATH"] = _absolute_entries(kept["PATH"])
    return {**_PLAIN_OUTPUT, **kept, **_told(request)}


def _absolute_entries(path: str) -> str:
    """A relative entry would look for programs in the working directory, which is the change itself."""
    return ":".join(entry for entry in path.split(":") if entry.startswith("/"))


def _told(request: Request) -> dict[str, str]:
    told = {
        "BURNISH_RUN": request.run,
        "BURNISH_EFFECT": request.effect,
        "BURNISH_ROLE": request.role.value,
        "BURNISH_REVIEWER": request.reviewer,
        "BURNISH_ROUND": str(request.round),
        "BURNISH_ATTEMPT": str(request.attempt),
        "BURNISH_CONTRACT": request.contract.value,
        "BURNISH_BASE": request.base,
        "BURNISH_HEAD": request.head,
        "BURNISH_SUBJECT": request.subject,
        "BURNISH_OUTPUT": request.output_file,
    }
    optional = {"BURNISH_MODEL": request.model, "BURNISH_SCRATCH": request.scratch}
    told |= {name: value for name, value in optional.items() if value}
    told |= _findings(request)
    # A NUL cannot be passed on; it would keep the agent from starting at all.
    return {name: value.replace("\0", "") for name, value in told.items()}


def _findings(request: Request) -> dict[str, str]:
    if request.role is not Role.FIX and not request.findings:
        return {}
    told = {"BURNISH_FINDINGS_FILE": request.findings_file} if request.findings_file else {}
    text = findings_json(request.findings)
    if len(text.encode("utf-8", errors="replace")) < MAX_INLINE_BYTES:
        told["BURNISH_FINDINGS"] = text
    return told


def findings_json(findings: tuple[Finding, ...]) -> str:
    """The findings as a JSON list on one line, the worst first as they were given."""
    return json.dumps([finding_object(finding) for finding in findings], ensure_ascii=False)


def write_findings(request: Request) -> None:
    """Put the findings where the request says that they are. Called by the runner before the agent starts."""
    if request.findings_file:
        text = findings_json(request.findings) + "\n"
        # The agent may run as another user inside its sandbox, and must not change what it was asked for.
        write_atomically(Path(request.findings_file), text.encode("utf-8", errors="replace"), mode=0o444)
