"""What the server was asked, for assertions: kept in order, without credentials, and awaited without polling."""

import threading
from collections.abc import Iterable
from pathlib import Path

import msgspec

from burnish.contracts.json_text import JsonObject
from burnish.core.values import Value

_CREDENTIALS = ("authorization", "x-api-key", "x-goog-api-key", "cookie")
MASKED = "…"


class RecordedRequest(Value):
    """One request. What was no question to a model has no format and no turn."""

    number: int
    method: str
    path: str
    """Below the scenario, without the query, which may hold a key."""
    scenario: str
    format: str = ""
    model: str = ""
    turn: int = 0
    stream: bool = False
    tools: tuple[str, ...] = ()
    """The tools that the client offered."""
    text: str = ""
    """Everything that was said so far."""
    status: int
    step: int | None = None
    """The index of the step that was played."""
    headers: dict[str, str]
    """By their names in small letters; a credential is shown to be there, not what it is."""
    body: JsonObject


class RequestLog:
    """The list of requests, shared by the threads that answer them."""

    def __init__(self, log: Path | None) -> None:
        self._log = log
        self._asked: list[RecordedRequest] = []
        self._changed = threading.Condition()
        self._numbers = 0

    def next_number(self) -> int:
        with self._changed:
            self._numbers += 1
            return self._numbers

    def add(self, asked: RecordedRequest) -> None:
        with self._changed:
            self._asked.append(asked)
            if self._log is not None:
                with self._log.open("ab") as stream:
                    stream.write(msgspec.json.encode(asked) + b"\n")
            self._changed.notify_all()

    def asked(self) -> tuple[RecordedRequest, ...]:
        with self._changed:
            return tuple(self._asked)

    def wait_for(self, count: int, seconds: float) -> bool:
        """Wait until so many requests came in. Returns whether they did."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._asked) >= count, seconds)


def without_credentials(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    named = [(name.lower(), value) for name, value in headers]
    return {name: MASKED if name in _CREDENTIALS else value for name, value in named}
