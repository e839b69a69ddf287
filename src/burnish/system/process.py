"""The only door for subprocesses.

Every process has an owner, a group, a time limit and an end: it leads a session of its own, and when it ends, or must
end, everything that is left in its group ends with it. A child that flees from the group is found by its environment
(`burnish.system.survivors`). There is no shell anywhere, and nothing of burnish's own environment is handed on.
"""

import os
import selectors
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from burnish.core.work import ProcessMark
from burnish.system import process_table
from burnish.system.process_child import AFTER_KILL_SECONDS, LINGER_SECONDS, Child
from burnish.system.process_output import OnLine, open_log
from burnish.system.process_start import (
    KEPT_BYTES,
    Command,
    CouldNotStartError,
    Finished,
    How,
    ProcessError,
    ProcessLimits,
    start,
)

if TYPE_CHECKING:
    import asyncio

    from burnish.system.process_conversation import Talk

__all__ = [
    "KEPT_BYTES",
    "Command",
    "Finished",
    "How",
    "ProcessError",
    "ProcessLimits",
    "run",
    "run_now",
    "start_detached",
]
_GRACE_SECONDS = 2.0


async def run(
    command: Command,
    limits: ProcessLimits,
    *,
    log: Path | None = None,
    on_start: Callable[[ProcessMark], None] | None = None,
    stop: "asyncio.Event | None" = None,
    on_line: OnLine | None = None,
    on_error_line: OnLine | None = None,
    talk: "Talk | None" = None,
) -> Finished:
    """Run a command to its end and end all that it started.

    What it says on both channels is written to the log as it comes. Each line of its standard output is handed to
    `on_line`, and of its error output to `on_error_line`. A limit, or the stop, asks the whole group to end, waits for
    the grace, and kills. When the calling task is cancelled, the group is killed before this returns.

    A `talk` writes its input and reads its output instead, line by line (`burnish.system.process_conversation`); what
    it keeps is the output. When it is over, so is the process, whose exit code is then 0.
    """
    from burnish.system import process_async  # noqa: PLC0415 - short commands need no event loop, and load quicker

    return await process_async.run(
        command,
        limits,
        log=log,
        on_start=on_start,
        stop=stop,
        on_line=on_line,
        on_error_line=on_error_line,
        talk=talk,
    )


def run_now(command: Command, *, seconds: float = 60.0, kept_bytes: int = KEPT_BYTES) -> Finished:
    """Run a short command, such as git, and wait for it. Its standard output comes whole, or not at all."""
    began = time.monotonic()
    try:
        child = Child(command, kept_bytes)
    except CouldNotStartError as reason:
        return Finished(how=How.COULD_NOT_START, message=str(reason))
    try:
        how = _Pump(child).run(seconds)
    except BaseException:
        child.end_at_once()
        raise
    finally:
        child.close()
    finished = child.finished(how, time.monotonic() - began)
    if finished.stdout_cut:
        raise ProcessError(
            f"'{command.argv[0]}' said more than {kept_bytes:,} bytes.", hint="What was asked for is too large to keep."
        )
    return finished


def start_detached(command: Command, log: Path) -> ProcessMark:
    """Start a command that outlives this process: a session of its own, no input, all that it says in the log.

    It must not be confined: a sandbox ends with the process that started it.
    """
    output = open_log(log)
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        process = start(command, stdin=nothing, stdout=output, stderr=output)
    except CouldNotStartError as reason:
        raise ProcessError(str(reason), hint="Look at the command and its folder.") from None
    finally:
        os.close(output)
        os.close(nothing)
    mark = process_table.mark_of(process.pid)
    # If it ends first, its exit code must be collected; the thread does not keep this process from ending.
    threading.Thread(target=process.wait, name=f"exit of {process.pid}", daemon=True).start()
    return mark


class _Pump:
    """Moves bytes between a child and its pipes until something is true or the time is over."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._exited = False
        self._selector = selectors.DefaultSelector()
        for descriptor in (child.stdout, child.stderr, child.exit_handle):
            self._selector.register(descriptor, selectors.EVENT_READ)
        if child.feed():
            self._selector.register(child.stdin, selectors.EVENT_WRITE)
        else:
            child.end_input()

    def run(self, seconds: float) -> How:
        with self._selector:
            in_time = self._until(lambda: self._exited, seconds)
            if not in_time:
                self._end()
            self._child.drain()
            if self._child.reap():
                self._child.end_others(_GRACE_SECONDS)
            self._until(lambda: not self._child.open, LINGER_SECONDS)
        return How.EXITED if in_time else How.TIMED_OUT

    def _end(self) -> None:
        self._child.terminate()
        if not self._until(lambda: self._exited, _GRACE_SECONDS):
            self._child.kill()
            self._until(lambda: self._exited, AFTER_KILL_SECONDS)

    def _until(self, done: Callable[[], bool], seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not done():
            ready = self._selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                return False
            for key, _ in ready:
                self._handle(key.fd)
        return True

    def _handle(self, descriptor: int) -> None:
        if descriptor == self._child.exit_handle:
            self._exited = True
            keep = False
        elif descriptor == self._child.stdin:
            keep = self._child.feed()
        else:
            keep = self._child.read(descriptor)
        if not keep:
            self._selector.unregister(descriptor)
            if descriptor == self._child.stdin:
                self._child.end_input()
