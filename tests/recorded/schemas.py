"""The names on disk, one line each: `python -m tests.recorded.schemas` writes down those that are new.

A line is a path through tags and fields, such as `work-failed.failure.retry_after: null | number, default null`.
Names of classes are no part of it; they may change.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from burnish.core.epics.events import AnyEpicEvent
from burnish.core.events import AnyEvent
from burnish.protocols.loader import BUILT_IN, load
from burnish.runtime.context import Invocation, RunContext
from burnish.runtime.sealing import protocol_digest
from burnish.system.identifiers import ProcessIdentity
from burnish.usecases.request_ticket import EpicOptions
from burnish.workspace.statements import Statement

STORED: Final[dict[str, Any]] = {
    "events": AnyEvent,
    "epic-events": AnyEpicEvent,
    "epic-options": EpicOptions,
    "inputs": RunContext,
    "invocation": Invocation,
    "lease-owner": ProcessIdentity,
    "seal": Statement,
}
FOLDER: Final = Path(__file__).parent / "names"
REQUIRED: Final = ", required"


def current() -> dict[str, list[str]]:
    """All names on disk as the program has them, and the digests of the protocols, by the file that keeps them."""
    names = {name: sorted(set(_lines("", schema, schema["$defs"], ()))) for name, schema in _schemas()}
    return {**names, "protocols": [f"{name}: {protocol_digest(load(name).protocol)}" for name in BUILT_IN]}


def recorded(name: str) -> list[str]:
    """As they are promised."""
    return (FOLDER / f"{name}.txt").read_text().splitlines()


def _schemas() -> Iterator[tuple[str, dict[str, Any]]]:
    return ((name, msgspec.json.schema(kind)) for name, kind in STORED.items())


def _lines(path: str, schema: dict[str, Any], known: dict[str, Any], above: tuple[str, ...]) -> Iterator[str]:
    """Every field below a schema, with its type."""
    for one in _alternatives(schema):
        if "enum" in one:
            yield from (f"{path} = {json.dumps(value)}" for value in one["enum"])
        elif "$ref" in one:
            name = one["$ref"].rpartition("/")[2]
            if name not in above:  # what contains itself says nothing new
                yield from _lines(path, known[name], known, (*above, name))
        elif "properties" in one:
            yield from _fields(path, one, known, above)
        elif isinstance(one.get("items"), dict):
            yield from _lines(f"{path}[]", one["items"], known, above)
        elif isinstance(one.get("additionalProperties"), dict):
            yield from _lines(f"{path}{{}}", one["additionalProperties"], known, above)


def _fields(path: str, schema: dict[str, Any], known: dict[str, Any], above: tuple[str, ...]) -> Iterator[str]:
    fields: dict[str, dict[str, Any]] = dict(schema["properties"])
    for name, field in list(fields.items()):
        if len(field.get("enum", ())) == 1 and "type" not in field:  # the tag
            path = f"{path}.{field['enum'][0]}" if path else f"{field['enum'][0]}"
            yield f"{path} in {name}"
            del fields[name]
    for name, field in fields.items():
        place = f"{path}.{name}" if path else name
        end = REQUIRED if name in schema.get("required", ()) else f", default {json.dumps(field.get('default'))}"
        yield f"{place}: {_type(field, known)}{end}"
        yield from _lines(place, field, known, above)


def _alternatives(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return schema.get("anyOf", [schema])


def _type(schema: dict[str, Any], known: dict[str, Any]) -> str:
    words: set[str] = set()
    for one in _alternatives(schema):
        target = known[one["$ref"].rpartition("/")[2]] if "$ref" in one else one
        if "anyOf" in target:
            words.add(_type(target, known))
        elif "enum" in target:
            words.add("one of a list")
        else:
            words.add(target.get("type", "anything"))
    return " | ".join(sorted(words))


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, lines in current().items():
        (FOLDER / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
