"""Gemini `generateContent` and `streamGenerateContent`: what Gemini CLI speaks."""

from collections.abc import Sequence

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

_KINDS = {401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}


def read(body: JsonObject) -> ModelConversation:
    """The model and whether to stream stand in the path, and are filled in by the router."""
    declared = [one for tool in objects(body.get("tools")) for one in objects(tool.get("functionDeclarations"))]
    return conversation_of(
        body,
        (content.get("role") == "model" for content in objects(body.get("contents"))),
        (described_tool(one.get("name"), one.get("parametersJsonSchema", one.get("parameters"))) for one in declared),
    )


def whole(reply: ModelReply) -> JsonObject:
    text: list[JsonObject] = [{"text": reply.text}] if reply.text else []
    return _response(reply, [*text, *_calls(reply)], last=True)


def events(reply: ModelReply) -> Sequence[StreamEvent]:
    texts: list[JsonObject] = [{"text": portion} for portion in reply.portions or [""]]
    *most, last = [*texts, *_calls(reply)]
    chunks = [*(_response(reply, [part], last=False) for part in most), _response(reply, [last], last=True)]
    return [StreamEvent(data=chunk) for chunk in chunks]


def error(failure: HttpFailure) -> JsonObject:
    status = _KINDS.get(failure.status, "INTERNAL" if failure.status >= 500 else "INVALID_ARGUMENT")
    body: JsonObject = {"code": failure.status, "message": failure.message, "status": status}
    if failure.retry_after is not None:
        delay = f"{failure.retry_after:g}s"
        body["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]
    return {"error": body}


def _response(reply: ModelReply, parts: Sequence[JsonObject], *, last: bool) -> JsonObject:
    content: JsonObject = {"role": "model", "parts": list[Json](parts)}
    candidate: JsonObject = {"content": content, "index": 0, **({"finishReason": "STOP"} if last else {})}
    usage: JsonObject = {
        "promptTokenCount": reply.tokens.input,
        "cachedContentTokenCount": reply.tokens.cached,
        "candidatesTokenCount": reply.tokens.output,
        "totalTokenCount": reply.tokens.input + reply.tokens.output,
    }
    return {
        "responseId": reply.id,
        "modelVersion": reply.model,
        "candidates": [candidate],
        **({"usageMetadata": usage} if last else {}),
    }


def _calls(reply: ModelReply) -> list[JsonObject]:
    return [{"functionCall": {"id": call.id, "name": call.name, "args": call.input}} for call in reply.calls]
