"""The words for tests: what would be run, and what came of it. Values only."""

import re
from enum import Enum

import msgspec

from burnish.core.values import Value


class Framework(Enum):
    """Who runs the tests, and so where their results are found."""

    PYTEST = "pytest"
    UNITTEST = "unittest"
    NODE = "node --test"
    MOCHA = "mocha"
    JEST = "jest"
    VITEST = "vitest"
    GO = "go test"
    CARGO = "cargo test"
    COMMAND = "a command"
    """Known by its exit code; where pytest or `node --test` are behind it, by their reports too."""


class Language(Enum):
    """What code is written in, as far as it says which tests can reach it."""

    PYTHON = "Python"
    NODE = "JavaScript"
    GO = "Go"
    RUST = "Rust"


class TestPlan(Value):
    """How the tests of a project are run, in whatever copy of it."""

    __test__ = False  # its name is no reason to collect it

    framework: Framework
    argv: tuple[str, ...]
    """The program by its name, by an absolute path of the user's, or by a path inside the copy."""
    text: str
    """As a person would type it."""
    project: str = ""
    """The folder of the repository in which they run."""
    language: Language | None = None
    """The language of the code that they test; None where that is not known."""
    environment: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    imports: tuple[str, ...] = ()
    """Folders of the repository from which its own Python code is imported, before anything that is installed."""
    avoid: str = ""
    """The user's checkout: an editable installation must not lead there, for what the copy does not have either."""
    readable: tuple[str, ...] = ()
    """What it needs of the user's home: tool chains, downloaded dependencies."""
    advice: str = ""
    """What a person could do where they cannot run, if the project's files tell."""


class NoTests(Value):
    """Why there is nothing to run, and what a person could do about it."""

    reason: str
    hint: str = ""
    absent: bool = False
    """There are no tests at all; else there are, but they cannot be run here."""
    unfit: bool = False
    """They could be run, but what is installed here was installed for another state of the project."""


class CaseOutcome(Enum):
    """What became of one test."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Case(Value):
    """One test, or one file of tests that could not even be loaded."""

    name: str
    outcome: CaseOutcome
    file: str = ""
    """From the root of the repository, where the framework tells."""
    folder: str = ""
    """From where its output names files, where that is not the project's folder."""
    line: int | None = None
    text: str = ""
    """The end of what it said when it failed."""
    message: str = ""
    """The assertion or the exception itself, where the framework tells."""
    loading: bool = False
    """The failure is that it could not be loaded."""


def parts_of(name: str) -> tuple[str, str, str]:
    """The name of a test as the file that it names, a separator, and the rest; no file, where it names none."""
    separator = "::" if "::" in name else " > "
    file, found, rest = name.partition(separator)
    return file, found, rest


_GO_SUBTEST = re.compile(r"(.*\.(?:Test|Example|Fuzz)\w*)/.*", re.DOTALL)


def function_of(name: str) -> str:
    """The test function: the name of a test without its parameters, or without a part of it that Go names."""
    part = _GO_SUBTEST.fullmatch(name)
    return part[1] if part else name.partition("[")[0] if name.endswith("]") else name


class FileLines(Value):
    """Which lines of a file could run, and which did."""

    statements: frozenset[int]
    executed: frozenset[int]


ReachedLines = dict[str, dict[int, tuple[str, ...]]]
"""The tests that run a line, by file and line."""


class Described(Value):
    """A value as text, cut, and a digest of the whole."""

    digest: str
    text: str


class RecordedCall(Value):
    """A call that a test made, and what came of it."""

    text: str
    """As a person would write it."""
    file: str
    line: int
    """Where the test makes it."""
    arguments: str
    """A digest."""
    outcome: Described
    """What it returns or raises."""
    left: dict[str, Described] = msgspec.field(default_factory=dict[str, Described])
    """The arguments after the call, by name."""
    repeated: bool = False
    """No test makes it: it is a call of a test with a boundary as one of its arguments."""


RecordedCalls = dict[str, tuple[RecordedCall, ...]]
"""Calls by test, in their order."""


class SuiteEnd(Enum):
    """How the tests came to their end."""

    EXITED = "exited"
    """They were run to their end, whatever they found."""
    ENDLESS = "endless"
    """They had to be ended."""
    CRASHED = "crashed"
    """Their process died on the way."""
    NOTHING = "nothing"
    """There was no test."""
    COULD_NOT_RUN = "could-not-run"


class TestResult(Value):
    """What one run of the tests said."""

    __test__ = False

    ended: SuiteEnd
    code: int | None = None
    seconds: float = 0.0
    cases: tuple[Case, ...] = ()
    lists_passed: bool = False
    """Whether tests that passed are listed, too: only then a missing one says something."""
    listed: tuple[str, ...] = ()
    """The tests that were found, whether they ran or not, where the framework tells before it runs them."""
    partial: bool = False
    """Only some tests were asked for."""
    units: frozenset[str] = frozenset()
    """Files of tests that were to be run, where the framework tells."""
    ended_units: frozenset[str] = frozenset()
    """Files or packages of which all tests have run, where the framework tells."""
    choosable: bool = False
    """Whether single tests of this suite can be chosen."""
    quiet_seconds: float = 0.0
    """How long no test had begun or ended when the run had to be ended."""
    running: tuple[str, ...] = ()
    """Tests that had begun and not ended."""
    output: str = ""
    """The end of what was printed."""
    message: str = ""
    """Why it could not run."""
    lines: dict[str, FileLines] = msgspec.field(default_factory=dict[str, FileLines])
    """The lines that ran, by file from the root of the repository, where they were measured."""
    reached: ReachedLines = msgspec.field(default_factory=ReachedLines)
    """Which tests run each measured line, where that was asked for."""
    calls: RecordedCalls = msgspec.field(default_factory=RecordedCalls)
    """Calls that tests made and that run a function, where that was asked for."""
    compiled: frozenset[str] = frozenset()
    """Files of the repository that the runner compiled."""
    unmeasured: str = ""
    """Why lines were not measured, where they should have been."""

    @property
    def passed(self) -> bool:
        return self.ended is SuiteEnd.EXITED and self.code == 0

    @property
    def complete(self) -> bool:
        return self.ended is SuiteEnd.EXITED

    @property
    def passing(self) -> tuple[Case, ...]:
        return tuple(case for case in self.cases if case.outcome is CaseOutcome.PASSED)

    @property
    def failing_as_expected(self) -> tuple[Case, ...]:
        """Tests that ran and are marked as known to fail: they prove nothing."""
        return tuple(case for case in self.cases if case.outcome is CaseOutcome.SKIPPED and case.text)

    @property
    def failing(self) -> tuple[Case, ...]:
        return tuple(case for case in self.cases if case.outcome is CaseOutcome.FAILED)
