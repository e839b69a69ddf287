"""A run while it goes on: a line for each event, and below them, at a terminal, a line for each agent at work.

The lines of agents are redrawn in place: what is shown at one moment is written at once, over what was there before,
so that nothing flickers, and none of them is left behind. All of it goes to the standard error output.
"""

import asyncio
import io
import os
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, suppress
from types import TracebackType
from typing import Self, TextIO

from burnish.core.events import (
    AnyEvent,
    BudgetReached,
    Built,
    Fixed,
    ProcessStarted,
    Reviewed,
    RunStarted,
    Sealed,
    TimerFired,
    Validated,
    ValidationStatus,
    WorkFailed,
    WorkLost,
    WorkStarted,
)
from burnish.core.evidence import looked
from burnish.core.findings import Severity
from burnish.core.state import FixStatus, Run, Validating, Waiting
from burnish.core.values import replace
from burnish.report.account import WorkInProgress, work_in_progress
from burnish.report.output import columns_of, cut, flat, print_error, width
from burnish.report.text import work_line
from burnish.report.words import attempt_words, number, phase_words, places, what_happened
from burnish.system import clock

SOON_SECONDS = 0.1
"""Between something new and its being shown: no eye follows more than ten changes a second."""
TICK_SECONDS = 1.0
YOUNG_SECONDS = 0.5
"""What is over sooner is not worth a line."""
_WORST = 3
"""Findings that are named as they come."""
_PIPE_COLUMNS = 160
_VALIDATED = {ValidationStatus.PASSED: "✓", ValidationStatus.FAILED: "✗", ValidationStatus.SKIPPED: "–"}
_NAMES = {"fix": "fix", "validate": "validation", "seal": "seal", "build": "build"}

Watcher = Callable[[AnyEvent, Run], None]


def title(run: Run) -> str:
    scope = "review and fix" if run.may_fix else "one review"
    again = f", resumed after {number(len(run.rounds), 'round')}" if run.rounds else ""
    ended = "".join(f", supersedes {name}" for name in run.started.supersedes)
    return f"run {run.id}: {run.subject.compared}, protocol {run.protocol.name}, {scope}{ended}{again}"


def print_event(event: AnyEvent, run: Run) -> None:
    """One event. Marks of processes and the end of pauses are left out."""
    if isinstance(event, WorkStarted):
        if event.effect.startswith("review:"):
            print_error(f"  … {_short(event.effect, run)}: running ({event.agent})")
        elif not isinstance(run.phase, Validating):
            print_error(f"  … {_short(event.effect, run)}: running")
    else:
        print_result(event, run)


def print_result(event: AnyEvent, run: Run) -> None:
    """One event, if it is not the start of something: a live line shows that."""
    if isinstance(event, ProcessStarted | TimerFired | RunStarted | WorkStarted):
        return
    words = what_happened(event)
    if isinstance(event, Fixed):
        words = f"{event.effect} {_fixed(event, run)}"
    print_error(f"  {_mark(event, run)} {_short(words, run)}")
    if isinstance(event, Reviewed):
        _print_worst(event)
    if isinstance(run.phase, Waiting):
        print_error(f"  ? {phase_words(run.phase)}")


def _print_worst(event: Reviewed) -> None:
    """The worst of what a reviewer found, as it comes; the end of the command lists all."""
    serious = [finding for finding in event.answer.findings if finding.severity.at_least(Severity.HIGH)]
    serious.sort(key=lambda finding: finding.severity.rank)
    columns = (columns_of(sys.__stderr__) if sys.__stderr__ else None) or _PIPE_COLUMNS
    for finding in serious[:_WORST]:
        where = f"{places(finding)[0]}: " if finding.location is not None else ""
        print_error(cut(f"      {finding.severity.value:<8} {where}{flat(finding.title)}", columns))
    if len(serious) > _WORST:
        print_error(f"      and {len(serious) - _WORST} more")


def activity_printer() -> Callable[[str, str], None]:
    """Prints what each agent does, whenever it does something else."""
    last: dict[str, str] = {}

    def print_activity(effect: str, words: str) -> None:
        if words and last.get(effect) != words:
            last[effect] = words
            print_error(f"    {effect}: {flat(words)}")

    return print_activity


def _mark(event: AnyEvent, run: Run) -> str:
    """✓ only where something passed, ✗ where it did not, and – for everything that is neither."""
    match event:
        case Reviewed() if event.answer.findings or not event.answer.clean:
            return "✗"
        case Reviewed():
            proven = event.evidence.missing is None and looked(run.changed, event.evidence)
            return "✓" if proven else "–"
        case Validated():
            return _VALIDATED[event.status]
        case Sealed() | Built():
            return "✓"
        case WorkFailed() | WorkLost() | BudgetReached():
            return "✗"
        case _:
            return "–"


def _fixed(event: Fixed, run: Run) -> str:
    """Whether the fix changed the tree under review, in the words of the summary."""
    fix = run.rounds[-1].fix if run.rounds else None
    changed = run.tree == event.change.tree and (fix is None or fix.status is FixStatus.FIXED)
    status = (FixStatus.FIXED if changed else FixStatus.UNCHANGED).value
    return f"{status}: {flat(event.summary)}" if event.summary else status


def _short(words: str, run: Run) -> str:
    """`review:2:critic:1 clean` → `round 2: critic: clean`."""
    head, _, tail = words.partition(" ")
    parts = head.split(":")
    if parts[0] == "review" and len(parts) == 4:
        attempt = attempt_words(run, parts[2], int(parts[3]))
        name = f"round {parts[1]}: {parts[2]}{f' ({attempt})' if attempt else ''}"
    elif parts[0] in _NAMES:
        name = _NAMES[parts[0]]
    else:
        return words
    return f"{name}: {tail}" if tail else name


class LiveLines:
    """The lines of agents at work. Where the screen cannot be redrawn, nothing is ever written."""

    def __init__(self, screen: TextIO | None = None) -> None:
        self._screen = screen or sys.stderr
        self._live = self._screen.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._works: tuple[WorkInProgress, ...] = ()
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

    def follow(self, works: tuple[WorkInProgress, ...], said: str = "") -> None:
        """Other work goes on now. What is said about it goes above the lines; without a screen, it is only printed."""
        if self._live:
            self._follow(works)
            self._draw(f"{said}\n" if said else "")
        elif said:
            print_error(said)

    @property
    def printer(self) -> Watcher:
        """Prints what happens above the lines. Where there are none, also what is begun."""
        return self.around(print_result if self._live else print_event)

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
                self._follow(work_in_progress(run))
                self._draw(said.getvalue())

        return watch

    def _follow(self, works: tuple[WorkInProgress, ...]) -> None:
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
        """Ctrl-Z: the shell gets the terminal without our lines; they are drawn anew when the run goes on."""
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


class StatusLine:
    """One line at a terminal that is written over, for work that is no run. Elsewhere, nothing is ever written."""

    def __init__(self, screen: TextIO | None = None) -> None:
        self._screen = screen or sys.stderr
        self._live = self._screen.isatty() and os.environ.get("TERM", "dumb") != "dumb"

    def update(self, words: str) -> None:
        if self._live:
            self._write(f"\r{cut(flat(words), _size(self._screen)[0] - 1)}\x1b[K")

    def clear(self) -> None:
        if self._live:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        with suppress(OSError):  # the terminal is gone; the work goes on
            self._screen.write(text)
            self._screen.flush()
