"""The cost of a start: through our door against bare `subprocess`, and in each sandbox against none."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator

from benchmarks.measure import Figure, compare
from burnish.core.values import replace
from burnish.system.process import Command, run_now
from burnish.system.sandbox import Confinement, Sandbox, SandboxKind, confine, why_not

TIMES = 25
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
_LIMIT = 6.0
"""A sandbox costs a few starts of an interpreter at most: milliseconds, where an agent takes seconds."""


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="burnish-benchmarks-") as folder:
        command = Command(argv=("true",), folder=folder, environment=_ENVIRONMENT)
        interpreter = replace(command, argv=(sys.executable, "-I", "-S", "-c", "pass"))
        yield _door(command)
        for kind in (SandboxKind.BUBBLEWRAP, SandboxKind.LANDLOCK):
            if not why_not(kind):
                yield _start(kind, command, command, "no sandbox")
                yield _start(kind, command, interpreter, "a bare interpreter", _LIMIT)
                yield _confine(kind, command)


def _door(command: Command) -> Figure:
    def bare() -> None:
        subprocess.run(command.argv, cwd=command.folder, env=command.environment, capture_output=True, check=True)

    name = "start of a process through the one door"
    return compare(name, lambda: run_now(command), bare, against="bare subprocess.run", limit=3, times=TIMES)


def _start(kind: SandboxKind, command: Command, peer: Command, against: str, limit: float | None = None) -> Figure:
    confined = confine(Sandbox(kind=kind), command, Confinement(temporary=command.folder))
    return compare(
        f"start of a process in {kind.value}",
        lambda: run_now(confined),
        lambda: run_now(peer),
        against=against,
        limit=limit,
        times=TIMES,
    )


def _confine(kind: SandboxKind, command: Command) -> Figure:
    confinement = Confinement(temporary=command.folder)
    return compare(
        f"making the command line for {kind.value}",
        lambda: confine(Sandbox(kind=kind), command, confinement),
        lambda: run_now(command),
        against="a start with no sandbox",
        limit=3,
        times=TIMES,
    )
