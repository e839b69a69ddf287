"""OpenAI's Codex, run headless: `codex exec --json`."""

import json
import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from burnish.agents.clients.driver import Driver
from burnish.agents.clients.reading import count, differ, inner, objects, one_line, plain_schema, text, tokens
from burnish.agents.clients.specification import Environment, Report, Specification
from burnish.agents.interface import Request
from burnish.agents.pricing import Tokens
from burnish.contracts.json_text import JsonObject
from burnish.settings.agent_kinds import AgentKind
from burnish.system.process import Finished

_FOLDER = "codex"
_SCHEMA = f"{_FOLDER}/schema.json"
_KEYS = ("OPENAI_API_KEY", "CODEX_API_KEY")
_NO_OTHER_WORK = ("-c", "features.multi_agent=false", "-c", "features.goals=false")
"""Without tools that start other agents, or go on after the answer. Said here: a project's settings cannot undo it."""
_STATUS = re.compile(r"\bstatus:? (\d{3})\b")


def _arguments(request: Request) -> tuple[str, ...]:
    words = ["exec", "--json", "--color", "never", "--skip-git-repo-check", "--sandbox", _sandbox(request)]
    words += _NO_OTHER_WORK
    if not request.trusts_project:
        words += ("--ignore-rules", "-c", "project_doc_max_bytes=0")
    else:
        # Only a project that is trusted has a say in its own settings.
        folder = json.dumps(request.folder)
        words += ("-c", f'projects={{{folder}={{trust_level="trusted"}}}}')
    if request.model:
        words.append(f"--model={request.model}")
    if request.schema:
        words.append(f"--output-schema={PurePosixPath(request.home) / _SCHEMA}")
    if request.session:
        words += ("resume", request.session)
    return (*words, "-")


def _sandbox(request: Request) -> str:
    """The client's own sandbox cannot be built inside ours, which is the stricter one."""
    if request.confined:
        return "danger-full-access"
    return "read-only" if request.reads_only else "workspace-write"


def _variables(request: Request) -> dict[str, str]:
    return {"CODEX_HOME": str(PurePosixPath(request.home) / _FOLDER)}


def _files(request: Request, environment: Environment) -> dict[str, bytes]:
    lines = ["check_for_update_on_startup = false", *_provider(environment)]
    files = {f"{_FOLDER}/config.toml": "\n".join((*lines, "")).encode()}
    return {**files, _SCHEMA: plain_schema(request.schema).encode()} if request.schema else files


def _provider(environment: Environment) -> tuple[str, ...]:
    """With a key: the service spelt out, since only then can its address and its retries be set."""
    key = next((name for name in _KEYS if environment.get(name)), "")
    if not key:
        return ()
    address = environment.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
    return (
        'model_provider = "burnish"',
        "[model_providers.burnish]",
        'name = "burnish"',
        f"base_url = {json.dumps(address)}",
        f"env_key = {json.dumps(key)}",
        'wire_api = "responses"',
        "supports_websockets = false",
        "request_max_retries = 1",
        "stream_max_retries = 1",
    )


def _report(stream: Iterable[JsonObject], finished: Finished) -> Report:
    del finished
    ends: list[JsonObject] = []
    session = error = ""
    for record in stream:
        match record.get("type"):
            case "thread.started":
                session = text(record.get("thread_id"))
            case "turn.completed" | "turn.failed":
                ends.append(record)
            case "error":
                error = text(record.get("message"))
            case _:
                pass
    if not ends:
        return Report(session=session)
    last = ends[-1]
    good = last.get("type") == "turn.completed"
    words = "" if good else text(inner(last, "error").get("message")) or error or "no reason given"
    status = _STATUS.search(words)
    return Report(
        ended=good,
        contradiction=differ(ends, "type", "usage", "error"),
        error=words,
        status=int(status[1]) if status else None,
        session=session,
        tokens=_tokens(inner(last, "usage")),
    )


def _tokens(used: JsonObject) -> dict[str, Tokens]:
    """The client does not say of which model: it is the one that was asked for."""
    spent = tokens(
        whole_input=count(used, "input_tokens"),
        cached=count(used, "cached_input_tokens"),
        output=count(used, "output_tokens"),
    )
    return {"": spent} if spent.total else {}


def _activity(record: JsonObject) -> str:
    item = inner(record, "item")
    match record.get("type"), item.get("type"):
        case "item.started", "command_execution":
            return one_line(f"runs {text(item.get('command'))}")
        case "item.completed", "file_change":
            paths = (text(change.get("path")) for change in objects(item.get("changes")))
            return one_line(f"changes {', '.join(paths)}")
        case "item.completed", "agent_message" | "reasoning":
            return one_line(text(item.get("text")))
        case _:
            return ""


CODEX = Driver(
    Specification(
        kind=AgentKind.CODEX,
        name="codex",
        bundled=("codex_cli_bin", "bin/codex"),
        login=((".codex/auth.json", f"{_FOLDER}/auth.json"),),
        login_command="codex login",
        can_resume=True,
        structured=False,
        arguments=_arguments,
        variables=_variables,
        files=_files,
        telling=(b'"thread.started"', b'"turn.', b'"error"'),
        report=_report,
        activity=_activity,
        is_cumulative=True,
    )
)
