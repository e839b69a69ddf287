"""OpenCode, run headless: `opencode run --format json`.

It runs plugins that it finds in the folder in which it is started, whatever it is told. A reviewer is therefore
started in a folder of its own, and told where the repository is.
"""

import json
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from burnish.agents.client import AMAZON, GOOGLE_CLOUD, AcpProgram, Client, Environment, StepUsage, StreamReport
from burnish.agents.interface import READ_ONLY_COMMANDS, Card, Request, Tokens
from burnish.agents.streams import (
    Dialect,
    StreamItem,
    TextSaid,
    TurnEnded,
    TurnFailed,
    Worked,
    count,
    doing,
    error_text,
    inner,
    number,
    one_line,
    text_of,
)
from burnish.contracts.json_text import JsonObject
from burnish.settings.agent_kinds import AgentKind
from burnish.system.process import Finished

_FOLDERS = {
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
    "XDG_CACHE_HOME": "cache",
    "XDG_STATE_HOME": "state",
}
_QUIET = (
    *("OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_LSP_DOWNLOAD", "OPENCODE_DISABLE_SHARE"),
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
)
_OF_THE_PROJECT = (
    *("OPENCODE_DISABLE_PROJECT_CONFIG", "OPENCODE_DISABLE_CLAUDE_CODE", "OPENCODE_DISABLE_EXTERNAL_SKILLS"),
    "OPENCODE_PURE",
)


def _arguments(request: Request) -> tuple[str, ...]:
    model = (f"--model={request.model}",) if request.model else ()
    session = (f"--session={request.session}",) if request.session else ()
    return ("run", "--format", "json", *model, *session)


def _configuration(request: Request) -> dict[str, str]:
    home = PurePosixPath(request.home)
    switches = _QUIET if request.trusts_project else (*_QUIET, *_OF_THE_PROJECT)
    return {
        **{name: str(home / folder) for name, folder in _FOLDERS.items()},
        **dict.fromkeys(switches, "1"),
        # Said here and not in the configuration, over which the user's and the project's own would go.
        "OPENCODE_PERMISSION": json.dumps(_permissions(request)),
    }


def _permissions(request: Request) -> dict[str, str | dict[str, str]]:
    """Never `ask`: without an answer, the client exits silently, and with 0."""
    if not request.reads_only:
        return {"*": "allow", "task": "deny"}  # which starts other agents
    reading = dict.fromkeys(("read", "grep", "glob", "list", "external_directory"), "allow")
    if request.scratch:
        return {"*": "deny", **reading, "bash": "allow"}
    if not request.confined:
        return {"*": "deny", **reading}
    there = (f"git -C {request.folder} {command.removeprefix('git ')}" for command in READ_ONLY_COMMANDS)
    git = dict.fromkeys((f"{command}*" for command in (*READ_ONLY_COMMANDS, *there)), "allow")
    return {"*": "deny", **reading, "bash": {"*": "deny", **git}}


def _files(request: Request, environment: Environment) -> dict[str, bytes]:
    del environment
    settings: dict[str, Any] = {"autoupdate": False, "share": "disabled"}
    if request.max_turns is not None:
        settings["agent"] = {"build": {"steps": request.max_turns}}
    return {"config/opencode/opencode.json": json.dumps(settings).encode()}


def _report(stream: Iterable[JsonObject], finished: Finished) -> StreamReport:
    del finished
    spent, cost, session, reason = Tokens(), 0.0, "", ""
    failure: JsonObject = {}
    for record in stream:
        session = text_of(record.get("sessionID")) or session
        if record.get("type") == "error":
            failure = inner(record, "error")
        elif record.get("type") == "step_finish":
            part = inner(record, "part")
            reason = text_of(part.get("reason"))
            spent = spent.plus(_tokens(inner(part, "tokens")))
            cost += number(part, "cost") or 0.0
    status = number(inner(failure, "data"), "statusCode")
    wait = text_of(inner(failure, "data", "responseHeaders").get("retry-after"))
    words = text_of(inner(failure, "data").get("message")) or text_of(failure.get("name")) or "no reason given"
    return StreamReport(
        ended=reason == "stop" and not failure,
        error=words if failure else "",
        status=int(status) if status else None,
        pause=float(wait) if wait.isdecimal() and len(wait) < 10 else None,
        session=session,
        tokens={"": spent} if spent.total else {},
        # It knows the prices of the models of its own list; for others it says 0.
        cost_usd=cost or None,
    )


def _tokens(used: JsonObject) -> Tokens:
    cache = inner(used, "cache")
    return Tokens(
        input=count(used, "input") + count(cache, "write"),
        cached=count(cache, "read"),
        output=count(used, "output") + count(used, "reasoning"),
    )


def _step(record: JsonObject) -> StepUsage | None:
    part = inner(record, "part")
    if record.get("type") != "step_finish":
        return None
    spent = _tokens(inner(part, "tokens"))
    return StepUsage(name=text_of(part.get("id")), tokens=spent, cost_usd=number(part, "cost") or None)


def _activity(record: JsonObject) -> str:
    part = inner(record, "part")
    if record.get("type") == "tool_use":
        return doing(part.get("tool"), inner(part, "state", "input"))
    return one_line(text_of(part.get("text"))) if record.get("type") == "text" else ""


def _event(record: JsonObject) -> StreamItem | None:
    part = record.get("part")
    match record.get("type"):
        case "error" if "error" in record:
            return TurnFailed(message=error_text(record.get("error")))
        case "tool_use" if "timestamp" in record:
            return Worked()
        case "step_start" if isinstance(part, dict):
            return Worked()
        case "text" if isinstance(part, dict) and isinstance(said := part.get("text"), str):
            return TextSaid(text=said + "\n", more=True)
        case "step_finish" if isinstance(part, dict):
            return _end(part)
        case _:
            return None


def _end(part: JsonObject) -> StreamItem:
    match part.get("reason"):
        case "stop":
            return TurnEnded()
        case "tool-calls":
            return Worked()
        case reason:
            return TurnFailed(message=f"the step ended with {reason}")


AGENT = Client(
    card=Card(
        kind=AgentKind.OPENCODE,
        program="opencode",
        install="npm install -g opencode-ai",
        login=((".local/share/opencode/auth.json", "data/opencode/auth.json"),),
        login_command="opencode auth login",
        keys=(
            *("OPENCODE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"),
            *("GROQ_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY"),
            "OPENCODE_CONFIG_CONTENT",  # names a service of the user's own, with its key
        ),
        variables=(*AMAZON, *GOOGLE_CLOUD),
        homes={
            ".local/share/opencode": ("XDG_DATA_HOME", "opencode"),
            ".config/opencode": ("XDG_CONFIG_HOME", "opencode"),
        },
        secrets=("~/.local/share/opencode", "~/.config/opencode"),
        can_resume=True,
    ),
    dialect=Dialect(event=_event, carries=("text", r"step_\w+"), silent=("reasoning",), ends=(b'"stop"',)),
    arguments=_arguments,
    configuration=_configuration,
    settings_files=_files,
    telling=(b'"step_finish"', b'"error"'),
    report=_report,
    activity=_activity,
    step=_step,
    outside=True,
    acp=AcpProgram("opencode"),
)
