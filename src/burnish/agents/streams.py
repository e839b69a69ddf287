"""The JSON-lines streams that agent clients print: their records, their final message, what they say meanwhile.

Whatever an agent says or reads on its way is not its answer: tool results and earlier messages are dropped, and a
stream that failed or has no end has no final message at all. Lines that are no events are noise of the client; they
are kept apart, because a text that merely quotes a stream also looks like this. What the records of one client mean is
in the `Dialect` of its own file.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple, assert_never

from burnish.agents.interface import Tokens
from burnish.agents.registry import clients
from burnish.contracts.json_text import FinalMessage, Json, JsonObject, read_object
from burnish.contracts.paths import IsFile, no_repository
from burnish.contracts.registry import Expected, parse_answer
from burnish.contracts.text import UnreadableError, bounded
from burnish.core.protocol import ScoreGate
from burnish.core.reviews import Answer, ContractName
from burnish.core.text import clean_text
from burnish.core.values import Value

MAX_RECORDS = 500_000
MAX_LINE = 8 * 1024 * 1024
_TOO_LARGE = 1e15
_ARGUMENTS = ("file_path", "filePath", "path", "command", "cmd", "pattern", "query", "url", "description")
"""What a tool works on, in the words of the clients; the first that is there is shown."""


class TextSaid(Value):
    """The agent spoke; `more` continues what it said before."""

    text: str
    more: bool = False


class Worked(Value):
    """The agent did something, or a new turn began: what it said before was not the end."""


class TurnEnded(Value):
    """The client's word that the turn is complete, with the final message where this event carries it."""

    text: str | None = None
    structured: JsonObject | None = None


class TurnFailed(Value):
    """The client's word that there is no answer."""

    message: str


StreamItem = TextSaid | Worked | TurnEnded | TurnFailed


class Dialect(NamedTuple):
    """What the records of one client's stream mean for its final message."""

    event: Callable[[JsonObject], StreamItem | None]
    """What a record says; None where it is of another client, or says nothing about the answer."""
    carries: tuple[str, ...] = ()
    """The types of records that carry an answer or an end, as regular expressions."""
    silent: tuple[str, ...] = ()
    """The types of records that say nothing about the answer, and are no noise either."""
    ends: tuple[bytes, ...] = ()
    """Texts of which the line holds one that ends a stream."""


class _Dialects(NamedTuple):
    """Those of all clients, together."""

    events: tuple[Callable[[JsonObject], StreamItem | None], ...]
    damaged: re.Pattern[str]
    """What carries an answer or an end, in a line that is no event: two outputs ran into each other."""
    silent: frozenset[str]
    ends: tuple[bytes, ...]


@cache
def _dialects() -> _Dialects:
    known = [client.dialect for client in clients().values()]
    types = "|".join(dict.fromkeys(one for dialect in known for one in dialect.carries))
    return _Dialects(
        events=tuple(dialect.event for dialect in known),
        damaged=re.compile(rf'"type"\s*:\s*"(?:{types})"'),
        silent=frozenset(one for dialect in known for one in dialect.silent),
        ends=tuple(dict.fromkeys(end for dialect in known for end in dialect.ends)),
    )


def may_end(line: bytes) -> bool:
    """Whether a line may be the end of a stream."""
    return any(end in line for end in _dialects().ends)


def read_answer(
    contract: ContractName,
    raw: bytes,
    is_file: IsFile = no_repository,
    gate: ScoreGate | None = None,
    expected: Expected | None = None,
) -> Answer:
    """Read an agent's bytes as an answer in a contract, also where they are the whole stream of a client."""
    return parse_answer(contract, raw, is_file, gate, expected, read_stream=final_message)


