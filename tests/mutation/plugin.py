"""The pytest plugin that tries mutants: each test runs once to see what it calls, then each mutant meets its tests.

Tests are collected once. A mutant gets a process of its own, forked from this one, in which its fault is installed and
the tests that call the mutated function run, quick and narrow ones first, until one fails. So a killed mutant costs
milliseconds, and nothing is ever written into the source tree.
"""

import os
import resource
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple, cast

import pytest
from hypothesis import Phase, settings

from burnish import core
from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.verdicts import Verdict, write_verdicts

CORE = Path(core.__file__).parent
"""Where the core that the tests import is, which may be another copy than the one beside these tests."""
PROFILE = "mutation"
_GRACE_SECONDS = 2.0
_MOST_MEMORY = 3 << 30

# No shrinking: that a test fails is all there is to know.
settings.register_profile(
    PROFILE, max_examples=12, deadline=None, derandomize=True, database=None, phases=(Phase.explicit, Phase.generate)
)


class Child(NamedTuple):
    """A process with one mutant in it."""

    mutant: Mutant
    deadline: float


class MutationRun:
    """One pass over all mutants, in place of pytest's own loop over all tests."""

    def __init__(self, output: Path, wanted: list[str], deadline: float) -> None:
        self._output = output
        self._wanted = wanted
        self._deadline = deadline
        self._processes = os.cpu_count() or 1
        self._failed = False
        self._seconds: dict[pytest.Item, float] = {}
        self._breadth: dict[pytest.Item, int] = {}
        self._callers: defaultdict[CodeType, list[pytest.Item]] = defaultdict(list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._failed = self._failed or report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Interrupted("the tests cannot be collected")
        for item in session.items:
            self._watch(item)
        if self._failed:
            raise session.Interrupted("the tests fail without any mutant")
        # A test that passes only once would kill every mutant.
        if os.waitpid(self._fork(None, session.items), 0)[1]:
            raise session.Interrupted("the tests fail without any mutant when they run for the second time")
        every = mutants_of("burnish.core", CORE)
        mutants = [mutant for mutant in every if any(part in mutant.name for part in self._wanted)]
        verdicts: dict[str, Verdict] = {}
        for name, verdict in self._verdicts(mutants):
            verdicts[name] = verdict
            if len(verdicts) % 100 == 0:
                sys.stdout.write(f"{len(verdicts)} of {len(mutants)} mutants\n")
                write_verdicts(self._output, verdicts)
        write_verdicts(self._output, verdicts)
        return True

    def _watch(self, item: pytest.Item) -> None:
        """Run a test as it is, and note which functions of the core it calls."""
        called: set[CodeType] = set()
        folder = str(CORE)

        def note(frame: FrameType, event: str, _argument: object) -> None:
            if event == "call" and frame.f_code.co_filename.startswith(folder):
                called.add(frame.f_code)

        sys.setprofile(note)
        started = time.perf_counter()
        self._run(item, None)
        self._seconds[item] = time.perf_counter() - started
        sys.setprofile(None)
        self._breadth[item] = len(called)
        for code in called:
            self._callers[code].append(item)

    def _run(self, item: pytest.Item, following: pytest.Item | None) -> None:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)

    def _verdicts(self, mutants: list[Mutant]) -> Iterator[tuple[str, Verdict]]:
        running: dict[int, Child] = {}
        for mutant in mutants:
            tests = sorted(self._callers[mutant.target.__code__], key=self._patience)
            if not tests or time.monotonic() > self._deadline:
                yield mutant.name, Verdict.NOT_TRIED if tests else Verdict.SURVIVED
                continue
            while len(running) >= self._processes:
                yield from self._ended(running)
            allowed = sum(self._allowed(test) for test in tests)
            running[self._fork(mutant, tests)] = Child(mutant, time.monotonic() + 10 * allowed)
        while running:
            yield from self._ended(running)

    def _patience(self, test: pytest.Item) -> float:
        """Quick tests come first, and of them those that call little else: they are about the mutated function."""
        return self._seconds[test] * self._breadth[test]

    def _allowed(self, test: pytest.Item) -> float:
        """Seconds of the processor after which a test will not end any more."""
        return _GRACE_SECONDS + 5 * self._seconds[test]

    def _fork(self, mutant: Mutant | None, tests: list[pytest.Item]) -> int:
        """Run tests in a process of their own, whose exit code says whether one failed."""
        child = os.fork()
        if child:
            return child
        # Whatever happens below, this process must end here and not go on as a second copy of the loop.
        try:
            _confine()
            if mutant is not None:
                mutant.install()
            for test, following in zip(tests, [*tests[1:], None], strict=True):
                # Nobody handles this signal, so it ends the process.
                signal.setitimer(signal.ITIMER_PROF, self._allowed(test))
                self._run(test, following)
                if self._failed:
                    os._exit(1)
            os._exit(0)
        finally:
            os._exit(2)

    def _ended(self, running: dict[int, Child]) -> Iterator[tuple[str, Verdict]]:
        """Wait for the next process to end; one that is past its deadline is killed."""
        process, status = os.waitpid(-1, os.WNOHANG)
        if not process:
            for late in [one for one, child in running.items() if time.monotonic() > child.deadline]:
                os.kill(late, signal.SIGKILL)
            time.sleep(0.002)
            return
        child = running.pop(process)
        if os.WIFSIGNALED(status):
            yield child.mutant.name, Verdict.TIMED_OUT
        else:
            yield child.mutant.name, Verdict.SURVIVED if os.WEXITSTATUS(status) == 0 else Verdict.KILLED


def _confine() -> None:
    """A limit on memory, and silence."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mutation")
    group.addoption("--mutation-output", type=Path, required=True, help="the file that gets the verdicts")
    group.addoption("--mutation-only", action="append", default=[], help="only mutants whose name has this text")
    group.addoption("--mutation-minutes", type=float, default=25.0, help="mutants beyond this time are not tried")


def pytest_configure(config: pytest.Config) -> None:
    output = cast("Path", config.getoption("--mutation-output"))
    only = cast("list[str]", config.getoption("--mutation-only")) or [""]
    minutes = cast("float", config.getoption("--mutation-minutes"))
    config.pluginmanager.register(MutationRun(output, only, time.monotonic() + 60 * minutes), "mutation-run")
