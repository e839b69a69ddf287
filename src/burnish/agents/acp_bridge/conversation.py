"""One session with one prompt, from the greeting to the stop reason."""

import json
import os
import time

from burnish import __version__
from burnish.agents.acp_bridge import choices, manners
from burnish.agents.acp_bridge.choices import Offer
from burnish.agents.acp_bridge.hearing import Hearing
from burnish.agents.acp_bridge.stream import Stream
from burnish.agents.acp_bridge.values import BridgeError, JsonObject, May, Options, Trouble, inner, objects, words
from burnish.agents.acp_bridge.wire import Wire

PROTOCOL_VERSION = 1
AUTHENTICATION_REQUIRED = -32000


class AcpConversation:
    """Asks one question at a time, and answers all that comes meanwhile."""

    def __init__(self, wire: Wire, options: Options, stream: Stream) -> None:
        self._wire = wire
        self._options = options
        self._stream = stream
        self._hearing = Hearing(stream)
        self._number = 0
        self._until: float | None = time.monotonic() + options.opening_seconds
        self._logins = ""

    def hold(self, prompt: str) -> None:
        """Have a prompt answered, and tell how that ended."""
        self._introduce()
        opened = self._open()
        session = words(opened.get("sessionId"))
        self._set_up(session, opened)
        self._hearing.begin(session)
        self._until = None
        content: JsonObject = {"type": "text", "text": prompt}
        ended = self._ask("session/prompt", {"sessionId": session, "prompt": [content]})
        self._finish(ended)

    def _finish(self, ended: JsonObject) -> None:
        """Some agents end a turn that has failed like any other, with the error as their last message."""
        failure = inner(ended, "_meta", "jetbrains", "air", "sessionFailure")
        self._stream.tell(
            "end",
            stop=words(ended.get("stopReason")) if failure.get("severity") in (None, "warning") else "failed",
            text=self._hearing.answer(),
            message=words(failure.get("title")),
            usage=inner(ended, "usage"),
            models=objects(inner(ended, "_meta", "quota").get("model_usage")),
        )

    def _introduce(self) -> None:
        about: JsonObject = {"name": "burnish", "title": "burnish", "version": __version__}
        asked: JsonObject = {
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": manners.capabilities(self._options),
            "clientInfo": about,
        }
        found = self._ask("initialize", asked)
        version = found.get("protocolVersion")
        if version != PROTOCOL_VERSION:
            raise BridgeError(Trouble.CANNOT_RUN, f"it speaks version {version} of ACP, and burnish {PROTOCOL_VERSION}")
        self._logins = ", ".join(words(method.get("name")) for method in objects(found.get("authMethods")))
        agent = inner(found, "agentInfo")
        self._stream.tell("begin", agent=words(agent.get("name")), version=words(agent.get("version")))

    def _open(self) -> JsonObject:
        asked: JsonObject = {"cwd": os.getcwd(), "mcpServers": []}  # noqa: PTH109 - the plain text of it
        if self._options.meta:
            asked["_meta"] = self._options.meta
        found = self._ask("session/new", asked)
        if not words(found.get("sessionId")):
            raise BridgeError(Trouble.CRASHED, "it gave no name to the session that it opened")
        return found

    def _set_up(self, session: str, opened: JsonObject) -> None:
        """The model first: it may change what modes there are."""
        models, modes = choices.models(opened), choices.modes(opened)
        if self._options.model:
            self._choose(session, models, choices.named(models, self._options.model, "model"))
        if self._options.mode:
            self._choose(session, modes, choices.named(modes, self._options.mode, "mode"))
        elif modes is not None and self._options.may is not May.WRITE:
            self._choose(session, modes, choices.reading_mode(modes))

    def _choose(self, session: str, offer: Offer | None, value: str) -> None:
        if offer is not None and value and value != offer.current:
            self._ask(offer.method, offer.request(session, value))

    def _ask(self, method: str, params: JsonObject) -> JsonObject:
        self._number += 1
        self._wire.send({"id": self._number, "method": method, "params": params})
        while True:
            message = self._wire.receive(self._until, method)
            if "method" in message:
                self._attend(message)
            elif message.get("id") == self._number:
                if "error" in message:
                    raise self._refused(method, inner(message, "error"))
                return inner(message, "result")

    def _attend(self, message: JsonObject) -> None:
        if "id" in message:
            if message.get("method") == "session/request_permission":
                self._hearing.call(inner(message, "params", "toolCall"))
            self._wire.send(manners.answer(message, self._options, self._stream))
        elif message.get("method") == "session/update":
            self._hearing.take(inner(message, "params"))

    def _refused(self, method: str, error: JsonObject) -> BridgeError:
        data = error.get("data")
        detail = "" if data is None else f" {json.dumps(data, ensure_ascii=False)}"
        said = f"{words(error.get('message'))}{detail}"[:2_000] or "no reason given"
        if error.get("code") == AUTHENTICATION_REQUIRED:
            return BridgeError(Trouble.UNAUTHORISED, f"{said} (it knows: {self._logins or 'no way to log in'})")
        return BridgeError(Trouble.SAID, f"{method}: {said}", error.get("code"))
