"""Tells at once that a process has begun its work, and that it has ended, however it ended.

The process holds a named pipe open. Whoever has the pipe open for reading is told by the kernel when that ends. Nobody
looks again and again, and the process need not be a child.
"""

import os
import select
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held(path: Path) -> Generator[Callable[[], None]]:
    """Be alive for as long as this is entered; the function says that the work has begun."""
    # For both ways, so that opening waits for nobody and saying fails for nobody.
    descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield lambda: _say(descriptor)
    finally:
        os.close(descriptor)


def _say(descriptor: int) -> None:
    os.write(descriptor, b".")


@contextmanager
def awaited(path: Path) -> Generator[Callable[[float], bool]]:
    """Make the pipe; the function waits for some seconds until whoever is started meanwhile says that it has begun."""
    os.mkfifo(path, 0o600)
    descriptor = _open(path)
    try:
        yield lambda seconds: _begins(descriptor, seconds)
    finally:
        os.close(descriptor)


def _begins(descriptor: int, seconds: float) -> bool:
    return bool(_wait(descriptor, select.POLLIN, seconds)) and os.read(descriptor, 1) != b""


def ends(path: Path, is_gone: Callable[[], bool], seconds: float) -> bool:
    """Wait for some seconds at most until whoever holds the pipe has ended; whether it has."""
    try:
        descriptor = _open(path)
    except OSError:
        return True
    try:
        # Asked after opening: an end from now on is told by the pipe.
        return is_gone() or bool(_wait(descriptor, 0, seconds))
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)


def _wait(descriptor: int, events: int, seconds: float) -> list[tuple[int, int]]:
    poll = select.poll()
    poll.register(descriptor, events)
    return poll.poll(max(0.0, seconds) * 1000)
