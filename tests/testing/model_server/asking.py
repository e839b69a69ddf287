"""What the tests share: requests as clients send them, and answers as clients read them, in every wire format.

The readers are written from the clients' side, and use nothing of the server's own code.
"""

import http.client
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from burnish.core.values import Value
from burnish.testing.model_server.server import ModelServer

JsonMap = dict[str, Any]


class Heard(Value):
    """An answer as a client understands it: text, calls as (name, input), tokens as (input, cached, output)."""

    text: str
    calls: list[tuple[str, Any]]
    tokens: tuple[int, int, int]


class Client(Value):
    """A client of one wire format."""

    name: str
    path: Callable[[bool], str]
    body: Callable[[Sequence[str], Sequence[JsonMap]], JsonMap]
    """From what was said in turn, a person first, and the tools as names with JSON Schemas."""
    whole: Callable[[JsonMap], Heard]
    stream: Callable[[list[JsonMap]], Heard]


class Http(Value):
    """An HTTP response that was read to its end."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> JsonMap:
        return json.loads(self.body)

    @property
    def events(self) -> list[JsonMap]:
        return [json.loads(data) for data in self.data if data != "[DONE]"]

    @property
    def data(self) -> list[str]:
        return [line[6:] for line in self.body.decode().splitlines() if line.startswith("data: ")]


def connect(server: ModelServer) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", urlsplit(server.address).port or 0, timeout=30)


def send(server: ModelServer, method: str, path: str, body: bytes = b"", **headers: str) -> Http:
    connection = connect(server)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        names = {name.lower(): value for name, value in response.getheaders()}
        return Http(status=response.status, headers=names, body=response.read())
    finally:
        connection.close()


def question(client: Client, said: Sequence[str], tools: Sequence[JsonMap] = (), *, stream: bool = False) -> bytes:
    extra = {} if client.name == "gemini" else {"stream": stream, "model": "some-model"}
    return json.dumps({**client.body(said, tools), **extra}).encode()


def ask(
    server: ModelServer,
    scenario: str,
    client: Client,
    said: Sequence[str] = ("Hello",),
    *,
    tools: Sequence[JsonMap] = (),
    stream: bool = False,
) -> Http:
    return send(server, "POST", f"/{scenario}{client.path(stream)}", question(client, said, tools, stream=stream))


def hear(server: ModelServer, scenario: str, client: Client, *said: str, **options: Any) -> Heard:
    response = ask(server, scenario, client, said or ("Hello",), **options)
    assert response.status == 200, response.body
    return client.stream(response.events) if options.get("stream") else client.whole(response.json)


def tool(name: str, *arguments: str, required: Sequence[str] = ()) -> JsonMap:
    """A tool as this module's clients are told of it."""
    properties = {argument: {"type": "string"} for argument in arguments}
    return {"name": name, "schema": {"type": "object", "properties": properties, "required": list(required)}}


SHELL = tool("Bash", "command", required=["command"])


def _messages(said: Sequence[str]) -> list[JsonMap]:
    return [{"role": "assistant" if place % 2 else "user", "content": text} for place, text in enumerate(said)]


def _anthropic_body(said: Sequence[str], tools: Sequence[JsonMap]) -> JsonMap:
    listed = [{"name": one["name"], "description": "Does it.", "input_schema": one["schema"]} for one in tools]
    return {"max_tokens": 100, "system": "You are a reviewer.", "messages": _messages(said), "tools": listed}


def _anthropic_whole(message: JsonMap) -> Heard:
    usage = message["usage"]
    cached = usage["cache_read_input_tokens"]
    calls = [(block["name"], block["input"]) for block in message["content"] if block["type"] == "tool_use"]
    assert message["stop_reason"] == ("tool_use" if calls else "end_turn")
    return Heard(
        text="".join(block["text"] for block in message["content"] if block["type"] == "text"),
        calls=calls,
        tokens=(usage["input_tokens"] + cached, cached, usage["output_tokens"]),
    )


def _anthropic_stream(events: list[JsonMap]) -> Heard:
    message: JsonMap = {}
    for event in events:
        match event["type"]:
            case "message_start":
                message = event["message"]
            case "content_block_start":
                assert event["index"] == len(message["content"])
                message["content"].append({**event["content_block"], "partial": ""})
            case "content_block_delta":
                block, delta = message["content"][event["index"]], event["delta"]
                block["text"] = block.get("text", "") + delta.get("text", "")
                block["partial"] += delta.get("partial_json", "")
            case "content_block_stop":
                block = message["content"][event["index"]]
                block["input"] = json.loads(block["partial"] or "{}")
            case "message_delta":
                message = {**message, **event["delta"], "usage": event["usage"]}
            case _:
                assert event["type"] == "message_stop"
                assert event is events[-1]
    return _anthropic_whole(message)


def _responses_body(said: Sequence[str], tools: Sequence[JsonMap]) -> JsonMap:
    listed = [{"type": "function", "name": one["name"], "parameters": one["schema"]} for one in tools]
    return {"instructions": "You are a reviewer.", "input": _messages(said), "tools": listed}


