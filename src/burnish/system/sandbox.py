"""Keeps a command in its place: bubblewrap, else Landlock, else nothing but the comparison afterwards.

What each can and cannot do is said in `sandbox_bubblewrap` and `landlock`. Both end with the process that started them.
"""

import errno
import os
import shutil
import struct
import sys
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Literal

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.values import Value, replace
from burnish.system import sandbox_bubblewrap
from burnish.system.process import Command, Finished, How, run_now
from burnish.system.sandbox_paths import DEFAULT_SECRETS, Confinement, Mount, exists, expand, hidden_programs

__all__ = [
    "DEFAULT_SECRETS",
    "Confinement",
    "Mount",
    "Sandbox",
    "SandboxError",
    "SandboxKind",
    "choose",
    "confine",
    "why_not",
]

_LAUNCHER = str(Path(__file__).with_name("landlock.py"))
_PROBE_SECONDS = 15.0
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_AF_UNIX = 1
_IO_URING_SETUP = 425
"""On every machine. With such a ring, a socket is made without the call of that name."""


class SandboxError(BurnishError):
    kind = ErrorKind.CONFIGURATION


class SandboxKind(Enum):
    """What keeps a command in its place, best first."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    NONE = "none"


class Sandbox(Value):
    """The sandbox of this machine, and for the user, why it is not a better one."""

    kind: SandboxKind
    reason: str = ""


def choose(wanted: Literal["auto", "required", "off"]) -> Sandbox:
    """The best sandbox that really works here."""
    if wanted == "off":
        return Sandbox(kind=SandboxKind.NONE, reason="It is switched off.")
    best = _best()
    if best.kind is SandboxKind.NONE and wanted == "required":
        raise SandboxError(
            f"A sandbox is required, and none works here. {best.reason}",
            hint="Install bubblewrap (`apt install bubblewrap`, `dnf install bubblewrap`), allow user namespaces, "
            'or use a kernel with Landlock (6.2 or later). `sandbox = "auto"` goes on without one.',
        )
    return best


def _best() -> Sandbox:
    reasons: list[str] = []
    for kind in (SandboxKind.BUBBLEWRAP, SandboxKind.LANDLOCK):
        reason = why_not(kind)
        if not reason:
            return Sandbox(kind=kind, reason=" ".join(reasons))
        reasons.append(reason)
    return Sandbox(kind=SandboxKind.NONE, reason=" ".join(reasons))


@cache
def why_not(kind: SandboxKind) -> str:
    """Why a sandbox cannot be used on this machine; empty if it can. Asked once in the life of a process."""
    match kind:
        case SandboxKind.BUBBLEWRAP:
            program = _bubblewrap()
            if program is None:
                return "bubblewrap is not installed."
            return _try("bubblewrap", _filtered(_probe(program, *sandbox_bubblewrap.ALWAYS, "--", "true")))
        case SandboxKind.LANDLOCK:
            if sys.platform != "linux":
                return "Landlock is a part of Linux."
            return _try("Landlock", _probe(*_launcher(), "--hide", "/etc/shadow", "--", "true"))
        case SandboxKind.NONE:
            return ""


@cache
def _bubblewrap() -> str | None:
    found = shutil.which("bwrap")
    return None if found is None else str(Path.cwd() / found)


def _probe(*argv: str) -> Command:
    return Command(argv=argv, folder="/", environment={"PATH": os.environ.get("PATH", os.defpath)})


def _try(name: str, command: Command) -> str:
    """Only a try can tell: both may be there and forbidden, as in most containers."""
    tried = run_now(command, seconds=_PROBE_SECONDS)
    if tried.how is How.EXITED and tried.code == 0:
        return ""
    return f"{name} does not work here: {_last_words(tried)}."


def _last_words(tried: Finished) -> str:
    lines = tried.stderr_tail.strip().splitlines()
    words = lines[-1] if lines else tried.message or tried.how.value
    return words.removeprefix("bwrap: ").removeprefix("burnish: ").rstrip(".")


def confine(sandbox: Sandbox, command: Command, confinement: Confinement) -> Command:
    for path in (*expand(confinement.writable), Path(confinement.temporary)):
        if not exists(path):
            raise _MissingPathError(f"The sandbox cannot make '{path}' writable: there is no such file or folder.")
    temporary = confinement.temporary
    command = replace(command, environment={"HOME": temporary, "TMPDIR": temporary, **command.environment})
    match sandbox.kind:
        case SandboxKind.BUBBLEWRAP:
            return _in_bubblewrap(command, confinement)
        case SandboxKind.LANDLOCK:
            return _in_landlock(command, confinement)
        case SandboxKind.NONE:
            return command


class _MissingPathError(SandboxError):
    kind = ErrorKind.INFRASTRUCTURE


def _in_bubblewrap(command: Command, confinement: Confinement) -> Command:
    options = sandbox_bubblewrap.arguments(command, confinement)
    # Where bubblewrap is installed with special rights, the loader takes this variable away.
    temporary = ("--setenv", "TMPDIR", command.environment["TMPDIR"])
    argv = (_bubblewrap() or "bwrap", *options, *temporary, "--", *command.argv)
    return _filtered(replace(command, argv=argv, program=command.argv[0]))


def _filtered(command: Command) -> Command:
    """bubblewrap with its two descriptors: one tells of its inside, from the other it reads the filter of calls."""
    return replace(command, monitor="--json-status-fd", call_filter=call_filter(named_sockets=True))


def _in_landlock(command: Command, confinement: Confinement) -> Command:
    words: list[str] = [] if confinement.network else ["--no-network"]
    hidden = expand(confinement.hidden)
    for path in hidden:
        words += ("--hide", str(path))
    for path in (*expand(confinement.readable), *hidden_programs(command, hidden)):
        words += ("--read", str(path))
    for path in (*expand(confinement.writable), Path(confinement.temporary)):
        words += ("--write", str(path))
    argv = (*_launcher(), *words, "--", *command.argv)
    return replace(command, argv=argv, program=command.argv[0], supervised=True)


def _launcher() -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", _LAUNCHER, "--filter", call_filter(named_sockets=False).hex())


class _Machine(Value):
    """How the kernel names a machine, and its numbers of some system calls."""

    audit: int
    socket: int
    keyrings: tuple[int, int, int]
    """add_key, request_key, keyctl."""
    least_foreign: int = 0
    """From here on, numbers belong to another set of calls on the same machine; 0 where there is none."""


_MACHINES = {
    "x86_64": _Machine(audit=0xC000003E, socket=41, keyrings=(248, 249, 250), least_foreign=0x40000000),
    "aarch64": _Machine(audit=0xC00000B7, socket=198, keyrings=(217, 218, 219)),
}


def call_filter(*, named_sockets: bool) -> bytes:
    """A filter of system calls for this machine, as the kernel reads it; empty where its numbers are not known.

    It takes away what a view of the file system cannot. The keyrings of the kernel belong to a user, not to a place: no
    sandbox of files hides them. A socket in the file system can be connected to wherever it can be named, and Landlock
    has no rule for it: where there are no private folders, no such socket can be made at all. (Pairs of connected
    sockets, which programs use among themselves, are another call.)
    """
    machine = _MACHINES.get(os.uname().machine)
    if machine is None:
        return b""
    words = [_word(_LOAD, _MACHINE), *_unless(_EQUAL, machine.audit, errno.ENOSYS), _word(_LOAD, _NUMBER)]
    if machine.least_foreign:
        words += _when(_AT_LEAST, machine.least_foreign, errno.ENOSYS)
    for number in machine.keyrings:
        words += _when(_EQUAL, number, errno.EPERM)
    if not named_sockets:
        words += _when(_EQUAL, _IO_URING_SETUP, errno.EPERM)
        words += [
            _word(_EQUAL, machine.socket, otherwise=3),
            _word(_LOAD, _FIRST_ARGUMENT),
            *_when(_EQUAL, _AF_UNIX, errno.EAFNOSUPPORT),
        ]
    return b"".join([*words, _word(_RETURN, _ALLOW)])


def _when(test: int, value: int, error: int) -> list[bytes]:
    return [_word(test, value, otherwise=1), _word(_RETURN, _FAIL | error)]


def _unless(test: int, value: int, error: int) -> list[bytes]:
    return [_word(test, value, then=1), _word(_RETURN, _FAIL | error)]


def _word(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    """One instruction. `then` and `otherwise` are how many of the next ones are passed over."""
    return struct.pack("=HBBI", code, then, otherwise, value)
