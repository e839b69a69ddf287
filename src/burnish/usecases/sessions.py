"""Sessions for other tools: a command in a tmux session that outlives the call, and what became of it.

A keeper, which is a process of its own, runs the command through the one door for processes and puts its end down.
The tmux session is a view of what the command writes. Keeper and view watch each other: if one of them is gone, the
other one ends the command. A monitor is woken by the keeper's end. Agents of burnish's own runs need none of this.
"""

import asyncio
import os
import re
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import TypeVar

import msgspec

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.events import Outcome, StoryStatus, Subject
from burnish.core.story_text import is_story
from burnish.core.values import Value
from burnish.runtime.stories import story_status
from burnish.system import alive, clock, process, survivors
from burnish.system.files import make_private_directory, write_atomically
from burnish.system.identifiers import ProcessIdentity, is_known_dead, new_run_id, this_process
from burnish.system.process import Command, How, ProcessLimits
from burnish.system.terminal import View, closing_noticed, find_tmux, open_view
from burnish.usecases.runs import open_runs
from burnish.workspace.repository import Repository
from burnish.workspace.subjects import commit_work_tree

MARKER = "BURNISH_SESSION"
STEP = "review"
OUTPUT = "output.txt"
_ORDER, _KEEPER, _END, _ALIVE, _TERMINAL = "order.json", "keeper.json", "end.json", "alive", "terminal"
_RUN = "run.json"
_BURNISH = (sys.executable, "-P", "-m", "burnish")
_OLDER = (sys.executable, "-m", "burnish")
"""As sessions call it that an earlier version started."""
_PROGRAM = (sys.executable, "-P", "-m", "burnish.cli.session")
"""Keeps a session (`keep`), or shows what it writes (`show`)."""
_VIEWERS_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
_START_SECONDS = 30.0
_GRACE_SECONDS = 15.0
"""The command may be burnish itself, which first ends its own agents."""
_GRACE_OF_STRAYS = 1.0
_Note = TypeVar("_Note", bound=Value)
_NAME = re.compile(r"burnish-[A-Za-z0-9_-]+")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_WORD_LENGTH = 60
"""Of an epic's or a story's id in the name of a session, which is also the name of a folder."""
_HANGUP = 1
_NOT_DONE = (1, 3)
"""burnish's own codes for a command that ran well and says that the work is not: findings remain, or a person must
decide."""


class SessionError(BurnishError):
    kind = ErrorKind.USAGE


class SessionCommand(Value):
    name: str
    command: str
    """For a shell."""
    folder: str


class SessionEnd(Value):
    code: int | None = None
    signal: int | None = None


class RunOfSession(Value):
    run: str


class CommandSession:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name
        self.alive = folder / _ALIVE
        self.output = folder / OUTPUT

    @property
    def terminal(self) -> Path:
        return self.folder / _TERMINAL

    @property
    def keeper(self) -> ProcessIdentity | None:
        return _read(self.folder / _KEEPER, ProcessIdentity)

    @property
    def ending(self) -> SessionEnd | None:
        return _read(self.folder / _END, SessionEnd)

    @property
    def order(self) -> SessionCommand | None:
        return _read(self.folder / _ORDER, SessionCommand)

    @property
    def run(self) -> str | None:
        """The run of its command, where that is one of burnish's."""
        noted = _read(self.folder / _RUN, RunOfSession)
        return None if noted is None else noted.run

    def is_over(self) -> bool:
        keeper = self.keeper
        return self.ending is not None or keeper is None or is_known_dead(keeper)

    def ends_within(self, seconds: float) -> bool:
        """Wait for the end; whether it came."""
        return alive.ends(self.alive, self.is_over, seconds)


def build_command(story: str, agent: str) -> str:
    """The shell command that has an agent review and fix a story, for one cycle of the other tool's loop."""
    return shlex.join((*_BURNISH, "fix", "--protocol", "story", "--story", story, "--agent", agent, "--one-round"))


def is_own(command: str) -> bool:
    """Whether a command is one of burnish's, so that its exit code means what burnish's codes mean."""
    return command.startswith((shlex.join(_BURNISH), shlex.join(_OLDER)))


def find(repository: Repository, name: str) -> CommandSession | None:
    session = CommandSession(_sessions(repository) / name)
    return session if _NAME.fullmatch(name) and session.order is not None else None


