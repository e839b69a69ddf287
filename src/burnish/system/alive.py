"""Waits for the start and the end of a process that need not be a child, without polling.

The process holds a named pipe open. The kernel wakes a process that has the pipe open for reading when the other one
writes to it or ends, however it ends.
"""

import os
import select
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held(path: Path) -> Generator[Callable[[], None]]:
    """Count as alive inside the block. The function reports that the work has begun."""
    # For reading as well, so that opening never waits and writing never fails.
    descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield lambda: _report(descriptor)
    finally:
        os.close(descriptor)


def _report(descriptor: int) -> None:
    os.write(descriptor, b".")


@contextmanager
def awaited(path: Path) -> Generator[Callable[[float], bool]]:
    """Make the pipe. The function waits some seconds until a process that is started in the block reports its work."""
    os.mkfifo(path, 0o600)
    descriptor = _open(path)
    try:
        yield lambda seconds: bool(_wait(descriptor, select.POLLIN, seconds)) and os.read(descriptor, 1) != b""
    finally:
        os.close(descriptor)


def ends(path: Path, is_gone: Callable[[], bool], seconds: float) -> bool:
    """Wait at most some seconds until the process that holds the pipe has ended; whether it has."""
    try:
        descriptor = _open(path)
    except OSError:
        return True
    try:
        # Asked after opening: from then on, the pipe reports the end.
        return is_gone() or bool(_wait(descriptor, 0, seconds))
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)


def _wait(descriptor: int, events: int, seconds: float) -> list[tuple[int, int]]:
    poll = select.poll()
    poll.register(descriptor, events)
    return poll.poll(max(0.0, seconds) * 1000)
