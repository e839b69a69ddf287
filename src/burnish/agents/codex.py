"""OpenAI's Codex, run headless: `codex exec --json`."""

import json
import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from burnish.agents.client import AcpProgram, Client, Environment, StreamReport
from burnish.agents.interface import Card, Price, Request, Tokens
from burnish.agents.streams import (
    Dialect,
    StreamItem,
    TextSaid,
    TurnEnded,
    TurnFailed,
    Worked,
    count,
    differ,
    error_text,
    inner,
    objects,
    one_line,
    plain_schema,
    text_of,
    tokens,
)
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


def _configuration(request: Request) -> dict[str, str]:
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


def _report(stream: Iterable[JsonObject], finished: Finished) -> StreamReport:
    del finished
    ends: list[JsonObject] = []
    session = error = ""
    for record in stream:
        match record.get("type"):
            case "thread.started":
                session = text_of(record.get("thread_id"))
            case "turn.completed" | "turn.failed":
                ends.append(record)
            case "error":
                error = text_of(record.get("message"))
            case _:
                pass
    if not ends:
        return StreamReport(session=session)
    last = ends[-1]
    good = last.get("type") == "turn.completed"
    words = "" if good else text_of(inner(last, "error").get("message")) or error or "no reason given"
    status = _STATUS.search(words)
    return StreamReport(
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
            return one_line(f"runs {text_of(item.get('command'))}")
        case "item.completed", "file_change":
            paths = (text_of(change.get("path")) for change in objects(item.get("changes")))
            return one_line(f"changes {', '.join(paths)}")
        case "item.completed", "agent_message" | "reasoning":
            return one_line(text_of(item.get("text")))
        case _:
            return ""


def _event(record: JsonObject) -> StreamItem | None:
    match record.get("type"):
        case "turn.started":
            return Worked()
        case "turn.completed":
            return TurnEnded()
        case "turn.failed":
            return TurnFailed(message=error_text(record.get("error")))
        case "item.completed":
            item = inner(record, "item")
            said = item.get("text") if item.get("type") == "agent_message" else None
            # Lists and commands may complete after the last message; they do not take it back.
            return TextSaid(text=said) if isinstance(said, str) else None
        case _:
            return None


def _acp_variables(request: Request) -> dict[str, str]:
    quiet = {"CODEX_ACP_PROMPT_SUGGESTIONS": "false"}  # the model would be asked once more, for nothing
    return quiet if request.trusts_project else {**quiet, "CODEX_CONFIG": json.dumps({"project_doc_max_bytes": 0})}


AGENT = Client(
    card=Card(
        kind=AgentKind.CODEX,
        program="codex",
        bundled=("codex_cli_bin", "bin/codex"),
        install="npm install -g @openai/codex, or, beside burnish, pip install openai-codex-cli-bin",
        login=((".codex/auth.json", f"{_FOLDER}/auth.json"),),
        login_command="codex login",
        keys=_KEYS,
        variables=("OPENAI_BASE_URL",),
        homes={".codex": ("CODEX_HOME", "")},
        secrets=("~/.codex",),
        can_resume=True,
        is_cumulative=True,
        prices={
            "gpt-5": Price(input=1.25, cached=0.125, output=10.0),
            "gpt-5-codex": Price(input=1.25, cached=0.125, output=10.0),
            "gpt-5-mini": Price(input=0.25, cached=0.025, output=2.0),
            "gpt-5.2": Price(input=1.75, cached=0.175, output=14.0),
            "gpt-5.2-codex": Price(input=1.75, cached=0.175, output=14.0),
            "gpt-5.3-codex": Price(input=1.75, cached=0.175, output=14.0),
            "gpt-5.4": Price(input=2.5, cached=0.25, output=15.0),
            "gpt-5.4-mini": Price(input=0.75, cached=0.075, output=4.5),
            "gpt-5.4-nano": Price(input=0.2, cached=0.02, output=1.25),
            "gpt-5.5": Price(input=5.0, cached=0.5, output=30.0),
            "gpt-5.6-luna": Price(input=0.2, cached=0.02, output=1.2),
            "gpt-5.6-sol": Price(input=5.0, cached=0.5, output=30.0),
            "gpt-5.6-terra": Price(input=2.0, cached=0.2, output=12.0),
            "gpt-6.1-sol": Price(input=2.0, cached=0.1, output=10.0),
        },
        prices_updated="2026-11-15",
        # Read from public copies of vendors' pages, and of tables that repeat them: check them before relying on them.
        prices_from=(
            "https://developers.openai.com/api/docs/models",
            "https://docs.github.com/en/copilot/reference/copilot-billing/models-and-pricing",
        ),
    ),
    dialect=Dialect(
        event=_event,
        carries=(r"item\.completed", r"turn\.\w+"),
        silent=("error", "thread.started", "item.started", "item.updated", "item.completed"),
        ends=(b'"turn.completed"',),
    ),
    arguments=_arguments,
    configuration=_configuration,
    settings_files=_files,
    telling=(b'"thread.started"', b'"turn.', b'"error"'),
    report=_report,
    activity=_activity,
    acp=AcpProgram(
        "codex-acp",
        variables=_acp_variables,
        # Without it, a turn that has failed ends like one that has not.
        extensions={"jetbrains": {"air": {"version": 1, "capabilities": ["sessionFailure"]}}},
        confined_mode="agent-full-access",
        # It trusts whatever folder it is started in, and runs what is configured there.
        outside=True,
    ),
)
