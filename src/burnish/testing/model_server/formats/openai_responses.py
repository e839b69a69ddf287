"""OpenAI Responses: what Codex speaks."""

from collections.abc import Sequence

import msgspec

from burnish.contracts.json_text import Json, JsonObject
from burnish.testing.model_server.conversation import (
    ModelConversation,
    ModelReply,
    StreamEvent,
    ToolCall,
    conversation_of,
    described_tool,
    objects,
    text_of,
)
from burnish.testing.model_server.formats import openai_chat

error = openai_chat.error


def read(body: JsonObject) -> ModelConversation:
    tools = [tool for tool in objects(body.get("tools")) if tool.get("type") in ("function", "custom")]
    return conversation_of(
        body,
        map(_by_model, objects(body.get("input"))),
        (
            described_tool(tool.get("name"), tool.get("parameters"), freeform=tool.get("type") == "custom")
            for tool in tools
        ),
    )


def _by_model(item: JsonObject) -> bool:
    kind = text_of(item.get("type"))
    return item.get("role") == "assistant" or kind == "reasoning" or kind.endswith("_call")


def whole(reply: ModelReply) -> JsonObject:
    content: Json = [{"type": "output_text", "text": reply.text, "annotations": []}]
    message: JsonObject = {
        "type": "message",
        "id": f"msg_{reply.id}",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }
    output: list[Json] = [*([message] if reply.text else []), *(_call(call) for call in reply.calls)]
    return {
        "id": f"resp_{reply.id}",
        "object": "response",
        "created_at": openai_chat.CREATED,
        "model": reply.model,
        "status": "completed",
        "output": output,
        "usage": {
            "input_tokens": reply.tokens.input,
            "input_tokens_details": {"cached_tokens": reply.tokens.cached},
            "output_tokens": reply.tokens.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": reply.tokens.input + reply.tokens.output,
        },
    }


def events(reply: ModelReply) -> Sequence[StreamEvent]:
    response = whole(reply)
    beginning: JsonObject = {**response, "status": "in_progress", "output": [], "usage": None}
    items = [event for index, item in enumerate(objects(response["output"])) for event in _item(index, item, reply)]
    named = [("response.created", {"response": beginning}), *items, ("response.completed", {"response": response})]
    return [
        StreamEvent(name=name, data={"type": name, "sequence_number": number, **data})
        for number, (name, data) in enumerate(named)
    ]


def _item(index: int, item: JsonObject, reply: ModelReply) -> list[tuple[str, JsonObject]]:
    is_message = item["type"] == "message"
    added: JsonObject = {**item, "status": "in_progress", **({"content": []} if is_message else {})}
    place: JsonObject = {"item_id": item["id"], "output_index": index, "content_index": 0}
    deltas = reply.portions if is_message else []
    return [
        ("response.output_item.added", {"output_index": index, "item": added}),
        *(("response.output_text.delta", {**place, "delta": delta}) for delta in deltas),
        ("response.output_item.done", {"output_index": index, "item": item}),
    ]


def _call(call: ToolCall) -> JsonObject:
    common: JsonObject = {"id": f"item_{call.id}", "call_id": call.id, "name": call.name, "status": "completed"}
    if isinstance(call.input, str):
        return {"type": "custom_tool_call", **common, "input": call.input}
    return {"type": "function_call", **common, "arguments": msgspec.json.encode(call.input).decode()}
