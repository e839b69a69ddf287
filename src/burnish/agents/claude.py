"""Claude Code, run headless: `claude -p`, its stream of JSON lines, and its structured output."""

from collections.abc import Iterable
from typing import Any

from burnish.agents.client import AMAZON, GOOGLE_CLOUD, AcpProgram, Client, StepUsage, StreamReport
from burnish.agents.interface import READ_ONLY_COMMANDS, Card, Cost, Price, Request, Tokens
from burnish.agents.streams import (
    Dialect,
    StreamItem,
    TurnEnded,
    TurnFailed,
    Worked,
    count,
    differ,
    doing,
    inner,
    number,
    objects,
    one_line,
    plain_schema,
    text_of,
)
from burnish.contracts.json_text import JsonObject
from burnish.core.reviews import Failure, FailureKind
from burnish.settings.agent_kinds import AgentKind
from burnish.system.process import Finished

_READ_TOOLS = "Read,Grep,Glob"
_WRITE_TOOLS = f"{_READ_TOOLS},Bash,Edit,Write,NotebookEdit"
"""Named one by one, so that no tool is offered that starts other agents or work for later."""
_GIT = ",".join(f"Bash({command}:*)" for command in READ_ONLY_COMMANDS)


def _arguments(request: Request) -> tuple[str, ...]:
    words = ["-p", "--output-format", "stream-json", "--verbose", *_permissions(request)]
    if request.model:
        words.append(f"--model={request.model}")
    if request.schema:
        words.append(f"--json-schema={plain_schema(request.schema)}")
    if request.max_turns is not None:
        words.append(f"--max-turns={request.max_turns}")
    if request.budget_usd is not None:
        words.append(f"--max-budget-usd={request.budget_usd}")
    if request.session:
        words.append(f"--resume={request.session}")
    return tuple(words)


def _permissions(request: Request) -> tuple[str, ...]:
    # Settings of the project would run its hooks, and load its CLAUDE.md.
    words = () if request.trusts_project else ("--setting-sources", "user", "--strict-mcp-config")
    if not request.reads_only:
        # The mode that allows everything refuses to run as root; this one does not.
        return (*words, "--permission-mode", "acceptEdits", "--tools", _WRITE_TOOLS, "--allowedTools", "Bash")
    if request.scratch:
        return (*words, "--tools", f"{_READ_TOOLS},Bash", "--allowedTools", "Bash", "--add-dir", request.scratch)
    if request.confined:
        # Headless, a command that is not allowed is refused: it cannot be asked about.
        return (*words, "--tools", f"{_READ_TOOLS},Bash", "--allowedTools", _GIT)
    return (*words, "--tools", _READ_TOOLS)


def _configuration(request: Request) -> dict[str, str]:
    return {
        "CLAUDE_CONFIG_DIR": request.home,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",  # with none, it would not say how long the service asks to wait
        "DISABLE_AUTOUPDATER": "1",
    }


def _report(stream: Iterable[JsonObject], finished: Finished) -> StreamReport:
    del finished
    results: list[JsonObject] = []
    retry: JsonObject = {}
    session = ""
    for record in stream:
        session = text_of(record.get("session_id")) or session
        if record.get("type") == "result":
            results.append(record)
        elif record.get("subtype") == "api_retry":
            retry = record
    delay = number(retry, "retry_delay_ms")
    pause = None if delay is None else delay / 1000
    if not results:
        return StreamReport(error=text_of(retry.get("error")), status=_status(retry), pause=pause, session=session)
    last = results[-1]
    good = last.get("subtype") == "success" and last.get("is_error") is False
    return StreamReport(
        ended=good,
        contradiction=differ(results, "subtype", "is_error", "result", "structured_output"),
        error="" if good else _words(last),
        status=None if good else _status(last),
        failure=_failure(last),
        refusal=_refusal(last),
        pause=pause,
        session=session,
        tokens=_tokens(last),
        cost_usd=number(last, "total_cost_usd"),
    )


def _status(record: JsonObject) -> int | None:
    return count(record, "api_error_status") or count(record, "error_status") or None


_KINDS = {
    "error_max_budget_usd": FailureKind.OVER_BUDGET,
    # It asked its model again and again for an answer in the form of the schema.
    "error_max_structured_output_retries": FailureKind.UNREADABLE,
}


def _failure(result: JsonObject) -> Failure | None:
    kind = _KINDS.get(text_of(result.get("subtype")))
    return None if kind is None else Failure(kind=kind, message=_words(result))


def _refusal(result: JsonObject) -> str:
    limited = text_of(result.get("subtype")).startswith("error_max_")
    return _words(result) if limited or result.get("stop_reason") == "refusal" else ""


def _words(result: JsonObject) -> str:
    errors = result.get("errors")
    listed = "; ".join(text_of(error) for error in errors) if isinstance(errors, list) else ""
    return text_of(result.get("result")) or listed or text_of(result.get("subtype")) or "no reason given"


