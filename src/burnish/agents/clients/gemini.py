"""Google's Gemini CLI, run headless.

For reviewers the folder is not trusted: then the client reads neither the project's settings, which may run commands,
nor its GEMINI.md and .env. It also means that a reviewer can run nothing but a few git commands that only read, not
even in its scratch copy.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from burnish.agents.clients.driver import Driver
from burnish.agents.clients.reading import count, differ, doing, inner, one_line, text, tokens
from burnish.agents.clients.specification import Environment, Report, Specification
from burnish.agents.interface import READ_ONLY_COMMANDS, Request
from burnish.agents.pricing import Tokens
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
    # What is not trusted is asked about, and headless there is nobody to say yes.
    mode = "default" if request.reads_only else "yolo"
    model = (f"--model={request.model}",) if request.model else ()
    return ("--output-format", "stream-json", "--approval-mode", mode, *model)


def _variables(request: Request) -> dict[str, str]:
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


def _report(stream: Iterable[JsonObject], finished: Finished) -> Report:
    results: list[JsonObject] = []
    session = ""
    for record in stream:
        session = text(record.get("session_id")) or session
        if record.get("type") == "result" and "status" in record:
            results.append(record)
    if finished.code == _NO_LOGIN:
        return Report(error=_last_line(finished) or "there is no login", status=401, session=session)
    refusal = f"it reached its limit of turns: {_last_line(finished)}" if finished.code == _TURN_LIMIT else ""
    if not results:
        return Report(refusal=refusal, session=session)
    last = results[-1]
    good = last.get("status") == "success"
    error = "" if good else text(inner(last, "error").get("message")) or text(last.get("status"))
    return Report(
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
        return one_line(text(record.get("content")))
    return ""


GEMINI = Driver(
    Specification(
        kind=AgentKind.GEMINI,
        name="gemini",
        bundled=("", ""),
        login=(
            (".gemini/oauth_creds.json", ".gemini/oauth_creds.json"),
            (".gemini/google_accounts.json", ".gemini/google_accounts.json"),
        ),
        login_command="gemini",
        can_resume=False,
        structured=False,
        arguments=_arguments,
        variables=_variables,
        files=_files,
        telling=(b'"init"', b'"result"'),
        report=_report,
        activity=_activity,
    )
)
