"""Processes that outlived the work they were started for, found by their environment and ended for good.

Every process that burnish starts carries the name of its run in its environment, and hands it on to whatever it starts
itself: also to daemons that left its group and session. On Linux a process is signalled through a descriptor of its
own, so that a later one with its number is never hit; elsewhere by psutil, which compares the start (`process_table`).
"""

import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Iterable
from contextlib import suppress

from burnish.core.work import ProcessMark
from burnish.system import process_table

_AFTER_KILL_SECONDS = 5.0
"""How long the kernel may take to end what was killed; a process inside a hanging disk takes for ever."""
_MOST_SWEEPS = 20
_PR_SET_CHILD_SUBREAPER = 36


def find(marker: str, value: str) -> list[ProcessMark]:
    """The processes of this user that were started with MARKER=value, without this one and those above it."""
    variable = os.fsencode(f"{marker}={value}")
    spared = process_table.ancestry(os.getpid())
    # Asked in this order because nearly all processes are strangers, and this is asked after every command.
    strangers_left_out = (
        pid for pid in process_table.pids() if pid not in spared and process_table.holds(pid, variable)
    )
    return [found.mark for pid in strangers_left_out if (found := process_table.living_entry(pid)) is not None]


def end(marks: Iterable[ProcessMark], grace_seconds: float) -> None:
    """Ask each to end, wait, and end by force those that are left; a mark whose process is gone is passed over."""
    spared = process_table.ancestry(os.getpid())
    others = [mark for mark in marks if mark.pid not in spared]
    if process_table.BY_PSUTIL:
        _end_by_psutil(others, grace_seconds)
        return
    handles = [handle for mark in others if (handle := _open(mark)) is not None]
    try:
        _signal(handles, signal.SIGTERM)
        _signal(handles, signal.SIGCONT)  # one that was stopped hears nothing before
        left = _wait(handles, grace_seconds)
        _signal(left, signal.SIGKILL)
        _wait(left, _AFTER_KILL_SECONDS)
    finally:
        for handle in handles:
            os.close(handle)


def _end_by_psutil(marks: list[ProcessMark], grace_seconds: float) -> None:
    from burnish.system import process_portable  # noqa: PLC0415 - Linux has no need of psutil

    process_portable.tell(marks, signal.SIGTERM, signal.SIGCONT)
    left = process_portable.wait(marks, grace_seconds)
    process_portable.tell(left, signal.SIGKILL)
    process_portable.wait(left, _AFTER_KILL_SECONDS)


def end_all(marker: str, value: str, grace_seconds: float) -> int:
    """Find and end until none is found, as a process may start another one just before its end. Says how many."""
    count = 0
    for sweep in range(_MOST_SWEEPS):
        marks = find(marker, value)
        if not marks:
            break
        count += len(marks)
        end(marks, grace_seconds if sweep == 0 else 0.0)
    return count


def adopt_orphans() -> frozenset[int]:
    """From now on, whatever below this process loses its parent becomes its child, so that it can be found whatever it
    did to its environment and session. Returns the children that exist now, which are not ours to end."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    return frozenset(found.pid for found in process_table.living() if found.parent == os.getpid())


def end_orphans(known: frozenset[int], grace_seconds: float) -> int:
    """End everything below this process but for those children, when no work is under way. Says how many."""
    count = 0
    for sweep in range(_MOST_SWEEPS):
        children = [
            found.mark for found in process_table.living() if found.parent == os.getpid() and found.pid not in known
        ]
        if not children:
            break
        marks = [mark for child in children for mark in (child, *process_table.descendants(child.pid))]
        count += len(marks)
        end(marks, grace_seconds if sweep == 0 else 0.0)
        for child in children:
            with suppress(ChildProcessError):
                os.waitpid(child.pid, os.WNOHANG)
    return count


def tell(marks: Iterable[ProcessMark], *numbers: signal.Signals) -> None:
    """Send signals to each that is still the very process it was."""
    if process_table.BY_PSUTIL:
        from burnish.system import process_portable  # noqa: PLC0415

        process_portable.tell(marks, *numbers)
        return
    for mark in marks:
        handle = _open(mark)
        if handle is not None:
            for number in numbers:
                _signal([handle], number)
            os.close(handle)


def _open(mark: ProcessMark) -> int | None:
    """A descriptor of the process. Its start is looked at after opening: from then on it cannot be another one."""
    try:
        handle = os.pidfd_open(mark.pid)
    except (OSError, AttributeError):
        return None
    if process_table.is_alive(mark):
        return handle
    os.close(handle)
    return None


def _signal(handles: Iterable[int], number: signal.Signals) -> None:
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
    while left:
        ended = poll.poll(max(0.0, deadline - time.monotonic()) * 1000)
        if not ended:
            break
        for handle, _ in ended:
            poll.unregister(handle)
            left.pop(handle, None)
    return list(left)
