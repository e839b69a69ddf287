"""OpenAI Chat Completions: what OpenCode and most other clients speak."""

from collections.abc import Sequence

import msgspec

from burnish.contracts.json_text import Json, JsonObject
from burnish.testing.model_server.conversation import (
    HttpFailure,
    ModelConversation,
    ModelReply,
    OfferedTool,
    StreamEvent,
    conversation_of,
    described_tool,
    objects,
)

CREATED = 1_700_000_000
"""The same time in every answer, so that a repeat is a repeat."""

_KINDS = {401: "invalid_api_key", 429: "rate_limit_exceeded"}


def read(body: JsonObject) -> ModelConversation:
    return conversation_of(
        body,
        (message.get("role") == "assistant" for message in objects(body.get("messages"))),
        (_tool(tool.get("function")) for tool in objects(body.get("tools"))),
    )


def whole(reply: ModelReply) -> JsonObject:
    message: JsonObject = {"role": "assistant", "content": reply.text}
    if reply.calls:
        message["tool_calls"] = _calls(reply)
    choice: JsonObject = {"index": 0, "message": message, "finish_reason": _finish(reply)}
    return {**_frame(reply, "chat.completion"), "choices": [choice], "usage": _usage(reply)}


def events(reply: ModelReply) -> Sequence[StreamEvent]:
    frame = _frame(reply, "chat.completion.chunk")
    calls: list[Json] = [{"index": index, **call} for index, call in enumerate(objects(_calls(reply)))]
    deltas: list[Json] = [{"role": "assistant", "content": ""}, *({"content": text} for text in reply.portions)]
    if calls:
        deltas.append({"tool_calls": calls})
    chunks: list[Json] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    chunks.append({"index": 0, "delta": {}, "finish_reason": _finish(reply)})
    return [
        *(StreamEvent(data={**frame, "choices": [chunk]}) for chunk in chunks),
        StreamEvent(data={**frame, "choices": [], "usage": _usage(reply)}),
        StreamEvent(data="[DONE]"),
    ]


def error(failure: HttpFailure) -> JsonObject:
    """The same in both formats of this service."""
    kind = _KINDS.get(failure.status, "server_error" if failure.status >= 500 else "invalid_request_error")
    return {"error": {"message": failure.message, "type": kind, "param": None, "code": kind}}


def _tool(function: Json) -> OfferedTool:
    known = function if isinstance(function, dict) else {}
    return described_tool(known.get("name"), known.get("parameters"))


def _frame(reply: ModelReply, kind: str) -> JsonObject:
    return {"id": f"chatcmpl-{reply.id}", "object": kind, "created": CREATED, "model": reply.model}


def _calls(reply: ModelReply) -> list[Json]:
    return [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": msgspec.json.encode(call.input).decode()},
        }
        for call in reply.calls
    ]


def _finish(reply: ModelReply) -> str:
    return "tool_calls" if reply.calls else "stop"


def _usage(reply: ModelReply) -> JsonObject:
    return {
        "prompt_tokens": reply.tokens.input,
        "completion_tokens": reply.tokens.output,
        "total_tokens": reply.tokens.input + reply.tokens.output,
        "prompt_tokens_details": {"cached_tokens": reply.tokens.cached},
    }
