"""The pane of an agent: what a person sees of it. Whoever only watches must never hold up or end what is watched."""

import os
import pkgutil
import termios
from collections.abc import Callable
from contextlib import suppress

from burnish.core.text import clean_text

Render = Callable[[bytes], str]

_MOST_LINE = 1024 * 1024
_MOST_WAITING = 1024 * 1024
_CHUNK = 64 * 1024
_MOST_LINES = 100
"""Lines that are shown of what comes at once. More than that are a flood, in which only the end can be read."""
_DROPPED = b"[more than this terminal could show]\n"


def renderer(name: str) -> Render:
    """A function by its `module:name`; where there is none, lines are shown as they are."""
    with suppress(ValueError, ImportError, AttributeError):
        found: Render = pkgutil.resolve_name(name)
        return found
    return _as_it_is


def _as_it_is(line: bytes) -> str:
    return line.decode(errors="replace")


def make_deaf(descriptor: int) -> None:
    """Nothing that is typed is shown, interrupts anything, or holds the output up."""
    with suppress(termios.error):
        settings = termios.tcgetattr(descriptor)
        settings[0] &= ~(termios.IXON | termios.ICRNL)
        settings[3] &= ~(termios.ECHO | termios.ICANON | termios.ISIG)
        termios.tcsetattr(descriptor, termios.TCSANOW, settings)


class Lines:
    """One channel of the agent, cut into lines and put into words."""

    def __init__(self, screen: "Screen", render: Render) -> None:
        self._screen = screen
        self._render = render
        self._rest = b""

    def take(self, data: bytes) -> None:
        whole, newline, rest = data.rpartition(b"\n")
        if newline:
            first, *last = (self._rest + whole).rsplit(b"\n", _MOST_LINES)
            self._rest = rest
            if len(last) < _MOST_LINES:
                self._show(first)
            else:
                self._screen.say(_DROPPED.decode().rstrip("\n"))
            for line in last:
                self._show(line)
        else:
            self._rest += rest
        if len(self._rest) > _MOST_LINE:
            self.end()

    def end(self) -> None:
        """Show a line that nobody finished."""
        if self._rest:
            self._show(self._rest)
        self._rest = b""

    def _show(self, line: bytes) -> None:
        if self._screen.is_full:
            return
        try:
            words = self._render(line)
        except Exception:  # noqa: BLE001 - a line that cannot be put into words must not end the agent
            words = ""
        if words or not line:
            self._screen.say(clean_text(words))


class Screen:
    """A terminal that takes as much as it can and is told no more than that."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._waiting = bytearray()
        os.set_blocking(descriptor, False)

    @property
    def has_more(self) -> bool:
        """Whether something waits until the terminal can take it."""
        return bool(self._waiting)

    @property
    def is_full(self) -> bool:
        """Whether so much waits that nothing more is taken."""
        return len(self._waiting) >= _MOST_WAITING

    def say(self, text: str) -> None:
        if not self.is_full:
            self._waiting += f"{text}\n".encode(errors="replace")
            if self.is_full:
                self._waiting += _DROPPED
        self.write()

    def write(self) -> None:
        """Write what the terminal takes now."""
        try:
            while self._waiting:
                del self._waiting[: os.write(self.descriptor, self._waiting[:_CHUNK])]
        except BlockingIOError:
            pass
        except OSError:  # it is closed
            self._waiting.clear()
