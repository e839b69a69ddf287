"""What is run, within which limits, and what came of it. Values only: nothing here starts anything."""

import signal
from enum import Enum

from burnish.core.errors import BurnishError
from burnish.core.values import Value

KEPT_BYTES = 16 * 1024 * 1024
END_ALL = signal.SIGUSR1
"""Tells a supervisor to kill all that is below it, and to end."""


class ProcessError(BurnishError):
    """A command could not be carried out as its caller needs it."""


class Command(Value):
    """One program with its arguments. There is no shell: every argument reaches the program as it is."""

    argv: tuple[str, ...]
    folder: str
    environment: dict[str, str]
    """All of it: nothing is inherited."""
    stdin: bytes = b""
    program: str = ""
    """Where `argv` starts a sandbox: the program that runs inside it, so that a missing one is noticed before."""
    monitor: str = ""
    """Where the first process only watches over a sandbox, and would take it along if it were asked to end: the option
    by which it takes a descriptor, to write there which process is the first one inside."""
    call_filter: bytes = b""
    """For such a sandbox: the filter of system calls, which it reads from a descriptor. See `seccomp`."""
    supervised: bool = False
    """Whether the first process stays outside of a sandbox, and kills all that is below it when told `END_ALL`."""
    file_bytes: int | None = None
    """How large a file may become that the command, or anything that it starts, writes. Against accidents: a program
    that is set on it can raise the limit again."""


class ProcessLimits(Value):
    """How long a command may take, how long it may say nothing, and how much of what it says stays in memory."""

    seconds: float | None = None
    silent_seconds: float | None = None
    grace_seconds: float = 5.0
    """Between the request to end and the end by force."""
    kept_bytes: int = KEPT_BYTES
    """Of the standard output; the rest is in the log only."""


CANNOT_RUN_CODES = (126, 127)
"""How a shell, and every program that starts another, says that the other cannot be run or does not exist."""


class How(Enum):
    """What brought a command to its end."""

    EXITED = "exited"
    TIMED_OUT = "timed-out"
    SILENT = "silent"
    STOPPED = "stopped"
    COULD_NOT_START = "could-not-start"


class Finished(Value):
    """What came of a command."""

    how: How
    code: int | None = None
    """Its exit code; None where a signal ended it, or it never started."""
    signal: int | None = None
    stdout: bytes = b""
    stdout_cut: bool = False
    stderr_tail: str = ""
    """The last of the standard error, without control characters."""
    seconds: float = 0.0
    message: str = ""
    """Why it could not start, or what else went wrong around it."""
    sandbox_failed: bool = False
    """The sandbox could not be set up, and the program never began: the same may work the next time."""

    @property
    def cannot_run(self) -> bool:
        """Whether it says by its exit code that the program cannot be run."""
        return self.code in CANNOT_RUN_CODES
