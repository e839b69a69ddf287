"""Google's Gemini CLI, run headless.

For reviewers the folder is not trusted: then the client reads neither the project's settings, which may run commands,
nor its GEMINI.md and .env. It also means that a reviewer can run nothing but a few git commands that only read, not
even in its scratch copy.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from burnish.agents.client import AcpProgram, Client, Environment, StreamReport
from burnish.agents.interface import READ_ONLY_COMMANDS, Card, Price, Request, Tokens
from burnish.agents.streams import (
    Dialect,
    StreamItem,
    TextSaid,
    TurnEnded,
    TurnFailed,
    Worked,
    count,
    differ,
    doing,
    error_text,
    inner,
    one_line,
    text_of,
    tokens,
)
from burnish.contracts.json_text import JsonObject
from burnish.settings.agent_kinds import AgentKind
from burnish.system.process import Finished

_READ_TOOLS = ["read_file", "read_many_files", "list_directory", "glob", "grep_search", "search_file_content"]
_GIT = [f"run_shell_command({command})" for command in READ_ONLY_COMMANDS]
_OTHER_WORK = ["invoke_agent", "enter_plan_mode"]
"""Tools that start other agents, or leave the work for a plan."""
_NO_LOGIN, _TURN_LIMIT = 41, 53
_FIRST_ERROR = 400 - 256
_DELAY = re.compile(r"\bretryDelayMs: (\d{1,12})\b")


def _arguments(request: Request) -> tuple[str, ...]:
    # The client asks about untrusted folders, and headless it gets no answer.
    mode = "default" if request.reads_only else "yolo"
    model = (f"--model={request.model}",) if request.model else ()
    return ("--output-format", "stream-json", "--approval-mode", mode, *model)


def _configuration(request: Request) -> dict[str, str]:
    trusted = "false" if request.reads_only else "true"
    return {"GEMINI_CLI_HOME": request.home, "GEMINI_CLI_TRUST_WORKSPACE": trusted}


def _files(request: Request, environment: Environment) -> dict[str, bytes]:
    settings: dict[str, Any] = {
        # With the question itself switched off, the variable above decides, and nothing is asked.
        "security": {"folderTrust": {"enabled": False}, "auth": {"selectedType": _login(environment)}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "maxAttempts": 1},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    if not request.reads_only:
        settings["tools"] = {"exclude": _OTHER_WORK}
    elif request.confined:
        settings["tools"] = {"core": [*_READ_TOOLS, *_GIT], "allowed": _GIT}
    else:
        settings["tools"] = {"core": _READ_TOOLS}
    if request.max_turns is not None:
        settings["model"] = {"maxSessionTurns": request.max_turns}
    return {".gemini/settings.json": json.dumps(settings).encode()}


def _login(environment: Environment) -> str:
    if environment.get("GEMINI_API_KEY"):
        return "gemini-api-key"
    cloud = ("GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_APPLICATION_CREDENTIALS")
    return "vertex-ai" if any(environment.get(name) for name in cloud) else "oauth-personal"


def _report(stream: Iterable[JsonObject], finished: Finished) -> StreamReport:
    results: list[JsonObject] = []
    session = ""
    for record in stream:
        session = text_of(record.get("session_id")) or session
        if record.get("type") == "result" and "status" in record:
            results.append(record)
    if finished.code == _NO_LOGIN:
        return StreamReport(error=_last_line(finished) or "it is not logged in", status=401, session=session)
    refusal = f"it reached its limit of turns: {_last_line(finished)}" if finished.code == _TURN_LIMIT else ""
    if not results:
        return StreamReport(refusal=refusal, session=session)
    last = results[-1]
    good = last.get("status") == "success"
    error = "" if good else text_of(inner(last, "error").get("message")) or text_of(last.get("status"))
    return StreamReport(
        ended=good,
        contradiction=differ(results, "status", "stats", "error"),
        error=error,
        status=None if good else _status(finished.code),
        refusal=refusal,
        pause=_pause(finished),
        session=session,
        tokens=_tokens(inner(last, "stats", "models")),
    )


def _tokens(models: JsonObject) -> dict[str, Tokens]:
    return {
        model: tokens(
            whole_input=count(used, "input_tokens"),
            cached=count(used, "cached"),
            # Thoughts are only in the sum, and cost what output costs.
            output=max(count(used, "total_tokens") - count(used, "input_tokens"), count(used, "output_tokens")),
        )
        for model, used in models.items()
        if isinstance(used, dict) and count(used, "total_tokens")
    }


def _status(code: int | None) -> int | None:
    """The exit code is what a byte holds of the HTTP status."""
    return code + 256 if code is not None and _FIRST_ERROR <= code < 256 else None


def _pause(finished: Finished) -> float | None:
    """Only the error that it prints for people says how long the service asked to wait."""
    named = _DELAY.search(finished.stderr_tail)
    return int(named[1]) / 1000 if named else None


def _last_line(finished: Finished) -> str:
    return finished.stderr_tail.strip().rpartition("\n")[2]


def _activity(record: JsonObject) -> str:
    if record.get("type") == "tool_use":
        return doing(record.get("tool_name"), inner(record, "parameters"))
    if record.get("type") == "message" and record.get("role") == "assistant":
        return one_line(text_of(record.get("content")))
    return ""


def _event(record: JsonObject) -> StreamItem | None:
    match record.get("type"):
        case "result" if "stats" in record and isinstance(status := record.get("status"), str):
            return TurnEnded() if status == "success" else TurnFailed(message=error_text(record.get("error")) or status)
        case "message" | "tool_use" | "tool_result" if "timestamp" in record:
            content = record.get("content")
            if record.get("type") == "message" and record.get("role") == "assistant" and isinstance(content, str):
                return TextSaid(text=content, more=record.get("delta") is True)
            return Worked()
        case _:
            return None


AGENT = Client(
    card=Card(
        kind=AgentKind.GEMINI,
        program="gemini",
        install="npm install -g @google/gemini-cli",
        login=(
            (".gemini/oauth_creds.json", ".gemini/oauth_creds.json"),
            (".gemini/google_accounts.json", ".gemini/google_accounts.json"),
        ),
        login_command="gemini",
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"),
        variables=(
            *("GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI"),
            *("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"),
        ),
        homes={".gemini": ("GEMINI_CLI_HOME", ".gemini")},
        secrets=("~/.gemini",),
        prices={
            "gemini-2.5-pro": Price(input=1.25, cached=0.125, output=10.0),
            "gemini-2.5-flash": Price(input=0.3, cached=0.03, output=2.5),
            "gemini-2.5-flash-lite": Price(input=0.1, cached=0.01, output=0.4),
            "gemini-3.1-pro-preview": Price(input=2.0, cached=0.2, output=12.0),
            "gemini-3.5-flash": Price(input=1.5, cached=0.15, output=9.0),
        },
        prices_updated="2026-11-15",
        # Read from public copies of vendors' pages, and of tables that repeat them: check them before relying on them.
        prices_from=("https://ai.google.dev/gemini-api/docs/pricing",),
    ),
    dialect=Dialect(event=_event, carries=("result", "message"), silent=("init",), ends=(b'"result"',)),
    arguments=_arguments,
    configuration=_configuration,
    settings_files=_files,
    telling=(b'"init"', b'"result"'),
    report=_report,
    activity=_activity,
    acp=AcpProgram("gemini"),
)
