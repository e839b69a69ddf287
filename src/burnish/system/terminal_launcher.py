"""Runs the command of an agent inside of a tmux pane, for the proxy that waits outside. Run by tmux, as a module.

It writes what the command says to the proxy's own channels as it comes, and for a person to the pane. A word from the
proxy asks the command to end. The proxy's end, or that of the session, ends the command by force.
"""

import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from burnish.system.process_child import Child
from burnish.system.process_output import Log, Output
from burnish.system.process_start import CouldNotStartError
from burnish.system.process_sync import GRACE_SECONDS, LINGER_SECONDS
from burnish.system.process_values import How
from burnish.system.terminal import Order, clear, read_order
from burnish.system.terminal_proxy import DOOR, LENGTH
from burnish.system.terminal_screen import Lines, Screen, make_deaf, renderer
from burnish.system.terminal_sessions import note

_PANE = 1
_CHUNK = 1024 * 1024
_SIGNALS = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP)


class Relay(Output):
    """Says everything twice: as it is to the proxy's channels, in words to the pane."""

    def __init__(self, channels: tuple[int, int], screen: Screen, render: Callable[[bytes], str]) -> None:
        super().__init__(0, Log(None))
        self._channels = channels
        self._lines = (Lines(screen, render), Lines(screen, renderer("")))

    def take_stdout(self, data: bytes) -> None:
        self._take(0, data)

    def take_stderr(self, data: bytes) -> None:
        self._take(1, data)

    def _take(self, number: int, data: bytes) -> None:
        rest = memoryview(data)
        with suppress(OSError):  # nobody reads any more: the proxy is about to say so
            while rest:
                rest = rest[os.write(self._channels[number], rest) :]
        self._lines[number].take(data)

    def end(self) -> None:
        for lines in self._lines:
            lines.end()


class Pump:
    """Moves bytes between the command, the proxy and the pane, and listens to all who may end the command."""

    def __init__(self, child: Child, proxy: socket.socket, signals: int, screen: Screen) -> None:
        self._child = child
        self._proxy = proxy
        self._signals = signals
        self._screen = screen
        self._exited = False
        self.closed = False
        """Whether the session ended before the command did."""
        self._selector = selectors.DefaultSelector()
        self._when_readable(child.exit_handle, self._on_exit)
        self._when_readable(proxy.fileno(), self._on_word)
        self._when_readable(signals, self._on_signal)
        for channel in (child.stdout, child.stderr):
            self._when_readable(channel, lambda channel=channel: self._on_output(channel))
        if child.feed():
            self._selector.register(child.stdin, selectors.EVENT_WRITE, self._on_room)
        else:
            child.end_input()

    def run(self) -> None:
        """Until the command has ended, whoever wanted it to, and everything in its group."""
        child = self._child
        with self._selector:
            self._until(lambda: self._exited or self.closed)
            if self.closed:
                child.end_at_once()
            child.drain()
            if child.reap():
                child.end_others(GRACE_SECONDS)
            self._until(lambda: not child.open, LINGER_SECONDS)

    def _when_readable(self, descriptor: int, react: Callable[[], None]) -> None:
        self._selector.register(descriptor, selectors.EVENT_READ, react)

    def _until(self, done: Callable[[], bool], seconds: float | None = None) -> None:
        deadline = None if seconds is None else time.monotonic() + seconds
        while not done():
            self._listen_to_pane()
            ready = self._selector.select(None if deadline is None else max(0.0, deadline - time.monotonic()))
            if not ready:
                return
            for key, _ in ready:
                key.data()

    def _listen_to_pane(self) -> None:
        """The pane is asked for room only while there is something to show."""
        listening = self._screen.descriptor in self._selector.get_map()
        if self._screen.has_more and not listening:
            self._selector.register(self._screen.descriptor, selectors.EVENT_WRITE, self._screen.write)
        elif listening and not self._screen.has_more:
            self._selector.unregister(self._screen.descriptor)

    def _on_exit(self) -> None:
        self._selector.unregister(self._child.exit_handle)
        self._exited = True

    def _on_output(self, channel: int) -> None:
        if not self._child.read(channel):
            self._selector.unregister(channel)

    def _on_room(self) -> None:
        if not self._child.feed():
            self._selector.unregister(self._child.stdin)
            self._child.end_input()

    def _on_word(self) -> None:
        try:
            word = self._proxy.recv(64)
        except ConnectionError:
            word = b""
        if word:
            self._child.terminate()
        else:
            self._selector.unregister(self._proxy)
            self.closed = True

    def _on_signal(self) -> None:
        numbers = os.read(self._signals, 64)
        self.closed = self.closed or not {signal.SIGHUP, signal.SIGTERM}.isdisjoint(numbers)


def _receive(proxy: socket.socket) -> tuple[Order, tuple[int, int]]:
    header, channels, _, _ = socket.recv_fds(proxy, LENGTH.size, 2)
    (length,) = LENGTH.unpack(header)
    order = bytearray()
    # Not a byte more than that: what follows is a word of its own.
    while len(order) < length and (data := proxy.recv(min(length - len(order), _CHUNK))):
        order += data
    for channel in channels:
        os.set_inheritable(channel, False)
    return read_order(bytes(order)), (channels[0], channels[1])


def _hear_signals() -> int:
    """A descriptor from which signals are read. They are heard, not ignored: that would be handed on to the command."""
    hearing, telling = os.pipe()
    os.set_blocking(telling, False)
    signal.set_wakeup_fd(telling)
    for number in _SIGNALS:
        signal.signal(number, lambda _number, _frame: None)
    return hearing


def _run(order: Order, channels: tuple[int, int], proxy: socket.socket, signals: int) -> str:
    """The verdict for the proxy."""
    screen = Screen(_PANE)
    screen.say(f"{order.view.title}\n")
    try:
        child = Child(order.command, 0)
    except CouldNotStartError as reason:
        return f"failed {str(reason).rstrip('.')}"
    try:
        child.output = relay = Relay(channels, screen, renderer(order.view.render))
        pump = Pump(child, proxy, signals, screen)
        pump.run()
        relay.end()
    except BaseException:
        child.end_at_once()
        raise
    finally:
        child.close()
    finished = child.finished(How.EXITED, 0.0)
    if finished.sandbox_failed:
        return "failed the sandbox could not be set up"
    if pump.closed:
        return "closed"
    return f"code {finished.code}" if finished.signal is None else f"signal {finished.signal}"


def _end_server() -> None:
    """A window that somebody opened beside the agent would keep the server alive."""
    server = os.environ.get("TMUX", "").split(",")[-2:-1]
    if server == [str(os.getppid())]:  # another parent would mean that the server has ended
        os.kill(os.getppid(), signal.SIGTERM)


def main() -> int:
    signals = _hear_signals()
    make_deaf(_PANE)
    with socket.socket(socket.AF_UNIX) as proxy:
        try:
            proxy.connect(DOOR)
        except OSError:  # whoever wanted this has gone
            return 1
        order, channels = _receive(proxy)
        folder = Path(order.view.folder)
        try:
            note(order.view, folder, os.getppid())
            verdict = _run(order, channels, proxy, signals)
        finally:
            for channel in channels:
                os.close(channel)
            clear(str(folder))
        with suppress(OSError):
            proxy.sendall(verdict.encode(errors="replace"))
    _end_server()
    return 0


if __name__ == "__main__":
    sys.exit(main())
