"""What is particular to one client, as data and small functions. `burnish.agents.clients.driver` does the rest."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import msgspec

from burnish.agents.interface import Request
from burnish.agents.pricing import Tokens
from burnish.contracts.json_text import JsonObject
from burnish.core.reviews import Failure
from burnish.core.values import Value
from burnish.settings.agent_kinds import AgentKind
from burnish.system.process import Finished

Environment = Mapping[str, str]


class Report(Value):
    """What a client's stream says beside the answer. Whether the process agrees is for the driver to see."""

    ended: bool = False
    """The event came that ends a complete stream, and it says that all went well."""
    contradiction: bool = False
    """Two such events came, and they differ."""
    error: str = ""
    """Why there is no answer, in the client's words."""
    status: int | None = None
    """The HTTP status that the service refused with."""
    refusal: str = ""
    """Why it would not go on: a limit that it was given and reached, or the model's own refusal."""
    failure: Failure | None = None
    """Where the stream itself names the kind."""
    answer: str | None = None
    """The final message, where the stream is not one that `burnish.contracts.streams` knows."""
    pause: float | None = None
    """How long the service asked to wait, in seconds."""
    session: str = ""
    tokens: dict[str, Tokens] = msgspec.field(default_factory=dict[str, Tokens])
    """By model; under the empty name where the client does not say which."""
    cost_usd: float | None = None
    """None where the client does not say."""


class Step(Value):
    """What one step of the model used up, told while the client is still at work."""

    name: str
    model: str = ""
    tokens: Tokens
    cost_usd: float | None = None


def _says_nothing(record: JsonObject) -> Step | None:
    del record


def _nothing_before(request: Request) -> tuple[str, ...]:
    del request
    return ()


class Specification(NamedTuple):
    """One client."""

    kind: AgentKind
    name: str
    """Of its program."""
    bundled: tuple[str, str]
    """A Python package that brings the program, and where it lies inside; empty where there is none."""
    login: tuple[tuple[str, str], ...]
    """Files of the user's home that hold a login, and their places below the client's own home."""
    login_command: str
    can_resume: bool
    structured: bool
    """Whether it holds the model to a schema, and marks an answer that keeps to it."""
    arguments: Callable[[Request], tuple[str, ...]]
    variables: Callable[[Request], dict[str, str]]
    files: Callable[[Request, Environment], dict[str, bytes]]
    telling: tuple[bytes, ...]
    """Texts of which a line must hold one to be worth reading: most lines are long, and only matter to the model."""
    report: Callable[[Iterable[JsonObject], Finished], Report]
    activity: Callable[[JsonObject], str]
    step: Callable[[JsonObject], Step | None] = _says_nothing
    """Many clients say only at their end what they used up."""
    is_cumulative: bool = False
    """Whether a session that goes on counts what it used up before, too."""
    before: Callable[[Request], tuple[str, ...]] = _nothing_before
    """What stands before the client on its command line: a program of ours that starts it, where there is one."""
    outside: bool = False
    """Whether a reviewer must not be started in the clone, because the client would run what it finds there."""
