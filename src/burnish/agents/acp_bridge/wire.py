"""The agent's process, and the messages to and from it: JSON-RPC, one message a line.

Nothing here blocks but one wait for everything that can happen: output, room for input, the agent's end, a deadline.
An agent that reads nothing, writes for ever or leaves a child with its pipes behind can therefore not hold it up.
"""

import json
import os
import selectors
import signal
import subprocess  # noqa: TID251 - the door for processes knows no conversations, and runs outside of the sandbox
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType

from burnish.agents.acp_bridge.values import BridgeError, JsonObject, Trouble

MAX_LINE = 16 * 1024 * 1024
GRACE_SECONDS = 1.0
_CHUNK = 64 * 1024
_NOT_EXECUTABLE = (126, 127)


class Wire:
    """One agent, from its start to its end. It stays in the group of this process, and ends with it."""

    def __init__(self, argv: Sequence[str]) -> None:
        self._selector = selectors.DefaultSelector()
        self._ends = _ends_of_children()
        self._selector.register(self._ends, selectors.EVENT_READ, self._look_after)
        self._process = _start(argv)
        pipes = (self._process.stdin, self._process.stdout)
        self._input, self._output = (pipe.fileno() for pipe in pipes if pipe is not None)
        for pipe in (self._input, self._output):
            os.set_blocking(pipe, False)
        self._selector.register(self._output, selectors.EVENT_READ, self._read)
        self._waiting = bytearray()
        self._come = bytearray()
        self._searched = 0
        self._over = False

    def send(self, message: JsonObject) -> None:
        """Have a message written when there is room for it."""
        if not self._waiting:
            self._selector.register(self._input, selectors.EVENT_WRITE, self._write)
        self._waiting += json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"

    def receive(self, until: float | None, awaited: str) -> JsonObject:
        """The next message of the agent, before a moment of the monotonic clock."""
        while True:
            line = self._line()
            message = None if line is None else _message(line)
            if message is not None:
                return message
            if line is None and self._over:
                raise self._ended(awaited)
            if line is None:
                self._wait(until, awaited)

    def end(self) -> None:
        """Have the agent end: by its closed input, else by a request, else by force."""
        if self._waiting:
            self._forget_input()
        os.close(self._input)
        for step in (None, self._process.terminate, self._process.kill):
            if step is not None:
                step()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE_SECONDS)
                return

    def _wait(self, until: float | None, awaited: str) -> None:
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0:
            raise BridgeError(Trouble.STUCK, f"it did not answer '{awaited}' in time. Does it speak ACP?")
        for key, _ in self._selector.select(left):
            key.data()

    def _look_after(self) -> None:
        """A child has ended. What the agent said before is still in its pipe, which others may hold open."""
        os.read(self._ends, _CHUNK)
        if self._process.poll() is not None and not self._over:
            for _ in range(MAX_LINE // _CHUNK):
                if not self._read():
                    break
            self._stop_listening()

    def _read(self) -> bool:
        """Take what is there; whether there may be more."""
        try:
            data = os.read(self._output, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self._stop_listening()
        self._come += data
        return bool(data)

    def _stop_listening(self) -> None:
        if not self._over:
            self._over = True
            self._selector.unregister(self._output)

    def _write(self) -> None:
        try:
            del self._waiting[: os.write(self._input, self._waiting[:_CHUNK])]
        except BlockingIOError:
            return
        except OSError:  # it reads no more; whether it still has something to say will be seen
            self._forget_input()
            return
        if not self._waiting:
            self._selector.unregister(self._input)

    def _forget_input(self) -> None:
        self._waiting.clear()
        self._selector.unregister(self._input)

    def _line(self) -> bytes | None:
        end = self._come.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._come)
            if self._searched > MAX_LINE:
                raise BridgeError(Trouble.UNREADABLE, f"it wrote a message of more than {MAX_LINE:,} bytes")
            return None
        line = bytes(self._come[:end])
        del self._come[: end + 1]
        self._searched = 0
        return line

    def _ended(self, awaited: str) -> BridgeError:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_SECONDS)
        code = self._process.returncode
        how = "closed its output" if code is None else f"ended by signal {-code}" if code < 0 else f"exited with {code}"
        kind = Trouble.CANNOT_RUN if code in _NOT_EXECUTABLE else Trouble.CRASHED
        return BridgeError(kind, f"it {how} without an answer to '{awaited}'")


def _start(argv: Sequence[str]) -> subprocess.Popen[bytes]:
    try:
        # Its error output goes where ours goes, and is read like that of any other agent.
        return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)  # noqa: S603 - no shell
    except OSError as error:
        raise BridgeError(Trouble.CANNOT_RUN, f"'{argv[0]}' cannot be started: {error.strerror}") from None


def _ends_of_children() -> int:
    """A descriptor that becomes readable when a child ends."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _nothing)  # or else the wake-up would not be written
    return reading


def _nothing(number: int, frame: FrameType | None) -> None:
    """The end is seen by its wake-up."""
    del number, frame


def _message(line: bytes) -> JsonObject | None:
    """A message, or None for a line that is none: some agents write notes for people here."""
    line = line.strip()
    if not line.startswith(b"{"):
        sys.stderr.write(line[:500].decode(errors="replace") + "\n" if line else "")
        return None
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        # It may have been a part of the answer.
        raise BridgeError(Trouble.UNREADABLE, "it wrote a message that is no JSON") from None
