"""The Agent Client Protocol: one session with one prompt, from `initialize` to the stop reason.

The agent runs in the sandbox, this does not. So nothing is done on the agent's behalf: it is offered neither files nor
a terminal, and its requests are only answered. What it sends is bounded: the length of a message and of the answer, the
number of tool calls and notes, and what it leaves unread. What is kept of it are events, one JSON object a line, which
`burnish.agents.acp` and the logs read.
"""

import asyncio
import json
import os
import re
import time
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from burnish import __version__
from burnish.agents.streams import inner, objects, text_of
from burnish.contracts.json_text import Json, JsonObject, read_object
from burnish.core.reviews import FailureKind
from burnish.system.process_conversation import MESSAGE_BYTES, Conversation, ConversationEndedError, LineTooLongError
from burnish.system.process_start import CANNOT_RUN_CODES

PROTOCOL_VERSION = 1
MAX_ANSWER = 1_000_000
MAX_TOOL_CALLS = 100_000
MAX_UNREAD = 16 * 1024 * 1024
_MAX_NOTES = 1_000
_MAX_TEXT = 4_000
_MAX_REASON = 2_000
_MAX_SHOWN = 200
_MAX_ID = 200
_SECONDS_BETWEEN_ACTIVITIES = 1.0
_AUTHENTICATION_REQUIRED = -32000
_METHOD_NOT_FOUND = -32601
_READING = ("read", "search", "think")
"""The kinds of tools that change nothing."""
_READ_ONLY_MODES = (
    re.compile(r"read[ _-]?only", re.IGNORECASE),
    re.compile(r"\b(?:ask|asks|manual|approval)\b", re.IGNORECASE),
    re.compile(r"\bplan\b", re.IGNORECASE),
)
"""Words for modes of a reviewer, best first. Where burnish is asked, it refuses; a plan is not quite a review."""


class Access(Enum):
    """What an agent may do: read; run commands, too; change files, too."""

    READ = "read"
    RUN = "run"
    WRITE = "write"


class SessionOptions(NamedTuple):
    """What a session is opened with."""

    access: Access
    folder: str
    roots: tuple[str, ...]
    """The clone, and where there is one the scratch copy: what a reviewer may read."""
    model: str = ""
    mode: str = ""
    """Where it is empty, an agent that may not write is put into a mode that only reads, if it offers one."""
    extensions: dict[str, Any] | None = None
    """Extensions of the protocol that the agent is known to have, and burnish understands."""
    meta: dict[str, Any] | None = None
    """What goes with the request for a session, for an agent that is known to understand it."""
    opening_seconds: float = 120.0
    """For everything before the prompt: a program that speaks another protocol would wait for ever."""


class AcpError(Exception):
    """Why there is no answer."""

    def __init__(self, kind: FailureKind | None, message: str, code: Json = None) -> None:
        super().__init__(message)
        self.kind = kind
        """None where only the words of the agent can tell."""
        self.message = message[:_MAX_REASON]
        self.code = code
        """That of the agent's own error."""


class EventWriter:
    """Keeps the events of a session. Text of the agent is short in them, except for the answer itself."""

    def __init__(self, keep: Callable[[bytes], None]) -> None:
        self._keep = keep
        self._quiet_until = 0.0

    def write(self, event: str, **fields: Any) -> None:
        line = json.dumps({"event": event, **fields}, ensure_ascii=False)
        self._keep(line.encode("utf-8", errors="replace"))

    def show(self, doing: str) -> None:
        """What the agent is doing now, not more often than people can read. It also shows that the agent is alive."""
        now = time.monotonic()
        if now >= self._quiet_until:
            self._quiet_until = now + _SECONDS_BETWEEN_ACTIVITIES
            self.write("activity", text=doing)


