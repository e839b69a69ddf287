"""How an ACP agent is run: by the bridge, and with all that is known of the client that it is made of.

Many agents are a client that burnish knows, with an adapter around it or in a mode of its own. It then gets the same
login, variables and configuration. Of any other agent nothing is known but its command.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import burnish
from burnish.agents.acp import reading
from burnish.agents.acp.bridge.values import May, Options
from burnish.agents.clients.claude import CLAUDE
from burnish.agents.clients.codex import CODEX
from burnish.agents.clients.gemini import GEMINI
from burnish.agents.clients.opencode import OPENCODE
from burnish.agents.clients.specification import Environment, Specification
from burnish.agents.interface import Request
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings

_ROOT = str(Path(burnish.__file__).parents[1])
# From the folder that holds burnish, which a sandbox shows because it is named on the command line: it works wherever
# that is. Without the packages that are installed beside it, it also starts in a third of the time.
_START = "import sys; sys.path.append(sys.argv[1]); from burnish.agents.acp.bridge.program import main; main()"


def _no_variables(request: Request) -> dict[str, str]:
    del request
    return {}


def _no_meta(request: Request) -> dict[str, Any]:
    del request
    return {}


class Known(NamedTuple):
    """An agent of which is known what it is made of."""

    client: Specification
    variables: Callable[[Request], dict[str, str]] = _no_variables
    meta: Callable[[Request], dict[str, Any]] = _no_meta
    extensions: dict[str, Any] | None = None
    confined_mode: str = ""
    """In burnish's sandbox: the mode without one of its own, which cannot be built inside ours."""


def _claude_meta(request: Request) -> dict[str, Any]:
    options: dict[str, Any] = {"promptSuggestions": False}
    if not request.trusts_project:
        options |= {"settingSources": ["user"], "strictMcpConfig": True}
    if request.reads_only:
        options["tools"] = ["Read", "Grep", "Glob", *(["Bash"] if request.scratch else [])]
    if request.max_turns is not None:
        options["maxTurns"] = request.max_turns
    if request.budget_usd is not None:
        options["maxBudgetUsd"] = request.budget_usd
    return {"claudeCode": {"options": options}}


def _codex_variables(request: Request) -> dict[str, str]:
    quiet = {"CODEX_ACP_PROMPT_SUGGESTIONS": "false"}  # the model would be asked once more, for nobody
    return quiet if request.trusts_project else {**quiet, "CODEX_CONFIG": json.dumps({"project_doc_max_bytes": 0})}


# Without it, a turn that has failed ends like one that has not.
_TYPED_FAILURES = {"jetbrains": {"air": {"version": 1, "capabilities": ["sessionFailure"]}}}
_KNOWN = {
    "claude-agent-acp": Known(CLAUDE.specification, meta=_claude_meta),
    "codex-acp": Known(
        # It trusts whatever folder it is started in, and runs what is configured there.
        CODEX.specification._replace(outside=True),
        variables=_codex_variables,
        extensions=_TYPED_FAILURES,
        confined_mode="agent-full-access",
    ),
    "gemini": Known(GEMINI.specification),
    "opencode": Known(OPENCODE.specification),
}
"""By the name of the program."""


def _home(request: Request) -> dict[str, str]:
    """Nobody knows where an unknown agent writes; it cannot write in the user's home."""
    return {"HOME": request.home}


def _no_arguments(request: Request) -> tuple[str, ...]:
    del request
    return ()


def _no_files(request: Request, environment: Environment) -> dict[str, bytes]:
    del request, environment
    return {}


PLAIN = Specification(
    kind=AgentKind.ACP,
    name="",
    bundled=("", ""),
    login=(),
    login_command="",
    can_resume=False,
    structured=False,
    arguments=_no_arguments,
    variables=_home,
    files=_no_files,
    telling=reading.TELLING,
    report=reading.report,
    activity=reading.activity,
    step=reading.step,
)


def is_known(settings: AgentSettings) -> bool:
    return _name(settings) in _KNOWN


def specification(settings: AgentSettings) -> Specification:
    """The specification of the client that the command starts, run by the bridge."""
    known = _KNOWN.get(_name(settings), Known(PLAIN))

    def variables(request: Request) -> dict[str, str]:
        return {**known.client.variables(request), **known.variables(request)}

    def before(request: Request) -> tuple[str, ...]:
        return bridge(_options(known, request))

    return PLAIN._replace(
        kind=known.client.kind,
        login=known.client.login,
        login_command=known.client.login_command,
        variables=variables,
        files=known.client.files,
        outside=known.client.outside,
        before=before,
    )


def bridge(options: Options) -> tuple[str, ...]:
    """The command line of the bridge, to be followed by that of the agent."""
    return (sys.executable, "-I", "-S", "-c", _START, _ROOT, *options.arguments())


def _name(settings: AgentSettings) -> str:
    return PurePosixPath(settings.command[0]).name if settings.command else ""


def _options(known: Known, request: Request) -> Options:
    may = May.WRITE if not request.reads_only else May.RUN if request.scratch else May.READ
    roots = tuple(folder for folder in (request.folder, request.scratch) if folder)
    mode = known.confined_mode if request.confined else ""
    return Options(
        may=may,
        roots=roots,
        model=request.model,
        mode=mode,
        extensions=known.extensions or {},
        meta=known.meta(request),
    )
