"""Names that mean one thing only: of runs, and of processes, whose bare numbers the kernel uses again."""

import os
import time
from functools import cache
from pathlib import Path

from burnish.core.values import Value

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""32 characters that are hard to confuse when read aloud."""


def new_run_id(now: float) -> str:
    """A new name such as `20261115-081500-k3f9q2`: sorts by time, and the ending keeps names of one second apart."""
    ending = "".join(_ALPHABET[byte % 32] for byte in os.urandom(6))
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}-{ending}"


class ProcessIdentity(Value):
    """A process for as long as the world lasts: its number, and what tells it from later ones with that number."""

    host: str
    pid: int
    space: str = ""
    """The boot and the process-number space in which `pid` counts; containers have their own."""
    started: str = ""
    """When it started, in the kernel's ticks since the boot. Empty where the system does not say."""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def this_process() -> ProcessIdentity:
    return identity_of(os.getpid())


def identity_of(pid: int) -> ProcessIdentity:
    """The identity of a process that runs on this machine."""
    _state, started = _state_and_start(pid)
    return ProcessIdentity(host=os.uname().nodename, pid=pid, space=_space(), started=started)


def is_known_dead(process: ProcessIdentity) -> bool:
    """Whether a process has surely ended. False where that cannot be known, as for one of another machine."""
    if process.space != _space() or process.host != os.uname().nodename or process.pid < 1:
        return False
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # it exists, and belongs to another user
    state, started = _state_and_start(process.pid)
    return state in ("Z", "X") or (started != process.started and bool(started) and bool(process.started))


def _state_and_start(pid: int) -> tuple[str, str]:
    """Both empty where the system has no `/proc`, or the process is gone."""
    try:
        # The second field is the command in brackets, which may itself hold spaces and brackets.
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return fields[0], fields[19]
    except (OSError, IndexError):
        return "", ""


@cache
def _space() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""
