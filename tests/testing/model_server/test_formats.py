"""Every wire format says the same thing, whole and streamed, to a client that knows nothing of the server."""

import json
import re

import pytest

from burnish.testing.model_server.scenario import ModelAnswer, NamedTool, RunCommand, TokenCounts
from burnish.testing.model_server.server import ModelServer, model_server
from tests.testing.model_server.asking import CLIENTS, SHELL, Client, Heard, ask, by_name, every_form, hear, send, tool

IN_EVERY_FORM = pytest.mark.parametrize(
    ("client", "stream"), list(every_form()), ids=lambda value: value.name if isinstance(value, Client) else ""
)
WITH_EVERY_CLIENT = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
LONG = 'A review with ümlauts and "quotes" and\nlines, longer than any one piece of a stream. ' * 5


@IN_EVERY_FORM
def test_text_and_tokens_arrive(client: Client, *, stream: bool) -> None:
    with model_server(
        {"long": (ModelAnswer(say=LONG, usage=TokenCounts(input=1_000, cached=400, output=7)),)}
    ) as server:
        heard = hear(server, "long", client, stream=stream)
    assert heard == Heard(text=LONG, calls=[], tokens=(1_000, 400, 7))


@IN_EVERY_FORM
def test_calls_arrive_beside_text(client: Client, *, stream: bool) -> None:
    calls = (RunCommand(command="ls 'a b'"), NamedTool(name="Agent", input='{"prompt": "look", "depth": 2}'))
    with model_server({"both": (ModelAnswer(say="I look.", call=calls),)}) as server:
        heard = hear(server, "both", client, tools=[SHELL], stream=stream)
    assert heard.text == "I look."
    assert heard.calls == [("Bash", {"command": "ls 'a b'"}), ("Agent", {"prompt": "look", "depth": 2})]


@IN_EVERY_FORM
def test_an_answer_is_text_where_no_tool_takes_it(client: Client, server: ModelServer, *, stream: bool) -> None:
    heard = hear(server, "clean", client, tools=[SHELL], stream=stream)
    assert json.loads(heard.text)["issues"] == []
    assert heard.calls == []


@IN_EVERY_FORM
def test_an_answer_goes_through_the_tool_that_takes_it(client: Client, server: ModelServer, *, stream: bool) -> None:
    heard = hear(server, "clean", client, tools=[tool("StructuredOutput", "issues")], stream=stream)
    assert heard.text == ""
    [(name, answer)] = heard.calls
    assert name == "StructuredOutput"
    assert answer["summary"]["verdict"] == "clean"


@IN_EVERY_FORM
def test_an_empty_answer_is_complete(client: Client, server: ModelServer, *, stream: bool) -> None:
    assert hear(server, "empty", client, stream=stream) == Heard(text="", calls=[], tokens=(100, 10, 20))


@IN_EVERY_FORM
def test_a_client_without_tools_gets_words_instead_of_calls(
    client: Client, server: ModelServer, *, stream: bool
) -> None:
    heard = hear(server, "endless", client, stream=stream)
    assert heard.calls == []
    assert heard.text == "There are no tools to call."


@WITH_EVERY_CLIENT
def test_calls_have_names_of_their_own(client: Client) -> None:
    """The same step twice in one conversation, and two calls in one step: four different names."""
    with model_server({"two": (ModelAnswer(call=(RunCommand(command="a"), RunCommand(command="b"))),)}) as server:
        bodies = [ask(server, "two", client, said, tools=[SHELL]).body for said in (["Hi"], ["Hi", "…", "And?"])]
    names = {name for body in bodies for name in re.findall(rb"call_\d+_\d+_\d+", body)}
    assert len(names) == 4


@WITH_EVERY_CLIENT
@pytest.mark.parametrize(("scenario", "status"), [("unauthorised", 401), ("rate-limited", 429), ("server-error", 500)])
def test_errors_have_their_status_and_say_why(client: Client, scenario: str, status: int, server: ModelServer) -> None:
    response = ask(server, scenario, client, stream=True)
    assert response.status == status
    assert response.json["error"]["message"] == f"The script answers with {status}."
    assert response.headers.get("retry-after") == ("20" if status == 429 else None)


def test_each_service_names_errors_in_its_own_words(server: ModelServer) -> None:
    errors = {client.name: ask(server, "rate-limited", client).json for client in CLIENTS}
    assert errors["anthropic-messages"]["type"] == "error"
    assert errors["anthropic-messages"]["error"]["type"] == "rate_limit_error"
    assert errors["openai-responses"]["error"]["code"] == "rate_limit_exceeded"
    assert errors["openai-chat"]["error"]["code"] == "rate_limit_exceeded"
    assert errors["gemini"]["error"]["status"] == "RESOURCE_EXHAUSTED"
    assert errors["gemini"]["error"]["details"][0]["retryDelay"] == "20s"


def test_a_stream_has_the_form_that_clients_expect(server: ModelServer) -> None:
    for client in CLIENTS:
        response = ask(server, "plain-text", client, stream=True)
        assert response.headers["content-type"] == "text/event-stream"
        names = [line[7:] for line in response.body.decode().splitlines() if line.startswith("event: ")]
        assert names == [event["type"] for event in response.events if "type" in event]
        assert (response.data[-1] == "[DONE]") == (client.name == "openai-chat")


def test_tokens_are_counted_for_clients_that_ask(server: ModelServer) -> None:
    body = json.dumps({"messages": [{"role": "user", "content": "x" * 400}]}).encode()
    assert send(server, "POST", "/clean/v1/messages/count_tokens", body).json["input_tokens"] > 100
    gemini = json.dumps({"contents": [{"role": "user", "parts": [{"text": "x" * 400}]}]}).encode()
    assert send(server, "POST", "/clean/v1beta/models/m:countTokens", gemini).json["totalTokens"] > 100


def test_models_are_listed_and_somebody_is_there(server: ModelServer) -> None:
    assert [model["id"] for model in send(server, "GET", "/clean/v1/models").json["data"]] == ["scripted"]
    assert [one["name"] for one in send(server, "GET", "/clean/v1beta/models?pageSize=9").json["models"]] == [
        "models/scripted"
    ]
    assert send(server, "HEAD", "/clean").status == 200


def test_what_is_not_known_is_refused_with_a_reason(server: ModelServer) -> None:
    chat = by_name("openai-chat")
    unknown = ask(server, "no-such", chat)
    assert unknown.status == 404
    assert "There is no scenario 'no-such'. There are: clean, cut," in unknown.json["error"]["message"]
    elsewhere = send(server, "POST", "/clean/v1/embeddings", b"{}")
    assert (elsewhere.status, elsewhere.json["error"]["message"]) == (
        404,
        "Nothing is answered at POST /v1/embeddings.",
    )
    assert send(server, "GET", "/clean/v1/messages").status == 404
    broken = send(server, "POST", "/clean/v1/messages", b'{"messages": [')
    assert (broken.status, broken.json["error"]["message"]) == (400, "The request is not a JSON object.")
