"""Sessions for other tools: a command in a tmux session that outlives the call, and what became of it.

A keeper, which is a process of its own, runs the command through the one door for processes and puts its end down.
Whoever monitors a session is woken by the keeper's end. Agents of burnish's own runs need none of this.
"""

import asyncio
import os
import re
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.values import Value
from burnish.system import clock, process, survivors, terminal_alive
from burnish.system.files import make_private_directory, write_atomically
from burnish.system.identifiers import ProcessIdentity, is_known_dead, new_run_id, this_process
from burnish.system.process import Command, Finished, Limits
from burnish.system.terminal import View, find_tmux, in_terminal
from burnish.workspace.repository import Repository

MARKER = "BURNISH_SESSION"
STEP = "review"
OUTPUT = "output.txt"
_ORDER, _KEEPER, _END, _ALIVE, _TERMINAL = "order.json", "keeper.json", "end.json", "alive", "terminal"
_RUN = "run.json"
_BURNISH = (sys.executable, "-m", "burnish")
_START_SECONDS = 30.0
_GRACE_SECONDS = 15.0
"""The command may be burnish itself, which first ends its own agents."""
_GRACE_OF_STRAYS = 1.0
_Note = TypeVar("_Note", bound=Value)
_NAME = re.compile(r"burnish-[A-Za-z0-9_-]+")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_WORD_LENGTH = 60
"""Of an epic's or a story's id in the name of a session, which is also the name of a folder."""


class SessionError(BurnishError):
    """A session cannot be made."""

    kind = ErrorKind.USAGE


class Order(Value):
    """What a session is for."""

    name: str
    command: str
    """For a shell."""
    folder: str


class Ending(Value):
    """How the command of a session ended."""

    code: int | None = None
    signal: int | None = None


class RunOfSession(Value):
    """The run that a session's command began, or went on with."""

    run: str


class Session:
    """One session, by its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name
        self.alive = folder / _ALIVE
        self.output = folder / OUTPUT

    @property
    def terminal(self) -> Path:
        """Where the tmux session lives."""
        return self.folder / _TERMINAL

    @property
    def keeper(self) -> ProcessIdentity | None:
        return _read(self.folder / _KEEPER, ProcessIdentity)

    @property
    def ending(self) -> Ending | None:
        return _read(self.folder / _END, Ending)

    @property
    def order(self) -> Order | None:
        return _read(self.folder / _ORDER, Order)

    @property
    def run(self) -> str | None:
        """The run of its command, where that is one of burnish's."""
        noted = _read(self.folder / _RUN, RunOfSession)
        return None if noted is None else noted.run

    def is_over(self) -> bool:
        """Whether the command has ended, or whoever kept it is gone."""
        keeper = self.keeper
        return self.ending is not None or keeper is None or is_known_dead(keeper)

    def ends_within(self, seconds: float) -> bool:
        """Wait for the end; whether it came."""
        return terminal_alive.ends(self.alive, self.is_over, seconds)


def build_command(story: str, agent: str) -> str:
    """The shell command that has an agent review and fix a story, for one cycle of the other tool's loop."""
    return shlex.join((*_BURNISH, "fix", "--protocol", "story", "--story", story, "--agent", agent, "--one-round"))


def is_own(command: str) -> bool:
    """Whether a command is one of burnish's, so that its exit code means what burnish's codes mean."""
    return command.startswith(shlex.join(_BURNISH))


def find(repository: Repository, name: str) -> Session | None:
    """A session by its name."""
    session = Session(_sessions(repository) / name)
    return session if _NAME.fullmatch(name) and session.order is not None else None


def note_run(repository: Repository, name: str, run: str) -> None:
    """Let whoever monitors a session know which run its command drives."""
    session = find(repository, name)
    if session is not None:
        write_atomically(session.folder / _RUN, msgspec.json.encode(RunOfSession(run=run)))


