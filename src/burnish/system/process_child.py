"""A running process with its three pipes, none of which ever blocks. The caller says when a pipe is ready.

Two loops drive it: `process_async` for the work of agents, `process.run_now` for short commands. It must not wait
itself, except for what has been killed.
"""

import os
import re
import select
import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

from burnish.core.values import replace
from burnish.core.work import ProcessMark
from burnish.system import process_table, survivors
from burnish.system.process_output import Log, OnLine, Output
from burnish.system.process_start import END_ALL, PIPE, Command, CouldNotStartError, Finished, How, start

_CHUNK = 64 * 1024
_FAILED = 1
"""The exit code of a monitor that could not set its sandbox up; it is a program's, too."""
_ENDED = b'"exit-code"'
_FIRST = re.compile(rb'"child-pid"\s*:\s*(\d{1,10})')
_SUPERVISOR_SECONDS = 2.0
AFTER_KILL_SECONDS = 5.0
"""A killed process is gone at once, unless the kernel itself is stuck."""
LINGER_SECONDS = 0.5
"""How long output is still taken after the end of everything that can be found. Only one that fled holds the pipes."""


class Child:
    """A process that leads a group of its own."""

    def __init__(
        self,
        command: Command,
        kept_bytes: int,
        log: Path | None = None,
        on_line: OnLine | None = None,
        on_error_line: OnLine | None = None,
    ) -> None:
        self.output = Output(kept_bytes, Log(log), on_line, on_error_line)
        try:
            self._sandbox = _Inside(command.monitor)
            self._process = self._sandbox.start(command)
        except CouldNotStartError as reason:
            self.output.log.write(f"{reason}\n".encode(errors="replace"))
            self.output.log.close()
            raise
        self._supervised = command.supervised
        self.pid = self._process.pid
        self.exit_handle = _exit_handle(self._process)
        """Readable once the process has ended."""
        self._unsent = bytearray(command.stdin)
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._pipes = tuple(pipe for pipe in pipes if pipe is not None)
        self.stdin, self.stdout, self.stderr = (pipe.fileno() for pipe in self._pipes)
        self.open = {self.stdout, self.stderr}
        """The channels that have not ended."""
        for pipe in self._pipes:
            os.set_blocking(pipe.fileno(), False)

    @property
    def mark(self) -> ProcessMark:
        return process_table.mark_of(self.pid)

    @property
    def was_reaped(self) -> bool:
        """Whether its exit code was taken: from then on the kernel may give its number to another process."""
        return self._process.returncode is not None

    @property
    def exit_code(self) -> int | None:
        return self._process.poll()

    @property
    def unsent(self) -> int:
        return len(self._unsent)

    def read(self, descriptor: int) -> bool:
        """Take what a channel has; whether it may have more later."""
        return self._take(descriptor) != b""

    def receive(self, descriptor: int) -> bytes | None:
        """What a channel has, without recording it: empty at its end, None if there is nothing now."""
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return None
        if not data:
            self.open.discard(descriptor)
        return data

    def send(self, data: bytes) -> None:
        """Have more written to the standard input: see `feed`."""
        self._unsent += data

    def feed(self) -> bool:
        """Write what the standard input takes; whether there is more to write. The process need not read it to the end.

        When there is not, the listener stops watching the pipe, and only then calls `end_input`: the number of a
        closed pipe may be another one's at once.
        """
        try:
            while self._unsent:
                del self._unsent[: os.write(self.stdin, self._unsent[:_CHUNK])]
        except BlockingIOError:
            return True
        except OSError:  # it has closed its input, or has ended
            self._unsent.clear()
        return False

    def end_input(self) -> None:
        self._pipes[0].close()

    def drain(self) -> None:
        """Take what was said before the end and lies in the pipes, without waiting for more."""
        for descriptor in tuple(self.open):
            # Another process may hold the pipe and never stop talking: at most what the kernel itself can hold.
            for _ in range(1024 * 1024 // _CHUNK):
                if not self._take(descriptor):
                    break

    def terminate(self) -> None:
        """Ask everything to end. A sandbox's monitor is left out: it ends when what is inside has ended."""
        inside = process_table.descendants(self.pid) if self._sandbox.exists or self._supervised else []
        if inside:
            process_table.SYSTEM.tell(inside, signal.SIGTERM, signal.SIGCONT)
        else:
            self._signal_group(signal.SIGTERM)
            self._signal_group(signal.SIGCONT)  # one that was stopped hears nothing before

    def kill(self) -> None:
        if self.was_reaped:
            return
        if self._supervised:
            # It finds more than its group. Killed first, it could end nothing.
            for number in (END_ALL, signal.SIGCONT):
                os.kill(self.pid, number)
            self._wait(_SUPERVISOR_SECONDS)
        self._signal_group(signal.SIGKILL)

    def end_at_once(self) -> None:
        """End it and whatever it has started by force, for callers that can no longer wait."""
        self.kill()
        if self.reap(AFTER_KILL_SECONDS):
            self.end_others(0.0)

    def reap(self, seconds: float = 0.0) -> bool:
        """Take the exit code of a process that has ended, or is about to; whether it has."""
        if seconds and not self.was_reaped:
            self._wait(seconds)
        return self._process.poll() is not None

    def _wait(self, seconds: float) -> None:
        poll = select.poll()
        poll.register(self.exit_handle, select.POLLIN)
        poll.poll(seconds * 1000)

    def has_left_others(self) -> bool:
        """Whether others are in the group of a process that was reaped, or may still be in its sandbox."""
        if self._sandbox.first():
            return True
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return True

    def end_others(self, grace_seconds: float) -> None:
        """End whatever a process that was reaped has left behind."""
        if not self.has_left_others():
            return
        survivors.end_found(lambda: [*self._sandbox.first(), *process_table.group_members(self.pid)], grace_seconds)
        if not process_table.SYSTEM.pids():  # this system does not tell who they are
            self._signal_group(signal.SIGKILL)

    def close(self) -> None:
        for pipe in self._pipes:
            with suppress(OSError):
                pipe.close()
        os.close(self.exit_handle)
        self._sandbox.close()
        self.output.log.close()

    def finished(self, how: How, seconds: float) -> Finished:
        code = self._process.returncode
        if how is How.EXITED and code == _FAILED and self._sandbox.never_began():
            words = self.output.stderr_tail
            message = f"The sandbox could not be set up: {words.strip().removeprefix('bwrap: ').rstrip('.')}."
            return Finished(
                how=How.COULD_NOT_START, stderr_tail=words, seconds=seconds, message=message, sandbox_failed=True
            )
        return Finished(
            how=how,
            code=code if self.was_reaped and code >= 0 else None,
            signal=-code if self.was_reaped and code < 0 else None,
            stdout=self.output.stdout,
            stdout_cut=self.output.stdout_cut,
            stderr_tail=self.output.stderr_tail,
            seconds=seconds,
            message=self.output.log.problem if self.was_reaped else "It was killed, and has not ended since.",
        )

    def _take(self, descriptor: int) -> bytes | None:
        """See `receive`; what comes is recorded."""
        data = self.receive(descriptor)
        if data:
            (self.output.take_stdout if descriptor == self.stdout else self.output.take_stderr)(data)
        return data

    def _signal_group(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def _exit_handle(process: subprocess.Popen[bytes]) -> int:
    """A descriptor that becomes readable when the process ends: the kernel's own, else one that a thread closes."""
    try:
        with suppress(OSError, AttributeError):
            return os.pidfd_open(process.pid)
        reading, writing = os.pipe()

        def wait() -> None:
            process.wait()
            os.close(writing)

        threading.Thread(target=wait, name=f"exit of {process.pid}", daemon=True).start()
    except BaseException:  # a process without a handle cannot be waited for: it is ended again
        process.kill()
        process.communicate()
        raise
    return reading


class _Inside:
    """What a monitor says of its sandbox: which process is the first one in there, and whether it began.

    Everything in there ends with that process, and the kernel says that it has ended only when nothing in there runs
    any more. The monitor ends earlier: without this, what it left behind could go on writing for a moment, unnoticed.
    Without a monitor there is no sandbox, and nothing is said.
    """

    def __init__(self, option: str) -> None:
        self._option = option
        self._reading = -1
        self._words = b""
        self._first: ProcessMark | None = None

    @property
    def exists(self) -> bool:
        return self._option != ""

    def start(self, command: Command) -> subprocess.Popen[bytes]:
        if not self.exists:
            return start(command, stdin=PIPE, stdout=PIPE, stderr=PIPE)
        opened: list[int] = []
        try:
            opened += os.pipe()
            opened += os.pipe() if command.call_filter else ()
        except OSError as error:
            _close(opened)
            raise CouldNotStartError(f"'{command.program}' cannot be started: {error.strerror}.") from None
        reading, *handed_on = opened
        words = [self._option, str(handed_on[0])]
        if command.call_filter:
            filled = handed_on.pop()
            os.write(filled, command.call_filter)  # far less than a pipe takes at once
            os.close(filled)
            words += ["--seccomp", str(handed_on[1])]
        options_end = command.argv.index("--")
        told = replace(command, argv=(*command.argv[:options_end], *words, *command.argv[options_end:]))
        try:
            process = start(told, stdin=PIPE, stdout=PIPE, stderr=PIPE, hand_on=tuple(handed_on))
        except BaseException:
            os.close(reading)
            raise
        finally:
            _close(handed_on)
        os.set_blocking(reading, False)
        self._reading = reading
        return process

    def first(self) -> list[ProcessMark]:
        """The first process inside while it lives. The monitor names it before anything inside can say a word."""
        if self._first is None:
            self._first = _named_in(self._told())
        return [self._first] if self._first is not None and process_table.is_alive(self._first) else []

    def close(self) -> None:
        """Listen no more. What was told before can still be asked for."""
        self._told()
        if self._reading >= 0:
            os.close(self._reading)
            self._reading = -1

    def never_began(self) -> bool:
        """Whether a monitor that has ended did not get as far as the program: only of one that ran it tells the end."""
        return self.exists and _ENDED not in self._told()

    def _told(self) -> bytes:
        with suppress(BlockingIOError):
            while self._reading >= 0 and (further := os.read(self._reading, 4096)):
                self._words += further
        return self._words


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _named_in(words: bytes) -> ProcessMark | None:
    found = _FIRST.search(words)
    if found is None or not process_table.is_first_of_its_own(int(found[1])):
        return None
    return process_table.mark_of(int(found[1]))
