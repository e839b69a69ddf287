"""What the server needs of a wire format."""

from collections.abc import Sequence
from typing import Protocol

from burnish.contracts.json_text import JsonObject
from burnish.testing.model_server.conversation import HttpFailure, ModelConversation, ModelReply, StreamEvent


class Format(Protocol):
    """A wire format; each module beside this one is one."""

    def read(self, body: JsonObject) -> ModelConversation:
        """What a client asks for."""
        ...

    def whole(self, reply: ModelReply) -> JsonObject:
        """A reply as one document."""
        ...

    def events(self, reply: ModelReply) -> Sequence[StreamEvent]:
        """A reply as a stream."""
        ...

    def error(self, failure: HttpFailure) -> JsonObject:
        """The body of an error."""
        ...
