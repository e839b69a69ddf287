"""What the agent tells on its way: its messages, of which the last one is the answer, its tools, and its costs."""

from burnish.agents.acp_bridge.stream import MAX_TEXT, Stream
from burnish.agents.acp_bridge.values import BridgeError, Json, JsonObject, Trouble, inner, words

MAX_ANSWER = 1_000_000
_SHOWN = 200


class Hearing:
    """Listens to one session. What subagents say in sessions of their own is not the answer."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._session = ""
        self._message: list[str] = []
        self._length = 0
        self._id: Json = None
        self._tail = ""
        self._tools: set[str] = set()

    def begin(self, session: str) -> None:
        """From now on it counts: what was said before the prompt was a greeting."""
        self._session = session
        self._forget()

    def answer(self) -> str:
        """The last message. What came before a tool was called was not the end."""
        return "".join(self._message)

    def take(self, notice: JsonObject) -> None:
        """One `session/update`. Kinds that are not known say only that the agent lives."""
        if not self._session or notice.get("sessionId") != self._session:
            return
        update = inner(notice, "update")
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                self._say(words(inner(update, "content").get("text")), update.get("messageId"))
            case "agent_thought_chunk":
                self._show(words(inner(update, "content").get("text")))
            case "tool_call" | "tool_call_update":
                self.call(update)
            case "usage_update":
                self._count(inner(update, "cost"))
            case _:
                self._stream.show("")

    def call(self, tool: JsonObject) -> None:
        """A tool, of which some agents speak first when they ask for a permission. What was said before is over."""
        name, title = words(tool.get("toolCallId")), words(tool.get("title"))[:_SHOWN]
        if name in self._tools:
            self._stream.show(title)
            return
        self._tools.add(name)
        self._close()
        self._stream.tell("tool", title=title, kind=words(tool.get("kind")))

    def _close(self) -> None:
        """A message is over that was not the last one."""
        if self._message:
            self._stream.tell("message", text=self.answer()[:MAX_TEXT])
        self._forget()

    def _forget(self) -> None:
        self._message, self._length, self._id, self._tail = [], 0, None, ""

    def _say(self, text: str, name: Json) -> None:
        if name is not None and self._id is not None and name != self._id:
            self._close()
        self._id = name if name is not None else self._id
        self._message.append(text)
        self._length += len(text)
        if self._length > MAX_ANSWER:
            raise BridgeError(Trouble.UNREADABLE, f"its answer has more than {MAX_ANSWER:,} characters")
        self._show(text)

    def _show(self, text: str) -> None:
        self._tail = (self._tail + text)[-_SHOWN:]
        self._stream.show(self._tail.rstrip().rpartition("\n")[2])

    def _count(self, cost: JsonObject) -> None:
        """Tokens in this notice are those that the model has in view, not those that it has used."""
        if cost.get("currency") == "USD":
            self._stream.tell("usage", cost_usd=cost.get("amount"))
