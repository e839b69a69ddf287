"""Whether the tests of a change would notice if its code were wrong: what is run for that, and what is said of it.

1. Tests that the change adds or edits run on the base's code, in a copy of the base with the tests of the change. One
   that passes there says nothing about the change (`proof`).
2. Tests that cannot fail by what they assert are named (`assertions`), unless they were seen to fail in step 1.
"""

import asyncio
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from burnish.agents.panel.project_tests.assertions import Weakness, WeakTest, weak_tests
from burnish.agents.panel.project_tests.change import ChangeUnderTest
from burnish.agents.panel.project_tests.changed_tests import test_name
from burnish.agents.panel.project_tests.commands import EVERYTHING, SuiteSelection
from burnish.agents.panel.project_tests.findings import CATEGORY, evidence
from burnish.agents.panel.project_tests.progress import Progress
from burnish.agents.panel.project_tests.project_runs import ProjectRuns
from burnish.agents.panel.project_tests.projects import is_test, language_of, steers_tests
from burnish.agents.panel.project_tests.proof import (
    TestFileChange,
    TouchedTests,
    changes_behaviour,
    fix_not_tested,
    fix_subject,
    keeps_behaviour,
    passes_without,
    touched_tests,
    without_change,
)
from burnish.agents.panel.project_tests.pythons import is_test_module
from burnish.agents.panel.project_tests.values import Case, Language, TestResult, function_of
from burnish.core.finding_likeness import RULE_SEPARATOR
from burnish.core.findings import Finding, Location, Severity
from burnish.core.values import Value, replace

LEAST_SECONDS, TIMES_THE_HEAD = 30.0, 3.0
"""How long tests may take on the base's code: at least, and as a multiple of what all take on the change."""
_MOST_FILES = 1_000


class Teeth(Value):
    """What was found out about the tests of a change."""

    findings: tuple[Finding, ...] = ()
    failing_before: frozenset[str] = frozenset()
    """Tests of the change that run and fail on the base's code, as `path::name`: they can fail, without assertions."""


class ProofOfChange:
    """Runs the tests of the change on the code of the base."""

    def __init__(self, runs: ProjectRuns, head: TestResult) -> None:
        self._runs = runs
        self._plan = runs.plan
        self._changed = runs.changed
        self._head = head

    async def look(self) -> Teeth:
        """Which tests of the change fail without it, and what to say of the others."""
        if not self._head.complete or not self._head.lists_passed or self._plan.language is Language.RUST:
            return Teeth()
        touched = await asyncio.to_thread(self._touched)
        if not touched.all or not await asyncio.to_thread(self._changes_code):
            return Teeth()
        before = without_change(touched.all, await self._run_without(self._selection(touched)), self._is_new_module)
        found = Teeth(failing_before=frozenset(map(self._id, before.ran_and_failed)))
        added = [name for name in touched.added if name in before.passing]
        passing = [*added, *(name for name in touched.edited if name in before.passing)]
        if not passing or keeps_behaviour(self._changed.messages):
            return found
        proven = bool(before.failing or before.unclear)
        subject = "" if proven else fix_subject(self._changed.messages)
        if subject and not await self._others_fail():
            return replace(found, findings=(fix_not_tested(subject, passing, self._places(passing), self._plan),))
        weak = await asyncio.to_thread(self._weak)
        told = [name for name in (added if proven else passing) if self._id(name) not in weak]
        return replace(found, findings=(passes_without(told, self._places(told), self._plan),)) if told else found

    def _weak(self) -> frozenset[str]:
        """Tests that are told to be unable to fail: that they pass without the change, too, is no news."""
        return frozenset(name for name, _ in _weak_tests(self._changed))

    def _touched(self) -> TouchedTests:
        return touched_tests(list(changed_test_files(self._changed)), self._head, self._plan.framework)

    def _changes_code(self) -> bool:
        """Whether the change does anything to code that these tests could see, beyond its text."""
        for file in self._changed.reachable:
            if is_test(file.path) or file.status == "D" or file.binary:
                continue
            language = language_of(file.path)
            if language is not Language.PYTHON:
                if language is None or language is self._plan.language:
                    return True
                continue
            before = self._changed.text(self._changed.base, file.old_path) if file.status != "A" else ""
            if changes_behaviour(before, self._changed.text(self._changed.head, file.path)):
                return True
        return False

    def _selection(self, touched: TouchedTests) -> SuiteSelection:
        """Cases by their names: parameters count as they are on the change."""
        wanted = set(touched.all)
        return SuiteSelection(only=tuple(case.name for case in self._head.passing if function_of(case.name) in wanted))

    async def _run_without(self, selection: SuiteSelection) -> TestResult:
        overlay = await asyncio.to_thread(lambda: self._overlay)
        return await self._runs.fresh_run("without", selection, overlay, commit=self._changed.base, watch=self._is_over)

    async def _others_fail(self) -> bool:
        """Whether any other test that passes on the change fails on the base's code."""
        passing = {case.name for case in self._head.passing}
        everything = await self._run_without(EVERYTHING)
        return not everything.complete or any(case.name in passing for case in everything.failing)

    def _is_over(self, progress: Progress) -> bool:
        return progress.seconds > max(LEAST_SECONDS, TIMES_THE_HEAD * self._head.seconds)

    @cached_property
    def _overlay(self) -> dict[str, bytes | None]:
        """The tests of the change, and what steers or helps them, for a copy of the base."""
        found: dict[str, bytes | None] = {}
        for file in self._changed.changed:
            if file.is_submodule or not (is_test(file.path) or steers_tests(file.path)):
                continue
            if file.status in ("D", "R") and is_test(file.old_path):
                found[file.old_path] = None
            if file.status != "D":
                found[file.path] = self._changed.content(self._changed.head, file.path)
        return found

    def _is_new_module(self, name: str) -> bool:
        """Whether a module of the repository is there on the change, and not on the base."""
        path = name.replace(".", "/")
        ends = (f"{path}.py", f"{path}/__init__.py")
        now = [file for file in self._changed.files if f"/{file}".endswith(tuple(f"/{end}" for end in ends))]
        return any(file not in self._changed.base_files for file in now)

    @cached_property
    def _cases(self) -> dict[str, Case]:
        """The first case of each function."""
        return {function_of(case.name): case for case in reversed(self._head.passing)}

    def _places(self, names: Sequence[str]) -> tuple[Location, ...]:
        cases = [self._cases[name] for name in names]
        return tuple(Location(file=case.file, line=case.line) for case in cases if case.file)

    def _id(self, function: str) -> str:
        case = self._cases[function]
        return f"{case.file}::{test_name(case, self._plan.framework)}"


