"""Anthropic Messages: what Claude Code speaks."""

from collections.abc import Sequence

import msgspec

from burnish.contracts.json_text import Json, JsonObject
from burnish.testing.model_server.conversation import (
    HttpFailure,
    ModelConversation,
    ModelReply,
    StreamEvent,
    conversation_of,
    described_tool,
    objects,
)

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def read(body: JsonObject) -> ModelConversation:
    return conversation_of(
        body,
        (message.get("role") == "assistant" for message in objects(body.get("messages"))),
        (described_tool(tool.get("name"), tool.get("input_schema")) for tool in objects(body.get("tools"))),
    )


def whole(reply: ModelReply) -> JsonObject:
    text: list[Json] = [{"type": "text", "text": reply.text}] if reply.text else []
    calls: list[Json] = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.input} for call in reply.calls
    ]
    return {
        "id": f"msg_{reply.id}",
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": [*text, *calls],
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": _usage(reply),
    }


def events(reply: ModelReply) -> Sequence[StreamEvent]:
    message = whole(reply)
    beginning: JsonObject = {**message, "content": [], "stop_reason": None}
    ending: JsonObject = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    return [
        _event("message_start", message=beginning),
        *(event for index, block in enumerate(objects(message["content"])) for event in _block(index, block, reply)),
        _event("message_delta", delta=ending, usage=message["usage"]),
        _event("message_stop"),
    ]


def error(failure: HttpFailure) -> JsonObject:
    kind = _KINDS.get(failure.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": failure.message}}


def _block(index: int, block: JsonObject, reply: ModelReply) -> list[StreamEvent]:
    deltas: list[JsonObject]
    if block["type"] == "text":
        empty: JsonObject = {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": portion} for portion in reply.portions]
    else:
        empty = {**block, "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": msgspec.json.encode(block["input"]).decode()}]
    return [
        _event("content_block_start", index=index, content_block=empty),
        *(_event("content_block_delta", index=index, delta=delta) for delta in deltas),
        _event("content_block_stop", index=index),
    ]


def _event(name: str, **data: Json) -> StreamEvent:
    return StreamEvent(name=name, data={"type": name, **data})


def _usage(reply: ModelReply) -> JsonObject:
    return {
        "input_tokens": reply.tokens.input - reply.tokens.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": reply.tokens.cached,
        "output_tokens": reply.tokens.output,
    }
