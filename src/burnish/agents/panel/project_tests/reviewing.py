"""Reviews a change by the project's tests: on the base and on the change, each in a throwaway copy, in the sandbox.

What is run, what its output means and what is a finding is in the modules beside this one. Nothing is installed here
but by `[workspace] prepare`. Tests that did not run are no evidence: that is said, and never a pass.
"""

import asyncio
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from burnish.agents.panel.project_tests.change import ChangeUnderTest
from burnish.agents.panel.project_tests.commands import EVERYTHING, SuiteSelection
from burnish.agents.panel.project_tests.comparison import NoEvidence, SuiteComparison, compare, settled
from burnish.agents.panel.project_tests.findings import (
    MOST_FAILURES,
    Trial,
    findings_of,
    notes_of,
    unmet_dependencies,
)
from burnish.agents.panel.project_tests.guarding import Guard, Guarding, reaches
from burnish.agents.panel.project_tests.places import Tree
from burnish.agents.panel.project_tests.projects import is_test
from burnish.agents.panel.project_tests.running import Plans, TestRun, plans_for, prepared_view, run_tests
from burnish.agents.panel.project_tests.uncovered import uncovered
from burnish.agents.panel.project_tests.values import (
    Framework,
    Language,
    NoTests,
    SuiteEnd,
    TestPlan,
    TestResult,
)
from burnish.agents.services import Job, Services
from burnish.core.effects import StartReview
from burnish.core.evidence import Examined, Level, Missing
from burnish.core.findings import Finding, Severity
from burnish.core.reviews import Failure
from burnish.core.state import Run
from burnish.core.values import Value, replace
from burnish.settings.types import OFF
from burnish.system.nofollow import write_new
from burnish.workspace.clones import Clone
from burnish.workspace.names import shown
from burnish.workspace.views import CopyView

LEAST_SECONDS, TIMES_THE_BASE = 60.0, 20.0
"""How long the tests of a change may take where those of its base have ended: at least, and as a multiple."""
_SWITCHED_OFF = Missing(reason='the policy of the base says [analysers] tests = "off"', excused=True)
_OUT_OF_REACH = Missing(reason="no test can reach a changed file", excused=True)


class TestReview(Value):
    """What the witness has to say."""

    __test__ = False

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    log: str = ""
    """What was run, with exit codes and the end of the output."""
    examined: tuple[Examined, ...] = ()
    """The changed files that passing tests ran, or their runner compiled."""
    missing: Missing | None = None
    """Why there was no evidence. Without, what was found earlier cannot be said to be gone."""

    @property
    def looked(self) -> bool:
        return self.missing is None


async def review_tests(services: Services, job: Job[StartReview]) -> TestReview | Failure:
    """Run the tests on the base and on the change, and say what the change did to them."""
    if services.settings.analysers.tests == OFF:
        return _no_evidence(_SWITCHED_OFF)
    changed = await asyncio.to_thread(ChangeUnderTest, services.repository, job.run.subject.base_commit, job.run.commit)
    if not changed.reachable:
        return _no_evidence(_OUT_OF_REACH)
    witness = _Witness(services, job, changed)
    try:
        return await witness.review_tests()
    finally:
        await asyncio.shield(asyncio.to_thread(witness.discard))


class _Sides(NamedTuple):
    """The copies in which the tests are run."""

    base: CopyView
    head: CopyView


class _Results(NamedTuple):
    """What the tests said on both sides."""

    base: TestResult | NoTests
    head: TestResult

    @property
    def base_seconds(self) -> float:
        return self.base.seconds if isinstance(self.base, TestResult) else 0.0


