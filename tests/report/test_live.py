"""The lines of running agents: redrawn in place below the progress, on a terminal only, and gone at the end."""

import asyncio
import io
import re
import unicodedata

import pytest

from burnish.core.events import AnyEvent, WorkLost, WorkStarted
from burnish.core.loop import evolve
from burnish.core.protocol import ValidateRule
from burnish.core.state import Run
from burnish.core.values import replace
from burnish.protocols.loader import load
from burnish.report.account import WorkInProgress
from burnish.report.live import LiveLines
from burnish.report.output import print_error
from burnish.report.text import work_line
from burnish.runtime.rehearsal import ScriptedAgents
from burnish.runtime.script import RehearsalScript
from burnish.system import clock

CRITIC, PEDANT = "review:1:critic:1", "review:1:pedant:1"
_MOVE = re.compile(r"\x1b\[(\d*)([AJK])")


class Terminal(io.StringIO):
    """What a terminal of 80 columns shows, and how often it was written to."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = [""]
        self.row = self.column = self.writes = 0
        self.written = asyncio.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        self.writes += 1
        self.written.set()
        for part in re.split(r"(\x1b\[\d*[A-Z]|[\r\n])", text):
            self._take(part)
        return len(text)

    def _take(self, part: str) -> None:
        move = _MOVE.fullmatch(part)
        if part == "\r":
            self.column = 0
        elif part == "\n":
            self.row, self.column = self.row + 1, 0
            self.rows += [""] * (self.row + 1 - len(self.rows))
        elif move is not None:
            self._move(int(move[1] or 1), move[2])
        else:
            assert all(unicodedata.category(character) != "Cc" for character in part), part
            line = self.rows[self.row]
            self.rows[self.row] = line[: self.column] + part + line[self.column + len(part) :]
            self.column += len(part)

    def _move(self, number: int, what: str) -> None:
        if what == "A":
            self.row -= number
            assert self.row >= 0
            return
        self.rows[self.row] = self.rows[self.row][: self.column]
        if what == "J":
            del self.rows[self.row + 1 :]

    @property
    def lines(self) -> list[str]:
        """The rows without the time that they show, which depends on how busy the machine is."""
        return [re.sub(r" · \d+:\d\d$", "", row) for row in self.rows]

    async def next_write(self) -> None:
        self.written.clear()
        await asyncio.wait_for(self.written.wait(), 10)


def panel_at_work() -> Run:
    """A run whose critic and pedant were started a minute ago."""
    protocol = load("panel").protocol
    run = evolve(None, ScriptedAgents(RehearsalScript(protocol="panel"), protocol).started())
    run = evolve(
        None, replace(run.started, protocol=replace(protocol, validate=ValidateRule(before_first_review=False)))
    )
    for effect in (CRITIC, PEDANT):
        run = evolve(run, started(effect))
    return run


def started(effect: str) -> WorkStarted:
    return WorkStarted(at=clock.now() - 60.5, effect=effect, agent="claude")


def prints(event: AnyEvent, run: Run) -> None:
    del run
    print_error(f"printed: {type(event).__name__}")


@pytest.fixture(autouse=True)
def a_terminal_that_can_be_redrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


def test_lines_stay_below_what_is_printed_and_are_gone_at_the_end() -> None:
    async def scene() -> None:
        screen = Terminal()
        with LiveLines(screen) as live:
            watch = live.around(prints)
            run = panel_at_work()
            watch(started(CRITIC), run)
            assert screen.lines == ["printed: WorkStarted", "  REVIEW critic", "  REVIEW pedant"]
            live.update(CRITIC, "Read src/app.py")
            await screen.next_write()
            assert screen.lines == ["printed: WorkStarted", "  REVIEW critic: Read src/app.py", "  REVIEW pedant"]
            lost = WorkLost(at=clock.now(), effect=CRITIC)
            watch(lost, evolve(run, lost))
            assert screen.lines == ["printed: WorkStarted", "printed: WorkLost", "  REVIEW pedant"]
        assert screen.rows == ["printed: WorkStarted", "printed: WorkLost", ""]

    asyncio.run(scene())


def test_the_time_goes_on_by_itself() -> None:
    async def scene() -> None:
        screen = Terminal()
        with LiveLines(screen) as live:
            live.around(prints)(started(CRITIC), panel_at_work())
            before = screen.rows[1:]
            await screen.next_write()
            assert screen.rows[1:] != before
            assert screen.lines[1:] == ["  REVIEW critic", "  REVIEW pedant"]

    asyncio.run(scene())


def test_everything_of_one_moment_is_one_write() -> None:
    async def scene() -> None:
        screen = Terminal()
        with LiveLines(screen) as live:
            live.around(prints)(started(CRITIC), panel_at_work())
            assert screen.writes == 1
            for number in range(500):
                live.update(CRITIC, f"step {number}")
            await screen.next_write()
            assert (screen.writes, screen.lines[1]) == (2, "  REVIEW critic: step 499")

    asyncio.run(scene())


def test_nothing_is_written_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for screen in (io.StringIO(), Terminal()):
        monkeypatch.setenv("TERM", "dumb")
        with LiveLines(screen) as live:
            assert live.around(prints) is prints
            live.update(CRITIC, "Read src/app.py")
        assert screen.getvalue() == ""
        assert getattr(screen, "writes", 0) == 0


def test_what_is_over_at_once_gets_no_line() -> None:
    async def scene() -> None:
        screen = Terminal()
        with LiveLines(screen) as live:
            run = panel_at_work()
            for effect in (CRITIC, PEDANT):
                run = evolve(run, WorkLost(at=clock.now(), effect=effect))
            young = WorkStarted(at=clock.now(), effect=CRITIC, agent="claude")
            live.around(prints)(young, evolve(run, young))
            assert screen.rows == ["printed: WorkStarted", ""]
            await screen.next_write()
            assert screen.lines == ["printed: WorkStarted", "  REVIEW critic"]

    asyncio.run(scene())


def test_hostile_words_steer_no_terminal_and_fill_one_line() -> None:
    async def scene() -> None:
        screen = Terminal()
        with LiveLines(screen) as live:
            live.around(prints)(started(CRITIC), panel_at_work())
            live.update(CRITIC, "\x1b[2J\x1b]0;title\x07one\r\ntwo \u202e" + "字" * 200)
            await screen.next_write()
            assert len(screen.rows) == 3
            assert screen.rows[1].startswith("  REVIEW critic: one two 字字")
            assert screen.lines[1].endswith("字…")

    asyncio.run(scene())


@pytest.mark.parametrize("columns", range(30))
def test_a_line_is_never_wider_than_it_may_be(columns: int) -> None:
    work = WorkInProgress(effect=CRITIC, name="critic", agent="claude", since=0.0, doing="Read src/app.py")
    assert len(work_line(work, 4_000.0, columns)) <= columns


def test_a_long_work_shows_hours() -> None:
    work = WorkInProgress(effect=CRITIC, name="critic", agent="claude", since=0.0)
    assert work_line(work, 3_723.4) == "critic · 1:02:03"
