"""Whole `burnish review` commands on real repositories, and what came of them.

Every figure of the panel rests on the command that users run, not on its parts.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from burnish.contracts.registry import parse_answer
from burnish.core.findings import Finding, Severity
from burnish.core.reviews import ContractName
from burnish.core.values import Value

STATIC_SEATS = ("bugs", "style", "security", "errors")
"""All checks but `tests`, which runs the project's tests."""
_RAN = (0, 1, 6)
"""Approved, findings, unproven: all of them reviewed the change."""
_PROTOCOL = """name = "measured"
description = "For measuring."
contract = "issues"
{panel}
[gate]
type = "severity"
block = "high"
[limits]
reviews = 1
hard_cap = 1
[fix]
input = "blocking"
unchanged = "exhausted"
[exhausted]
then = "fail"
reason = "Findings remain"
"""


class Review(Value):
    """What one command said."""

    findings: tuple[Finding, ...]
    seconds: float
    error: str = ""
    """Why there was no review; empty where there was one."""

    @property
    def must_fix(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity.at_least(Severity.HIGH))


class Desk(Value):
    """A folder for measuring: a home of its own, so that nobody's settings count, and a protocol."""

    root: Path
    packages: bool = True
    """Whether those of the interpreter that measures count as those of the projects."""

    @property
    def home(self) -> Path:
        return self.root / "home"

    def protocol(self, seats: Sequence[str]) -> str:
        """A protocol of one round with these seats, as a path."""
        file = self.root / f"{'-'.join(seats)}.toml"
        panel = "\n".join(f'[[panel]]\nname = "{seat}"{_SCRATCH.get(seat, "")}' for seat in seats)
        file.write_text(_PROTOCOL.format(panel=panel))
        return str(file)

    def clone(self, repository: Path) -> Path:
        """A repository of our own that shares the objects of another one."""
        path = self.root / _name(repository.resolve())
        command = ["git", "clone", "--quiet", "--shared", "--no-tags", str(repository.resolve()), str(path)]
        subprocess.run(command, check=True, env=self.environment())
        return path

    def environment(self) -> dict[str, str]:
        """The interpreter that measures is also the one whose tests the witness can run."""
        return {
            "PATH": _path(),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "GIT_CONFIG_GLOBAL": os.devnull,
            **({"VIRTUAL_ENV": sys.prefix} if self.packages else {}),
        }

    def review(self, folder: Path, *arguments: str) -> Review:
        """`burnish review` with SARIF as its answer, the one form that names rules."""
        command = [sys.executable, "-m", "burnish", "review", "--format", "sarif", *arguments]
        began = time.perf_counter()
        done = subprocess.run(command, cwd=folder, env=self.environment(), capture_output=True, check=False)
        seconds = time.perf_counter() - began
        if done.returncode not in _RAN:
            said = done.stderr.decode(errors="replace").strip()
            return Review(findings=(), seconds=seconds, error=f"exit code {done.returncode}: {said[-2000:]}")
        # A review that leaves files unexamined says that it is not complete; what it found counts all the same.
        log = done.stdout.replace(b'"executionSuccessful": false', b'"executionSuccessful": true')
        return Review(findings=parse_answer(ContractName.SARIF, log).findings, seconds=seconds)


@cache
def _path() -> str:
    """The user's, with Rust's own programs first: those of rustup need the home of the user."""
    path = os.environ["PATH"]
    if shutil.which("rustc") is None:
        return path
    command = ["rustc", "--print", "sysroot"]
    return f"{subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()}/bin:{path}"


_SCRATCH = {"witness": "\nscratch = true"}


@contextmanager
def desk(*, packages: bool = True) -> Generator[Desk]:
    """A desk that is gone afterwards."""
    with TemporaryDirectory(prefix="burnish-benchmarks-") as folder:
        made = Desk(root=Path(folder), packages=packages)
        made.home.mkdir()
        yield made


def git(repository: Path, *arguments: str) -> str:
    """What git says of a repository."""
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode(errors="replace")


def _name(repository: Path) -> str:
    """A folder is often called `repo` or `.git`; the one above it says more."""
    named = repository if repository.name not in ("repo", ".git") else repository.parent
    return named.name.removesuffix(".git")
