"""What the tests of processes share: a command that is stopped once it says that it is ready."""

import asyncio
import os
from pathlib import Path

from burnish.system.process import Command, Finished, ProcessLimits, run


def run_until_ready(command: Command, ready: Path, grace_seconds: float = 60.0) -> Finished:
    """Run a command that writes to a pipe, which this makes, when it is ready; then ask it to stop."""
    os.mkfifo(ready)

    async def run_it() -> Finished:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        handle = os.open(ready, os.O_RDWR | os.O_NONBLOCK)  # for both, so that opening waits for nobody

        def hear() -> None:
            loop.remove_reader(handle)
            stop.set()

        loop.add_reader(handle, hear)
        try:
            return await run(command, ProcessLimits(seconds=120, grace_seconds=grace_seconds), stop=stop)
        finally:
            loop.remove_reader(handle)
            os.close(handle)

    return asyncio.run(run_it())
