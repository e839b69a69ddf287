"""Starting a process, and saying in words why one could not be started."""

import errno
import os
import resource
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from burnish.system.process_values import Command

Channel = int
PIPE = subprocess.PIPE
_STARTING = threading.Lock()


class CouldNotStartError(Exception):
    """Why a process could not be started, in words for the user."""


def start(
    command: Command, *, stdin: Channel, stdout: Channel, stderr: Channel, hand_on: tuple[int, ...] = ()
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
