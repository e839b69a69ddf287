"""What the server needs of a wire format, and from a path to its format: the explicit list of what is answered."""

import re
from collections.abc import Sequence
from typing import Protocol

from burnish.contracts.json_text import JsonObject
from burnish.core.values import Value, replace
from burnish.testing.model_server.conversation import HttpFailure, ModelConversation, ModelReply, StreamEvent
from burnish.testing.model_server.formats import anthropic, gemini, openai_chat, openai_responses


class Format(Protocol):
    """A wire format; each module beside this one is one."""

    def read(self, body: JsonObject) -> ModelConversation: ...

    def whole(self, reply: ModelReply) -> JsonObject:
        """A reply as one document."""
        ...

    def events(self, reply: ModelReply) -> Sequence[StreamEvent]:
        """A reply as a stream."""
        ...

    def error(self, failure: HttpFailure) -> JsonObject:
        """The body of an error."""
        ...


FORMATS: dict[str, Format] = {
    "anthropic-messages": anthropic,
    "openai-responses": openai_responses,
    "openai-chat": openai_chat,
    "gemini": gemini,
}


class Route(Value):
    name: str
    """The format, one of `FORMATS`."""
    counts: bool = False
    """Only the number of tokens in the conversation is wanted, no answer."""
    model: str = ""
    stream: bool = False
    """The path itself asks for a stream, and names the model."""

    @property
    def format(self) -> Format:
        return FORMATS[self.name]

    def conversation(self, body: JsonObject) -> ModelConversation:
        read = self.format.read(body)
        return replace(read, model=self.model, stream=self.stream) if self.model else read


_PLAIN = {
    "/messages": Route(name="anthropic-messages"),
    "/messages/count_tokens": Route(name="anthropic-messages", counts=True),
    "/responses": Route(name="openai-responses"),
    "/chat/completions": Route(name="openai-chat"),
}
_GEMINI = re.compile(r"/models/(?P<model>[^/:]+):(?P<method>generateContent|streamGenerateContent|countTokens)")


def route(path: str) -> Route | None:
    """Where a path below a scenario leads, with or without the version that services begin it with."""
    path = re.sub(r"^/v\d+(?:alpha|beta)?\d*(?=/)", "", path)
    match = _GEMINI.fullmatch(path)
    if match is None:
        return _PLAIN.get(path)
    method = match["method"]
    stream, counts = method == "streamGenerateContent", method == "countTokens"
    return Route(name="gemini", counts=counts, model=match["model"], stream=stream)
