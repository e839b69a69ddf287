"""The scripted model behind the server: a request becomes a response and a record. It touches no socket."""

from collections.abc import Mapping

from burnish.contracts.json_text import JsonObject, read_object
from burnish.core.values import Value, replace
from burnish.testing.model_server.conversation import HttpFailure
from burnish.testing.model_server.formats.registry import RequestKind, Route, route
from burnish.testing.model_server.playing import Response, document, play, refusal, step_for
from burnish.testing.model_server.recording import RecordedRequest, RequestLog, without_credentials
from burnish.testing.model_server.scenario import Scenario

_MODELS = ("scripted",)


class HttpRequest(Value):
    """A request as it came in."""

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
        if found.wanted is RequestKind.COUNT:
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
