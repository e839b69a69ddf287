"""Stands in the place of a command that runs in a tmux session. Run as a file, by an interpreter's absolute path.

    python -I -S terminal_proxy.py FOLDER SESSION TMUX LAUNCHER [ARGUMENT …]

Its standard input is the order for the launcher, which it hands on unread, together with its own output channels. It
ends as the command ends, with the same code or by the same signal. Whoever started it and is gone is noticed by the
output that nobody reads any more: then it ends, and with it the command.

This file must import nothing of burnish and little else: it is loaded before each agent that is shown.
"""

import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
from contextlib import suppress

DOOR, SOCKET = "door", "tmux"
"""Where the launcher meets the proxy, and where tmux listens. Relative: a path of a socket is 107 bytes at most."""
LENGTH = struct.Struct("!Q")
STOP = b"s"
OUT, ERR = 1, 2
CANNOT_RUN = 126
_START_SECONDS = 30.0
_END_SECONDS = 5.0
_HISTORY_LINES = "50000"
_PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TZ", "LANG")


class CannotShowError(Exception):
    """Why there is no session."""


class Proxy:
    """One command in a session."""

    def __init__(self) -> None:
        self._launcher: socket.socket | None = None
        self._asked_to_stop = False
        # A signal that comes just before a wait would else be heard only after it.
        self._signals, telling = os.pipe()
        os.set_blocking(telling, False)
        signal.set_wakeup_fd(telling)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda _number, _frame: self._stop())

    def _stop(self) -> None:
        """Ask the command to end, as soon as there is somebody to ask."""
        self._asked_to_stop = True
        if self._launcher is not None:
            with suppress(OSError):
                self._launcher.send(STOP)

    def run(self, session: str, tmux: str, launcher: list[str]) -> str:
        """What the launcher says of the end; empty if it is gone without a word."""
        order = sys.stdin.buffer.read()
        with socket.socket(socket.AF_UNIX) as door:
            _forget(DOOR, SOCKET)
            door.bind(DOOR)
            door.listen()
            server, pane = _new_session(session, tmux, launcher)
            ended = _handle(server)
            _forget(SOCKET)
            peer = self._meet(door, ended, pane)
            _forget(DOOR)
        if peer is None:
            return ""
        with peer:
            verdict = self._talk(peer, order)
        self._wait(ended, seconds=_END_SECONDS)
        return verdict

    def _talk(self, peer: socket.socket, order: bytes) -> str:
        """Hand the order over and listen until the launcher has ended, or until nobody is left to hear of it."""
        said = b""
        with suppress(ConnectionError):
            socket.send_fds(peer, [LENGTH.pack(len(order))], [OUT, ERR])
            peer.sendall(order)
            self._launcher = peer
            if self._asked_to_stop:  # while nobody could be asked
                peer.send(STOP)
            while self._wait(peer.fileno()) is not None and (data := peer.recv(4096)):
                said += data
        self._launcher = None
        return said.decode(errors="replace")

    def _meet(self, door: socket.socket, ended: int, pane: int) -> socket.socket | None:
        """The connection to the launcher and nobody else; None if it does not come."""
        while self._wait(door.fileno(), ended, seconds=_START_SECONDS) == door.fileno():
            peer, _ = door.accept()
            if _process_of(peer) in (pane, None):
                return peer
            peer.close()
        return None

    def _wait(self, first: int, second: int = -1, seconds: float | None = None) -> int | None:
        """Which of the two can be read, if one can in time, and if somebody still reads what is said here."""
        wanted = [number for number in (first, second) if number >= 0]
        poll = select.poll()
        for number in (*wanted, self._signals):
            poll.register(number, select.POLLIN)
        for channel in (OUT, ERR):
            poll.register(channel, 0)  # an error is always told
        while wanted:
            ready = {number for number, _ in poll.poll(None if seconds is None else seconds * 1000)}
            if ready != {self._signals}:
                return None if ready & {OUT, ERR} else next((number for number in wanted if number in ready), None)
            os.read(self._signals, 64)
        return None


def _new_session(session: str, tmux: str, launcher: list[str]) -> tuple[int, int]:
    """Start a server with one session, here; the numbers of the server and of the process in its pane."""
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    kept |= {name: value for name, value in os.environ.items() if name.startswith("LC_")}
    made = subprocess.run(  # noqa: S603 - a list of arguments, never a shell
        [
            *(tmux, "-f", os.devnull, "-S", SOCKET, "start-server", ";"),
            *("set-option", "-g", "history-limit", _HISTORY_LINES, ";"),
            *("set-option", "-g", "status-left-length", "100", ";"),
            *("set-option", "-g", "assume-paste-time", "0", ";"),
            *("set-option", "-g", "status-right", " read-only; Ctrl-b d leaves ", ";"),
            *("new-session", "-d", "-s", session, "-x", "160", "-y", "48"),
            *("-P", "-F", "#{pid} #{pane_pid}", *launcher),
        ],
        env=kept,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    numbers = made.stdout.split()
    if made.returncode != 0 or len(numbers) != 2:
        said = made.stderr.decode(errors="replace").strip()
        raise CannotShowError(f"tmux made no session: {said or f'exit code {made.returncode}'}")
    return int(numbers[0]), int(numbers[1])


def _handle(process: int) -> int:
    """A descriptor that becomes readable when a process ends; -1 where the system has none, or it has ended."""
    try:
        return os.pidfd_open(process)
    except (OSError, AttributeError):
        return -1


def _process_of(peer: socket.socket) -> int | None:
    """Who is at the other end, where the system tells: another agent of this user may knock, too."""
    option: int | None = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return None
    raw = peer.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i"))
    return int(struct.unpack("3i", raw)[0])


def _forget(*names: str) -> None:
    for name in names:
        with suppress(OSError):
            os.unlink(name)  # noqa: PTH108 - to load pathlib takes longer than all of this


def _end(verdict: str) -> int:
    """End as the command did."""
    word, _, rest = verdict.partition(" ")
    match word:
        case "code":
            return int(rest)
        case "signal":
            return _die_by(int(rest))
        case "failed":
            return _complain(rest, CANNOT_RUN)
        case _:
            _complain("the terminal session was closed, and the agent with it", 0)
            return _die_by(signal.SIGHUP)


def _die_by(number: int) -> int:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the core of this process would tell nobody anything
    with suppress(OSError):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number


def _complain(words: str, code: int) -> int:
    with suppress(OSError):
        os.write(ERR, f"burnish: {words}.\n".encode())
    return code


def main(folder: str, session: str, tmux: str, launcher: list[str]) -> int:
    try:
        os.chdir(folder)
        verdict = Proxy().run(session, tmux, launcher)
    except (CannotShowError, OSError) as error:
        return _complain(f"the agent cannot be shown in a terminal: {error}", CANNOT_RUN)
    return _end(verdict)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
