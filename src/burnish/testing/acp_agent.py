"""An ACP agent that does what a script says: `python -m burnish.testing.acp_agent SCRIPT.json`.

For tests, and for users who want to see what burnish does with an agent of theirs. A prompt is answered by carrying out
the acts of the script, one after the other, and by its stop reason at the end. `acp_agent(…)` writes a script and
returns the command for burnish.toml.
"""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import msgspec

import burnish
from burnish.core.values import Value

SESSION = "session-1"


class Say(Value, tag="say"):
    """A piece of a message. Pieces with the same id, or with none, belong together until a tool is called."""

    text: str
    id: str = ""
    session: str = SESSION


class ToolUse(Value, tag="tool"):
    """A tool is called without permission; `write` are files with their new text that it changes itself."""

    title: str
    kind: str = "other"
    write: dict[str, str] = msgspec.field(default_factory=dict[str, str])


class ClientRequest(Value, tag="ask"):
    """Something is asked for, and the answer is waited for: any method of the client, with its parameters."""

    method: str
    params: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


class GuardedToolUse(Value, tag="permission"):
    """A tool is called that needs a permission. Its files are written if it is given."""

    title: str
    kind: str
    paths: tuple[str, ...] = ()
    offered: tuple[str, ...] = ("allow_always", "allow_once", "reject_once", "reject_always")
    write: dict[str, str] = msgspec.field(default_factory=dict[str, str])


class Update(Value, tag="update"):
    """Any other `session/update`, as it is."""

    update: dict[str, Any]


class Raw(Value, tag="raw"):
    """Text for the output that need not be a message, so many times."""

    text: str
    times: int = 1


class Hang(Value, tag="hang"):
    """Nothing happens any more."""


class Exit(Value, tag="exit"):
    """The agent ends at once; `child` leaves a process behind that holds its output open."""

    code: int
    child: bool = False


Act = Say | ToolUse | ClientRequest | GuardedToolUse | Update | Raw | Hang | Exit


class AcpScript(Value):
    """What the agent is like, and what it does when it is asked."""

    acts: tuple[Act, ...] = ()
    stop: str = "end_turn"
    error: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """Instead of a stop reason."""
    usage: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    version: int = 1
    session: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """More of the answer to `session/new`, such as `modes` or `configOptions`."""
    logged_in: bool = True
    opening: tuple[Act, ...] = ()
    """Done at the start, before anything is answered."""
    ignore_term: bool = False
    linger: bool = False
    """Go on running when the input is closed."""
    log: str = ""
    """A file that gets a line for each message that comes."""


_START = """import runpy, sys
sys.path.insert(0, sys.argv.pop(1))
runpy.run_module("burnish.testing.acp_agent", run_name="__main__")"""


def acp_agent(folder: Path, script: AcpScript) -> tuple[str, ...]:
    """Write a script, and return the command that plays it.

    The command names the folder of the package, because a sandbox shows what a command names: the package may be in a
    checkout in the user's home, which the sandbox hides.
    """
    file = folder / "acp-script.json"
    file.write_bytes(msgspec.json.encode(script))
    return (sys.executable, "-c", _START, str(Path(burnish.__file__).parents[1]), str(file))


def heard(log: Path) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in log.read_bytes().splitlines()]


class _Agent:
    def __init__(self, script: AcpScript) -> None:
        self._script = script
        self._messages = self._read()
        self._number = 0

    def serve(self) -> None:
        for act in self._script.opening:
            self._do(act)
        for message in self._messages:
            if "method" in message and "id" in message:
                self._send({"id": message["id"], **self._answer(message["method"])})
        if self._script.linger:
            _sleep()

    def _answer(self, method: str) -> dict[str, Any]:
        script = self._script
        match method:
            case "initialize":
                methods = [] if script.logged_in else [{"id": "key", "name": "A key"}]
                about = {"name": "scripted", "version": "1"}
                return {"result": {"protocolVersion": script.version, "agentInfo": about, "authMethods": methods}}
            case "session/new" if not script.logged_in:
                return {"error": {"code": -32000, "message": "Authentication required"}}
            case "session/new":
                return {"result": {"sessionId": SESSION, **script.session}}
            case "session/prompt":
                for act in script.acts:
                    self._do(act)
                usage = {"usage": script.usage} if script.usage else {}
                return {"error": script.error} if script.error else {"result": {"stopReason": script.stop, **usage}}
            case _:
                return {"result": {}}

    def _do(self, act: Act) -> None:
        match act:
            case Say():
                self._say(act)
            case ToolUse():
                self._call(act.title, act.kind)
                _write(act.write)
            case ClientRequest():
                self._ask(act.method, act.params)
            case GuardedToolUse():
                self._permission(act)
            case Update():
                self._update(act.update)
            case Raw():
                _put(act.text.encode() * act.times)
            case Hang():
                _sleep()
            case Exit():
                _end(act)

    def _say(self, act: Say) -> None:
        named = {"messageId": act.id} if act.id else {}
        content = {"type": "text", "text": act.text}
        self._update({"sessionUpdate": "agent_message_chunk", "content": content, **named}, act.session)

    def _permission(self, act: GuardedToolUse) -> None:
        self._call(act.title, act.kind)
        call = {
            "toolCallId": "call",
            "title": act.title,
            "kind": act.kind,
            "locations": [{"path": p} for p in act.paths],
        }
        options = [{"optionId": f"option-{kind}", "name": kind, "kind": kind} for kind in act.offered]
        answer = self._ask("session/request_permission", {"toolCall": call, "options": options})
        if "allow" in str(answer):
            _write(act.write)

    def _call(self, title: str, kind: str) -> None:
        self._update({"sessionUpdate": "tool_call", "toolCallId": "call", "title": title, "kind": kind})

    def _update(self, update: dict[str, Any], session: str = SESSION) -> None:
        self._send({"method": "session/update", "params": {"sessionId": session, "update": update}})

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send({"id": f"ask-{self._number}", "method": method, "params": {"sessionId": SESSION, **params}})
        return next(message for message in self._messages if "method" not in message)

    def _send(self, message: dict[str, Any]) -> None:
        _put(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")

    def _read(self) -> Iterator[dict[str, Any]]:
        for line in sys.stdin.buffer:
            if self._script.log:
                with Path(self._script.log).open("ab") as log:
                    log.write(line)
            yield msgspec.json.decode(line)


def _write(files: dict[str, str]) -> None:
    for name, text in files.items():
        try:
            Path(name).write_text(text, encoding="utf-8")
        except OSError as error:
            sys.stderr.write(f"{name}: {error.strerror}\n")


def _put(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _end(act: Exit) -> NoReturn:
    if act.child and os.fork() == 0:
        _sleep()
    os._exit(act.code)


def _sleep() -> NoReturn:
    while True:
        time.sleep(3600)


def main() -> None:
    script = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=AcpScript)
    if script.ignore_term:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _Agent(script).serve()


if __name__ == "__main__":
    main()
