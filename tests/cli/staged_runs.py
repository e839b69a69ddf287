"""Real runs for the commands that look at them: scripted work, the real runner, a real ledger in a real repository.

As a program it drives one run in a process of its own: it says `held` once work is under way that only ends when it is
stopped, or `asked` once a question is open, and the outcome at its end.
"""

import asyncio
import subprocess
import sys
from contextlib import AbstractContextManager, closing
from pathlib import Path

from burnish.agents.services import Note, Work
from burnish.core.effects import AskPerson
from burnish.core.events import AnyEvent, Intent, RunStarted, WorkLost
from burnish.core.state import Ended, Run
from burnish.core.values import replace
from burnish.ledger.interface import Ledger
from burnish.ledger.sqlite import SqliteLedger, open_ledger
from burnish.protocols.loader import load
from burnish.runtime.journal import Journal
from burnish.runtime.rehearsal import START, ScriptedAgents
from burnish.runtime.runner import Runner
from burnish.runtime.script import RehearsalScript
from burnish.system.identifiers import this_process

FIRST = "20231114-221320-aaaaaa"
SECOND = "20231114-231320-bbbbbb"
THIRD = "20231115-001320-cccccc"


def make_repository(folder: Path) -> Path:
    """An empty repository; the folder is returned."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(folder)], check=True)
    return folder


def state_folder(repository: Path) -> Path:
    return repository / ".git" / "burnish"


def ledger_of(repository: Path) -> AbstractContextManager[SqliteLedger]:
    return closing(open_ledger(state_folder(repository)))


class Stage:
    """One run: a script and whoever plays it."""

    def __init__(self, ledger: Ledger, script: RehearsalScript, name: str = FIRST, at: float = START) -> None:
        self._ledger = ledger
        self._name = name
        self.cast = ScriptedAgents(script, load(script.protocol).protocol)
        self.cast.time = at

    def started(self) -> RunStarted:
        return replace(self.cast.started(), run=self._name)

    def begin(self) -> Journal:
        return Journal.begin(self._ledger, self.started(), this_process())

    async def perform(self, effect: Work, run: Run, stop: asyncio.Event, note: Note) -> AnyEvent:
        del stop, note
        await asyncio.sleep(0)
        return self.cast.result(effect, run)

    async def ask(self, effect: AskPerson, run: Run) -> Intent | None:
        del effect
        return self.cast.decision(run)

    def play(self) -> Run:
        """Drive the run until it ends, or the script holds no more decisions."""
        journal = self.begin()
        runner = Runner(journal, self, self.now, lambda _event, _run: None, self.ask)
        try:
            return asyncio.run(runner.run())
        finally:
            journal.release()

    def now(self) -> float:
        return self.cast.tick(0.001)


class Held(Stage):
    """A run whose work, of one kind, lasts until it is stopped, and whose questions nobody here answers."""

    holding = "review:1"

    async def perform(self, effect: Work, run: Run, stop: asyncio.Event, note: Note) -> AnyEvent:
        if not effect.id.startswith(self.holding):
            return await super().perform(effect, run, stop, note)
        _tell("held")
        await stop.wait()
        return WorkLost(at=self.now(), effect=effect.id)

    async def ask(self, effect: AskPerson, run: Run) -> Intent | None:
        del effect, run
        _tell("asked")
        await asyncio.Event().wait()
        return None


def _tell(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def play(repository: Path, script: RehearsalScript, name: str = FIRST, at: float = START) -> Run:
    """Play a script in a repository."""
    with ledger_of(repository) as ledger:
        return Stage(ledger, script, name, at).play()


def drive_elsewhere(repository: Path, holding: str) -> "subprocess.Popen[str]":
    """Drive a run in another process. Work whose name begins with `holding` lasts until it is stopped."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.cli.staged_runs", str(repository), holding],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )


def main(repository: Path, holding: str) -> None:
    finding = "critical app.py:3 SQL injection"
    script = RehearsalScript(protocol="epic", reviews={"reviewer": (finding,) * 4}, fixes=("fixed",) * 3)
    with ledger_of(repository) as ledger:
        stage = Held(ledger, script)
        stage.holding = holding
        phase = stage.play().phase
        _tell(phase.outcome.value if isinstance(phase, Ended) else type(phase).__name__)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
