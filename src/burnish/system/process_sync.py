"""Runs a short command to its end without an event loop, as git is run. For anything long use `process_async`."""

import selectors
import time
from collections.abc import Callable

from burnish.system.process_child import AFTER_KILL_SECONDS, Child
from burnish.system.process_start import CouldNotStartError
from burnish.system.process_values import Command, Finished, How

GRACE_SECONDS = 2.0
LINGER_SECONDS = 0.5
"""How long output is still taken after the end of everything that can be found. Only one that fled holds the pipes."""


def run(command: Command, seconds: float, kept_bytes: int) -> Finished:
    """Run a command; the time limit ends it with all that it started."""
    began = time.monotonic()
    try:
        child = Child(command, kept_bytes)
    except CouldNotStartError as reason:
        return Finished(how=How.COULD_NOT_START, message=str(reason))
    try:
        how = _Pump(child).run(seconds)
    except BaseException:
        child.end_at_once()
        raise
    finally:
        child.close()
    return child.finished(how, time.monotonic() - began)


class _Pump:
    """Moves bytes between a child and its pipes until something is true or the time is over."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._exited = False
        self._selector = selectors.DefaultSelector()
        for descriptor in (child.stdout, child.stderr, child.exit_handle):
            self._selector.register(descriptor, selectors.EVENT_READ)
        if child.feed():
            self._selector.register(child.stdin, selectors.EVENT_WRITE)
        else:
            child.end_input()

    def run(self, seconds: float) -> How:
        with self._selector:
            in_time = self._until(lambda: self._exited, seconds)
            if not in_time:
                self._end()
            self._child.drain()
            if self._child.reap():
                self._child.end_others(GRACE_SECONDS)
            self._until(lambda: not self._child.open, LINGER_SECONDS)
        return How.EXITED if in_time else How.TIMED_OUT

    def _end(self) -> None:
        self._child.terminate()
        if not self._until(lambda: self._exited, GRACE_SECONDS):
            self._child.kill()
            self._until(lambda: self._exited, AFTER_KILL_SECONDS)

    def _until(self, done: Callable[[], bool], seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not done():
            ready = self._selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                return False
            for key, _ in ready:
                self._handle(key.fd)
        return True

    def _handle(self, descriptor: int) -> None:
        if descriptor == self._child.exit_handle:
            self._exited = True
            keep = False
        elif descriptor == self._child.stdin:
            keep = self._child.feed()
        else:
            keep = self._child.read(descriptor)
        if not keep:
            self._selector.unregister(descriptor)
            if descriptor == self._child.stdin:
                self._child.end_input()
