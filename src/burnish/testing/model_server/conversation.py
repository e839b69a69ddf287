"""What a client asked for and what the model replies, in the same words for every wire format."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from burnish.contracts.json_text import Json, JsonObject
from burnish.core.values import Value
from burnish.testing.model_server.scenario import ModelAnswer, TokenCounts

PORTION = 60
"""Characters in one piece of a stream, so that a text comes in several."""


class OfferedTool(Value):
    """A tool that the client lets the model call, and the names of its arguments."""

    name: str
    arguments: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    freeform: bool = False
    """It takes one text instead of arguments."""


class ModelConversation(Value):
    model: str
    turn: int
    """The number of the answer that is asked for, from 1."""
    text: str
    """Everything that was said so far, by whomever."""
    tools: tuple[OfferedTool, ...]
    stream: bool

    def fits(self, step: ModelAnswer) -> bool:
        return step.turn in (None, self.turn) and all(text in self.text for text in step.when)


class ToolCall(Value):
    """A tool that the model calls. `input` is a text for a tool that takes no arguments by name."""

    id: str
    name: str
    input: JsonObject | str


class ModelReply(Value):
    id: str
    model: str
    text: str
    calls: tuple[ToolCall, ...]
    tokens: TokenCounts

    @property
    def portions(self) -> list[str]:
        return [self.text[start : start + PORTION] for start in range(0, len(self.text), PORTION)]


class StreamEvent(Value):
    """One event of a stream. The formats that do not name their events leave the name empty."""

    name: str = ""
    data: JsonObject | str


class HttpFailure(Value):
    status: int
    message: str
    retry_after: float | None = None


def conversation_of(
    body: JsonObject, spoken_by_model: Iterable[bool], tools: Iterable[OfferedTool]
) -> ModelConversation:
    """A request, with what its format tells of its turns and tools."""
    return ModelConversation(
        model=text_of(body.get("model")),
        # What the model said in one go is one turn, however many items it is made of.
        turn=1 + sum(1 for by_model, _ in groupby(spoken_by_model) if by_model),
        # Every text but those that only describe tools.
        text="\n".join(_texts({key: value for key, value in body.items() if key != "tools"})),
        tools=tuple(tools),
        stream=body.get("stream") is True,
    )


def objects(value: Json) -> list[JsonObject]:
    """The objects of a list; clients send nothing else where a list of objects belongs."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_of(value: Json) -> str:
    return value if isinstance(value, str) else ""


def described_tool(name: Json, schema: Json, *, freeform: bool = False) -> OfferedTool:
    """A tool as the JSON Schema of its arguments describes it."""
    known = schema if isinstance(schema, dict) else {}
    properties, required = known.get("properties"), known.get("required")
    return OfferedTool(
        name=text_of(name),
        arguments=tuple(properties) if isinstance(properties, dict) else (),
        required=tuple(map(text_of, required)) if isinstance(required, list) else (),
        freeform=freeform,
    )


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