class _Witness:
    """One testimony in the making."""

    def __init__(self, services: Services, job: Job[StartReview], changed: ChangeUnderTest) -> None:
        self._services = services
        self._job = job
        self._changed = changed
        self._name = job.name
        self._paths = tuple({path: None for file in changed.reachable for path in (file.old_path, file.path)})
        self._clones: list[Clone] = []

    def discard(self) -> None:
        for clone in self._clones:
            self._services.clones.remove(clone)

    async def review_tests(self) -> TestReview | Failure:
        """All tests that can reach the change, project by project."""
        base = await self._view("base", self._changed.base)
        head = await self._view("head", self._changed.head)
        if isinstance(base, Failure):
            return base
        if isinstance(head, Failure):
            return head
        sides = _Sides(base, head)
        before = await asyncio.to_thread(plans_for, base, self._paths, self._services)
        now = await asyncio.to_thread(plans_for, head, self._paths, self._services)
        parts = [await self._part(sides, *pair) for pair in _pairs(before, now, sides.head)]
        return _together(parts)

    async def _view(self, side: str, commit: str) -> CopyView | Failure:
        """A fresh copy of a commit, prepared for tests."""
        name = f"{self._name}-{side}"
        clone = await self._services.clone(name, self._changed.base, commit, writable=True)
        self._clones.append(clone)
        effect = f"{self._job.effect.id}:{side}"
        return await prepared_view(self._services, clone, effect, self._job.stop, self._paths)

    async def _part(
        self, sides: _Sides, before: TestPlan | NoTests | None, now: TestPlan | NoTests | None
    ) -> TestReview | Failure:
        """The tests of one project. The base says how they are run: a change cannot switch its own witness off."""
        if isinstance(now, NoTests) and not now.absent:
            return _no_evidence(Missing(reason=now.reason, hint=now.hint))
        plan = before if isinstance(before, TestPlan) else now
        if not isinstance(plan, TestPlan):
            found = (each for each in (before, now) if isinstance(each, NoTests))
            absent = next(found, NoTests(reason="no tests were found", absent=True))
            return _no_evidence(Missing(reason=absent.reason, hint=absent.hint, excused=absent.absent))
        first = before is None or (isinstance(before, NoTests) and before.absent)
        unrunnable = before if isinstance(before, NoTests) and not first else None
        return await _Trial(self, sides, plan, unrunnable, first=first).review_tests()

    @property
    def services(self) -> Services:
        return self._services

    @property
    def run(self) -> Run:
        return self._job.run

    @property
    def stop(self) -> asyncio.Event:
        return self._job.stop

    @property
    def changed(self) -> ChangeUnderTest:
        return self._changed

    def effect(self, side: str, plan: TestPlan) -> str:
        project = f"-{plan.project.replace('/', '-')}" if plan.project else ""
        language = f"-{plan.language.value.lower()}" if plan.language and plan.project else ""
        return f"{self._job.effect.id}:{side}{project}{language}"

    async def fresh(self, side: str) -> CopyView | Failure:
        """Another copy of the change: what tests left behind in the first decides nothing there."""
        return await self._view(side, self._changed.head)


def _pairs(
    before: Plans, now: Plans, head: CopyView
) -> Iterator[tuple[TestPlan | NoTests | None, TestPlan | NoTests | None]]:
    """The ways in which each project is tested, on the base and on the change."""
    for project in dict.fromkeys((*before, *now)):
        if project and project not in now and not (head.folder / project).is_dir():
            continue  # the whole project is gone, with its tests
        then = {_key(each): each for each in before.get(project, ())}
        later = {_key(each): each for each in now.get(project, ())}
        if len(then) == len(later) == 1:
            yield next(iter(then.values())), next(iter(later.values()))
            continue
        for key in dict.fromkeys((*then, *later)):
            yield then.get(key), later.get(key)


def _key(found: TestPlan | NoTests) -> str:
    language = found.language if isinstance(found, TestPlan) else None
    return language.value if language else found.reason if isinstance(found, NoTests) else ""


