"""A two-way conversation with a running process: lines to it and from it, while `process_async` watches its limits.

What the process writes is read when the talk asks for a line, a piece at a time, and the event loop goes on in between:
one that never stops writing takes neither the memory nor the loop. It is the talk that says what is kept of it.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from burnish.system.process_child import Child

Talk = Callable[["Conversation"], Coroutine[Any, Any, None]]
"""Speaks with a process until all is said. It waits for nothing but the conversation."""
MESSAGE_BYTES = 16 * 1024 * 1024
"""How long a line may be."""
FAREWELL_SECONDS = 1.0
"""How long a process has to end by itself once all is said, and again once it was asked to end."""
_PIECES_AFTER_EXIT = 16


class ConversationEndedError(Exception):
    """The process says nothing more. Its exit code, negative for a signal; None where it has only closed its output."""

    def __init__(self, code: int | None) -> None:
        super().__init__()
        self.code = code


class LineTooLongError(Exception):
    """The process has written more than `MESSAGE_BYTES` without an end of line."""


class Conversation:
    def __init__(self, child: Child, exited: asyncio.Event, on_output: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._child = child
        self._exited = exited
        self._on_output = on_output
        self._wake = asyncio.Event()
        self._received = bytearray()
        self._searched = 0
        self._pieces_left = _PIECES_AFTER_EXIT
        self._reading = False
        self._writing = False
        self.was_cut_off = False
        """Whether the process ended before all was said."""
        child.open.discard(child.stdout)  # it is read here, and nowhere else

    @property
    def unsent(self) -> int:
        return self._child.unsent

    def send(self, line: bytes) -> None:
        """Have a line written when there is room for it. A process that has closed its input gets nothing."""
        self._child.send(line + b"\n")
        if not self._writing and self._child.feed():
            self._writing = True
            self._loop.add_writer(self._child.stdin, self._on_room)

    async def line(self) -> bytes:
        """The next line of the process. Raises `ConversationEndedError` or `LineTooLongError`."""
        while (end := self._received.find(b"\n", self._searched)) < 0:
            self._searched = len(self._received)
            if self._searched > MESSAGE_BYTES:
                raise LineTooLongError
            self._received += await self._more()
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        self._searched = 0
        return line

    def keep(self, line: bytes) -> None:
        """Record a line as the standard output of the process, in place of what it writes."""
        self._child.output.take_stdout(line + b"\n")

    def note(self, line: bytes) -> None:
        """Record a line among the error output of the process."""
        self._child.output.take_stderr(line + b"\n")

    def wake(self) -> None:
        """There is something to read, or the process has ended."""
        self._wake.set()

    def close(self) -> None:
        """Stop listening. It must happen before the pipes are closed: their numbers are soon those of other pipes."""
        self._stop_reading()
        if self._writing:
            self._writing = False
            self._loop.remove_writer(self._child.stdin)

    async def _more(self) -> bytes:
        while not self._exited.is_set():
            await self._readable_or_exited()
            data = self._child.receive(self._child.stdout)
            if data:
                self._on_output()
                return data
            if data is not None:  # the end of its output: mostly it ends itself as well
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._exited.wait(), FAREWELL_SECONDS)
                raise self._ended()
        # Its last words may still be in the pipe. Another process may hold that, too, and never stop writing.
        self._pieces_left -= 1
        data = self._child.receive(self._child.stdout) if self._pieces_left >= 0 else None
        if not data:
            raise self._ended()
        return data

    async def _readable_or_exited(self) -> None:
        self._wake.clear()
        self._reading = True
        self._loop.add_reader(self._child.stdout, self.wake)
        try:
            await self._wake.wait()
        finally:
            self._stop_reading()

    def _stop_reading(self) -> None:
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self._child.stdout)

    def _ended(self) -> ConversationEndedError:
        self.was_cut_off = self._exited.is_set()
        return ConversationEndedError(self._child.exit_code if self.was_cut_off else None)

    def _on_room(self) -> None:
        self._writing = self._child.feed()
        if not self._writing:
            self._loop.remove_writer(self._child.stdin)
