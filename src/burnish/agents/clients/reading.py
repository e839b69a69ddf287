"""Pieces of streams that all clients have in common: lines, fields, and what an agent is doing."""

import json
from collections.abc import Iterable, Iterator

from burnish.agents.pricing import Tokens
from burnish.contracts.json_text import Json, JsonObject, read_object
from burnish.contracts.text import bounded
from burnish.core.text import clean_text

MAX_LINE = 8 * 1024 * 1024
_TOO_LARGE = 1e15
_ARGUMENTS = ("file_path", "filePath", "path", "command", "cmd", "pattern", "query", "url", "description")
"""What a tool works on, in the words of the clients; the first that is there is shown."""


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


def text(value: Json) -> str:
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
    what = next((text(arguments.get(name)) for name in _ARGUMENTS if text(arguments.get(name))), "")
    return one_line(f"{text(tool)} {what}")


def one_line(words: str) -> str:
    return bounded(" ".join(clean_text(words[:1_000]).split()), 120)
