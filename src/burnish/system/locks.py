"""Locks between processes, held on a file with `flock` and let go by the kernel when their owner dies.

Each hold has an open file of its own, so that two threads of one process exclude each other as two processes do.
The lock file is never removed: a lock on a removed file excludes no other process.

Waiting is done inside the kernel, in a helper thread. Asking again and again would starve waiters for as long as
others are busy; waiting in the calling thread could not be given up when the holder has been stopped for good.
"""

import fcntl
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from burnish.core.errors import BurnishError


class LockTimeoutError(BurnishError):
    """Another process did not let go of a lock in time."""

    def __init__(self, path: Path, seconds: float) -> None:
        super().__init__(
            f"Another process has held {path} for more than {seconds:g} seconds.",
            hint=f"It may be stopped, or its disk may hang. `lsof {path}` names it.",
        )


@contextmanager
def hold(path: Path, *, shared: bool = False, seconds: float = 30.0) -> Generator[None]:
    """Hold the lock on a file, which is created if need be; wait for other holders for some seconds at most."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    operation = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        _Request(descriptor, operation).wait(path, seconds)
    except BaseException:
        os.close(descriptor)
        raise
    try:
        yield
    finally:
        _let_go(descriptor)


def _let_go(descriptor: int) -> None:
    # A child forked meanwhile may share the open file: closing it here would leave the lock with the child.
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


class _Request:
    """A request for a lock that others hold. A waiting thread takes it, and lets go if it is no longer wanted."""

    def __init__(self, descriptor: int, operation: int) -> None:
        self._descriptor = descriptor
        self._operation = operation
        self._guard = threading.Lock()
        self._answered = threading.Event()
        self._abandoned = False
        self._error: OSError | None = None

    def wait(self, path: Path, seconds: float) -> None:
        threading.Thread(target=self._lock, name=f"lock {path.name}", daemon=True).start()
        try:
            self._answered.wait(seconds)
        except BaseException:  # an interrupt, which may come just after the lock did
            if not self._abandon():
                _let_go(self._descriptor)
            raise
        if self._abandon():
            raise LockTimeoutError(path, seconds)
        if self._error is not None:
            os.close(self._descriptor)
            raise self._error

    def _lock(self) -> None:
        try:
            fcntl.flock(self._descriptor, self._operation)
        except OSError as error:
            self._error = error
        with self._guard:
            self._answered.set()
            if self._abandoned:
                _let_go(self._descriptor)

    def _abandon(self) -> bool:
        """Give the wish up, unless it has just been granted."""
        with self._guard:
            self._abandoned = not self._answered.is_set()
            return self._abandoned
