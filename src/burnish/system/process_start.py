"""What is run, within which limits, and what came of it; and starting it, or saying in words why not."""

import errno
import os
import resource
import signal
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

from burnish.core.errors import BurnishError
from burnish.core.text import clean_text
from burnish.core.values import Value

PIPE = subprocess.PIPE
_STARTING = threading.Lock()
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
    """For such a sandbox: the filter of system calls, which it reads from a descriptor. See `sandbox.call_filter`."""
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
    EXITED = "exited"
    TIMED_OUT = "timed-out"
    SILENT = "silent"
    STOPPED = "stopped"
    COULD_NOT_START = "could-not-start"


class Finished(Value):
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

    def tail(self, length: int) -> str:
        """The last characters of both channels, without control characters."""
        stdout = clean_text(self.stdout[-length:].decode("utf-8", errors="replace"))
        return f"{stdout}{self.stderr_tail}"[-length:]

    @property
    def cannot_run(self) -> bool:
        """Whether it says by its exit code that the program cannot be run."""
        return self.code in CANNOT_RUN_CODES


class CouldNotStartError(Exception):
    """Why a process could not be started, in words for the user."""


def start(
    command: Command, *, stdin: int, stdout: int, stderr: int, hand_on: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    """Start a process as the leader of a session of its own, so that all it starts can be ended with it."""
    _refuse_missing_program(command)
    try:
        with _inherited_limit(command.file_bytes):
            return subprocess.Popen(  # noqa: S603 - the one door: a list of arguments, never a shell
                command.argv,
                cwd=command.folder,
                env=command.environment,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                bufsize=0,
                pass_fds=hand_on,
                start_new_session=True,
            )
    except OSError as error:
        raise CouldNotStartError(_reason(command, error)) from None
    except (ValueError, IndexError) as error:  # a NUL in an argument, no argument at all
        raise CouldNotStartError(f"The command cannot be started: {error}.") from None


@contextmanager
def _inherited_limit(file_bytes: int | None) -> Generator[None]:
    """The limit on the size of files that a process inherits which is started meanwhile.

    It is this process's own for that moment: nothing may be called between fork and exec where there are threads, and
    set afterwards it would come too late for what the process has started by then. No other code starts one meanwhile.
    """
    with _STARTING:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        ours = _least(file_bytes, soft)
        if ours == soft:
            yield
            return
        resource.setrlimit(resource.RLIMIT_FSIZE, (ours, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _least(wanted: int | None, soft: int) -> int:
    if wanted is None:
        return soft
    return wanted if soft == resource.RLIM_INFINITY else min(wanted, soft)


def find_program(program: str, folder: str, environment: dict[str, str]) -> Path | None:
    """The file that a command would run: on the path of ITS environment, or relative to ITS folder."""
    if "/" in program:
        candidates = [Path(folder, program)]
    else:
        candidates = [Path(folder, place, program) for place in os.get_exec_path(environment)]
    return next((path for path in candidates if _is_program(path)), None)


def _is_program(path: Path) -> bool:
    try:
        return os.access(path, os.X_OK) and path.is_file()
    except PermissionError:  # a folder on the way may not be entered
        return False


def _refuse_missing_program(command: Command) -> None:
    if not Path(command.folder).is_dir():
        raise CouldNotStartError(f"The folder '{command.folder}' does not exist.")
    if command.program and find_program(command.program, command.folder, command.environment) is None:
        raise CouldNotStartError(_absence(command.program, command))


def _absence(program: str, command: Command) -> str:
    path = Path(command.folder, program)
    if "/" not in program:
        return f"'{program}' was not found on the PATH."
    if path.is_dir():
        return f"'{program}' is a folder."
    if not path.exists():
        return f"'{program}' was not found."
    return f"'{program}' may not be executed: look at its permissions."


def _reason(command: Command, error: OSError) -> str:
    program = command.argv[0]
    match error.errno:
        case errno.ENOENT if find_program(program, command.folder, command.environment):
            return f"'{program}' cannot be run: the interpreter that its first line names was not found."
        case errno.ENOENT | errno.EACCES if _is_the_folder(command, error):
            return f"The folder '{command.folder}' may not be entered."
        case errno.ENOENT | errno.EACCES | errno.ENOTDIR:
            return _absence(program, command)
        case errno.ENOEXEC:
            return f"'{program}' is in no format that this machine runs; a script needs a first line with #!."
        case errno.E2BIG:
            return f"'{program}' was given more arguments or environment than the system allows."
        case _:
            return f"'{program}' cannot be started: {error.strerror}."


def _is_the_folder(command: Command, error: OSError) -> bool:
    return error.filename == command.folder and not os.access(command.folder, os.X_OK)
