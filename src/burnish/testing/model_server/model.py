"""The scripted model behind the server: a request becomes a response and a record. It touches no socket."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from burnish.contracts.json_text import JsonObject, read_object
from burnish.core.values import Value, replace
from burnish.testing.model_server.conversation import HttpFailure, ModelConversation, ModelReply, StreamEvent
from burnish.testing.model_server.formats.registry import Format, Route, route
from burnish.testing.model_server.scenario import Fault, ModelAnswer, Scenario
from burnish.testing.model_server.tools import answers_by_tool, calls_of

_CREDENTIALS = ("authorization", "x-api-key", "x-goog-api-key", "cookie")
MASKED = "…"
_MODELS = ("scripted",)


class Response(Value):
    status: int
    pieces: tuple[bytes, ...]
    stream: bool = False
    retry_after: float | None = None
    pause: float = 0.0
    """Seconds before each piece."""
    fault: Fault = Fault.NONE


def step_for(scenario: Scenario, conversation: ModelConversation) -> int | None:
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
    pieces = (
        [_line(event) for event in wire.events(reply)]
        if conversation.stream
        else [msgspec.json.encode(wire.whole(reply))]
    )
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
    return Response(status=status, pieces=(msgspec.json.encode(body),))


def _text(step: ModelAnswer, conversation: ModelConversation) -> str:
    """What is said. Words stand in for the tools of a client that offers none, such as when it asks for a title."""
    answer = "" if answers_by_tool(conversation) else step.answer
    unable = "There are no tools to call." if step.call and not conversation.tools else ""
    return step.say + answer or unable


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


class HttpRequest(Value):
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Model:
    """Answers every request by its scenario."""

    def __init__(self, scenarios: Mapping[str, Scenario], recorder: RequestLog) -> None:
        self.scenarios = scenarios
        self._recorder = recorder

    def respond(self, request: HttpRequest) -> Response:
        """The response to a request, which is recorded before anything is sent."""
        scenario, _, rest = request.target.partition("?")[0].lstrip("/").partition("/")
        asked = RecordedRequest(
            number=self._recorder.next_number(),
            method=request.method,
            path=f"/{rest}",
            scenario=scenario,
            status=200,
            headers=without_credentials(request.headers),
            body={},
        )
        asked, response = self._answered(asked, request.body)
        self._recorder.add(replace(asked, status=response.status))
        return response

    def _answered(self, asked: RecordedRequest, raw: bytes) -> tuple[RecordedRequest, Response]:
        if asked.method == "HEAD":  # a client checks that the server is there
            return asked, Response(status=200, pieces=())
        if asked.method == "GET" and asked.path.endswith("/models"):
            return asked, document(_model_list())
        found = route(asked.path)
        if asked.method != "POST" or found is None:
            return asked, document(_complaint(f"Nothing is answered at {asked.method} {asked.path}."), 404)
        if asked.scenario not in self.scenarios:
            known = ", ".join(sorted(self.scenarios))
            return asked, _refused(found, 404, f"There is no scenario '{asked.scenario}'. There are: {known}.")
        body = read_object(raw.decode("utf-8", errors="replace"))
        if body is None:
            return asked, _refused(found, 400, "The request is not a JSON object.")
        return self._played(asked, found, body)

    def _played(self, asked: RecordedRequest, found: Route, body: JsonObject) -> tuple[RecordedRequest, Response]:
        conversation = found.conversation(body)
        asked = replace(
            asked,
            format=found.name,
            model=conversation.model,
            turn=conversation.turn,
            stream=conversation.stream,
            tools=tuple(tool.name for tool in conversation.tools),
            text=conversation.text,
            body=body,
        )
        if found.counts:
            count = len(conversation.text) // 4
            return asked, document({"input_tokens": count, "totalTokens": count})
        scenario = self.scenarios[asked.scenario]
        index = step_for(scenario, conversation)
        if index is None:
            message = f"The scenario '{asked.scenario}' has no step for turn {conversation.turn} of this conversation."
            return asked, _refused(found, 400, message)
        return replace(asked, step=index), play(scenario[index], conversation, found.format, asked.number)


def _refused(found: Route, status: int, message: str) -> Response:
    return refusal(found.format, HttpFailure(status=status, message=message))


def _complaint(message: str) -> JsonObject:
    return {"error": {"message": message}}


def _model_list() -> JsonObject:
    """What all services give under the same path, each under its own keys."""
    return {
        "object": "list",
        "data": [{"id": name, "type": "model", "object": "model", "display_name": name} for name in _MODELS],
        "models": [{"name": f"models/{name}", "displayName": name} for name in _MODELS],
    }