def note_run(repository: Repository, name: str, run: str) -> None:
    """Note which run the command of a session drives, for its monitors."""
    session = find(repository, name)
    if session is not None:
        write_atomically(session.folder / _RUN, msgspec.json.encode(RunOfSession(run=run)))


def over_since(repository: Repository, moment: float) -> list[Path]:
    """The folders of sessions that were over at a moment; that of a killed one holds what its command wrote."""
    folder = _sessions(repository)
    there = sorted(folder.iterdir()) if folder.is_dir() else []
    return [path for path in there if CommandSession(path).is_over() and path.stat().st_mtime < moment]


def live_sessions(repository: Repository) -> list[str]:
    """The names of sessions whose command still runs."""
    folder = _sessions(repository)
    there = sorted(folder.iterdir()) if folder.is_dir() else []
    return [path.name for path in there if not CommandSession(path).is_over()]


def _read(path: Path, kind: type[_Note]) -> _Note | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError):
        return None


def _sessions(repository: Repository) -> Path:
    return repository.state_dir / "sessions"


def spawn(
    repository: Repository, environment: Mapping[str, str], *, epic: str, story: str, cycle: int, command: str
) -> CommandSession:
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
    session = CommandSession(_sessions(repository) / name)
    make_private_directory(session.folder)
    order = SessionCommand(name=name, command=command, folder=str(repository.root))
    write_atomically(session.folder / _ORDER, msgspec.json.encode(order))
    with alive.awaited(session.alive) as begins:
        keeper = Command(
            argv=(*_PROGRAM, "keep", str(session.folder)),
            folder=str(repository.root),
            environment=dict(environment),
        )
        process.start_detached(keeper, session.folder / "keeper.log")
        if not begins(_START_SECONDS):
            raise SessionError(f"The session {name} did not start.", hint=f"See {session.folder}/keeper.log.")
    return session


def keep(folder: Path, environment: Mapping[str, str]) -> None:
    """Run the command of a session to its end. This is what the keeper does."""
    session = CommandSession(folder)
    order = session.order
    if order is None:
        raise SessionError(f"There is no session in {folder}.", hint="`burnish session spawn` creates sessions.")
    with alive.held(session.alive) as begun:
        write_atomically(folder / _KEEPER, msgspec.json.encode(this_process()))
        try:
            ending = asyncio.run(_run(session, order, environment, begun))
        finally:
            end_strays(session)
            shutil.rmtree(session.terminal, ignore_errors=True)
        if folder.is_dir():
            write_atomically(folder / _END, msgspec.json.encode(ending))


def end_strays(session: CommandSession) -> None:
    """End everything that a session has started, but for the process that asks and those above it."""
    survivors.end_all(MARKER, session.name, _GRACE_OF_STRAYS)


async def _run(
    session: CommandSession, order: SessionCommand, environment: Mapping[str, str], begun: Callable[[], None]
) -> SessionEnd:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    viewer = Command(
        argv=(*_PROGRAM, "show", str(session.folder)),
        folder=order.folder,
        environment={
            **{name: environment[name] for name in _VIEWERS_ENVIRONMENT if name in environment},
            MARKER: session.name,
        },
    )
    view = View(name=session.name, session=session.name, folder=str(session.terminal))
    view = await open_view(find_tmux(), view, viewer)
    command = Command(
        argv=("sh", "-c", order.command),
        folder=order.folder,
        environment={**environment, MARKER: session.name},
    )
    with closing_noticed(view, stop.set):
        finished = await process.run(
            command,
            ProcessLimits(grace_seconds=_GRACE_SECONDS),
            log=session.output,
            on_start=lambda _mark: begun(),
            stop=stop,
        )
    if finished.message:
        sys.stderr.write(f"{finished.message}\n")
    if finished.how is How.STOPPED and is_known_dead(view.server):
        return SessionEnd(signal=_HANGUP)
    return SessionEnd(code=finished.code, signal=finished.signal)


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
    end_strays(session)
    for file in (_ORDER, _KEEPER, _END, _ALIVE, _RUN):
        (session.folder / file).unlink(missing_ok=True)
    shutil.rmtree(session.terminal, ignore_errors=True)
    return True


