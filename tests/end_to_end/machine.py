"""A user's machine for one test: a home, a repository, agents that do as they are told, and the real command.

Agents are one shell script: it looks its effect up (`review:2:critic:1`, or a pattern such as `review:*`), says in its
log that it was called, and does what the test wrote down for it. Nothing is shared between tests.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from burnish.ledger.interface import Ledger
from burnish.ledger.sqlite import SqliteLedger, open_ledger
from burnish.system import survivors
from burnish.testing.repositories import RepositoryBuilder
from tests.end_to_end.advice import check_advice, steps_in
from tests.end_to_end.watching import eventually

RUN_MARKER = "BURNISH_RUN"
NOTES = "Call the customer back.\n"
_SECONDS = 120.0
_STEP_SECONDS = 20.0
_REFUSED = (2, 70, 126, 127)
_CALLED = re.compile(r"^called \S+?/(\S+)$", re.MULTILINE)


class Done(NamedTuple):
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def view(self) -> dict[str, Any]:
        """The one object of `--json`."""
        value: dict[str, Any] = json.loads(self.out)
        return value


def _pipes(folder: str, names: list[str]) -> list[str]:
    """Through which an agent of a test waits for it; there is nothing to copy in them."""
    return [name for name in names if Path(folder, name).is_fifo()]


class Machine:
    """Home, repository and agents of one user."""

    types_steps = False
    """Whether every next step that a command offers is typed on a copy of the machine: `--type-next-steps`."""

    def __init__(self, folder: Path) -> None:
        self._settle_in(folder)
        for place in (self.agents, self.cache, self.copies, folder / "home", folder / "settings"):
            place.mkdir(parents=True)

    def _settle_in(self, folder: Path) -> None:
        self.folder = folder
        self.agents = folder / "agents"
        self.cache = folder / "cache"
        self.copies = folder / "copies"
        self.repository = RepositoryBuilder(folder / "repository")
        self.variables: dict[str, str] = {}
        """What the user has set beside the usual."""

    def copied(self, place: Path) -> "Machine":
        """The same machine elsewhere, so that each of several commands finds things as they were."""
        shutil.copytree(self.folder, place, symlinks=True, ignore=_pipes)
        other = Machine.__new__(Machine)
        other._settle_in(place)
        other.variables = dict(self.variables)
        return other

    @property
    def root(self) -> Path:
        return self.repository.path

    @property
    def state(self) -> Path:
        return self.root / ".git" / "burnish"

    def copies_of(self, run: str) -> Path:
        """Where the copies of a run live."""
        return self.copies / f"burnish-{os.getuid()}" / run

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(self.folder / "home"),
            "XDG_CACHE_HOME": str(self.cache),
            "TMPDIR": str(self.copies),
            "XDG_CONFIG_HOME": str(self.folder / "settings"),
            "XDG_STATE_HOME": str(self.folder / "state"),
            **self.variables,
        }

    def script(self, conduct: Mapping[str, str], name: str = "agent") -> Path:
        """Write a shell script that does what its effect calls for. The first entry that fits counts."""
        path = self.agents / f"{name}.sh"
        cases = "".join(f"{_pattern(effect)})\n{lines}\n;;\n" for effect, lines in conduct.items())
        path.write_text(
            f'echo "called $BURNISH_EFFECT" >&2\ncase "${{BURNISH_EFFECT#*/}}" in\n{cases}'
            '*) echo "Nobody said what to do for $BURNISH_EFFECT." >&2; exit 64 ;;\nesac\n',
            encoding="utf-8",
        )
        return path

    def leave_work_lying_around(self) -> None:
        """What every user has: notes that git does not know, and a file that it ignores."""
        self.repository.write({"notes.txt": NOTES, "local.env": "TOKEN=secret\n"})

    def burnish(self, *arguments: str, folder: Path | None = None, **variables: str) -> Done:
        """Run the command to its end."""
        process = self.start(*arguments, folder=folder, **variables)
        return self.end_of(process)

    def start(self, *arguments: str, folder: Path | None = None, **variables: str) -> "subprocess.Popen[bytes]":
        """Start the command; `end_of` waits for it."""
        return subprocess.Popen(
            [sys.executable, "-W", "default", "-m", "burnish", *arguments],
            cwd=folder or self.root,
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def end_of(self, process: "subprocess.Popen[bytes]") -> Done:
        """Wait for a command, and see to it that nothing in what it says is a bug of burnish."""
        try:
            out, err = process.communicate(timeout=_SECONDS)
        finally:
            process.kill()
        done = Done(process.returncode, out.decode(), err.decode())
        assert "Traceback" not in done.err, done.err
        assert "burnish has a bug" not in done.err, done.err
        assert "Warning" not in done.err, done.err
        check_advice(done.out)
        check_advice(done.err)
        if self.types_steps:
            self._type_steps(done)
        return done

    def type(self, command: str, seconds: float = _SECONDS) -> Done:
        """Type a line into a shell where the user is."""
        programs = self.folder / "bin"
        programs.mkdir(exist_ok=True)
        shim = programs / "burnish"
        shim.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -W default -m burnish "$@"\n')
        shim.chmod(0o755)
        process = subprocess.Popen(
            ["sh", "-c", command],
            cwd=self.root,
            env={**self.environment, "PATH": f"{programs}:{os.environ['PATH']}"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            out, err = _interrupted(process)
        return Done(process.returncode, out, err)

    def _type_steps(self, done: Done) -> None:
        """A step that is offered is never refused. One that waits, or whose agent hangs, is interrupted."""
        for number, command in enumerate(steps_in(done.out, done.err)):
            place = self.folder.with_name(f"{self.folder.name}-step-{number}")
            typed = self.copied(place).type(command, _STEP_SECONDS)
            shutil.rmtree(place, ignore_errors=True)
            assert typed.code not in _REFUSED, (command, typed)
            assert "burnish has a bug" not in typed.err, (command, typed)
            assert "Traceback" not in typed.err, (command, typed)

    def cut_down(self, process: "subprocess.Popen[bytes]") -> None:
        """`kill -9`, and nobody left to clean up."""
        process.send_signal(signal.SIGKILL)
        process.communicate()

    def ledger(self) -> SqliteLedger:
        """The ledger, to look at."""
        return open_ledger(self.state)

    def runs(self) -> list[str]:
        """The names of all runs, the oldest first."""
        if not (self.state / "ledger.db").exists():
            return []
        with open_ledger(self.state) as ledger:
            return [stream.removeprefix("run/") for stream in ledger.streams("run/")]

    def kinds(self, run: str) -> list[str]:
        """The kinds of a run's events, in order."""
        with open_ledger(self.state) as ledger:
            return [event.kind for event in ledger.read(f"run/{run}")]

    def wait_for_run(self, process: "subprocess.Popen[bytes]") -> str:
        """The name of the run that a command begins."""
        earlier = set(self.runs())

        def begun() -> str | None:
            found = next((run for run in self.runs() if run not in earlier), None)
            assert found or process.poll() is None, process.communicate()
            return found

        return eventually(begun)

    def wait_until(self, process: "subprocess.Popen[bytes]", holds: Callable[[Ledger], bool]) -> None:
        """Watch the ledger until something is true of it, or the process has ended."""
        with open_ledger(self.state) as ledger:
            eventually(lambda: holds(ledger) or process.poll() is not None or None)

    def wait_for_call(self, process: "subprocess.Popen[bytes]", effect: str) -> str:
        """Wait until an agent is at work on an effect; the name of the run."""
        run = self.wait_for_run(process)
        self.wait_until(process, lambda _: effect in self.calls(run))
        return run

    def calls(self, run: str) -> list[str]:
        """Every call of an agent or a validation, by its effect, as their logs tell."""
        logs = (self.state / "runs" / run / "logs").glob("*.log")
        return sorted(effect for log in logs for effect in _CALLED.findall(log.read_text(errors="replace")))

    def git(self, *arguments: str) -> str:
        return self.repository.git.text(*arguments)

    def processes(self, run: str) -> int:
        """How many processes of a run are alive."""
        return len(survivors.find(RUN_MARKER, run))


def _interrupted(process: "subprocess.Popen[str]") -> tuple[str, str]:
    """What a command said that was interrupted; an epic goes on with what runs, unless it is interrupted again."""
    for _ in range(2):
        os.killpg(process.pid, signal.SIGINT)
        try:
            return process.communicate(timeout=_STEP_SECONDS / 4)
        except subprocess.TimeoutExpired:
            continue
    return process.communicate()


def _pattern(effect: str) -> str:
    return effect if "*" in effect else f'"{effect}"'


def says(text: str) -> str:
    """Shell lines that print a text as it is."""
    return f"cat <<'END OF TEXT'\n{text.rstrip()}\nEND OF TEXT"


def writes(path: str, text: str) -> str:
    """Shell lines that write a file of the clone."""
    return f"cat > '{path}' <<'END OF TEXT'\n{text.rstrip()}\nEND OF TEXT"


CRASHES = "echo 'Segmentation fault' >&2\nexit 139"
HANGS = "exec sleep 600"
CHATTERS = "while :; do echo working; sleep 0.1; done"