class _Trial:
    """The tests of one project, on both sides."""

    def __init__(
        self, witness: _Witness, sides: _Sides, plan: TestPlan, unrunnable: NoTests | None, *, first: bool
    ) -> None:
        self._witness = witness
        self._services = witness.services
        self._changed = witness.changed
        self._sides = sides
        self._plan = plan
        self._first = first
        self._unrunnable = unrunnable
        self._log: list[str] = []

    async def review_tests(self) -> TestReview | Failure:
        results = await self._both()
        compared = compare(results.base, results.head, self._changed.renames)
        if compared.new_failures or compared.whole is SuiteEnd.EXITED:
            again = await self._again(compared)
            if isinstance(again, Failure):
                return again
            compared = settled(compared, again, self._plan.text)
        trial = Trial(plan=self._plan, head=results.head, base_seconds=results.base_seconds, comparison=compared)
        said = await asyncio.to_thread(self._judged, trial)
        guarded: Guarding | Failure = Guarding()
        if isinstance(results.base, TestResult) and results.base.complete:
            guarded = await Guard(self).look(results.base, results.head, compared)
        if isinstance(guarded, Failure):
            return guarded
        return replace(
            said,
            findings=(*said.findings, *guarded.findings),
            missing=said.missing or guarded.missing,
            log="\n\n".join(self._log),
        )

    @property
    def plan(self) -> TestPlan:
        return self._plan

    @property
    def changed(self) -> ChangeUnderTest:
        return self._changed

    @property
    def earlier(self) -> Run:
        """The run so far."""
        return self._witness.run

    @property
    def tree(self) -> Tree:
        root = str(self._sides.head.root)
        return Tree(root=root, is_file=self._changed.files.__contains__, project=self._plan.project)

    def _judged(self, trial: Trial) -> TestReview:
        """What a trial means."""
        change, tree = self._changed.change(), self.tree
        idle = _idle(trial.head, self._changed, self._services.settings.analysers.uncovered)
        missing = trial.comparison.missing or unmet_dependencies(trial, change, tree)
        return TestReview(
            findings=(*findings_of(trial, change, tree), *idle),
            notes=(*notes_of(trial), *self._unmeasured(trial.head), *_said_of(missing)),
            examined=tuple(self._examined(trial.head)) if missing is None else (),
            missing=_missing(missing),
        )

    def _unmeasured(self, head: TestResult) -> Iterator[str]:
        wanted = self._services.settings.analysers.uncovered != OFF and self._plan.language is not Language.NODE
        measured = self.choice.measured if wanted else ()
        missing = [name for name in measured if name not in head.lines]
        if missing and head.complete:
            reason = head.unmeasured or "pytest and unittest do not run these tests"
            counted = f"{len(missing)} of {len(measured)} files"
            yield f"coverage of the changed lines was not measured in {counted}: {reason}"

    def _examined(self, head: TestResult) -> Iterator[Examined]:
        """How closely the tests looked at each changed file, by what really ran or was compiled."""
        if not head.complete or not (head.passing or head.passed):
            return
        passing = {case.file for case in head.passing}
        inside = f"{self._plan.project}/" if self._plan.project else ""
        for file in self._changed.changed:
            path = file.path
            if not path.startswith(inside) or not reaches(self._plan, path):
                continue
            if file.status == "D" or path in passing or self._ran(head, path):
                yield Examined(path=shown(path), level=Level.TESTED)
            elif path in head.compiled:
                yield Examined(path=shown(path), level=Level.CHECKED)

    def _ran(self, head: TestResult, path: str) -> bool:
        """Whether a changed line of a file ran; where lines only went, whether the file did."""
        if path not in head.lines:
            return False
        lines = self._changed.new_lines.get(path)
        executed = head.lines[path].executed
        return bool(executed & lines if lines else executed)

    @property
    def choice(self) -> SuiteSelection:
        """What is measured on the change: its own lines; and where it edits tests, all that tests run."""
        if self._plan.language is Language.NODE:
            return SuiteSelection(
                measured=tuple(path for path in self._changed.new_lines if _is_plain_javascript(path))
            )
        if self._plan.framework not in (Framework.PYTEST, Framework.UNITTEST, Framework.COMMAND):
            return EVERYTHING
        return SuiteSelection(
            measured=tuple(self._changed.lines), everything=bool(self._changed.edits) and not self._first
        )

    async def _both(self) -> _Results:
        """Run both sides at once. What one side does not need any more is ended."""
        stop = self._witness.stop
        head = TestRun(self._sides.head, self._plan, self._witness.effect("head", self._plan), self.choice)
        base = TestRun(self._sides.base, self._plan, self._witness.effect("base", self._plan))
        if self._first or self._unrunnable is not None:
            none = self._unrunnable or NoTests(reason="there were none", absent=True)
            results = _Results(none, await run_tests(self._services, head, stop, stop))
        else:
            results = await _both_sides(self._services, base, head, stop)
        self._log += [_said("base", self._plan, results.base), _said("head", self._plan, results.head)]
        return results

    async def _again(self, compared: SuiteComparison) -> TestResult | Failure:
        """Run what failed once more, alone where the framework can: what passes now is flaky."""
        only = tuple(case.name for case in compared.new_failures[:MOST_FAILURES] if not case.loading)
        loading = tuple(case.file for case in compared.new_failures[:MOST_FAILURES] if case.loading and case.file)
        return await self.fresh_run("again", SuiteSelection(only=(*only, *loading)))

    async def base_run(self, side: str, choice: SuiteSelection) -> TestResult:
        """Run tests of the base once more."""
        stop = self._witness.stop
        run = TestRun(self._sides.base, self._plan, self._witness.effect(side, self._plan), choice)
        result = await run_tests(self._services, run, stop, stop)
        self._log.append(_said(f"base, {side}", self._plan, result))
        return result

    async def fresh_run(
        self, side: str, choice: SuiteSelection, restored: dict[str, bytes | None] | None = None
    ) -> TestResult | Failure:
        """Run tests in another copy of the change, in which some files may be as they were."""
        project = f"-{self._plan.project.replace('/', '-')}" if self._plan.project else ""
        view = await self._witness.fresh(f"{side}{project}")
        if isinstance(view, Failure):
            return view
        for path, content in (restored or {}).items():
            await asyncio.to_thread(_put, view, path, content)
        stop = self._witness.stop
        run = TestRun(view, self._plan, self._witness.effect(side, self._plan), choice)
        result = await run_tests(self._services, run, stop, stop)
        self._log.append(_said(f"head, {side}", self._plan, result))
        return result


