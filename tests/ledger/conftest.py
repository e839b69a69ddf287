"""Ledgers, owners and child processes for the tests of the ledger."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from burnish.ledger.interface import Ledger
from burnish.ledger.sqlite import SqliteLedger, open_ledger
from burnish.testing.memory_ledger import MemoryLedger

CHILDREN = Path(__file__).with_name("children.py")


class Child:
    """A process that runs one program of `children.py`, spoken to line by line."""

    def __init__(self, program: str, *arguments: object) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(CHILDREN), program, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input = self._process.stdin
        self._output = self._process.stdout

    @property
    def pid(self) -> int:
        return self._process.pid

    def tell(self, line: str = "go") -> None:
        self._input.write(f"{line}\n")
        self._input.flush()

    def hear(self) -> str:
        line = self._output.readline()
        assert line, "the child ended without saying more"
        return line.strip()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def kill(self) -> list[str]:
        """End it by `kill -9`, wait for it, and return what it still said."""
        self._process.kill()
        self._process.wait()
        # A line that was cut off by the kill acknowledged nothing.
        return [line.strip() for line in self._output.read().splitlines(keepends=True) if line.endswith("\n")]

    def end(self) -> int:
        self._input.close()
        return self._process.wait()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._output.close()
        if not self._input.closed:
            self._input.close()


Start = Callable[..., Child]


@pytest.fixture
def start() -> Iterator[Start]:
    children: list[Child] = []

    def begin(program: str, *arguments: object) -> Child:
        children.append(Child(program, *arguments))
        return children[-1]

    yield begin
    for child in children:
        child.close()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def sqlite_ledger(directory: Path) -> Iterator[SqliteLedger]:
    with open_ledger(directory) as ledger:
        yield ledger


@pytest.fixture(params=["sqlite", "memory"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    made: Ledger = MemoryLedger() if request.param == "memory" else open_ledger(tmp_path / "state")
    yield made
    made.close()