def final_message(text: str) -> FinalMessage | None:
    """The final message of a client's stream; None where the text is no stream; an error where it has no good end."""
    events: list[StreamItem] = []
    outside: list[str] = []
    records = 0
    for line in text.split("\n"):
        record = read_object(line) if '"type"' in line and line.strip().endswith("}") else None
        records += record is not None
        if records > MAX_RECORDS:
            raise UnreadableError("The client's stream is too long.", hint="Ask for the final message only.")
        said = _event(record) if record else None
        if said:
            events.append(said)
        elif record is None or text_of(record.get("type")) not in _dialects().silent:
            outside.append(line)
    if not events:
        return None
    if any(_dialects().damaged.search(line) for line in outside):
        raise UnreadableError(
            "An event of the client's stream cannot be read, and it may have held the answer.",
            hint="Keep the client's error output separate from its answer.",
        )
    return _fold(events, "\n".join(outside))


def _event(record: JsonObject) -> StreamItem | None:
    return next((event for read in _dialects().events if (event := read(record)) is not None), None)


def _fold(events: list[StreamItem], outside: str) -> FinalMessage:
    said: list[str] = []
    end: TurnEnded | TurnFailed | None = None
    for event in events:
        match event:
            case TextSaid():
                said = said if event.more else []
                said.append(event.text)
                end = None
            case Worked():
                said, end = [], None
            case TurnEnded() | TurnFailed():
                end = event
            case _:
                assert_never(event)
    match end:
        case TurnEnded():
            message = "".join(said) if end.text is None else end.text
            return FinalMessage(text=message, structured=end.structured, outside=outside)
        case TurnFailed():
            message = bounded(clean_text(end.message), 300) or "no reason given"
            raise UnreadableError(f"The client reports a failure: {message}", hint="Read the agent's log.")
        case None:
            raise UnreadableError("The client's stream has no end.", hint="The agent was cut off: ask again.")
        case _:
            assert_never(end)


def records(stdout: bytes, telling: tuple[bytes, ...]) -> Iterator[JsonObject]:
    """The events of a stream that say something beside the answer. A cut or damaged line is none."""
    for line in stdout.split(b"\n"):
        record = event(line) if any(text in line for text in telling) else None
        if record is not None:
            yield record


def event(line: bytes) -> JsonObject | None:
    if len(line) > MAX_LINE or not line.lstrip().startswith(b"{"):
        return None
    return read_object(line.decode("utf-8", errors="replace"))


def text_of(value: Json) -> str:
    return value if isinstance(value, str) else ""


def inner(record: JsonObject, *keys: str) -> JsonObject:
    """The object that lies below these keys; an empty one where there is none."""
    for key in keys:
        value = record.get(key)
        if not isinstance(value, dict):
            return {}
        record = value
    return record


def objects(value: Json) -> list[JsonObject]:
    """The objects of a list; none where it is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def number(record: JsonObject, key: str) -> float | None:
    """A number that can be counted with; anything else is none."""
    value = record.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < _TOO_LARGE else None


def count(record: JsonObject, key: str) -> int:
    return int(number(record, key) or 0)


def tokens(*, whole_input: int, cached: int, output: int) -> Tokens:
    """Tokens where the cached ones are counted among the input."""
    return Tokens(input=max(whole_input - cached, 0), cached=cached, output=output)


def plain_schema(schema: str) -> str:
    """A schema as clients and services take it: without the name of its draft, which some of them refuse."""
    found = json.loads(schema)
    found.pop("$schema", None)
    return json.dumps(found, separators=(",", ":"))


def differ(ends: Iterable[JsonObject], *fields: str) -> bool:
    """Whether several final events say different things. One that is repeated is one."""
    said = [tuple(end.get(field) for field in fields) for end in ends]
    return any(one != said[0] for one in said)


def doing(tool: Json, arguments: JsonObject) -> str:
    """A tool and what it works on, on one short line."""
    what = next((text_of(arguments.get(name)) for name in _ARGUMENTS if text_of(arguments.get(name))), "")
    return one_line(f"{text_of(tool)} {what}")


def one_line(words: str) -> str:
    return bounded(" ".join(clean_text(words[:1_000]).split()), 120)


def error_text(error: Json) -> str:
    """What went wrong, in the words of a record."""
    if isinstance(error, dict):
        found = error.get("message") or error.get("data") or error.get("name")
        return error_text(found) if isinstance(found, dict) else str(found or "")
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
