"""Processes where the kernel is not Linux, through psutil.

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
from burnish.system.process_table import AFTER_KILL_SECONDS, ProcessEntry, is_alive

_GONE = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
_PAUSE_SECONDS = 0.02


class PortableProcesses:
    def pids(self) -> list[int]:
        return psutil.pids()

    def entry(self, pid: int) -> ProcessEntry | None:
        try:
            process = psutil.Process(pid)
            with process.oneshot():
                return ProcessEntry(
                    pid=pid,
                    state="Z" if process.status() in _GONE else "R",
                    parent=process.ppid(),
                    group=os.getpgid(pid),
                    started=process.create_time(),
                )
        except (psutil.Error, OSError):
            return None

    def holds(self, pid: int, variable: bytes) -> bool:
        name, _, value = os.fsdecode(variable).partition("=")
        with suppress(psutil.Error, OSError):
            process = psutil.Process(pid)
            return process.uids().real == os.getuid() and process.environ().get(name) == value
        return False

    def tell(self, marks: Iterable[ProcessMark], *numbers: signal.Signals) -> None:
        for mark in marks:
            with suppress(psutil.Error):
                process = psutil.Process(mark.pid)
                if process.create_time() == mark.started:
                    for number in numbers:
                        process.send_signal(number)

    def end(self, marks: list[ProcessMark], grace_seconds: float) -> None:
        self.tell(marks, signal.SIGTERM, signal.SIGCONT)
        left = self._wait(marks, grace_seconds)
        self.tell(left, signal.SIGKILL)
        self._wait(left, AFTER_KILL_SECONDS)

    def _wait(self, marks: list[ProcessMark], seconds: float) -> list[ProcessMark]:
        """Wait until all have ended, for some seconds at most; those that have not are returned.

        It looks again and again: psutil's own way to wait would take the exit codes of our children.
        """
        deadline = time.monotonic() + seconds
        while (left := [mark for mark in marks if is_alive(mark)]) and time.monotonic() < deadline:
            time.sleep(_PAUSE_SECONDS)
        return left
