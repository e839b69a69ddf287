"""The inside of a sandbox that a monitor watches over: which process is the first one in there, and whether it began.

Everything in there ends with that process, and the kernel says that it has ended only when nothing in there runs any
more. The monitor ends earlier: without this, what it left behind could go on writing for a moment, unnoticed.
"""

import os
import re
import subprocess
from contextlib import suppress

from burnish.core.values import replace
from burnish.core.work import ProcessMark
from burnish.system import process_table
from burnish.system.process_start import PIPE, CouldNotStartError, start
from burnish.system.process_values import Command

_ENDED = b'"exit-code"'
_FIRST = re.compile(rb'"child-pid"\s*:\s*(\d{1,10})')


class Inside:
    """What a monitor says of its sandbox. Without a monitor there is none, and nothing is said."""

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