class AcpSession:
    """Sends one request at a time, and answers everything that comes meanwhile."""

    def __init__(self, conversation: Conversation, options: SessionOptions) -> None:
        self._conversation = conversation
        self._options = options
        self._events = EventWriter(conversation.keep)
        self._updates = Updates(self._events)
        self._number = 0
        self._awaited = ""
        self._notes_left = _MAX_NOTES
        self._logins = ""

    async def run(self, prompt: str) -> None:
        """Have a prompt answered, and write how that ended."""
        try:
            await self._run(prompt)
        except TimeoutError:
            message = f"it did not answer '{self._awaited}' in time. Does it speak ACP?"
            self._fail(AcpError(FailureKind.STUCK, message))
        except LineTooLongError:
            message = f"it wrote a message of more than {MESSAGE_BYTES:,} bytes"
            self._fail(AcpError(FailureKind.UNREADABLE, message))
        except ConversationEndedError as ended:
            self._fail(self._cut_off(ended.code))
        except AcpError as error:
            self._fail(error)

    async def _run(self, prompt: str) -> None:
        async with asyncio.timeout(self._options.opening_seconds):
            await self._initialize()
            opened = await self._open()
            session = text_of(opened.get("sessionId"))
            await self._set_up(session, opened)
        self._updates.begin(session)
        content: JsonObject = {"type": "text", "text": prompt}
        self._finish(await self._ask("session/prompt", {"sessionId": session, "prompt": [content]}))

    def _fail(self, error: AcpError) -> None:
        kind = "said" if error.kind is None else error.kind.value
        self._events.write("error", kind=kind, message=error.message, code=error.code)

    def _finish(self, ended: JsonObject) -> None:
        """Some agents end a turn that has failed like any other, with the error as their last message."""
        failure = inner(ended, "_meta", "jetbrains", "air", "sessionFailure")
        self._events.write(
            "end",
            stop=text_of(ended.get("stopReason")) if failure.get("severity") in (None, "warning") else "failed",
            text=self._updates.answer(),
            message=text_of(failure.get("title")),
            usage=inner(ended, "usage"),
            models=objects(inner(ended, "_meta", "quota").get("model_usage")),
        )

    async def _initialize(self) -> None:
        found = await self._ask(
            "initialize",
            {
                "protocolVersion": PROTOCOL_VERSION,
                "clientCapabilities": {
                    "fs": {"readTextFile": False, "writeTextFile": False},
                    "terminal": False,
                    **({"_meta": self._options.extensions} if self._options.extensions else {}),
                },
                "clientInfo": {"name": "burnish", "title": "burnish", "version": __version__},
            },
        )
        version = found.get("protocolVersion")
        if version != PROTOCOL_VERSION:
            message = f"it speaks version {version} of ACP, and burnish {PROTOCOL_VERSION}"
            raise AcpError(FailureKind.CANNOT_RUN, message)
        self._logins = ", ".join(text_of(method.get("name")) for method in objects(found.get("authMethods")))
        agent = inner(found, "agentInfo")
        self._events.write("begin", agent=text_of(agent.get("name")), version=text_of(agent.get("version")))

    async def _open(self) -> JsonObject:
        asked: JsonObject = {"cwd": self._options.folder, "mcpServers": []}
        if self._options.meta:
            asked["_meta"] = self._options.meta
        found = await self._ask("session/new", asked)
        if not text_of(found.get("sessionId")):
            raise AcpError(FailureKind.CRASHED, "it gave no name to the session that it opened")
        return found

    async def _set_up(self, session: str, opened: JsonObject) -> None:
        """Choose the model first: it may change what modes there are."""
        offered, modes = offered_models(opened), offered_modes(opened)
        if self._options.model:
            await self._choose(session, offered, named_value(offered, self._options.model, "model"))
        if self._options.mode:
            await self._choose(session, modes, named_value(modes, self._options.mode, "mode"))
        elif modes is not None and self._options.access is not Access.WRITE:
            await self._choose(session, modes, read_only_mode(modes))

    async def _choose(self, session: str, offer: "Offer | None", value: str) -> None:
        if offer is not None and value and value != offer.current:
            await self._ask(offer.method, {"sessionId": session, **offer.fixed, offer.field: value})

    async def _ask(self, method: str, params: JsonObject) -> JsonObject:
        self._number += 1
        self._awaited = method
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            message = self._message(await self._conversation.line())
            if message is None:
                continue
            if "method" in message:
                self._attend(message)
            elif message.get("id") == self._number:
                if "error" in message:
                    raise self._refused(inner(message, "error"))
                return inner(message, "result")

    def _send(self, message: JsonObject) -> None:
        self._conversation.send(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def _message(self, line: bytes) -> JsonObject | None:
        """A message, or None for a line that is none: some agents write notes for people here."""
        line = line.strip()
        if not line.startswith(b"{"):
            if line and self._notes_left:
                self._notes_left -= 1
                self._conversation.note(line[:500])
            return None
        try:
            message = read_object(line.decode())
        except UnicodeDecodeError:
            message = None
        if message is None:
            # It may have been a part of the answer.
            raise AcpError(FailureKind.UNREADABLE, "it wrote a message that is no JSON")
        return message

    def _attend(self, message: JsonObject) -> None:
        if "id" not in message:
            if message.get("method") == "session/update":
                self._updates.take(inner(message, "params"))
            return
        if self._conversation.unsent > MAX_UNREAD:
            raise AcpError(FailureKind.STUCK, "it asks, and does not read the answers")
        if message.get("method") == "session/request_permission":
            self._updates.tool_call(inner(message, "params", "toolCall"))
        self._send(answer(message, self._options, self._events))

    def _refused(self, error: JsonObject) -> AcpError:
        data = error.get("data")
        detail = "" if data is None else f" {json.dumps(data, ensure_ascii=False)}"
        said = f"{text_of(error.get('message'))}{detail}"[:_MAX_REASON] or "no reason given"
        if error.get("code") == _AUTHENTICATION_REQUIRED:
            return AcpError(FailureKind.UNAUTHORISED, f"{said} (it knows: {self._logins or 'no way to log in'})")
        return AcpError(None, f"{self._awaited}: {said}", error.get("code"))

    def _cut_off(self, code: int | None) -> AcpError:
        how = "closed its output" if code is None else f"ended by signal {-code}" if code < 0 else f"exited with {code}"
        kind = FailureKind.CANNOT_RUN if code in CANNOT_RUN_CODES else FailureKind.CRASHED
        return AcpError(kind, f"it {how} without an answer to '{self._awaited}'")


class Updates:
    """What the agent reports: its messages, of which the last one is the answer, its tool calls, and its costs.

    What subagents say in sessions of their own is not the answer.
    """

    def __init__(self, events: EventWriter) -> None:
        self._events = events
        self._session = ""
        self._message: list[str] = []
        self._length = 0
        self._id: Json = None
        self._tail = ""
        self._tools: set[str] = set()

    def begin(self, session: str) -> None:
        """From now on it counts: what was said before the prompt was a greeting."""
        self._session = session
        self._forget()

    def answer(self) -> str:
        """The last message. What came before a tool was called was not the end."""
        return "".join(self._message)

    def take(self, notice: JsonObject) -> None:
        """One `session/update`. Kinds that are not known only show that the agent is alive."""
        if not self._session or notice.get("sessionId") != self._session:
            return
        update = inner(notice, "update")
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                self._say(text_of(inner(update, "content").get("text")), update.get("messageId"))
            case "agent_thought_chunk":
                self._show(text_of(inner(update, "content").get("text")))
            case "tool_call" | "tool_call_update":
                self.tool_call(update)
            case "usage_update":
                cost = inner(update, "cost")
                # Tokens in this notice are those that the model has in view, not those that it has used.
                if cost.get("currency") == "USD":
                    self._events.write("usage", cost_usd=cost.get("amount"))
            case _:
                self._events.show("")

    def tool_call(self, tool: JsonObject) -> None:
        """A tool, which some agents name first when they ask for a permission. What was said before is over."""
        name, title = text_of(tool.get("toolCallId"))[:_MAX_ID], text_of(tool.get("title"))[:_MAX_SHOWN]
        if name in self._tools:
            self._events.show(title)
            return
        if len(self._tools) >= MAX_TOOL_CALLS:
            raise AcpError(FailureKind.UNREADABLE, f"it called more than {MAX_TOOL_CALLS:,} tools")
        self._tools.add(name)
        self._close()
        self._events.write("tool", title=title, kind=text_of(tool.get("kind"))[:_MAX_SHOWN])

    def _close(self) -> None:
        """A message is over that was not the last one."""
        if self._message:
            self._events.write("message", text=self.answer()[:_MAX_TEXT])
        self._forget()

    def _forget(self) -> None:
        self._message, self._length, self._id, self._tail = [], 0, None, ""

    def _say(self, text: str, name: Json) -> None:
        if name is not None and self._id is not None and name != self._id:
            self._close()
        self._id = name if name is not None else self._id
        if text:
            self._message.append(text)
        self._length += len(text)
        if self._length > MAX_ANSWER:
            raise AcpError(FailureKind.UNREADABLE, f"its answer has more than {MAX_ANSWER:,} characters")
        self._show(text)

    def _show(self, text: str) -> None:
        self._tail = (self._tail + text[-_MAX_SHOWN:])[-_MAX_SHOWN:]
        self._events.show(self._tail.rstrip().rpartition("\n")[2])


def answer(request: JsonObject, options: SessionOptions, events: EventWriter) -> JsonObject:
    """The answer to a request of the agent. Only permissions can be asked for."""
    number = request.get("id")
    named: JsonObject = {"id": number if isinstance(number, int | str) else None}
    if request.get("method") != "session/request_permission":
        return {**named, "error": {"code": _METHOD_NOT_FOUND, "message": "Method not found"}}
    asked = inner(request, "params")
    call = inner(asked, "toolCall")
    allowed = _is_allowed(call, options)
    kinds = ("allow_once", "allow_always") if allowed else ("reject_once", "reject_always")
    offered = {text_of(one.get("kind")): one.get("optionId") for one in reversed(objects(asked.get("options")))}
    chosen = next((offered[kind] for kind in kinds if kind in offered), None)
    events.write("asked", title=text_of(call.get("title"))[:_MAX_SHOWN], allowed=allowed and chosen is not None)
    outcome: JsonObject = {"outcome": "cancelled"}
    return {
        **named,
        "result": {"outcome": outcome if chosen is None else {"outcome": "selected", "optionId": chosen}},
    }


def _is_allowed(call: JsonObject, options: SessionOptions) -> bool:
    """What the agent is told. What holds it back where it does not ask is the sandbox."""
    kind = text_of(call.get("kind"))
    if options.access is Access.WRITE or (options.access is Access.RUN and kind == "execute"):
        return True
    places = (text_of(place.get("path")) for place in objects(call.get("locations")))
    return kind in _READING and all(_is_inside(place, options.roots) for place in places)


def _is_inside(path: str, roots: tuple[str, ...]) -> bool:
    """Whether a path leads into one of the folders, also by its links. Others are not even looked at."""
    try:
        found = Path(os.path.normpath(Path(roots[0], path)))
        folders = [Path(root).resolve() for root in roots]
        return any(found.is_relative_to(folder) for folder in (*roots, *folders)) and any(
            found.resolve().is_relative_to(folder) for folder in folders
        )
    except (OSError, ValueError, RuntimeError):  # a loop of links, or no path at all
        return False


class OptionValue(NamedTuple):
    """One thing to choose."""

    id: str
    name: str
    description: str


class Offer(NamedTuple):
    """Modes or models to choose from, and the request by which one of them is chosen.

    Agents offer them as options of the session, as modes, or as models, according to their age.
    """

    method: str
    fixed: JsonObject
    field: str
    current: str
    values: list[OptionValue]


def offered_modes(session: JsonObject) -> Offer | None:
    offered = inner(session, "modes")
    values = [_value(mode, "id") for mode in objects(offered.get("availableModes"))]
    older = Offer("session/set_mode", {}, "modeId", text_of(offered.get("currentModeId")), values)
    return _option(session, "mode") or (older if values else None)


def offered_models(session: JsonObject) -> Offer | None:
    offered = inner(session, "models")
    values = [_value(model, "modelId") for model in objects(offered.get("availableModels"))]
    older = Offer("session/set_model", {}, "modelId", text_of(offered.get("currentModelId")), values)
    return _option(session, "model") or (older if values else None)


def _option(session: JsonObject, category: str) -> Offer | None:
    for option in objects(session.get("configOptions")):
        if category in (option.get("category"), option.get("id")) and option.get("type", "select") == "select":
            listed = objects(option.get("options"))
            grouped = [value for group in listed for value in objects(group.get("options"))]
            values = [_value(value, "value") for value in (*listed, *grouped) if text_of(value.get("value"))]
            fixed: JsonObject = {"configId": option.get("id")}
            return Offer("session/set_config_option", fixed, "value", text_of(option.get("currentValue")), values)
    return None


def _value(record: JsonObject, key: str) -> OptionValue:
    return OptionValue(text_of(record.get(key)), text_of(record.get("name")), text_of(record.get("description")))


def read_only_mode(offer: Offer) -> str:
    """The mode in which least can be written; empty where none says so of itself."""
    for pattern in _READ_ONLY_MODES:
        for value in offer.values:
            if pattern.search(" ".join(value)):
                return value.id
    return ""


def named_value(offer: Offer | None, wanted: str, what: str) -> str:
    """The value that is wanted, by its id or its name."""
    values = [] if offer is None else offer.values
    for value in values:
        if wanted in (value.id, value.name):
            return value.id
    listed = ", ".join(value.id for value in values[:20]) or "none"
    raise AcpError(FailureKind.CANNOT_RUN, f"it does not offer the {what} '{wanted}', only: {listed}")
