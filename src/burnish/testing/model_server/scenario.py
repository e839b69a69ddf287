"""What the scripted model does: scenarios made of steps, from TOML. Nothing here knows a wire format."""

from enum import Enum
from importlib import resources
from pathlib import Path
from typing import TypeAlias

import msgspec

from burnish.contracts.json_text import read_object
from burnish.core.errors import BurnishError, ErrorKind, KeyPath, Violation
from burnish.core.values import Value
from burnish.settings.conversion import convert
from burnish.settings.documents import read_document, read_file, refuse


class ScenarioError(BurnishError):
    kind = ErrorKind.CONFIGURATION


class Fault(Enum):
    """How an answer is spoiled on its way."""

    NONE = ""
    CUT = "cut"
    """The connection is closed halfway."""
    MALFORMED = "malformed"
    """An event in the middle of the stream is no JSON, or the answer that is not streamed."""
    HANG = "hang"
    """Half of the answer, then silence until the connection is closed. Without an answer there is only silence."""


class Read(Value, tag_field="do", tag="read"):
    file: str


class Write(Value, tag_field="do", tag="write"):
    """Write a file, whatever it held before."""

    file: str
    text: str


class RunCommand(Value, tag_field="do", tag="run"):
    command: str


class NamedTool(Value, tag_field="do", tag="tool"):
    """Any tool of a client's, by its own name."""

    name: str
    input: str = "{}"
    """A JSON object."""


ScriptedToolUse: TypeAlias = Read | Write | RunCommand | NamedTool


class TokenCounts(Value):
    """What an answer is said to have used."""

    input: int = 100
    """All that went in, the cached ones among them."""
    cached: int = 10
    output: int = 20


class ModelAnswer(Value):
    """One answer of the model, and when it is given."""

    turn: int | None = None
    """The first answer in a conversation is turn 1."""
    when: tuple[str, ...] = ()
    """Texts that the conversation holds so far, in prompts, answers or results of tools."""

    pause: float = 0.0
    """Seconds before each piece of the answer."""
    status: int = 200
    """An HTTP error, from 400, takes the place of the answer."""
    retry_after: float | None = None
    say: str = ""
    answer: str = ""
    """A JSON object: through the client's tool for structured answers where it offers one, else as text."""
    call: tuple[ScriptedToolUse, ...] = ()
    fault: Fault = Fault.NONE
    usage: TokenCounts = TokenCounts()

    @property
    def silent(self) -> bool:
        """Whether the model says and does nothing."""
        return not (self.say or self.answer or self.call)


Scenario: TypeAlias = tuple[ModelAnswer, ...]
"""The first step that fits is played. Where none fits, the request fails: nothing is clean by default."""


class ModelScript(Value):
    """Scenarios by name, and a file that gets a line of JSON for each request."""

    scenario: dict[str, Scenario] = msgspec.field(default_factory=dict[str, Scenario])
    log: str = ""


def faults(script: ModelScript) -> tuple[Violation, ...]:
    """What cannot be played although its form is right."""
    return tuple(
        fault
        for name, steps in script.scenario.items()
        for fault in (
            *_name_faults(name, steps),
            *(one for index, step in enumerate(steps) for one in _step_faults(step, ("scenario", name, index))),
        )
    )


def _name_faults(name: str, steps: Scenario) -> list[Violation]:
    path = ("scenario", name)
    found: list[Violation] = []
    if not name.replace("-", "").isalnum() or not name.isascii():
        hint = "It is part of an address: use letters, digits and '-'."
        found.append(Violation(path=path, message=f"'{name}' cannot be the name of a scenario.", hint=hint))
    if not steps:
        found.append(Violation(path=path, message="The scenario has no steps.", hint="Add one."))
    return found


def _step_faults(step: ModelAnswer, path: KeyPath) -> list[Violation]:
    found: list[Violation] = []

    def refuse(key: str, message: str, hint: str) -> None:
        found.append(Violation(path=(*path, key), message=message, hint=hint))

    if step.turn is not None and step.turn < 1:
        refuse("turn", "There is no such turn.", "The first answer is turn 1.")
    if step.status != 200 and not 400 <= step.status <= 599:
        refuse("status", "It is not the status of an error.", "Errors are from 400 to 599; leave it out otherwise.")
    if step.status != 200 and not (step.silent and step.fault is Fault.NONE):
        refuse("status", "An error has no answer.", "Leave out 'say', 'answer', 'call' and 'fault', or the status.")
    if step.retry_after is not None and step.status == 200:
        refuse("retry_after", "Only an error names a time to wait.", "Set 'status', such as 429.")
    if step.answer and read_object(step.answer) is None:
        refuse("answer", "It is not a JSON object.", "Use 'say' for any other text.")
    for number, call in enumerate(step.call):
        if isinstance(call, NamedTool) and read_object(call.input) is None:
            found.append(
                Violation(
                    path=(*path, "call", number), message="'input' is not a JSON object.", hint="Write '{}' for none."
                )
            )
    return found


def ready_made() -> dict[str, Scenario]:
    """The scenarios that come with burnish."""
    file = resources.files("burnish.testing.model_server").joinpath("ready.toml")
    return _read(file.read_bytes(), "ready.toml").scenario


def load_script(path: Path) -> ModelScript:
    """Read a user's script. Raises `DocumentError` with every problem in it."""
    return _read(read_file(path), str(path))


def _read(raw: bytes, label: str) -> ModelScript:
    document = read_document(raw, label)
    script = convert(document, ModelScript)
    refuse(map(document.problem, faults(script)))
    return script
