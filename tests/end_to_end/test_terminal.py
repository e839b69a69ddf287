"""A person at a terminal is asked there, and the run goes on with the answer."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from burnish.runtime.script import RehearsalScript
from tests.end_to_end.machine import Machine
from tests.end_to_end.playing import check_state
from tests.end_to_end.plots import rehearsed, staged
from tests.end_to_end.world import Before
from tests.trails.test_default import SCENARIOS as DEFAULT

_SECONDS = 60.0


class Terminal:
    """A command whose standard input and error output are a terminal."""

    def __init__(self, machine: Machine, *arguments: str) -> None:
        self._screen, line = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "burnish", *arguments],
            cwd=machine.root,
            env={**machine.environment, "TERM": "xterm", "NO_COLOR": "1"},
            stdin=line,
            stdout=subprocess.PIPE,
            stderr=line,
            start_new_session=True,
        )
        os.close(line)
        self.seen = ""

    def wait_for(self, words: str) -> None:
        """Read until the screen shows something new."""
        start, deadline = len(self.seen), time.monotonic() + _SECONDS
        while words not in self.seen[start:]:
            assert select.select([self._screen], [], [], max(0.0, deadline - time.monotonic()))[0], self.seen
            self.seen += os.read(self._screen, 65_536).decode(errors="replace")

    def type(self, words: str) -> None:
        os.write(self._screen, f"{words}\n".encode())

    def end(self) -> tuple[int, str]:
        try:
            out, _ = self.process.communicate(timeout=_SECONDS)
        finally:
            self.process.kill()
            os.close(self._screen)
        return self.process.returncode, out.decode()


@pytest.mark.parametrize(
    ("script", "code"),
    [
        pytest.param(DEFAULT["exhausted at a terminal, accepted"], 0, id="accepted", marks=pytest.mark.prove),
        pytest.param(DEFAULT["exhausted at a terminal, one more round"], 0, id="one more round"),
    ],
)
def test_a_person_decides_at_the_terminal(tmp_path: Path, script: RehearsalScript, code: int) -> None:
    plot = rehearsed(script)
    machine = staged(tmp_path, plot)
    before = Before.of(machine)
    terminal = Terminal(machine, "fix")
    terminal.wait_for("Your choice:")
    assert "wrong result" in terminal.seen or "High: 1" in terminal.seen or "Important: 1" in terminal.seen
    terminal.type("perhaps")
    terminal.wait_for("Answer with one of")
    terminal.type(script.decisions[0].upper())
    assert terminal.end()[0] == code
    assert "\x1b" not in re.sub(r"\x1b\[\d*[AJK]", "", terminal.seen)
    run = machine.runs()[0]
    check_state(machine, plot, before, machine.burnish("show", run, "--json").view)


def test_an_answer_from_elsewhere_ends_the_question(tmp_path: Path) -> None:
    plot = rehearsed(DEFAULT["exhausted at a terminal, accepted"])
    machine = staged(tmp_path, plot)
    before = Before.of(machine)
    terminal = Terminal(machine, "fix")
    terminal.wait_for("Your choice:")
    run = machine.runs()[0]
    assert machine.burnish("decide", run, "b").code == 0
    assert terminal.end()[0] == 0
    check_state(machine, plot, before, machine.burnish("show", run, "--json").view)
