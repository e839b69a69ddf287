"""Lets an agent run in a tmux session that a person can look into, with everything else as it is without one.

What burnish starts and watches over, in the place of the command, is a small proxy (`terminal_proxy`). It makes a tmux
server of the agent's own, with one session, in which a launcher (`terminal_launcher`) runs the command. The two meet in
a private folder: the order for the command, with its environment and input, goes that way, never through a command line
that every user can read; so do the proxy's own two channels, to which the launcher writes what the command says. The
proxy ends as the command did. If it is told to end, so is the command; if it is gone, the launcher kills the command.

The server knows nothing of burnish's environment, so that nobody takes it for a part of the run, and it ends with the
command. Whoever can reach it could run commands outside of every sandbox: its socket lies in a folder that is hidden
from agents, and only for the moment in which somebody attaches (`terminal_sessions`).
"""

import json
import shutil
import sys
from pathlib import Path

import msgspec

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.values import Value, replace
from burnish.system.files import make_private_directory
from burnish.system.process_values import Command

TERMINALS = "terminals"
"""The folder of a run in which the sessions of its agents live. No agent may see it."""

_PROXY = str(Path(__file__).with_name("terminal_proxy.py"))
_LAUNCHER = ("-P", "-m", "burnish.system.terminal_launcher")
_NOT_IN_NAMES = str.maketrans(":./ ", "----")
"""tmux would change some of them by itself; the others make no good name of a folder."""


class TerminalError(BurnishError):
    """An agent cannot be shown in a terminal."""

    kind = ErrorKind.CONFIGURATION


class View(Value):
    """One agent as it is shown."""

    name: str
    """What a person calls it: `critic`, `fix-1`."""
    session: str
    folder: str
    """For this agent alone. It must be hidden from every agent."""
    title: str = ""
    render: str = ""
    """`module:function`, which makes the words for a person of a line of output, or none; without it, lines are shown
    as they are."""


class Order(Value):
    """What the launcher is to do."""

    command: Command
    view: View


class Terminal(Value):
    """The tmux sessions of one run."""

    program: str
    """tmux itself."""
    run: str
    folder: str
    """Hidden from every agent; see `burnish.system.terminal_sessions.living`."""

    def view(self, effect: str, render: str = "") -> View:
        """How the agent of an effect, such as `review:2:critic:1`, is shown."""
        kind, *rest = effect.split(":")
        name = rest[1] if kind == "review" and len(rest) == 3 else "-".join((kind, *rest[:-1]))
        return View(
            name=name,
            session=f"burnish-{self.run}-{name}".translate(_NOT_IN_NAMES),
            folder=str(Path(self.folder) / effect.translate(_NOT_IN_NAMES)),
            title=f"{effect} of run {self.run}",
            render=render,
        )

    def show(self, command: Command, effect: str, render: str = "") -> Command:
        """The same command, confined or not, where a person can look into it."""
        return in_terminal(self.program, command, self.view(effect, render))


def open_terminal(run: str, folder: Path) -> Terminal:
    """The terminal of a run; raises where there is no tmux."""
    return Terminal(program=find_tmux(), run=run, folder=str(folder))


def find_tmux() -> str:
    found = shutil.which("tmux")
    if found is None:
        raise TerminalError(
            "tmux is not installed.",
            hint="Install it (`apt install tmux`, `brew install tmux`), or go on without a terminal: "
            "`burnish logs -f RUN` follows what agents write.",
        )
    return str(Path.cwd() / found)


def in_terminal(program: str, command: Command, view: View) -> Command:
    """The same command in a tmux session. `program` is tmux."""
    make_private_directory(Path(view.folder))
    # The standard library's JSON, as it alone carries bytes of arguments that are no text.
    order = json.dumps(msgspec.to_builtins(Order(command=command, view=view)))
    launcher = (sys.executable, *_LAUNCHER)
    return replace(
        command,
        argv=(sys.executable, "-I", "-S", _PROXY, view.folder, view.session, program, *launcher),
        stdin=order.encode(),
        program=command.program or command.argv[0],
        monitor="",
        call_filter=b"",
        supervised=False,
        file_bytes=None,
    )


def read_order(raw: bytes) -> Order:
    """The order, as the launcher gets it."""
    return msgspec.convert(json.loads(raw), Order)


def clear(folder: str) -> None:
    """Remove what an agent's session leaves behind."""
    shutil.rmtree(folder, ignore_errors=True)
