"""Processes that outlived the work they were started for, found by their environment and ended for good.

Every process that burnish starts carries the name of its run in its environment, and hands it on to whatever it starts
itself: also to daemons that left its group and session.
"""

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress

from burnish.core.work import ProcessMark
from burnish.system import process_table

_MOST_SWEEPS = 20
_PR_SET_CHILD_SUBREAPER = 36


def find(marker: str, value: str) -> list[ProcessMark]:
    """The processes of this user that were started with MARKER=value, without this one and those above it."""
    system, variable = process_table.SYSTEM, os.fsencode(f"{marker}={value}")
    spared = process_table.ancestry(os.getpid())
    # Asked in this order because nearly all processes are strangers, and this is asked after every command.
    strangers_left_out = (pid for pid in system.pids() if pid not in spared and system.holds(pid, variable))
    return [found.mark for pid in strangers_left_out if (found := process_table.living_entry(pid)) is not None]


def end(marks: Iterable[ProcessMark], grace_seconds: float) -> None:
    """Ask each to end, wait, and end by force those that are left; a mark whose process is gone is passed over."""
    spared = process_table.ancestry(os.getpid())
    process_table.SYSTEM.end([mark for mark in marks if mark.pid not in spared], grace_seconds)


def end_found(find_some: Callable[[], list[ProcessMark]], grace_seconds: float) -> int:
    """Find and end until none is found, as a process may start another one just before its end. Says how many."""
    count = 0
    for sweep in range(_MOST_SWEEPS):
        marks = find_some()
        if not marks:
            break
        count += len(marks)
        end(marks, grace_seconds if sweep == 0 else 0.0)
    return count


def end_all(marker: str, value: str, grace_seconds: float) -> int:
    """End all that were started with MARKER=value. Says how many."""
    return end_found(lambda: find(marker, value), grace_seconds)


def adopt_orphans() -> frozenset[int]:
    """From now on, whatever below this process loses its parent becomes its child, so that it can be found whatever it
    did to its environment and session. Returns the children that exist now, which are not ours to end."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - few commands adopt, and all load this module

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    return frozenset(mark.pid for mark in _children())


def end_orphans(known: frozenset[int], grace_seconds: float) -> int:
    """End everything below this process but for those children, when no work is under way. Says how many."""
    children: set[int] = set()

    def orphans() -> list[ProcessMark]:
        found = [mark for mark in _children() if mark.pid not in known]
        children.update(mark.pid for mark in found)
        return [mark for child in found for mark in (child, *process_table.descendants(child.pid))]

    count = end_found(orphans, grace_seconds)
    for pid in children:
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    return count


def _children() -> list[ProcessMark]:
    return [found.mark for found in process_table.living() if found.parent == os.getpid()]
