"""What the system tells about processes (which started which, when, in which group), and signals to them.

Linux is asked directly, for the ticks of its kernel and for descriptors of processes, so that a later one with the same
number is never hit. Other systems are asked through psutil (`process_portable`).
"""

import os
import select
import signal
import sys
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from burnish.core.values import Value
from burnish.core.work import ProcessMark

_PROC = "/proc"
_GONE = frozenset("ZX")
AFTER_KILL_SECONDS = 5.0
"""How long the kernel may take to end what was killed; a process inside a hanging disk takes for ever."""


class ProcessEntry(Value):
    """One line of the table."""

    pid: int
    state: str
    parent: int
    group: int
    started: float
    """On Linux in the kernel's ticks since the boot, which do not move when the clock is set."""

    @property
    def mark(self) -> ProcessMark:
        return ProcessMark(pid=self.pid, started=self.started)


class ProcessSystem(Protocol):
    """What one operating system is asked and told."""

    def pids(self) -> list[int]: ...

    def entry(self, pid: int) -> ProcessEntry | None:
        """The line of one process; None where it is gone."""
        ...

    def holds(self, pid: int, variable: bytes) -> bool:
        """Whether the environment in which a process of this user was started has this very `NAME=value`."""
        ...

    def tell(self, marks: Iterable[ProcessMark], *numbers: signal.Signals) -> None:
        """Send signals to each that is still the very process it was."""
        ...

    def end(self, marks: list[ProcessMark], grace_seconds: float) -> None:
        """Ask each to end, wait, and end by force those that are left."""
        ...


class LinuxProcesses:
    """`/proc`, and descriptors of processes."""

    def pids(self) -> list[int]:
        with suppress(OSError):
            return [int(name) for name in os.listdir(_PROC) if name.isdecimal()]  # noqa: PTH208 - a Path each is slow
        return []

    def entry(self, pid: int) -> ProcessEntry | None:
        try:
            raw = Path(f"{_PROC}/{pid}/stat").read_bytes()
            # The second field is the command in brackets, which may itself hold spaces and brackets.
            fields = raw.rpartition(b")")[2].split()
            return ProcessEntry(
                pid=pid,
                state=fields[0].decode(),
                parent=int(fields[1]),
                group=int(fields[2]),
                started=float(fields[19]),
            )
        except (OSError, ValueError, IndexError):
            return None

    def holds(self, pid: int, variable: bytes) -> bool:
        try:
            descriptor = os.open(f"{_PROC}/{pid}/environ", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            if os.fstat(descriptor).st_uid != os.getuid():
                return False
            chunks = iter(lambda: os.read(descriptor, 1 << 16), b"")
            return variable in b"".join(chunks).split(b"\0")
        except OSError:
            return False
        finally:
            os.close(descriptor)

    def tell(self, marks: Iterable[ProcessMark], *numbers: signal.Signals) -> None:
        for mark in marks:
            with _opened([mark]) as handles:
                _signal(handles, *numbers)

    def end(self, marks: list[ProcessMark], grace_seconds: float) -> None:
        with _opened(marks) as handles:
            _signal(handles, signal.SIGTERM, signal.SIGCONT)  # one that was stopped hears nothing before
            left = _wait(handles, grace_seconds)
            _signal(left, signal.SIGKILL)
            _wait(left, AFTER_KILL_SECONDS)


@contextmanager
def _opened(marks: Iterable[ProcessMark]) -> Generator[list[int]]:
    """Descriptors of those that are still the processes they were."""
    handles: list[int] = []
    try:
        for mark in marks:
            with suppress(OSError, AttributeError):
                handles.append(os.pidfd_open(mark.pid))
                # Looked at after opening: from then on it cannot be another one.
                if not is_alive(mark):
                    os.close(handles.pop())
        yield handles
    finally:
        for handle in handles:
            os.close(handle)


def _signal(handles: Iterable[int], *numbers: signal.Signals) -> None:
    for number in numbers:
        for handle in handles:
            with suppress(ProcessLookupError, PermissionError):
                signal.pidfd_send_signal(handle, number)


def _wait(handles: list[int], seconds: float) -> list[int]:
    """Wait until all have ended, for some seconds at most; those that have not are returned."""
    poll = select.poll()
    left = dict.fromkeys(handles)
    for handle in handles:
        poll.register(handle, select.POLLIN)
    deadline = time.monotonic() + seconds
    while left and (ended := poll.poll(max(0.0, deadline - time.monotonic()) * 1000)):
        for handle, _ in ended:
            poll.unregister(handle)
            left.pop(handle, None)
    return list(left)


def mark_of(pid: int) -> ProcessMark:
    """The mark of a process that is surely there. A start of 0 says that the system does not tell."""
    found = SYSTEM.entry(pid)
    return ProcessMark(pid=pid, started=0.0) if found is None else found.mark


def living() -> Iterator[ProcessEntry]:
    return (found for pid in SYSTEM.pids() if (found := living_entry(pid)) is not None)


def living_entry(pid: int) -> ProcessEntry | None:
    found = SYSTEM.entry(pid)
    return None if found is None or found.state in _GONE else found


def is_alive(mark: ProcessMark) -> bool:
    """Whether this very process, not a later one with its number, still runs."""
    found = living_entry(mark.pid)
    return found is not None and found.started == mark.started


def group_members(group: int) -> list[ProcessMark]:
    return [found.mark for found in living() if found.group == group]


def descendants(pid: int) -> list[ProcessMark]:
    """Everything below a process, in whatever session or group."""
    children: dict[int, list[ProcessEntry]] = {}
    for found in living():
        children.setdefault(found.parent, []).append(found)
    below: list[ProcessMark] = []
    waiting = [pid]
    while waiting:
        for child in children.pop(waiting.pop(), ()):
            below.append(child.mark)
            waiting.append(child.pid)
    return below


def is_first_of_its_own(pid: int) -> bool:
    """Whether a process has number 1 in a space of process numbers inside ours: everything in there ends with it."""
    with suppress(OSError):
        for line in Path(f"{_PROC}/{pid}/status").read_bytes().splitlines():
            if line.startswith(b"NSpid:"):
                return line.split()[2:] == [b"1"]
    return False


def ancestry(pid: int) -> frozenset[int]:
    """A process and everything above it."""
    line: set[int] = set()
    while pid > 0 and pid not in line:
        line.add(pid)
        found = SYSTEM.entry(pid)
        pid = 0 if found is None else found.parent
    return frozenset(line)


def _of_this_system() -> ProcessSystem:
    if sys.platform == "linux":
        return LinuxProcesses()
    from burnish.system.process_portable import PortableProcesses  # noqa: PLC0415 - Linux has no psutil

    return PortableProcesses()


SYSTEM = _of_this_system()
