"""The tmux sessions in which agents are at work now, and the way into one of them."""

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import msgspec

from burnish.core.values import Value
from burnish.system.files import write_atomically
from burnish.system.identifiers import ProcessIdentity, identity_of, is_known_dead
from burnish.system.process import Command, run_now
from burnish.system.terminal import TerminalError, View, find_tmux
from burnish.system.terminal_proxy import SOCKET

_NOTE = "session.json"
_OPEN_SECONDS = 2.0
_LOOK_SECONDS = 0.005


class Watched(Value):
    """One agent that can be watched."""

    view: View
    server: ProcessIdentity


def note(view: View, folder: Path, server: int) -> None:
    """Put down that the session of an agent is there, and whose."""
    write_atomically(folder / _NOTE, msgspec.json.encode(Watched(view=view, server=identity_of(server))))


def living(folder: Path) -> list[Watched]:
    """Every agent below a folder that can be watched now, by name."""
    notes = (_read(place / _NOTE) for place in sorted(folder.glob("*")))
    return [found for found in notes if found is not None and not is_known_dead(found.server)]


def _read(path: Path) -> Watched | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Watched)
    except (OSError, msgspec.DecodeError):
        return None


def let_in(watched: Watched, program: str) -> Path:
    """Have the server open its socket, which lies in the session's folder until somebody has come in."""
    path = Path(watched.view.folder) / SOCKET
    deadline = time.monotonic() + _OPEN_SECONDS
    if not path.is_socket():
        os.kill(watched.server.pid, signal.SIGUSR1)  # the way of tmux to make its socket again
    while not _is_open(watched, program):
        if is_known_dead(watched.server) or time.monotonic() > deadline:
            raise TerminalError(f"{watched.view.session} cannot be reached.", hint="It may just have ended.")
        time.sleep(_LOOK_SECONDS)  # there is no event for it, and it takes a millisecond
    return path


def _is_open(watched: Watched, program: str) -> bool:
    """Whether somebody answers: a socket is there before anybody listens to it."""
    words = (program, "-S", SOCKET, "has-session", "-t", f"={watched.view.session}")
    asked = run_now(Command(argv=words, folder=watched.view.folder, environment={"PATH": os.defpath}))
    return asked.code == 0


def attach(watched: Watched, environment: Mapping[str, str]) -> NoReturn:
    """Become a tmux client that shows the session, and takes the socket away again behind itself."""
    program = find_tmux()
    path = let_in(watched, program)
    os.chdir(path.parent)
    words = (program, "-u", "-S", path.name, "attach-session", "-r", "-t", f"={watched.view.session}")
    outside = {name: value for name, value in environment.items() if name not in ("TMUX", "TMUX_PANE")}
    os.execve(program, (*words, ";", "run-shell", f"rm -f {path.name}"), outside)  # noqa: S606 - never a shell