def _tokens(result: JsonObject) -> dict[str, Tokens]:
    """By model, for subagents may use another; what is written to the cache is input like any other."""
    return {
        model: Tokens(
            input=count(used, "inputTokens") + count(used, "cacheCreationInputTokens"),
            cached=count(used, "cacheReadInputTokens"),
            output=count(used, "outputTokens"),
        )
        for model, used in inner(result, "modelUsage").items()
        if isinstance(used, dict)
    }


def _step(record: JsonObject) -> StepUsage | None:
    """Each message of the model says what it cost so far; its blocks come one by one and repeat it."""
    message = inner(record, "message") if record.get("type") == "assistant" else {}
    used = inner(message, "usage")
    name, model = text_of(message.get("id")), text_of(message.get("model"))
    if not name or not used:
        return None
    spent = Tokens(
        input=count(used, "input_tokens") + count(used, "cache_creation_input_tokens"),
        cached=count(used, "cache_read_input_tokens"),
        output=count(used, "output_tokens"),
    )
    return StepUsage(name=name, model=model, tokens=spent)


def _activity(record: JsonObject) -> str:
    if record.get("subtype") == "api_retry":
        return one_line(f"waits for the service: {text_of(record.get('error'))}")
    blocks = objects(inner(record, "message").get("content")) if record.get("type") == "assistant" else []
    for block in reversed(blocks):
        if block.get("type") == "tool_use":
            return doing(block.get("name"), inner(block, "input"))
        if block.get("type") == "text":
            return one_line(text_of(block.get("text")))
    return ""


def _event(record: JsonObject) -> StreamItem | None:
    match record.get("type"):
        case "assistant" | "user" if isinstance(record.get("message"), dict):
            return Worked()
        case "result" if isinstance(record.get("subtype"), str):
            return _end(record)
        case _:
            return None


def _end(record: JsonObject) -> StreamItem:
    answer, structured = record.get("result"), record.get("structured_output")
    subtype = text_of(record.get("subtype"))
    if subtype != "success" or record.get("is_error") not in (None, False):
        return TurnFailed(message=answer if subtype == "success" and isinstance(answer, str) else subtype)
    return TurnEnded(text=text_of(answer), structured=structured if isinstance(structured, dict) else None)


def _acp_meta(request: Request) -> dict[str, Any]:
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


AGENT = Client(
    card=Card(
        kind=AgentKind.CLAUDE,
        program="claude",
        bundled=("claude_agent_sdk", "_bundled/claude"),
        install="npm install -g @anthropic-ai/claude-code, or, beside burnish, pip install claude-agent-sdk",
        login=((".claude/.credentials.json", ".credentials.json"),),
        login_command="claude auth login",
        keys=(
            *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
            *("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"),
        ),
        variables=("ANTHROPIC_BASE_URL", "ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION", *AMAZON, *GOOGLE_CLOUD),
        homes={".claude": ("CLAUDE_CONFIG_DIR", "")},
        secrets=("~/.claude", "~/.claude.json", "~/.config/claude", "~/.config/Claude"),
        can_resume=True,
        is_cumulative=True,
        cost=Cost.TOLD,
        guidance="CLAUDE.md",
        prices={
            "claude-haiku-4-5": Price(input=1.0, cached=0.1, output=5.0),
            "claude-sonnet-4-5": Price(input=3.0, cached=0.3, output=15.0),
            "claude-sonnet-4-6": Price(input=3.0, cached=0.3, output=15.0),
            "claude-sonnet-5": Price(input=2.0, cached=0.2, output=10.0),
            "claude-sonnet-5-5": Price(input=2.0, cached=0.2, output=10.0),
            "claude-opus-4-5": Price(input=5.0, cached=0.5, output=25.0),
            "claude-opus-4-6": Price(input=5.0, cached=0.5, output=25.0),
            "claude-opus-4-7": Price(input=5.0, cached=0.5, output=25.0),
            "claude-opus-4-8": Price(input=5.0, cached=0.5, output=25.0),
            "claude-opus-5": Price(input=5.0, cached=0.5, output=25.0),
        },
        prices_updated="2026-11-15",
        # Read from public copies of vendors' pages, and of tables that repeat them: check them before relying on them.
        prices_from=("https://docs.github.com/en/copilot/reference/copilot-billing/models-and-pricing",),
    ),
    dialect=Dialect(
        event=_event,
        carries=("result", "assistant"),
        silent=("system", "stream_event", "rate_limit_event"),
        ends=(b'"result"',),
    ),
    arguments=_arguments,
    configuration=_configuration,
    telling=(b'"subtype"',),
    report=_report,
    activity=_activity,
    step=_step,
    structured=True,
    acp=AcpProgram("claude-agent-acp", meta=_acp_meta),
)
