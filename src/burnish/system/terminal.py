"""tmux sessions in which users watch a command. They are views only: the command runs elsewhere, without a terminal.

Each view is a tmux server of its own with one session. Its only pane runs a program that shows a log while it grows.
The server uses none of the user's tmux configuration, and its environment is the one that it is given. Marks in that
environment let `burnish.system.survivors` end the view together with the command.

A process that can reach a tmux server can run commands outside every sandbox. So the folder of a view must be hidden
from agents, and the server's socket is in it only for the moment in which `attach` connects.
"""

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import msgspec

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.values import Value, replace
from burnish.system.files import make_private_directory, write_atomically
from burnish.system.identifiers import ProcessIdentity, identity_of, is_known_dead
from burnish.system.process import Command, ProcessLimits, run, run_now

TERMINALS = "terminals"
"""The folder of a run that has the views of its agents, one folder each."""

_SOCKET = "tmux"
"""Relative to the view's folder, because the path of a socket has 107 bytes at most."""
_NOTE = "session.json"
_IN_FOLDER = ("sh", "-c", 'cd "$0" && exec "$@"')
"""tmux would expand formats in the name of a start folder."""
_START_SECONDS = 30.0
_OPEN_SECONDS = 2.0
_LOOK_SECONDS = 0.005
_OPTIONS = {
    "history-limit": "50000",
    "status-left-length": "100",
    "assume-paste-time": "0",
    "status-right": " read-only; Ctrl-b d leaves ",
}
_NOT_IN_NAMES = str.maketrans(":./ ", "----")
"""tmux itself would change some of them; the others make no good name of a folder."""


class TerminalError(BurnishError):
    """A command cannot be shown in a terminal."""

    kind = ErrorKind.CONFIGURATION


class View(Value):
    name: str
    """What a user calls it: `critic`, `fix-1`."""
    session: str
    folder: str
    """For this view alone, and hidden from every agent."""
    server: ProcessIdentity = ProcessIdentity(host="", pid=0)


def agent_view(run: str, effect: str, folder: Path) -> View:
    """The view of an agent, by its effect such as `review:2:critic:1`, below the run's folder of views."""
    kind, *rest = effect.split(":")
    name = rest[1] if kind == "review" and len(rest) == 3 else "-".join((kind, *rest[:-1]))
    session = f"burnish-{run}-{name}".translate(_NOT_IN_NAMES)
    return View(name=name, session=session, folder=str(folder / effect.translate(_NOT_IN_NAMES)))


def find_tmux() -> str:
    found = shutil.which("tmux")
    if found is None:
        raise TerminalError(
            "tmux is not installed.",
            hint="Install it (`apt install tmux`, `brew install tmux`), or go on without a terminal: "
            "`burnish logs -f RUN` follows what agents write.",
        )
    return str(Path.cwd() / found)


async def open_view(program: str, view: View, viewer: Command) -> View:
    """Run a program that shows something in a tmux session of its own. `program` is tmux."""
    make_private_directory(Path(view.folder))
    (Path(view.folder) / _NOTE).unlink(missing_ok=True)
    options = (word for name, value in _OPTIONS.items() for word in ("set-option", "-g", name, value, ";"))
    tmux = Command(
        argv=(
            *(program, "-f", os.devnull, "-S", _SOCKET, "start-server", ";", *options),
            # A window that was opened beside the view must not keep the server alive.
            *("set-hook", "-g", "pane-exited", "kill-server", ";"),
            *("new-session", "-d", "-s", view.session, "-x", "160", "-y", "48", "-P", "-F", "#{pid}"),
            *(*_IN_FOLDER, viewer.folder, *viewer.argv, ";"),
            *("select-pane", "-d"),  # nothing that is typed reaches the program
        ),
        folder=view.folder,
        environment=viewer.environment,
    )
    made = await run(tmux, ProcessLimits(seconds=_START_SECONDS))
    (Path(view.folder) / _SOCKET).unlink(missing_ok=True)
    if made.code != 0 or not made.stdout.strip().isdigit():
        reason = made.message or made.stderr_tail.strip() or f"exit code {made.code}"
        raise TerminalError(f"tmux cannot show {view.name}: {reason.rstrip('.')}.")
    opened = replace(view, server=identity_of(int(made.stdout)))
    write_atomically(Path(view.folder) / _NOTE, msgspec.json.encode(opened))
    return opened


@contextmanager
def closing_noticed(view: View, act: Callable[[], None]) -> Generator[None]:
    """Have the running event loop call `act` when the view is closed. Linux only: elsewhere that goes unnoticed."""
    try:
        handle = os.pidfd_open(view.server.pid)
    except AttributeError:
        yield
        return
    except ProcessLookupError:
        act()
        yield
        return
    loop = asyncio.get_running_loop()
    loop.add_reader(handle, act)
    try:
        yield
    finally:
        loop.remove_reader(handle)
        os.close(handle)


def open_views(folder: Path) -> list[View]:
    """The views below a folder that are open now, by name."""
    notes = (_read(place / _NOTE) for place in sorted(folder.glob("*")))
    return [view for view in notes if view is not None and not is_known_dead(view.server)]


def _read(path: Path) -> View | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=View)
    except (OSError, msgspec.DecodeError):
        return None


def open_socket(view: View, program: str) -> Path:
    """Have the server open its socket, which stays in the view's folder until a client has connected."""
    path = Path(view.folder) / _SOCKET
    deadline = time.monotonic() + _OPEN_SECONDS
    if not path.is_socket():
        os.kill(view.server.pid, signal.SIGUSR1)  # tmux then makes its socket again
    while not _answers(view, program):
        if is_known_dead(view.server) or time.monotonic() > deadline:
            raise TerminalError(f"{view.session} cannot be reached.", hint="It may just have ended.")
        time.sleep(_LOOK_SECONDS)  # there is no event for it, and it takes a millisecond
    return path


def _answers(view: View, program: str) -> bool:
    """Whether the server answers: the socket exists before the server listens to it."""
    words = (program, "-S", _SOCKET, "has-session", "-t", f"={view.session}")
    asked = run_now(Command(argv=words, folder=view.folder, environment={"PATH": os.defpath}))
    return asked.code == 0


def attach(view: View, environment: Mapping[str, str]) -> NoReturn:
    """Become a tmux client that shows the session and removes the socket once it is connected."""
    program = find_tmux()
    path = open_socket(view, program)
    os.chdir(path.parent)
    words = (program, "-u", "-S", path.name, "attach-session", "-r", "-t", f"={view.session}")
    outside = {name: value for name, value in environment.items() if name not in ("TMUX", "TMUX_PANE")}
    os.execve(program, (*words, ";", "run-shell", f"rm -f {path.name}"), outside)  # noqa: S606 - never a shell