def _responses_whole(response: JsonMap) -> Heard:
    usage, output = response["usage"], response["output"]
    assert response["status"] == "completed"
    return Heard(
        text="".join(part["text"] for item in output if item["type"] == "message" for part in item["content"]),
        calls=[(item["name"], json.loads(item["arguments"])) for item in output if item["type"] == "function_call"],
        tokens=(usage["input_tokens"], usage["input_tokens_details"]["cached_tokens"], usage["output_tokens"]),
    )


def _responses_stream(events: list[JsonMap]) -> Heard:
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    first, last = events[0], events[-1]
    assert (first["type"], last["type"]) == ("response.created", "response.completed")
    heard = _responses_whole(last["response"])
    assert "".join(event["delta"] for event in events if event["type"].endswith("text.delta")) == heard.text
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert done == last["response"]["output"]
    return heard


def _chat_body(said: Sequence[str], tools: Sequence[JsonMap]) -> JsonMap:
    listed = [{"type": "function", "function": {"name": one["name"], "parameters": one["schema"]}} for one in tools]
    return {"messages": [{"role": "system", "content": "You are a reviewer."}, *_messages(said)], "tools": listed}


def _chat_whole(completion: JsonMap) -> Heard:
    usage, choice = completion["usage"], completion["choices"][0]
    called = [call["function"] for call in choice["message"].get("tool_calls", [])]
    assert choice["finish_reason"] == ("tool_calls" if called else "stop")
    return Heard(
        text=choice["message"]["content"],
        calls=[(function["name"], json.loads(function["arguments"])) for function in called],
        tokens=(usage["prompt_tokens"], usage["prompt_tokens_details"]["cached_tokens"], usage["completion_tokens"]),
    )


def _chat_stream(chunks: list[JsonMap]) -> Heard:
    *most, last = chunks
    choices = [chunk["choices"][0] for chunk in most]
    calls = [call for choice in choices for call in choice["delta"].get("tool_calls", [])]
    assert [call["index"] for call in calls] == list(range(len(calls)))
    message = {"content": "".join(choice["delta"].get("content", "") for choice in choices), "tool_calls": calls}
    assert choices[0]["delta"]["role"] == "assistant"
    choice = {"message": message, "finish_reason": choices[-1]["finish_reason"]}
    return _chat_whole({"choices": [choice], "usage": last["usage"]})


def _gemini_body(said: Sequence[str], tools: Sequence[JsonMap]) -> JsonMap:
    contents = [
        {"role": "model" if place % 2 else "user", "parts": [{"text": text}]} for place, text in enumerate(said)
    ]
    declared = [{"name": one["name"], "parametersJsonSchema": one["schema"]} for one in tools]
    system = {"parts": [{"text": "You are a reviewer."}]}
    return {
        "systemInstruction": system,
        "contents": contents,
        "tools": [{"functionDeclarations": declared}] if declared else [],
    }


def _gemini_whole(response: JsonMap) -> Heard:
    return _gemini_stream([response])


def _gemini_stream(responses: list[JsonMap]) -> Heard:
    *most, last = responses
    assert not any("usageMetadata" in response or "finishReason" in response["candidates"][0] for response in most)
    assert last["candidates"][0]["finishReason"] == "STOP"
    parts = [part for response in responses for part in response["candidates"][0]["content"]["parts"]]
    usage, called = last["usageMetadata"], [part["functionCall"] for part in parts if "functionCall" in part]
    return Heard(
        text="".join(part.get("text", "") for part in parts),
        calls=[(call["name"], call["args"]) for call in called],
        tokens=(usage["promptTokenCount"], usage["cachedContentTokenCount"], usage["candidatesTokenCount"]),
    )


def _gemini_path(stream: bool) -> str:
    return "/v1beta/models/some-model:" + ("streamGenerateContent?alt=sse" if stream else "generateContent")


CLIENTS = (
    Client(
        name="anthropic-messages",
        path=lambda _: "/v1/messages?beta=true",
        body=_anthropic_body,
        whole=_anthropic_whole,
        stream=_anthropic_stream,
    ),
    Client(
        name="openai-responses",
        path=lambda _: "/v1/responses",
        body=_responses_body,
        whole=_responses_whole,
        stream=_responses_stream,
    ),
    Client(
        name="openai-chat",
        path=lambda _: "/v1/chat/completions",
        body=_chat_body,
        whole=_chat_whole,
        stream=_chat_stream,
    ),
    Client(
        name="gemini",
        path=_gemini_path,
        body=_gemini_body,
        whole=_gemini_whole,
        stream=_gemini_stream,
    ),
)


def by_name(name: str) -> Client:
    return next(client for client in CLIENTS if client.name == name)


def every_form() -> Iterator[tuple[Client, bool]]:
    """Each format, whole and streamed."""
    return ((client, stream) for client in CLIENTS for stream in (False, True))
