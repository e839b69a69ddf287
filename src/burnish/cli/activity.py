"""What agents are doing while a run goes on: a line for each, redrawn in place below the progress, on a terminal only.

Whatever is shown at one moment is written at once, over what was there before, so that nothing flickers. Lines that
stay are printed by others, through `around`; of the lines drawn here, none is left behind.
"""

import asyncio
import io
import os
import signal
import sys
from contextlib import redirect_stderr, suppress
from types import TracebackType
from typing import Self, TextIO

from burnish.cli.screen import flat
from burnish.cli.tables import width
from burnish.core.events import AnyEvent
from burnish.core.state import Run
from burnish.core.values import replace
from burnish.runtime.runner import Watcher
from burnish.system import clock
from burnish.usecases.activities import AtWork, at_work

SOON_SECONDS = 0.1
"""Between something new and its being shown: no eye follows more than ten changes a second."""
TICK_SECONDS = 1.0
YOUNG_SECONDS = 0.5
"""What is over sooner is not worth a line."""


class Activity:
    """The lines below the progress. Where the screen cannot be redrawn, nothing is ever written."""

    def __init__(self, screen: TextIO | None = None) -> None:
        self._screen = screen or sys.stderr
        self._live = self._screen.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._works: tuple[AtWork, ...] = ()
        self._words: dict[str, str] = {}
        self._drawn: tuple[str, ...] = ()
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._follow(())
        self._draw()

    def update(self, effect: str, words: str) -> None:
        """An agent does something else now."""
        self._words[effect] = words
        if self._live and self._works:
            self._soon(SOON_SECONDS)

    def around(self, watcher: Watcher) -> Watcher:
        """The same watcher; what it prints goes above the lines."""
        return self._watching(watcher) if self._live else watcher

    def _watching(self, watcher: Watcher) -> Watcher:
        def watch(event: AnyEvent, run: Run) -> None:
            said = io.StringIO()
            try:
                with redirect_stderr(said):
                    watcher(event, run)
            finally:
                self._follow(at_work(run))
                self._draw(said.getvalue())

        return watch

    def _follow(self, works: tuple[AtWork, ...]) -> None:
        if works and not self._works and signal.getsignal(signal.SIGTSTP) == signal.SIG_DFL:
            asyncio.get_running_loop().add_signal_handler(signal.SIGTSTP, self._suspend)
        self._works = works
        self._words = {work.effect: self._words[work.effect] for work in works if work.effect in self._words}
        if works:
            self._soon(YOUNG_SECONDS)
        elif self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _soon(self, seconds: float) -> None:
        """Redraw after so many seconds, or earlier where that is due anyway."""
        loop = asyncio.get_running_loop()
        due = loop.time() + seconds
        if self._timer is not None:
            if self._timer.when() <= due:
                return
            self._timer.cancel()
        self._timer = loop.call_at(due, self._tick)

    def _suspend(self) -> None:
        """Ctrl-Z: the shell gets the terminal without our lines, and whoever goes on draws them anew."""
        loop = asyncio.get_running_loop()
        works, self._works = self._works, ()
        self._draw()
        loop.remove_signal_handler(signal.SIGTSTP)
        os.kill(os.getpid(), signal.SIGTSTP)
        loop.add_signal_handler(signal.SIGTSTP, self._suspend)
        self._works = works
        self._draw()

    def _tick(self) -> None:
        self._timer = None
        self._soon(TICK_SECONDS)
        self._draw()

    def _draw(self, said: str = "") -> None:
        """Print what stays, and the lines below it: over the old ones, in one piece."""
        columns, rows = _size(self._screen)
        lines = self._lines(columns, rows) if _in_foreground(self._screen) else ()
        if not said and lines == self._drawn:
            return
        text = "".join((_to_the_top(self._drawn, columns), f"\x1b[J{said}" if self._drawn and said else said))
        text += "\n".join(f"{line}\x1b[K" for line in lines) + ("\x1b[J" if self._drawn else "")
        self._drawn = lines
        with suppress(OSError):  # the terminal is gone; the run goes on
            self._screen.write(text)
            self._screen.flush()

    def _lines(self, columns: int, rows: int) -> tuple[str, ...]:
        now = clock.now()
        old = [work for work in self._works if now - work.since >= YOUNG_SECONDS]
        told = (replace(work, doing=self._words.get(work.effect, "")) for work in old[: rows - 1])
        return tuple(f"  {work_line(work, now, columns - 3)}" for work in told)


def work_line(work: AtWork, now: float, columns: int = 100) -> str:
    """`critic: Read src/app.py · 0:42`, in so many columns."""
    minutes, seconds = divmod(max(0, int(now - work.since)), 60)
    hours, minutes = divmod(minutes, 60)
    time = f" · {hours}:{minutes:02}:{seconds:02}" if hours else f" · {minutes}:{seconds:02}"
    name = work.label or work.name
    words = flat(f"{name}: {work.doing}" if work.doing else name)
    return _cut(_cut(words, columns - len(time)) + time, columns)


def _cut(text: str, columns: int) -> str:
    if width(text) <= columns:
        return text
    while text and width(text) >= columns:
        text = text[:-1]
    return f"{text}…" if columns > 0 else ""


def _to_the_top(drawn: tuple[str, ...], columns: int) -> str:
    """To where the lines begin. In a window that was made narrower, some of them take more than one row."""
    if not drawn:
        return ""
    rows = sum(max(1, -(-width(line) // columns)) for line in drawn)
    return "\r" + (f"\x1b[{rows - 1}A" if rows > 1 else "")


def _size(screen: TextIO) -> tuple[int, int]:
    try:
        size = os.get_terminal_size(screen.fileno())
    except OSError:
        return 80, 24
    return size.columns or 80, size.lines or 24


def _in_foreground(screen: TextIO) -> bool:
    """Whether the terminal is ours to draw on: a job in the background must not write over its user's prompt."""
    try:
        return os.tcgetpgrp(screen.fileno()) == os.getpgrp()
    except OSError:  # not the terminal of any session of ours
        return True
