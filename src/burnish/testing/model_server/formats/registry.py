"""From a path to what it asks for: the explicit list of what the server answers."""

import re
from enum import Enum

from burnish.contracts.json_text import JsonObject
from burnish.core.values import Value, replace
from burnish.testing.model_server.conversation import ModelConversation
from burnish.testing.model_server.formats import anthropic, gemini, openai_chat, openai_responses
from burnish.testing.model_server.formats.interface import Format

FORMATS: dict[str, Format] = {
    "anthropic-messages": anthropic,
    "openai-responses": openai_responses,
    "openai-chat": openai_chat,
    "gemini": gemini,
}


class RequestKind(Enum):
    """What a client wants of a format."""

    ANSWER = "answer"
    COUNT = "count"
    """The number of tokens in a conversation."""


class Route(Value):
    """Where a path leads."""

    name: str
    """The format, one of `FORMATS`."""
    wanted: RequestKind
    model: str = ""
    stream: bool = False
    """The path itself asks for a stream, and names the model."""

    @property
    def format(self) -> Format:
        return FORMATS[self.name]

    def conversation(self, body: JsonObject) -> ModelConversation:
        read = self.format.read(body)
        return replace(read, model=self.model, stream=self.stream) if self.model else read


_PLAIN: dict[str, tuple[str, RequestKind]] = {
    "/messages": ("anthropic-messages", RequestKind.ANSWER),
    "/messages/count_tokens": ("anthropic-messages", RequestKind.COUNT),
    "/responses": ("openai-responses", RequestKind.ANSWER),
    "/chat/completions": ("openai-chat", RequestKind.ANSWER),
}
_GEMINI = re.compile(r"/models/(?P<model>[^/:]+):(?P<method>generateContent|streamGenerateContent|countTokens)")


def route(path: str) -> Route | None:
    """Where a path below a scenario leads, with or without the version that services begin it with."""
    path = re.sub(r"^/v\d+(?:alpha|beta)?\d*(?=/)", "", path)
    found = _PLAIN.get(path)
    if found is not None:
        return Route(name=found[0], wanted=found[1])
    match = _GEMINI.fullmatch(path)
    if match is None:
        return None
    wanted = RequestKind.COUNT if match["method"] == "countTokens" else RequestKind.ANSWER
    stream = match["method"] == "streamGenerateContent"
    return Route(name="gemini", wanted=wanted, model=match["model"], stream=stream)
