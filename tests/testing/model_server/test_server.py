"""The server itself: many clients at once, answers that go wrong, an end that leaves nothing behind, and the record."""

import http.client
import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from burnish.testing.model_server.model import MASKED
from burnish.testing.model_server.scenario import Fault, ModelAnswer, ScenarioError
from burnish.testing.model_server.server import ModelServer, model_server
from tests.testing.model_server.asking import CLIENTS, SHELL, Client, ask, by_name, connect, hear, question, send

WITH_EVERY_CLIENT = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
CHAT = by_name("openai-chat")


@WITH_EVERY_CLIENT
@pytest.mark.parametrize("stream", [False, True])
def test_a_cut_answer_cannot_be_taken_for_a_whole_one(client: Client, server: ModelServer, *, stream: bool) -> None:
    with pytest.raises(http.client.IncompleteRead) as caught:
        ask(server, "cut", client, stream=stream)
    assert 0 < len(caught.value.partial) < 1_000


@WITH_EVERY_CLIENT
@pytest.mark.parametrize("stream", [False, True])
def test_a_malformed_answer_ends_well_and_cannot_be_read(client: Client, server: ModelServer, *, stream: bool) -> None:
    response = ask(server, "malformed", client, stream=stream)
    assert response.status == 200
    with pytest.raises(json.JSONDecodeError):
        _ = response.events if stream else response.json


def test_a_hang_sends_nothing_until_the_client_goes(server: ModelServer) -> None:
    connection = connect(server)
    connection.request("POST", f"/hang{CHAT.path(True)}", question(CHAT, ["Hi"], stream=True))
    assert server.wait_for(1)
    connection.sock.settimeout(0.1)
    with pytest.raises(TimeoutError):
        connection.sock.recv(1)
    connection.close()
    # The thread of the connection ends by itself, and the server answers others all the while.
    assert hear(server, "clean", CHAT).text


def test_a_stalled_answer_sends_its_first_half(server: ModelServer) -> None:
    connection = connect(server)
    connection.request("POST", f"/stalled{CHAT.path(True)}", question(CHAT, ["Hi"], stream=True))
    response = connection.getresponse()
    assert response.readline().startswith(b"data: ")
    connection.sock.settimeout(0.1)
    with pytest.raises(TimeoutError):
        response.read()
    connection.close()


def test_a_slow_answer_comes_in_pieces() -> None:
    step = ModelAnswer(say="word " * 100, pause=0.01)
    with model_server({"slow": (step,)}) as server:
        assert hear(server, "slow", CHAT, stream=True).text == step.say
        assert hear(server, "slow", CHAT).text == step.say


def test_the_end_does_not_wait_for_those_that_hang() -> None:
    """A hang, half an answer, a long pause, an idle connection: all open while the server ends."""
    before = set(threading.enumerate())
    with ExitStack() as clients:
        let_go = threading.Timer(20.0, clients.close)  # so that a server that does wait fails the test, and soon
        with model_server({"pause": (ModelAnswer(say="Later.", pause=40.0),)}) as server:
            for scenario in ("hang", "stalled", "pause"):
                connection = connect(server)
                clients.callback(connection.close)
                connection.request("POST", f"/{scenario}{CHAT.path(True)}", question(CHAT, ["Hi"], stream=True))
            idle = connect(server)
            clients.callback(idle.close)
            idle.request("HEAD", "/")
            idle.getresponse().read()
            assert server.wait_for(4)
            let_go.start()
        assert let_go.is_alive()
        let_go.cancel()
        let_go.join()
        assert idle.sock.recv(1) == b""
    assert set(threading.enumerate()) == before
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port_of(server))).close()


def port_of(server: ModelServer) -> int:
    return urlsplit(server.address).port or 0


def test_many_clients_at_once_get_their_own_answers() -> None:
    scenarios = {
        f"s{number}": (ModelAnswer(turn=1, say=f"one of {number}"), ModelAnswer(say=f"two of {number}"))
        for number in range(8)
    }
    with model_server(scenarios) as server, ThreadPoolExecutor(16) as pool:

        def talk(number: int) -> list[str]:
            client = CLIENTS[number % len(CLIENTS)]
            name = f"s{number % 8}"
            return [hear(server, name, client, *["Hi"] * length, stream=number % 2 == 0).text for length in (1, 3)]

        answers = list(pool.map(talk, range(64)))
        assert answers == [[f"one of {number % 8}", f"two of {number % 8}"] for number in range(64)]
        asked = server.asked()
    assert len(asked) == 128
    assert len({one.number for one in asked}) == 128


def test_a_connection_serves_several_requests(server: ModelServer) -> None:
    connection = connect(server)
    for stream in (True, False, True):
        connection.request("POST", f"/clean{CHAT.path(stream)}", question(CHAT, ["Hi"], stream=stream))
        response = connection.getresponse()
        assert (response.status, response.will_close) == (200, False)
        assert response.read()
    connection.close()


def test_requests_are_recorded_for_assertions(server: ModelServer) -> None:
    body = question(CHAT, ["Check this", "I looked", "And?"], [SHELL], stream=True)
    send(server, "POST", "/tool-calls/v1/chat/completions?key=secret", body, Authorization="Bearer secret")
    send(server, "GET", "/clean/v1/models")
    [asked] = server.asked("tool-calls")
    assert (asked.scenario, asked.path, asked.format) == ("tool-calls", "/v1/chat/completions", "openai-chat")
    assert (asked.model, asked.turn, asked.stream, asked.tools) == ("some-model", 2, True, ("Bash",))
    assert (asked.status, asked.step) == (200, 1)
    assert "Check this" in asked.text
    assert asked.body["model"] == "some-model"
    assert asked.headers["authorization"] == MASKED
    assert "secret" not in repr(server.asked())
    assert [one.scenario for one in server.asked()] == ["tool-calls", "clean"]


def test_a_request_that_fails_is_recorded_too(server: ModelServer) -> None:
    ask(server, "rate-limited", CHAT)
    ask(server, "no-such", CHAT)
    assert [(one.scenario, one.status, one.step) for one in server.asked()] == [
        ("rate-limited", 429, 0),
        ("no-such", 404, None),
    ]


def test_waiting_ends_when_the_request_comes(server: ModelServer) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(server.wait_for, 2, seconds=60.0)
        hear(server, "clean", CHAT)
        assert not waiting.done()
        hear(server, "clean", CHAT)
        assert waiting.result(timeout=20)


def test_waiting_for_a_request_that_does_not_come_ends(server: ModelServer) -> None:
    assert not server.wait_for(1, seconds=0.01)


def test_the_log_holds_a_line_for_each_request(tmp_path: Path) -> None:
    log = tmp_path / "asked.jsonl"
    with model_server(log=log) as server:
        hear(server, "clean", CHAT)
        hear(server, "findings", CHAT)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["number"], line["scenario"], line["format"]) for line in lines] == [
        (1, "clean", "openai-chat"),
        (2, "findings", "openai-chat"),
    ]


def test_own_scenarios_come_before_ready_made_ones() -> None:
    with model_server({"clean": (ModelAnswer(say="Mine."),), "mine": (ModelAnswer(say="Mine, too."),)}) as server:
        assert hear(server, "clean", CHAT).text == "Mine."
        assert hear(server, "mine", CHAT).text == "Mine, too."
        assert "findings" in server.scenarios


def test_a_scenario_that_cannot_be_played_is_refused_before_anything_is_served() -> None:
    with pytest.raises(ScenarioError, match=r"scenario\.both\.0\.status: An error has no answer\."):
        model_server({"both": (ModelAnswer(status=500, fault=Fault.CUT),)}).__enter__()
