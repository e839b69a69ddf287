"""Tries wrong versions of the changed lines: what no test notices is told. It runs tests only in copies.

Each version is run with just those tests that run the line, which is measured first, and until the first one fails. A
version that does not end is noticed. One that all tests let pass is named only with its effect: a call of a test must
come to something else with it (`effects`). All of it has a time limit; tests that take longer than that are not run.
"""

import asyncio
from collections.abc import Collection, Sequence

from burnish.agents.panel.project_tests.commands import RecordedFunction, SuiteSelection
from burnish.agents.panel.project_tests.effects import ShownEffect, shown_effect
from burnish.agents.panel.project_tests.findings import CATEGORY, evidence, named
from burnish.agents.panel.project_tests.mutations import Mutation, chosen, mutations_of
from burnish.agents.panel.project_tests.progress import Progress
from burnish.agents.panel.project_tests.project_runs import ProjectRuns
from burnish.agents.panel.project_tests.values import CaseOutcome, Framework, TestResult
from burnish.core.findings import Finding, Location, Severity
from burnish.core.values import Value

MOST_NAMED = 5
LEAST_SECONDS, TIMES_AS_LONG = 10.0, 5.0
"""When a wrong version counts as one that does not end: at least, and as a multiple of all tests that run the lines."""
_FRAMEWORKS = (Framework.PYTEST, Framework.UNITTEST, Framework.COMMAND)


class Unnoticed(Value):
    """What tests let pass."""

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()


class Mutants:
    """Wrong versions of one change, and the tests of one project."""

    def __init__(self, runs: ProjectRuns, head: TestResult, reaching: Collection[str] | None, seconds: float) -> None:
        self._runs = runs
        self._head = head
        self._reaching = reaching
        self._seconds = seconds
        self._bench = runs.bench("mutants")
        self._began = 0.0

    async def look(self) -> Unnoticed:
        """Try as many as there is time for."""
        if self._runs.plan.framework not in _FRAMEWORKS or not (self._head.complete and self._head.choosable):
            return Unnoticed()
        contents, candidates = await asyncio.to_thread(self._candidates)
        if not candidates:
            return Unnoticed()
        self._began = asyncio.get_running_loop().time()
        measured = await self._measure(sorted(contents)) if self._expected_seconds() <= self._seconds else None
        if measured is None or not measured.complete:
            return Unnoticed(notes=(f"no wrong versions were tried: the tests take longer than {self._seconds:g} s",))
        unnoticed: dict[tuple[str, int], Finding] = {}
        for tried, mutation in enumerate(candidates):
            place, tests = (mutation.path, mutation.line), tests_reaching(mutation, measured)
            if len(unnoticed) >= MOST_NAMED:
                break
            if self._left <= 0:
                said = f"{tried} of {len(candidates)} wrong versions were tried within {self._seconds:g} s"
                return Unnoticed(findings=tuple(unnoticed.values()), notes=(said,))
            if place in unnoticed or not tests:
                continue
            effect = await self._unnoticed(mutation, contents[mutation.path], tests, measured.seconds)
            if effect is not None:
                unnoticed[place] = _finding(mutation, tests, effect)
        return Unnoticed(findings=tuple(unnoticed.values()))

    @property
    def _left(self) -> float:
        return self._seconds - (asyncio.get_running_loop().time() - self._began)

    def _candidates(self) -> tuple[dict[str, bytes], tuple[Mutation, ...]]:
        changed = self._runs.changed
        found: list[Mutation] = []
        contents: dict[str, bytes] = {}
        for path, lines in changed.lines.items():
            content = changed.content(changed.head, path) if path in self._head.lines else None
            if content is not None:
                mutations = mutations_of(path, content, lines, self._head.lines[path].executed)
                found += mutations
                contents |= {path: content} if mutations else {}
        return contents, chosen(found)

    def _expected_seconds(self) -> float:
        wanted = self._wanted()
        files = [case.file for case in self._head.cases]
        share = sum(file in wanted for file in files) / len(files) if wanted and files else 1.0
        return self._head.seconds * share

    def _wanted(self) -> tuple[str, ...]:
        """The files of tests that may run the lines; none means all."""
        return tuple(sorted({case.file for case in self._head.passing} & set(self._reaching or ())))

    async def _measure(self, paths: Sequence[str]) -> TestResult:
        """Which tests run which lines."""
        selection = SuiteSelection(only=self._wanted(), measured=tuple(paths), by_test=True)
        return await self._bench.run(selection, {}, watch=lambda _: self._left <= 0)

    async def _unnoticed(
        self, mutation: Mutation, content: bytes, tests: tuple[str, ...], usual: float
    ) -> ShownEffect | None:
        """What a wrong version does, if all tests that run the line let it pass.

        It and the original run in turns: what changes with time is not taken for its effect.
        """
        limit = max(LEAST_SECONDS, TIMES_AS_LONG * usual)

        def is_over(progress: Progress) -> bool:
            return progress.seconds > limit or self._left <= 0

        wrong = {mutation.path: mutation.apply(content)}
        plain = SuiteSelection(only=tests, until_failure=True)
        if not all_pass(await self._bench.run(plain, wrong, watch=is_over), tests):
            return None
        originals: list[TestResult] = []
        wrongs: list[TestResult] = []
        effect: ShownEffect | None = None
        for turn in range(2):
            selection = recording(mutation, tests, turn)
            originals.append(await self._bench.run(selection, {}, watch=is_over))
            wrongs.append(await self._bench.run(selection, wrong, watch=is_over))
            effect = shown_effect(originals, wrongs)
            if effect is None:
                return None
        return effect