def over_since(repository: Repository, moment: float) -> list[Path]:
    """The folders of sessions that were over at a moment; that of a killed one holds what its command wrote."""
    folder = _sessions(repository)
    there = sorted(folder.iterdir()) if folder.is_dir() else []
    return [path for path in there if Session(path).is_over() and path.stat().st_mtime < moment]


def _read(path: Path, kind: type[_Note]) -> _Note | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError):
        return None


def _sessions(repository: Repository) -> Path:
    return repository.state_dir / "sessions"


def spawn(
    repository: Repository, environment: Mapping[str, str], *, epic: str, story: str, cycle: int, command: str
) -> Session:
    """Start a command in a session of its own; when this returns, it runs."""
    if not command.strip():
        raise SessionError(
            "--command is empty: the session would run nothing.",
            hint=f"'burnish session build-cmd {STEP} {shlex.quote(story)} --agent NAME' prints a command.",
        )
    find_tmux()
    words = (f"e{epic}", f"s{story}", STEP, f"r{cycle}")
    name = "-".join(
        ("burnish", new_run_id(clock.now()), *(_NOT_IN_NAMES.sub("-", word)[:_WORD_LENGTH] for word in words))
    )
    session = Session(_sessions(repository) / name)
    make_private_directory(session.folder)
    order = Order(name=name, command=command, folder=str(repository.root))
    write_atomically(session.folder / _ORDER, msgspec.json.encode(order))
    with terminal_alive.awaited(session.alive) as begins:
        keeper = Command(
            argv=(sys.executable, "-P", "-m", "burnish.cli.session_keeper", str(session.folder)),
            folder=str(repository.root),
            environment=dict(environment),
        )
        process.start_detached(keeper, session.folder / "keeper.log")
        if not begins(_START_SECONDS):
            raise SessionError(f"The session {name} did not start.", hint=f"Look into {session.folder}/keeper.log.")
    return session


def keep(folder: Path, environment: Mapping[str, str]) -> None:
    """Run the command of a session to its end. This is what the keeper does."""
    session = Session(folder)
    order = session.order
    if order is None:
        raise SessionError(f"There is no session in {folder}.", hint="Sessions are made by `burnish session spawn`.")
    with terminal_alive.held(session.alive) as begun:
        write_atomically(folder / _KEEPER, msgspec.json.encode(this_process()))
        try:
            finished = asyncio.run(_run(session, order, environment, begun))
        finally:
            survivors.end_all(MARKER, session.name, _GRACE_OF_STRAYS)
        if finished.message:
            sys.stderr.write(f"{finished.message}\n")
        if folder.is_dir():
            write_atomically(folder / _END, msgspec.json.encode(Ending(code=finished.code, signal=finished.signal)))


async def _run(session: Session, order: Order, environment: Mapping[str, str], begun: Callable[[], None]) -> Finished:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    command = Command(
        argv=("sh", "-c", order.command),
        folder=order.folder,
        environment={**environment, MARKER: session.name},
    )
    view = View(name=session.name, session=session.name, folder=str(session.terminal), title=session.name)
    return await process.run(
        in_terminal(find_tmux(), command, view),
        Limits(grace_seconds=_GRACE_SECONDS),
        log=session.output,
        on_start=lambda _mark: begun(),
        stop=stop,
    )


def kill(repository: Repository, name: str) -> bool:
    """End a session and forget it, but for what its command wrote. Whether there was one."""
    session = find(repository, name)
    if session is None:
        return False
    keeper = session.keeper
    if keeper is not None and not session.is_over():
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.kill(keeper.pid, number)
            if session.ends_within(2 * _GRACE_SECONDS):
                break
    survivors.end_all(MARKER, name, _GRACE_OF_STRAYS)
    for file in (_ORDER, _KEEPER, _END, _ALIVE, _RUN):
        (session.folder / file).unlink(missing_ok=True)
    shutil.rmtree(session.terminal, ignore_errors=True)
    return True
