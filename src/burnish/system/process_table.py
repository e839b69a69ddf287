"""What the system tells about processes: which started which, when, in which group.

It reads and never signals. Linux is asked directly, for the ticks of its kernel; other systems through psutil.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from burnish.core.values import Value
from burnish.core.work import ProcessMark

BY_PSUTIL: bool = sys.platform != "linux"
"""Whether psutil is asked. It is imported only then, and installed only there."""
_PROC = "/proc"
_GONE = frozenset("ZX")


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


def entry(pid: int) -> ProcessEntry | None:
    """The line of one process; None where it is gone."""
    if BY_PSUTIL:
        return _entry_by_psutil(pid)
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


def _entry_by_psutil(pid: int) -> ProcessEntry | None:
    from burnish.system import process_portable  # noqa: PLC0415 - Linux has no need of psutil

    found = process_portable.entry(pid)
    if found is None:
        return None
    ended, parent, group, started = found
    return ProcessEntry(pid=pid, state="Z" if ended else "R", parent=parent, group=group, started=started)


def mark_of(pid: int) -> ProcessMark:
    """The mark of a process that is surely there. A start of 0 says that the system does not tell."""
    found = entry(pid)
    return ProcessMark(pid=pid, started=0.0) if found is None else found.mark


def living() -> Iterator[ProcessEntry]:
    """Every process that has not ended."""
    return (found for pid in pids() if (found := living_entry(pid)) is not None)


def living_entry(pid: int) -> ProcessEntry | None:
    """The line of a process that has not ended."""
    found = entry(pid)
    return None if found is None or found.state in _GONE else found


def pids() -> list[int]:
    if BY_PSUTIL:
        from burnish.system import process_portable  # noqa: PLC0415

        return process_portable.pids()
    with suppress(OSError):
        return [int(name) for name in os.listdir(_PROC) if name.isdecimal()]  # noqa: PTH208 - a Path each is slow
    return []


def is_alive(mark: ProcessMark) -> bool:
    """Whether this very process, not a later one with its number, still runs."""
    found = entry(mark.pid)
    return found is not None and found.state not in _GONE and found.started == mark.started


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
        found = entry(pid)
        pid = 0 if found is None else found.parent
    return frozenset(line)


def holds(pid: int, variable: bytes) -> bool:
    """Whether the environment in which a process of this user was started has this very `NAME=value`."""
    if BY_PSUTIL:
        from burnish.system import process_portable  # noqa: PLC0415

        name, _, value = os.fsdecode(variable).partition("=")
        return process_portable.holds(pid, name, value)
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
