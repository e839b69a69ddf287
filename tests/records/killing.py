"""Kill a writer of records between any two of its writes."""

import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path


def operations(work: Callable[[], object], most: int | None = None) -> int:
    """Do the work in a process of its own, killed before the operation with this number; how many it made.

    Operations are what changes names in a folder: renaming and removing. A record that says when it was written is
    written less often in a run that is quicker, so that the end may come before the kill.
    """
    made = Path(tempfile.mkstemp()[1])
    child = os.fork()
    if child == 0:
        count = 0

        def watch(event: str, _arguments: object) -> None:
            nonlocal count
            if event in ("os.rename", "os.remove", "os.rmdir"):
                if count == most:
                    os.kill(os.getpid(), signal.SIGKILL)
                count += 1

        code = 1
        try:
            sys.addaudithook(watch)
            work()
            made.write_text(str(count))
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) in ((0,) if most is None else (0, -signal.SIGKILL))
    return int(made.read_text() or "0")