def _put(view: CopyView, path: str, content: bytes | None) -> None:
    """A file of a copy as it was; None where there was none. Where a folder is gone, its tests are, too."""
    with suppress(OSError):
        if content is None:
            (view.folder / path).unlink(missing_ok=True)
        else:
            write_new(view.folder, path, content, mode=0o644, make=True)


def _is_plain_javascript(path: str) -> bool:
    """Whether it runs as it is written."""
    return path.endswith((".js", ".cjs", ".mjs")) and not is_test(path)


async def _both_sides(services: Services, base: TestRun, head: TestRun, stop: asyncio.Event) -> _Results:
    deadline = asyncio.Event()
    on_base = asyncio.create_task(run_tests(services, base, stop, stop))
    on_head = asyncio.create_task(run_tests(services, head, stop, deadline))
    watch = asyncio.create_task(_hold(deadline, on_base, stop))
    try:
        return _Results(*await asyncio.gather(on_base, on_head))
    finally:
        for task in (on_base, on_head, watch):
            task.cancel()
        await asyncio.gather(on_base, on_head, watch, return_exceptions=True)


async def _hold(deadline: asyncio.Event, on_base: asyncio.Task[TestResult], stop: asyncio.Event) -> None:
    """Set the deadline when the work is to stop, or when the change takes far longer than its base did."""
    began = asyncio.get_running_loop().time()
    stopped = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((on_base, stopped), return_when=asyncio.FIRST_COMPLETED)
        left: float | None = None
        if not stopped.done() and on_base.exception() is None and on_base.result().complete:
            allowed = max(LEAST_SECONDS, TIMES_THE_BASE * on_base.result().seconds)
            left = max(0.0, began + allowed - asyncio.get_running_loop().time())
        await asyncio.wait((stopped,), timeout=left)
        deadline.set()
    finally:
        stopped.cancel()


def _together(parts: Sequence[TestReview | Failure]) -> TestReview | Failure:
    """What the tests of all projects say. Evidence is missing where one of them should have given some."""
    failure = next((part for part in parts if isinstance(part, Failure)), None)
    heard = [part for part in parts if isinstance(part, TestReview)]
    if failure is not None:
        return failure
    lacking = [part.missing for part in heard if part.missing is not None]
    return TestReview(
        findings=tuple(finding for part in heard for finding in part.findings),
        notes=tuple(dict.fromkeys(note for part in heard for note in part.notes)),
        log="\n\n".join(part.log for part in heard if part.log),
        examined=tuple(examined for part in heard for examined in part.examined),
        missing=_joined(lacking, everywhere=len(lacking) == len(heard)),
    )


def _joined(lacking: Collection[Missing], *, everywhere: bool) -> Missing | None:
    unexcused = [missing for missing in lacking if not missing.excused]
    if unexcused:
        reasons = dict.fromkeys(missing.reason for missing in unexcused)
        return Missing(reason="; ".join(reasons), hint=unexcused[0].hint)
    # Where the tests of one project ran, another one without any takes nothing away from that.
    return next(iter(lacking), None) if everywhere else None


def _no_evidence(missing: Missing) -> TestReview:
    return TestReview(notes=tuple(_words(missing.reason, missing.hint)), missing=missing)


def _said_of(missing: NoEvidence | None) -> Iterator[str]:
    if missing is not None:
        yield from _words(missing.reason, missing.hint)


def _words(reason: str, hint: str) -> Iterator[str]:
    yield f"no evidence: {reason}. {hint}".strip()


def _missing(found: NoEvidence | None) -> Missing | None:
    return Missing(reason=found.reason, hint=found.hint, excused=found.excused) if found else None


def _idle(head: TestResult, changed: ChangeUnderTest, wanted: str) -> tuple[Finding, ...]:
    """Changed lines that no test ran. Where tests could not even be loaded, it would be no news."""
    if wanted == OFF or not head.complete or any(case.loading for case in head.failing):
        return ()
    return uncovered(head.lines, changed.lines, Severity(wanted))


def _said(side: str, plan: TestPlan, result: TestResult | NoTests) -> str:
    """One run, for the transcript."""
    if isinstance(result, NoTests):
        return f"{side}: {result.reason}"
    tests = "1 test" if len(result.cases) == 1 else f"{len(result.cases)} tests"
    counted = f"{tests}, {len(result.failing)} failing" if result.cases else "no tests listed"
    place = f" (in {plan.project})" if plan.project else ""
    end = f"{result.ended.value}, exit code {result.code}, {result.seconds:.1f} s, {counted}"
    return f"{side}: $ {plan.text}{place}\n{end}\n{result.message}\n{result.output}".rstrip()
