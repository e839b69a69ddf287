"""A process that stays: it is asked something on its standard input and answers on its standard output, many times.

It ends when its owner closes it or is gone, for then its input ends. Each answer has a time limit. Only one thread may
use it at a time.
"""

import os
import select
import subprocess
import weakref

from burnish.system.files import write_all
from burnish.system.process_start import PIPE, Command, start

_GRACE_SECONDS = 2.0
_PIECE = 1 << 16


class DialogueError(Exception):
    """The process has ended, or says nothing for too long."""


class Dialogue:
    """One running process. Raises `CouldNotStartError` where it cannot be started."""

    def __init__(self, command: Command, seconds: float) -> None:
        process = start(command, stdin=PIPE, stdout=PIPE, stderr=subprocess.DEVNULL)
        assert process.stdin is not None  # noqa: S101 - both are pipes, which the types cannot say
        assert process.stdout is not None  # noqa: S101
        self._input, self._output = process.stdin.fileno(), process.stdout.fileno()
        self._seconds = seconds
        self._come = bytearray()
        self.close = weakref.finalize(self, _end, process)

    def tell(self, data: bytes) -> None:
        """Say something. It must be short enough for the process to take it before it answers."""
        try:
            write_all(self._input, data)
        except OSError as error:
            raise DialogueError(str(error.strerror)) from None

    def line(self) -> bytes:
        """The next line of the answer, without its end."""
        while (end := self._come.find(b"\n")) < 0:
            self._take()
        return self.exactly(end + 1)[:-1]

    def exactly(self, size: int) -> bytes:
        while len(self._come) < size:
            self._take()
        taken = bytes(self._come[:size])
        del self._come[:size]
        return taken

    def _take(self) -> None:
        poll = select.poll()
        poll.register(self._output, select.POLLIN)
        data = os.read(self._output, _PIECE) if poll.poll(self._seconds * 1000) else b""
        if not data:
            raise DialogueError("it has ended, or hangs")
        self._come += data


def _end(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    try:
        process.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
