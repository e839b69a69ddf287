"""Tries wrong versions of the changed lines: what no test notices is told. It runs tests only in copies.

Each version is run with just those tests that run the line, which is measured first, and until the first one fails. A
version that does not end is noticed. One that all tests let pass is named only with its effect: a call of a test must
come to something else with it (`effects`). Two versions are tried at a time, and what the original does is recorded
once for all versions of a function. All of it has a time limit; tests that take longer than that are not run.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence

from burnish.agents.panel.project_tests.commands import RecordedFunction, SuiteSelection
from burnish.agents.panel.project_tests.effects import ShownEffect, shown_effect
from burnish.agents.panel.project_tests.findings import CATEGORY, evidence, named
from burnish.agents.panel.project_tests.mutations import Mutation, chosen, mutations_of
from burnish.agents.panel.project_tests.progress import Progress
from burnish.agents.panel.project_tests.project_runs import Bench, ProjectRuns
from burnish.agents.panel.project_tests.values import CaseOutcome, Framework, TestResult
from burnish.core.findings import Finding, Location, Severity
from burnish.core.values import Value, replace

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
        self._benches = (runs.bench("mutants"), runs.bench("more-mutants"))
        self._original = runs.bench("original")
        self._recorded: dict[SuiteSelection, asyncio.Task[TestResult]] = {}
        self._one_at_a_time = asyncio.Lock()
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
        reached = [(mutation, tests) for mutation in candidates if (tests := tests_reaching(mutation, measured))]
        try:
            return await self._try(reached, contents, measured.seconds)
        finally:
            for task in self._recorded.values():
                task.cancel()
            await asyncio.gather(*self._recorded.values(), return_exceptions=True)

    async def _try(
        self, reached: Sequence[tuple[Mutation, tuple[str, ...]]], contents: Mapping[str, bytes], usual: float
    ) -> Unnoticed:
        unnoticed: dict[tuple[str, int], Finding] = {}
        tried, at_once = 0, len(self._benches)
        while tried < len(reached) and len(unnoticed) < MOST_NAMED:
            if self._left <= 0:
                said = f"{tried} of {len(reached)} wrong versions were tried within {self._seconds:g} s"
                return Unnoticed(findings=tuple(unnoticed.values()), notes=(said,))
            some = reached[tried : tried + at_once]
            effects = await asyncio.gather(
                *(
                    self._effect_of(mutation, contents[mutation.path], tests, usual, bench)
                    for (mutation, tests), bench in zip(some, self._benches, strict=False)
                    if (mutation.path, mutation.line) not in unnoticed
                )
            )
            for mutation, tests, effect in filter(None, effects):
                unnoticed.setdefault((mutation.path, mutation.line), _finding(mutation, tests, effect))
            tried += at_once
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
        return await self._benches[0].run(selection, {}, watch=lambda _: self._left <= 0)

    async def _effect_of(
        self, mutation: Mutation, content: bytes, tests: tuple[str, ...], usual: float, bench: Bench
    ) -> tuple[Mutation, tuple[str, ...], ShownEffect] | None:
        """What a wrong version does, if all tests that run the line let it pass.

        It and the original run twice: what changes from run to run is not taken for its effect.
        """
        limit = max(LEAST_SECONDS, TIMES_AS_LONG * usual)

        def is_over(progress: Progress) -> bool:
            return progress.seconds > limit or self._left <= 0

        wrong = {mutation.path: mutation.apply(content)}
        originals: list[TestResult] = []
        wrongs: list[TestResult] = []
        effect: ShownEffect | None = None
        for turn in range(2):
            selection = recording(mutation, tests, turn)
            result = await bench.run(replace(selection, until_failure=True), wrong, watch=is_over)
            if not all_pass(result, tests):
                return None
            wrongs.append(result)
            originals.append(await self._recording_of_original(selection, is_over))
            effect = shown_effect(originals, wrongs)
            if effect is None:
                return None
        return (mutation, tests, effect) if effect else None

    async def _recording_of_original(self, selection: SuiteSelection, watch: Callable[[Progress], bool]) -> TestResult:
        """What the calls of tests come to as the code is, which is the same for all versions of a function."""

        async def run() -> TestResult:
            async with self._one_at_a_time:
                return await self._original.run(selection, {}, watch=watch)

        if selection not in self._recorded:
            self._recorded[selection] = asyncio.create_task(run())
        return await self._recorded[selection]


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
