"""Agents in terminals for tests: each is a shell script that says when it is ready, and goes on when it is told to."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.system.identifiers import identity_of, is_known_dead
from burnish.system.process import Command, Finished, ProcessLimits, run
from burnish.system.terminal import Terminal, View, in_terminal, open_terminal
from burnish.system.terminal_sessions import Watched, let_in, living

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "SECRET": "sesame"}
RUN = "20261115-081500-k3f9q2"
LIMITS = ProcessLimits(seconds=60, grace_seconds=30)

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="optional: tmux is not installed")


class Stage:
    """A folder of a test with a terminal in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.terminal: Terminal = open_terminal(RUN, folder / "terminals")
        self.ready = folder / "ready"
        self.go = folder / "go"
        for pipe in (self.ready, self.go):
            if not pipe.exists():
                os.mkfifo(pipe)

    def view(self, effect: str = "review:1:critic:1", render: str = "") -> View:
        return self.terminal.view(effect, render)

    def script(self, lines: str, stdin: bytes = b"") -> Command:
        """A script that finds the pipes of this stage as $READY and $GO."""
        return Command(
            argv=("sh", "-c", lines),
            folder=str(self.folder),
            environment={**ENVIRONMENT, "READY": str(self.ready), "GO": str(self.go)},
            stdin=stdin,
        )

    def shown(self, command: Command, view: View | None = None) -> Command:
        return in_terminal(self.terminal.program, command, view or self.view())

    def run(self, command: Command, limits: ProcessLimits = LIMITS) -> Finished:
        return asyncio.run(run(self.shown(command), limits))

    def run_and(
        self,
        act: Callable[[], None],
        command: Command,
        *,
        view: View | None = None,
        stop: asyncio.Event | None = None,
        limits: ProcessLimits = LIMITS,
    ) -> Finished:
        """Run a script, and act as soon as it says that it is ready."""
        shown = self.shown(command, view)

        async def both() -> Finished:
            loop, said = asyncio.get_running_loop(), asyncio.Event()
            handle = os.open(self.ready, os.O_RDWR | os.O_NONBLOCK)
            loop.add_reader(handle, said.set)
            try:
                work = asyncio.create_task(run(shown, limits, stop=stop))
                hearing = asyncio.create_task(said.wait())
                await asyncio.wait({work, hearing}, return_when=asyncio.FIRST_COMPLETED)
                assert said.is_set(), work.result()
                loop.remove_reader(handle)
                os.read(handle, 1)
                await asyncio.to_thread(act)
                return await work
            finally:
                loop.remove_reader(handle)
                os.close(handle)

        return asyncio.run(both())

    def let_go(self) -> None:
        """Tell the script to go on."""
        self.go.write_text("go\n")

    def watched(self) -> Watched:
        (found,) = living(self.folder / "terminals")
        return found

    def tmux(self, *words: str) -> str:
        """What tmux answers to whoever gets in."""
        path = let_in(self.watched(), self.terminal.program)
        done = subprocess.run(
            [self.terminal.program, "-S", path.name, *words],
            cwd=path.parent,
            capture_output=True,
            check=True,
            text=True,
        )
        return done.stdout

    def check_nothing_left(self) -> None:
        assert list((self.folder / "terminals").glob("*")) == []


def is_gone(pid: int) -> bool:
    return is_known_dead(identity_of(pid))
