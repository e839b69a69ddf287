"""The JSON-lines streams that agent clients print, reduced to the final message.

Whatever an agent says or reads on its way is not its answer: tool results and earlier messages are dropped, and a
stream that failed or has no end has no final message at all. Lines that are no events are noise of the client; they
are kept apart, because a text that merely quotes a stream also looks like this.
"""

import re
from typing import assert_never

from burnish.contracts.json_text import Json, JsonObject, read_object
from burnish.contracts.text import UnreadableError, bounded
from burnish.core.text import clean_text
from burnish.core.values import Value

MAX_RECORDS = 500_000


class Said(Value):
    """The agent spoke; `more` continues what it said before."""

    text: str
    more: bool = False


class Worked(Value):
    """The agent did something, or a new turn began: what it said before was not the end."""


class Finished(Value):
    """The client's word that the turn is complete, with the final message where this event carries it."""

    text: str | None = None
    structured: JsonObject | None = None


class Failed(Value):
    """The client's word that there is no answer."""

    message: str


Event = Said | Worked | Finished | Failed


class FinalMessage(Value):
    """The end of a complete stream: the message, its structured form where the client gave one, and the noise."""

    text: str
    structured: JsonObject | None
    outside: str


def final_message(text: str) -> FinalMessage | None:
    """The final message of a client's stream; None where the text is no stream; an error where it has no good end."""
    events: list[Event] = []
    outside: list[str] = []
    records = 0
    for line in text.split("\n"):
        record = read_object(line) if '"type"' in line and line.strip().endswith("}") else None
        records += record is not None
        if records > MAX_RECORDS:
            raise UnreadableError("The client's stream is too long.", hint="Ask for the final message only.")
        event = _event(record) if record else None
        if event:
            events.append(event)
        elif record is None or not _is_silent(record):
            outside.append(line)
    if not events:
        return None
    if any(_DAMAGED.search(line) for line in outside):
        raise UnreadableError(
            "An event of the client's stream cannot be read, and it may have held the answer.",
            hint="Keep the client's error output apart from its answer.",
        )
    return _fold(events, "\n".join(outside))


def _fold(events: list[Event], outside: str) -> FinalMessage:
    said: list[str] = []
    end: Finished | Failed | None = None
    for event in events:
        match event:
            case Said():
                said = said if event.more else []
                said.append(event.text)
                end = None
            case Worked():
                said, end = [], None
            case Finished() | Failed():
                end = event
            case _:
                assert_never(event)
    match end:
        case Finished():
            message = "".join(said) if end.text is None else end.text
            return FinalMessage(text=message, structured=end.structured, outside=outside)
        case Failed():
            message = bounded(clean_text(end.message), 300) or "no reason given"
            raise UnreadableError(f"The client says that it failed: {message}", hint="Look at the agent's log.")
        case None:
            raise UnreadableError("The client's stream has no end.", hint="The agent was cut off: ask again.")
        case _:
            assert_never(end)


def _is_silent(record: JsonObject) -> bool:
    """Events that say nothing about the answer, and are no noise either."""
    kind = record.get("type")
    return isinstance(kind, str) and kind in _SILENT


_SILENT = frozenset(
    {
        *("system", "stream_event", "rate_limit_event", "init", "reasoning", "error"),
        *("thread.started", "item.started", "item.updated", "item.completed"),
    }
)
# What carries an answer or an end, in a line that is no event: two outputs ran into each other.
_DAMAGED = re.compile(r'"type"\s*:\s*"(?:result|assistant|item\.completed|turn\.\w+|text|step_\w+|message)"')


def _event(record: JsonObject) -> Event | None:
    match record.get("type"):
        case "result":
            return _result(record)
        case "assistant" | "user" if isinstance(record.get("message"), dict):  # claude
            return Worked()
        case "message" | "tool_use" | "tool_result" if "timestamp" in record:  # gemini, opencode
            return _gemini(record)
        case "text" | "step_start" | "step_finish" | "error":
            return _opencode(record)
        case "turn.started" | "turn.completed" | "turn.failed" | "item.completed":
            return _codex(record)
        case _:
            return None


def _result(record: JsonObject) -> Event | None:
    """The last event of claude (`subtype`) and of gemini (`status`)."""
    subtype, status = record.get("subtype"), record.get("status")
    if isinstance(subtype, str):
        text, structured = record.get("result"), record.get("structured_output")
        if subtype != "success" or record.get("is_error") not in (None, False):
            return Failed(message=text if subtype == "success" and isinstance(text, str) else subtype)
        return Finished(
            text=text if isinstance(text, str) else "", structured=structured if isinstance(structured, dict) else None
        )
    if isinstance(status, str) and "stats" in record:
        return Finished() if status == "success" else Failed(message=_message(record.get("error")) or status)
    return None


def _gemini(record: JsonObject) -> Event:
    content = record.get("content")
    if record.get("type") == "message" and record.get("role") == "assistant" and isinstance(content, str):
        return Said(text=content, more=record.get("delta") is True)
    return Worked()


def _opencode(record: JsonObject) -> Event | None:
    if record.get("type") == "error":
        return Failed(message=_message(record.get("error"))) if "error" in record else None
    part = record.get("part")
    if not isinstance(part, dict):
        return None
    if record.get("type") == "step_start":
        return Worked()
    if record.get("type") == "text":
        text = part.get("text")
        return Said(text=text + "\n", more=True) if isinstance(text, str) else None
    match part.get("reason"):
        case "stop":
            return Finished()
        case "tool-calls":
            return Worked()
        case reason:
            return Failed(message=f"the step ended with {reason}")


def _codex(record: JsonObject) -> Event | None:
    match record.get("type"):
        case "turn.started":
            return Worked()
        case "turn.completed":
            return Finished()
        case "turn.failed":
            return Failed(message=_message(record.get("error")))
        case _:
            item = record.get("item")
            text = item.get("text") if isinstance(item, dict) and item.get("type") == "agent_message" else None
            # Lists and commands may complete after the last message; they do not take it back.
            return Said(text=text) if isinstance(text, str) else None


def _message(error: Json) -> str:
    if isinstance(error, dict):
        inner = error.get("message") or error.get("data") or error.get("name")
        return _message(inner) if isinstance(inner, dict) else str(inner or "")
    return error if isinstance(error, str) else ""


_CALLS = frozenset({"input", "args", "arguments", "parameters", "command", "rawInput"})
"""Where the streams of all clients keep what a tool was called with."""
_WORD = re.compile(r"[^\s'\"|;<>()]+")


def words_of_tool_calls(text: str) -> frozenset[str]:
    """Every word that a tool was called with in a client's stream: the names of opened files are among them.

    What the model says, and what tools answered, does not count: neither shows that a file was opened.
    """
    found: set[str] = set()
    for line in text.split("\n"):
        record = read_object(line) if line.strip().endswith("}") else None
        if record is not None:
            _collect(record, found, is_call=False)
    return frozenset(found)


def _collect(value: Json, found: set[str], *, is_call: bool) -> None:
    match value:
        case str() if is_call:
            found.update(_WORD.findall(value))
        case dict():
            for key, inner in value.items():
                _collect(inner, found, is_call=is_call or key in _CALLS)
        case list():
            for inner in value:
                _collect(inner, found, is_call=is_call)
        case _:
            pass