def recording(mutation: Mutation, tests: tuple[str, ...], turn: int) -> SuiteSelection:
    """The tests that run a line, with a record of what their calls come to."""
    function = RecordedFunction(
        file=mutation.path,
        name=mutation.function.rpartition(".")[2],
        line=mutation.first_line,
        turn=turn,
        parameter=mutation.parameter,
        boundary=mutation.boundary,
    )
    return SuiteSelection(only=tests, recorded=function)


def all_pass(result: TestResult, tests: Sequence[str]) -> bool:
    """Whether all of these tests ran to their end and passed."""
    passed = {case.name for case in result.passing}
    return result.passed and not result.failing and passed.issuperset(tests)


def tests_reaching(mutation: Mutation, measured: TestResult) -> tuple[str, ...]:
    """The tests that run a line. None, where one of them does not pass even as it is, or was skipped beside them.

    A test that is skipped on this machine may be the one that checks the line.
    """
    tests = measured.reached.get(mutation.path, {}).get(mutation.line, ())
    passing = {case.name: case.file for case in measured.passing}
    skipped = {case.file for case in measured.cases if case.outcome is CaseOutcome.SKIPPED}
    return tests if all(name in passing and passing[name] not in skipped for name in tests) else ()


def _finding(mutation: Mutation, tests: Sequence[str], effect: ShownEffect) -> Finding:
    number = "1 test runs" if len(tests) == 1 else f"{len(tests)} tests run"
    return Finding(
        severity=Severity.MEDIUM,
        title=f"No test notices if {mutation.words}",
        category=CATEGORY,
        rule=f"tests:not-noticed:{mutation.kind.value}",
        location=Location(file=mutation.path, line=mutation.line),
        problem=(
            f"{number} this line of `{mutation.function}`, and all pass if {mutation.words}: {named(list(tests))}."
        ),
        impact=(
            f"With it, {effect.words} in line {effect.line} of `{effect.file}`, and no test fails."
            if effect.made
            else f"With it, {effect.words}, and no test makes this call."
        ),
        evidence=evidence("\n".join((f"{effect.file}:{effect.line}: {effect.words}", *tests))),
        suggestion="Assert what this call comes to." if effect.made else "Add a test that makes this call.",
        confidence=0.9,
    )