class FinalState(Enum):
    COMPLETED = "completed"
    INCOMPLETE = "incomplete"
    CRASHED = "crashed"
    STUCK = "stuck"
    NOT_FOUND = "not_found"
    TIMEOUT = "timeout"


class MonitorResult(Value):
    state: FinalState
    reason: str
    output_file: str = ""
    output_verified: bool = False
    """Whether the file holds anything."""


class MonitorRequest(Value):
    workflow: str = ""
    story: str = ""
    timeout_minutes: float
    silent_seconds: float


def monitor(repository: Repository, name: str, request: MonitorRequest) -> MonitorResult:
    """Wait until a session has ended, is stuck, or the time is over."""
    if request.workflow == STEP and not request.story.strip():
        raise SessionError(f"--workflow {STEP} needs a story to verify.", hint="Add --story-key ID, such as 1.2.")
    session = find(repository, name)
    if session is None:
        return MonitorResult(state=FinalState.NOT_FOUND, reason="session_gone")
    early = _wait(session, request)
    if early is not None:
        return _answer(session, *early)
    order = session.order
    if order is None:  # it was killed meanwhile
        return MonitorResult(state=FinalState.NOT_FOUND, reason="session_gone")
    ending = session.ending
    if ending is None or ending.signal == _HANGUP:
        return _answer(session, FinalState.CRASHED, "session_gone")
    return _answer(session, *_verdict(repository, session, ending, request, own=is_own(order.command)))


def _wait(session: CommandSession, request: MonitorRequest) -> tuple[FinalState, str] | None:
    """Why there is no use in waiting longer; None once the session has ended."""
    deadline = time.monotonic() + request.timeout_minutes * 60
    while True:
        left, patience = deadline - time.monotonic(), request.silent_seconds - _silence(session)
        if session.ends_within(min(left, patience)):
            return None
        if time.monotonic() >= deadline:
            return FinalState.TIMEOUT, f"exceeded_{request.timeout_minutes:g}m"
        if _silence(session) >= request.silent_seconds:
            return FinalState.STUCK, "no_output" if _size(session.output) else "never_active"


def _silence(session: CommandSession) -> float:
    try:
        return clock.now() - session.output.stat().st_mtime
    except OSError:
        return 0.0


def _verdict(
    repository: Repository, session: CommandSession, ending: SessionEnd, request: MonitorRequest, *, own: bool
) -> tuple[FinalState, str]:
    if ending.signal is not None:
        return FinalState.CRASHED, f"signal_{ending.signal}"
    if own and ending.code in _NOT_DONE:
        return FinalState.INCOMPLETE, "workflow_not_complete"
    if ending.code != 0:
        return FinalState.CRASHED, f"exit_code_{ending.code}"
    if request.workflow != STEP or not request.story:
        return FinalState.COMPLETED, "normal_completion"
    run = session.run if own else None
    is_done = (
        _work_tree_is_done(repository, request.story) if run is None else _run_is_done(repository, run, request.story)
    )
    if is_done:
        return FinalState.COMPLETED, "verified_complete"
    return FinalState.INCOMPLETE, "workflow_not_complete"


def _run_is_done(repository: Repository, name: str, story: str) -> bool:
    """Whether a run approved this very story, and the tree that its session left says so.

    The checkout may still be where it was: a result does not land over work that is not committed.
    """
    with open_runs(repository.root) as runs:
        run = runs.load(name)
    if run.outcome is not Outcome.APPROVED or not is_story(run.subject.story, story):
        return False
    return story_status(repository, run.commit, run.subject) is not StoryStatus.NOT_DONE


def _work_tree_is_done(repository: Repository, story: str) -> bool:
    """Whether the sprint status, else the story's own file, says so in the work tree as it is."""
    head = repository.commit_of("HEAD")
    seen = commit_work_tree(repository.git, head, ())
    tree = repository.tree_of(seen)
    subject = Subject(branch="HEAD", base=head, base_commit=head, head=seen, tree=tree, story=story)
    return story_status(repository, seen, subject) is StoryStatus.DONE


def _answer(session: CommandSession, state: FinalState, reason: str) -> MonitorResult:
    shown = session.output.is_file()
    return MonitorResult(
        state=state,
        reason=reason,
        output_file=str(session.output) if shown else "",
        output_verified=_size(session.output) > 0,
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
