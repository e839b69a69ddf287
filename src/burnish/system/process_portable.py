"""What `process_table` and `survivors` need to know and do where the kernel is not Linux, through psutil.

A start is in seconds since 1970 here. psutil compares it before each signal, so that a later process with the same
number is not hit, as far as that can be done without a descriptor of the process.
"""

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress

import psutil

from burnish.core.work import ProcessMark

_GONE = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
_PAUSE_SECONDS = 0.02


def entry(pid: int) -> tuple[bool, int, int, float] | None:
    """Whether it has ended, its parent, its group and its start; None where there is no such process."""
    try:
        process = psutil.Process(pid)
        with process.oneshot():
            return process.status() in _GONE, process.ppid(), os.getpgid(pid), process.create_time()
    except (psutil.Error, OSError):
        return None


def pids() -> list[int]:
    return psutil.pids()


def holds(pid: int, name: str, value: str) -> bool:
    """Whether the environment in which a process of this user was started has this very variable."""
    with suppress(psutil.Error, OSError):
        process = psutil.Process(pid)
        return process.uids().real == os.getuid() and process.environ().get(name) == value
    return False


def tell(marks: Iterable[ProcessMark], *numbers: signal.Signals) -> None:
    """Send signals to each that is still the very process it was."""
    for mark in marks:
        with suppress(psutil.Error):
            process = psutil.Process(mark.pid)
            if process.create_time() == mark.started:
                for number in numbers:
                    process.send_signal(number)


def wait(marks: list[ProcessMark], seconds: float) -> list[ProcessMark]:
    """Wait until all have ended, for some seconds at most; those that have not are returned.

    It looks again and again: psutil's own way to wait would take the exit codes of our children.
    """
    deadline = time.monotonic() + seconds
    while (left := [mark for mark in marks if _is_alive(mark)]) and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)
    return left


def _is_alive(mark: ProcessMark) -> bool:
    found = entry(mark.pid)
    return found is not None and not found[0] and found[3] == mark.started
