"""From a request to the bytes that answer it: which step is played, and how it looks on the wire. It sends nothing."""

from collections.abc import Sequence

import msgspec

from burnish.contracts.json_text import JsonObject
from burnish.core.values import Value
from burnish.testing.model_server.conversation import HttpFailure, ModelConversation, ModelReply, StreamEvent
from burnish.testing.model_server.formats.interface import Format
from burnish.testing.model_server.scenario import Fault, ModelAnswer, Scenario
from burnish.testing.model_server.tools import answers_by_tool, calls_of


class Response(Value):
    """What is sent, piece by piece."""

    status: int
    pieces: tuple[bytes, ...]
    stream: bool = False
    retry_after: float | None = None
    pause: float = 0.0
    """Seconds before each piece."""
    fault: Fault = Fault.NONE


def step_for(scenario: Scenario, conversation: ModelConversation) -> int | None:
    """The index of the step that is played."""
    return next((index for index, step in enumerate(scenario) if conversation.fits(step)), None)


def play(step: ModelAnswer, conversation: ModelConversation, wire: Format, number: int) -> Response:
    """A step as a response. The number tells this request from all others."""
    if step.status != 200:
        message = f"The script answers with {step.status}."
        return refusal(wire, HttpFailure(status=step.status, message=message, retry_after=step.retry_after))
    identity = f"{conversation.turn}_{number}"
    reply = ModelReply(
        id=identity,
        model=conversation.model,
        text=_text(step, conversation),
        calls=calls_of(step, conversation, identity),
        tokens=step.usage,
    )
    pieces = _encoded(wire.events(reply)) if conversation.stream else [msgspec.json.encode(wire.whole(reply))]
    return Response(
        status=200,
        pieces=() if step.silent and step.fault is Fault.HANG else _spoiled(pieces, step.fault),
        stream=conversation.stream,
        pause=step.pause,
        fault=step.fault,
    )


def refusal(wire: Format, failure: HttpFailure) -> Response:
    """An error in the words of a format."""
    body = msgspec.json.encode(wire.error(failure))
    return Response(status=failure.status, pieces=(body,), retry_after=failure.retry_after)


def document(body: JsonObject, status: int = 200) -> Response:
    """Anything that is no answer of a model."""
    return Response(status=status, pieces=(msgspec.json.encode(body),))


def _text(step: ModelAnswer, conversation: ModelConversation) -> str:
    """What is said. Words stand in for the tools of a client that offers none, such as when it asks for a title."""
    answer = "" if answers_by_tool(conversation) else step.answer
    unable = "There are no tools to call." if step.call and not conversation.tools else ""
    return step.say + answer or unable


def _encoded(events: Sequence[StreamEvent]) -> list[bytes]:
    return [_line(event) for event in events]


def _line(event: StreamEvent) -> bytes:
    data = event.data.encode() if isinstance(event.data, str) else msgspec.json.encode(event.data)
    name = f"event: {event.name}\n".encode() if event.name else b""
    return name + b"data: " + data + b"\n\n"


def _spoiled(pieces: Sequence[bytes], fault: Fault) -> tuple[bytes, ...]:
    """What is sent of an answer."""
    middle = len(pieces) // 2
    before, piece, after = pieces[:middle], pieces[middle], pieces[middle + 1 :]
    match fault:
        case Fault.NONE:
            return tuple(pieces)
        case Fault.MALFORMED:
            # The event keeps its name: clients leave out what they do not know.
            return (*before, piece.rstrip()[:-2] + b"\n\n", *after)
        case Fault.CUT | Fault.HANG:
            return (*before, piece[: len(piece) // 2])
