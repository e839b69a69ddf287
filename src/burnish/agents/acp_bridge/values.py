"""What the modules of the bridge share: its options, its one error, and careful ways into JSON of others.

These ways are like those of `burnish.agents.clients.reading`, which needs packages that are not there in the bridge.
"""

import json
from enum import Enum
from typing import Any, NamedTuple, TypeAlias, cast

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject: TypeAlias = dict[str, Json]


class May(Enum):
    """What an agent may do: look; run commands, too; change files, too."""

    READ = "read"
    RUN = "run"
    WRITE = "write"


class Trouble(Enum):
    """Kinds of failures, by their names in `burnish.core.reviews`."""

    CANNOT_RUN = "cannot-run"
    CRASHED = "crashed"
    STUCK = "stuck"
    UNAUTHORISED = "unauthorised"
    UNREADABLE = "unreadable"
    SAID = "said"
    """Only the words of the agent can tell."""


class BridgeError(Exception):
    """Why there is no answer."""

    def __init__(self, kind: Trouble, message: str, code: object = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.code = code
        """That of the agent's own error."""


class Options(NamedTuple):
    """What the bridge is told on its command line."""

    may: May
    roots: tuple[str, ...]
    """The clone, and where there is one the scratch copy: nothing else is read or written for the agent."""
    model: str
    mode: str
    """Of the session; where it is empty the bridge looks for one that only reads, for whoever may only read."""
    extensions: dict[str, Any]
    """Extensions of the protocol that an agent is known to have, and we understand."""
    meta: dict[str, Any]
    """What goes with the request for a session, for an agent that is known to understand it."""
    opening_seconds: float = 120.0
    """For everything before the prompt: whoever speaks no ACP waits for ever."""

    def arguments(self) -> tuple[str, ...]:
        """The folders stand apart, because a sandbox shows what a command line names."""
        return (json.dumps({**self._asdict(), "may": self.may.value, "roots": ()}), *self.roots, "--")


def read_arguments(arguments: list[str]) -> tuple[Options, list[str]]:
    """The options, and the command of the agent."""
    place = arguments.index("--")
    told = json.loads(arguments[0])
    options = Options(**told)._replace(may=May(told["may"]), roots=tuple(arguments[1:place]))
    return options, arguments[place + 1 :]


def words(value: object) -> str:
    return value if isinstance(value, str) else ""


def inner(record: JsonObject, *keys: str) -> JsonObject:
    """The object below these keys; an empty one where there is none."""
    for key in keys:
        value = record.get(key)
        if not isinstance(value, dict):
            return {}
        record = value
    return record


def objects(value: object) -> list[JsonObject]:
    """The objects of a list; none where it is no list."""
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("JsonObject", one) for one in listed if isinstance(one, dict)]
