"""Runs a command beside others in one event loop: limits, a stop from outside, and an end to all that it started.

Everything is an event: output, the end of the process (the kernel's descriptor of it becomes readable), timers, the
stop. Nothing is asked for again and again. A process gets its input at the start, or a talk holds a conversation with
it (`process_conversation`).
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from burnish.core.values import replace
from burnish.core.work import ProcessMark
from burnish.system.process_child import AFTER_KILL_SECONDS, LINGER_SECONDS, Child
from burnish.system.process_conversation import FAREWELL_SECONDS, Conversation, Talk
from burnish.system.process_output import OnLine
from burnish.system.process_start import Command, CouldNotStartError, Finished, How, ProcessLimits

OnStart = Callable[[ProcessMark], None]


async def run(
    command: Command,
    limits: ProcessLimits,
    *,
    log: Path | None,
    on_start: OnStart | None,
    stop: asyncio.Event | None,
    on_line: OnLine | None,
    on_error_line: OnLine | None,
    talk: Talk | None,
) -> Finished:
    """See `burnish.system.process.run`."""
    if stop is not None and stop.is_set():
        return Finished(how=How.STOPPED)
    began = time.monotonic()
    try:
        told = command if talk is None else replace(command, stdin=b"")
        child = Child(told, limits.kept_bytes, log, on_line, on_error_line)
    except CouldNotStartError as reason:
        return Finished(how=How.COULD_NOT_START, message=str(reason))
    try:
        if on_start is not None:
            on_start(child.mark)
        async with _Driver(child, limits, stop, talk) as driver:
            how = await driver.run()
    except BaseException:
        # Cancelled, or the start could not be noted: nothing may keep running unrecorded. A killed process is gone
        # at once, so that this is no wait; awaiting here could itself be cancelled.
        child.end_at_once()
        raise
    finally:
        child.close()
    finished = child.finished(how, time.monotonic() - began)
    # Once all is said, how the process ends says nothing any more: it may even have to be killed.
    return replace(finished, code=0, signal=None) if driver.all_said else finished


class _Driver:
    """Listens to one child for as long as it is entered."""

    def __init__(self, child: Child, limits: ProcessLimits, stop: asyncio.Event | None, talk: Talk | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._child = child
        self._limits = limits
        self._how: asyncio.Future[How] = self._loop.create_future()
        self._exited = asyncio.Event()
        self._drained = asyncio.Event()
        self._heard = self._loop.time()
        self._feeding = False
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._stopping = None if stop is None else self._loop.create_task(self._wait_for(stop))
        self._talk = talk
        self._conversation: Conversation | None = None
        self._talking: asyncio.Task[None] | None = None
        self.all_said = False
        """Whether a talk has come to its own end."""

    async def __aenter__(self) -> Self:
        child = self._child
        self._loop.add_reader(child.exit_handle, self._on_exit)
        if self._talk is not None:
            self._conversation = Conversation(child, self._exited, self._note_output)
            self._talking = self._loop.create_task(self._talk(self._conversation))
            self._talking.add_done_callback(self._on_all_said)
        elif child.feed():
            self._feeding = True
            self._loop.add_writer(child.stdin, self._on_room)
        else:
            child.end_input()
        for descriptor in child.open:
            self._loop.add_reader(descriptor, self._on_output, descriptor)
        if self._limits.seconds is not None:
            self._timers["time"] = self._loop.call_later(self._limits.seconds, self._settle, How.TIMED_OUT)
        if self._limits.silent_seconds is not None:
            self._listen(self._limits.silent_seconds)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # Also of channels that ended meanwhile: the numbers of closed pipes are soon those of another child's.
        for descriptor in (self._child.exit_handle, self._child.stdout, self._child.stderr):
            self._loop.remove_reader(descriptor)
        if self._feeding:
            self._loop.remove_writer(self._child.stdin)
        if self._conversation is not None:
            self._conversation.close()
        if self._talking is not None:
            self._talking.cancel()
        for timer in self._timers.values():
            timer.cancel()
        if self._stopping is not None:
            self._stopping.cancel()

    async def run(self) -> How:
        how = await self._how
        if how is not How.EXITED:
            if self._talking is not None:
                self._talking.cancel()
            await self._end(self._limits.grace_seconds)
        elif self._conversation is not None and self._talking is not None:
            await self._talking  # where the process has ended, the talk hears what is left, and ends as well
            self.all_said = not self._conversation.was_cut_off
            self._conversation.close()
            self._child.end_input()
            if not await _within(self._exited, FAREWELL_SECONDS):
                await self._end(FAREWELL_SECONDS)
        self._child.drain()
        if self._child.reap() and self._child.has_left_others():
            await asyncio.to_thread(self._child.end_others, self._limits.grace_seconds)
        if self._child.open:
            await _within(self._drained, LINGER_SECONDS)
        return how

    async def _end(self, grace_seconds: float) -> None:
        self._child.terminate()
        if not await _within(self._exited, grace_seconds):
            self._child.kill()
            await _within(self._exited, AFTER_KILL_SECONDS)

    def _settle(self, how: How) -> None:
        """The first reason to end is the one that counts."""
        if not self._how.done():
            self._how.set_result(how)

    def _on_all_said(self, talking: asyncio.Task[None]) -> None:
        if not talking.cancelled():
            talking.exception()  # what went wrong in it is raised where it is waited for, if there is still an answer
        self._settle(How.EXITED)

    def _on_exit(self) -> None:
        self._loop.remove_reader(self._child.exit_handle)
        self._exited.set()
        if self._conversation is not None:
            self._conversation.wake()
        self._settle(How.EXITED)

    def _note_output(self) -> None:
        self._heard = self._loop.time()

    def _on_output(self, descriptor: int) -> None:
        self._note_output()
        if not self._child.read(descriptor):
            self._loop.remove_reader(descriptor)
            if not self._child.open:
                self._drained.set()

    def _on_room(self) -> None:
        self._feeding = self._child.feed()
        if not self._feeding:
            self._loop.remove_writer(self._child.stdin)
            self._child.end_input()

    def _listen(self, seconds: float) -> None:
        quiet = self._loop.time() - self._heard
        if quiet >= seconds:
            self._settle(How.SILENT)
        else:
            self._timers["silence"] = self._loop.call_later(seconds - quiet, self._listen, seconds)

    async def _wait_for(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._settle(How.STOPPED)


async def _within(event: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    return True
