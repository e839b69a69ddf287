"""Which step is played is in the request alone: the turn is counted, and texts are looked for in what was said."""

import json
from typing import Any

import pytest

from burnish.testing.model_server.scenario import ModelAnswer
from burnish.testing.model_server.server import ModelServer, model_server
from tests.testing.model_server.asking import CLIENTS, Client, JsonMap, ask, hear, send, tool

WITH_EVERY_CLIENT = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
THREE_TURNS = {"count": (ModelAnswer(turn=1, say="one"), ModelAnswer(turn=2, say="two"), ModelAnswer(say="many"))}


@WITH_EVERY_CLIENT
def test_turns_are_counted_from_the_conversation(client: Client) -> None:
    with model_server(THREE_TURNS) as server:
        asked = [hear(server, "count", client, *["…"] * length).text for length in (1, 3, 5, 7, 3, 1)]
    assert asked == ["one", "two", "many", "many", "two", "one"]


def _turn(server: ModelServer, path: str, body: JsonMap) -> int:
    send(server, "POST", path, json.dumps(body).encode())
    return server.asked()[-1].turn


def test_what_a_model_did_in_one_go_is_one_turn(server: ModelServer) -> None:
    """Codex sends every call and every result as an item of its own."""
    answers: list[Any] = [
        {"role": "user", "content": "Hi"},
        {"type": "message", "role": "assistant", "content": "I look."},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "a", "name": "exec_command", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "b", "name": "apply_patch", "input": ""},
        {"type": "function_call_output", "call_id": "a", "output": ""},
        {"type": "custom_tool_call_output", "call_id": "b", "output": ""},
    ]
    assert _turn(server, "/clean/v1/responses", {"input": answers}) == 2
    again = [*answers, {"type": "function_call", "call_id": "c", "name": "exec_command", "arguments": "{}"}]
    output = {"type": "function_call_output", "call_id": "c", "output": ""}
    assert _turn(server, "/clean/v1/responses", {"input": [*again, output]}) == 3


def test_a_bare_prompt_is_the_first_turn(server: ModelServer) -> None:
    assert _turn(server, "/clean/v1/responses", {"input": "Hi"}) == 1
    assert _turn(server, "/clean/v1/messages", {}) == 1


@WITH_EVERY_CLIENT
def test_texts_are_looked_for_in_everything_that_was_said(client: Client) -> None:
    steps = (
        ModelAnswer(when=("a reviewer", "bad line", "I looked"), say="all three"),
        ModelAnswer(when=("bad line",), say="the line alone"),
        ModelAnswer(say="neither"),
    )
    with model_server({"when": steps}) as server:
        assert hear(server, "when", client, "Here is a bad line", "I looked", "And?").text == "all three"
        assert hear(server, "when", client, "Here is a bad line").text == "the line alone"
        assert hear(server, "when", client, "Here is a good line").text == "neither"


@WITH_EVERY_CLIENT
def test_descriptions_of_tools_are_not_something_said(client: Client) -> None:
    with model_server({"when": (ModelAnswer(when=("needle",), say="found"), ModelAnswer(say="not found"))}) as server:
        assert hear(server, "when", client, "Look", tools=[tool("needle")]).text == "not found"


@WITH_EVERY_CLIENT
def test_a_script_without_a_fitting_step_fails(client: Client) -> None:
    with model_server({"once": (ModelAnswer(turn=1, say="one"),)}) as server:
        response = ask(server, "once", client, ["Hi", "one", "And?"])
    assert response.status == 400
    message = "The scenario 'once' has no step for turn 2 of this conversation."
    assert response.json["error"]["message"] == message