def changed_test_files(changed: ChangeUnderTest) -> Iterator[TestFileChange]:
    """Files of tests that the change adds or edits."""
    for file in changed.changed[:_MOST_FILES]:
        if is_test(file.path) and file.status != "D" and not file.binary and not file.is_submodule:
            before = changed.text(changed.base, file.old_path) if file.status != "A" else ""
            yield TestFileChange(path=file.path, before=before, now=changed.text(changed.head, file.path))


def weak_findings(changed: ChangeUnderTest, failing_before: Collection[str]) -> tuple[Finding, ...]:
    """Tests of the change that cannot fail, without those that were seen to fail."""
    return tuple(
        _weak(name.partition("::")[0], test)
        for name, test in _weak_tests(changed)
        if test.weakness is not Weakness.NO_ASSERTION or name not in failing_before
    )


def _weak_tests(changed: ChangeUnderTest) -> Iterator[tuple[str, WeakTest]]:
    """With the name of each one by which it is known beyond its file."""
    for file in changed_test_files(changed):
        for test in weak_tests(file.before, file.now) if is_test_module(file.path) else ():
            yield f"{file.path}::{test.name}", test


_TITLES = {
    Weakness.EMPTY: "does nothing",
    Weakness.NO_ASSERTION: "asserts nothing",
    Weakness.ALWAYS_TRUE: "asserts only what is always true",
    Weakness.NOT_REACHED: "can pass without reaching an assertion",
    Weakness.ONLY_MOCKS: "tests only its own mocks",
}
_PROBLEMS = {
    Weakness.EMPTY: "The body of the test is empty, so it always passes.",
    Weakness.NO_ASSERTION: "The test runs code, and checks nothing that comes of it.",
    Weakness.ALWAYS_TRUE: "What the test asserts holds whatever the code does.",
    Weakness.NOT_REACHED: (
        "Its assertions are in a handler or branch that need not run, or their failure is caught, so it passes anyway."
    ),
    Weakness.ONLY_MOCKS: "It calls nothing but mocks, and checks what it told them. No code of the project runs.",
}
_IMPACTS = {Weakness.NO_ASSERTION: "The test fails only if the code raises. A wrong result passes."}
_SUGGESTIONS = {
    Weakness.NOT_REACHED: "Use `pytest.raises`, or assert where the test always comes by.",
    Weakness.ONLY_MOCKS: "Call the code that uses the mock, and check what that does.",
}


def _weak(path: str, test: WeakTest) -> Finding:
    name = test.name.replace(".", "::")
    return Finding(
        severity=Severity.MEDIUM,
        title=f"`{path}::{name}` {_TITLES[test.weakness]}",
        category=CATEGORY,
        rule=f"tests:weak-test:{test.weakness.value}:{name}".replace(RULE_SEPARATOR, ","),
        location=Location(file=path, line=test.line, end_line=test.end_line),
        problem=_PROBLEMS[test.weakness],
        impact=_IMPACTS.get(test.weakness, "The test passes whether the code is right or wrong."),
        evidence=evidence(test.code),
        suggestion=_SUGGESTIONS.get(test.weakness, "Assert what the code must give or do."),
        confidence=0.9,
    )
