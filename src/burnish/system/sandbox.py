"""Keeps a command in its place: bubblewrap, else Landlock, else nothing but the comparison afterwards.

What each can and cannot do is said in `sandbox_bubblewrap` and `landlock`. Both end with the process that started them.
"""

import os
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Literal

from burnish.core.errors import ErrorKind
from burnish.core.values import replace
from burnish.system import sandbox_bubblewrap
from burnish.system.process import Command, Finished, How, run_now
from burnish.system.sandbox_paths import exists, expand, hidden_programs
from burnish.system.sandbox_values import DEFAULT_SECRETS, Confinement, Mount, Sandbox, SandboxError, SandboxKind
from burnish.system.seccomp import call_filter

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
    without_bubblewrap = why_not(SandboxKind.BUBBLEWRAP)
    if not without_bubblewrap:
        return Sandbox(kind=SandboxKind.BUBBLEWRAP)
    without_landlock = why_not(SandboxKind.LANDLOCK)
    if not without_landlock:
        return Sandbox(kind=SandboxKind.LANDLOCK, reason=without_bubblewrap)
    return Sandbox(kind=SandboxKind.NONE, reason=f"{without_bubblewrap} {without_landlock}")


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
    """The same command inside the sandbox."""
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
