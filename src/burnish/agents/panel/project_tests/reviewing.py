"""Reviews a change by the project's tests, each run in a throwaway copy, in the sandbox.

What is asked of which side, and when:

1. The change. All tests run on it once, those that reach it first (`reach`), with the changed lines measured (where it
   edits tests, all lines). A test that takes far longer than on the base is ended: the base is asked how long it takes.
2. The base, for what can be different there, and only for that: tests that fail on the change, are skipped there, or
   are not run any more. Which tests the base has is asked only where the change edits tests or what steers them: where
   they can be listed, they are listed meanwhile, else they run. A change whose tests all pass never runs the base.
3. The change again, in another copy: what failed, for what passes now is flaky.
4. The guards (`guarding`): of tests that are gone, the lines that they ran on the base, measured for just those, and
   the lines that passing tests run now; and edited tests and test configuration as they were, on the change's code.

Every run is kept by its files, command and environment, and not repeated (`kept`): a second review runs what failed.
Nothing is installed here but by `[workspace] prepare`. Tests that did not run are no evidence: that is said, and never
a pass. A run that was cut short is evidence where all tests that reach the change had run.
"""

import asyncio
from collections.abc import Collection, Iterator, Sequence
from functools import reduce

from burnish.agents.panel.project_tests.change import ChangeUnderTest
from burnish.agents.panel.project_tests.commands import (
    EVERYTHING,
    SuiteSelection,
    can_choose,
    can_list,
    runs_files,
)
from burnish.agents.panel.project_tests.comparison import (
    INSTALL_HINT,
    NoEvidence,
    SuiteComparison,
    allowed_seconds,
    compare,
    hangs,
    reach_of,
    renamed,
    settled,
    within_limit,
    without_known_flaky,
)
from burnish.agents.panel.project_tests.detection import NAME_THE_COMMAND
from burnish.agents.panel.project_tests.findings import (
    MOST_FAILURES,
    Trial,
    findings_of,
    notes_of,
    unmet_dependencies,
)
from burnish.agents.panel.project_tests.guarding import Guard, Guarding, reaches
from burnish.agents.panel.project_tests.kept import KeptResults
from burnish.agents.panel.project_tests.mutating import Mutants, Unnoticed
from burnish.agents.panel.project_tests.places import Tree
from burnish.agents.panel.project_tests.progress import Progress
from burnish.agents.panel.project_tests.project_runs import Copies, PreparationError, ProjectRuns
from burnish.agents.panel.project_tests.projects import (
    is_test,
    language_of,
    shows_tests,
    stands_alone,
    steers_tests,
)
from burnish.agents.panel.project_tests.pythons import configures_pytest, is_test_module
from burnish.agents.panel.project_tests.reach import reaching_units
from burnish.agents.panel.project_tests.running import Plans, configured_command, plans_for
from burnish.agents.panel.project_tests.teeth import ProofOfChange, Teeth, weak_findings
from burnish.agents.panel.project_tests.uncovered import uncovered
from burnish.agents.panel.project_tests.values import (
    CaseOutcome,
    Framework,
    Language,
    NoTests,
    SuiteEnd,
    TestPlan,
    TestResult,
    parts_of,
)
from burnish.agents.services import Job, Services
from burnish.core.effects import StartReview
from burnish.core.evidence import Examined, Level, Missing, TestsRun
from burnish.core.findings import Finding, Severity
from burnish.core.reviews import Failure
from burnish.core.values import Value, replace
from burnish.settings.types import OFF
from burnish.workspace.names import shown
from burnish.workspace.views import CopyView

_SWITCHED_OFF = Missing(reason='the policy of the base says [analysers] tests = "off"', excused=True)
_MOST_MANIFESTS = 50
_NO_TESTS = Missing(reason="no tests were found", hint=NAME_THE_COMMAND, excused=True)
_OUT_OF_REACH = Missing(reason="no test was run, because none can reach a changed file", excused=True)
_NO_CHANGE = Missing(reason="no test was run, because files were reviewed and not a change", excused=True)
_FEW_FILES = 10
_NOT_ASKED = TestResult(ended=SuiteEnd.EXITED, code=0, lists_passed=True, partial=True)
"""What the base says where it was not asked."""


_Found = TestPlan | NoTests | None


_NO_LINE_RAN = (
    "no evidence: the tests ran, but none is known to run a changed line. A comment, for example, is never run."
)


class TestReview(Value):
    """What the tests of a change have to say."""

    __test__ = False

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    log: str = ""
    """What was run, with exit codes and the end of the output."""
    examined: tuple[Examined, ...] = ()
    """The changed files that passing tests ran, or their runner compiled."""
    missing: Missing | None = None
    """Why there was no evidence. Without, what was found earlier cannot be said to be gone."""
    failing_before: frozenset[str] = frozenset()
    """Tests of the change that fail on the base's code."""
    ran: TestsRun | None = None
    """How many tests ran on the change."""

    @property
    def looked(self) -> bool:
        return self.missing is None


async def review_tests(services: Services, job: Job[StartReview]) -> TestReview | Failure:
    """Run the tests that say something of the change, and say what it did to them."""
    if services.settings.analysers.tests == OFF:
        return _no_evidence(_SWITCHED_OFF)
    subject = job.run.subject
    if subject.as_is:
        return _no_evidence(_NO_CHANGE)
    changed = await asyncio.to_thread(
        ChangeUnderTest, services.repository, subject.base_commit, job.run.commit, subject.paths
    )
    if not changed.reachable:
        return _no_evidence(_OUT_OF_REACH)
    if await asyncio.to_thread(_shows_no_tests, services, changed):
        return _no_evidence(_NO_TESTS)
    copies = Copies(services, job, changed)
    try:
        plans = await _plans(services, copies)
        kept = KeptResults(services, believes_failures=job.run.may_fix)
        together = _together([await _part(services, copies, kept, before, now) for before, now in plans])
        weak = await asyncio.to_thread(weak_findings, changed, together.failing_before)
        review = replace(together, findings=(*together.findings, *weak))
        # A note says more already, such as that lines could not be measured.
        unexplained = review.missing is None and not (review.examined or review.findings or review.notes)
        return replace(review, notes=(_NO_LINE_RAN,)) if review.ran and unexplained else review
    except PreparationError as error:
        return error.failure
    finally:
        await asyncio.shield(asyncio.to_thread(copies.discard))


def _shows_no_tests(services: Services, changed: ChangeUnderTest) -> bool:
    """Whether the names of all files tell that there are no tests: then no copy is made to look for some."""
    workspace = services.settings.workspace
    if configured_command(services.settings) is not None or workspace.prepare or workspace.seed:
        return False
    names = changed.files | changed.base_files
    # Each name of a file and of a folder is looked at once, however often the tree has it.
    split = [name.split("/") for name in names]
    folders = {f"{folder}/" for parts in split for folder in parts[:-1]}
    if any(map(shows_tests, folders | {parts[-1] for parts in split})):
        return False
    manifests = [name for name in names if name.rpartition("/")[2] == "pyproject.toml"]
    texts = (
        changed.text(commit, name) for name in manifests[:_MOST_MANIFESTS] for commit in (changed.base, changed.head)
    )
    return len(manifests) <= _MOST_MANIFESTS and not any(map(configures_pytest, texts))


async def _plans(services: Services, copies: Copies) -> list[tuple[_Found, _Found]]:
    """How each project is tested, on the base and on the change."""
    head = await copies.of(copies.changed.head)
    now = before = await asyncio.to_thread(plans_for, head, copies.paths, services)
    if not copies.changed.keeps_plans:
        base = await copies.of(copies.changed.base)
        before = await asyncio.to_thread(plans_for, base, copies.paths, services)
    return list(_pairs(before, now, head))


async def _part(
    services: Services,
    copies: Copies,
    kept: KeptResults,
    before: _Found,
    now: _Found,
) -> TestReview:
    """The tests of one project. The base says how they are run: a change cannot switch its own tests off."""
    if isinstance(now, NoTests) and not now.absent:
        return _no_evidence(Missing(reason=now.reason, hint=now.hint))
    plan = before if isinstance(before, TestPlan) else now
    if not isinstance(plan, TestPlan):
        found = (each for each in (before, now) if isinstance(each, NoTests))
        absent = next(found, NoTests(reason="no tests were found", absent=True))
        return _no_evidence(Missing(reason=absent.reason, hint=absent.hint, excused=absent.absent))
    missing = before or NoTests(reason="there were none", absent=True)
    runs = ProjectRuns(copies, plan, kept, missing if isinstance(missing, NoTests) else None)
    return await _ProjectReview(runs, services).review_tests()


def _pairs(before: Plans, now: Plans, head: CopyView) -> Iterator[tuple[_Found, _Found]]:
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


class _ProjectReview:
    """The tests of one project, on the change and where it matters on the base."""

    def __init__(self, runs: ProjectRuns, services: Services) -> None:
        self._runs = runs
        self._plan = runs.plan
        self._changed = runs.changed
        self._settings = services.settings.analysers
        self._reaching: frozenset[str] | None = None

    async def review_tests(self) -> TestReview:
        self._reaching = await self._find_reaching()
        head, listed = await self._head_and_list()
        base = await self._ask_base(head, listed)
        compared = compare(base, head, self._changed.renames, {file.path for file in self._changed.changed})
        if head.ended is SuiteEnd.ENDLESS and not hangs(head, base):
            compared = within_limit(compared, reach_of(head, self._reaching), self._settings.test_seconds)
        compared = without_known_flaky(compared, self._settings.flaky)
        if compared.new_failures or compared.whole is SuiteEnd.EXITED:
            compared = settled(compared, await self._again(compared), self._plan.text)
        trial = Trial(plan=self._plan, head=head, base_seconds=_seconds(base), comparison=compared)
        said = await asyncio.to_thread(self._judged, trial, await self._runs.tree())
        guarded = Guarding()
        if isinstance(base, TestResult) and base.complete:
            guarded = await Guard(self._runs, self.selection).look(base, head, compared)
        green = said.missing is None and not compared.new_failures and compared.whole is None
        teeth = await ProofOfChange(self._runs, head).look() if green else Teeth()
        unnoticed = await self._try_mutants(head) if green else Unnoticed()
        return replace(
            said,
            findings=(*said.findings, *guarded.findings, *teeth.findings, *unnoticed.findings),
            notes=(*said.notes, *unnoticed.notes),
            missing=said.missing or guarded.missing,
            failing_before=teeth.failing_before,
            log="\n\n".join(self._runs.log),
        )

    async def _try_mutants(self, head: TestResult) -> Unnoticed:
        seconds = self._settings.mutations
        if isinstance(seconds, str) or seconds <= 0:
            return Unnoticed()
        return await Mutants(self._runs, head, self._reaching, seconds).look()

    async def _head_and_list(self) -> tuple[TestResult, TestResult | None]:
        """The tests on the change; and meanwhile the list of those of the base, where the change edits tests."""
        watch = _HangWatch(self._runs)
        head = asyncio.create_task(self._runs.head(self.selection, watch))
        listed: TestResult | None = None
        try:
            if self._runs.absent is None and can_list(self._plan) and self._edits:
                listed = await self._runs.base(self._listing, "list")
            return await head, listed
        finally:
            watch.end()
            head.cancel()
            await asyncio.gather(head, return_exceptions=True)

    @property
    def _edits(self) -> list[str]:
        """Edited tests, and edited files that steer tests, by their paths in the base."""
        inside = f"{self._plan.project}/" if self._plan.project else ""
        return [path for path in self._changed.edits if path.startswith(inside) or steers_tests(path)]

    @property
    def _listing(self) -> SuiteSelection:
        """Which tests of the base must be known: those of the edited files, or all where other tests may use them."""
        plain = all(is_test_module(path) and path in self._changed.base_files for path in self._edits)
        return SuiteSelection(listing=True, only=tuple(self._edits) if plain else ())

    async def _ask_base(self, head: TestResult, listed: TestResult | None) -> TestResult | NoTests:
        """What the base says of tests that may be different there."""
        if self._runs.absent is not None:
            return self._runs.absent
        if listed is None and self._edits:
            if not head.listed:
                return await self._ask_base_by_file(head)
            listed = await self._runs.base(SuiteSelection(listing=True), "list")
        if listed is not None and listed.ended is not SuiteEnd.EXITED:
            return listed  # no tests, or none that can be run
        names = listed.listed if listed is not None else ()
        selection = self._question(head, names)
        if selection is None:
            return replace(_NOT_ASKED, listed=names)
        asked = await self._runs.base(selection)
        return replace(asked, listed=(*asked.listed, *names))

    async def _ask_base_by_file(self, head: TestResult) -> TestResult:
        """What the base says, by a runner that cannot list tests: of the edited files alone, where that is enough."""
        alone = runs_files(self._plan) and all(stands_alone(path) for path in self._edits)
        if not alone or not head.complete or not (head.code == 0 or head.failing):
            return await self._runs.base(EVERYTHING)
        edited = [path for path in self._edits if path in self._changed.base_files]
        suspects = self._on_base(sorted(set(self._suspects(head, ()))))
        only = tuple(dict.fromkeys((*edited, *suspects)))
        return await self._runs.base(SuiteSelection(only=only)) if only else _NOT_ASKED

    def _question(self, head: TestResult, names: Sequence[str]) -> SuiteSelection | None:
        """Which tests the base is asked for; None where it is not asked."""
        suspects = dict.fromkeys(self._suspects(head, names))
        ran = head.ended is SuiteEnd.NOTHING or (head.complete and (head.code == 0 or head.failing))
        if head.running and not head.complete:
            suspects |= dict.fromkeys(head.running)
        elif head.ended is SuiteEnd.COULD_NOT_RUN and can_list(self._plan):
            return SuiteSelection(listing=True)
        elif not ran:
            return EVERYTHING
        if suspects and not head.choosable and not can_choose(self._plan):
            return EVERYTHING
        known = self._on_base(sorted(suspects))
        return SuiteSelection(only=known) if known else None

    def _on_base(self, names: Sequence[str]) -> tuple[str, ...]:
        """Some tests of the change by their names on the base, without those of new files."""
        former = {now: old for old, now in self._changed.renames.items()}
        new = self._changed.files - self._changed.base_files - former.keys()
        return tuple(renamed(name, former) for name in names if parts_of(name)[0] not in new)

    def _suspects(self, head: TestResult, names: Sequence[str]) -> Iterator[str]:
        """Tests that fail on the change, are skipped, emptied, or not run any more, by their names on the change."""
        yield from (case.file if case.loading and case.file else case.name for case in head.failing)
        yield from (case.name for case in head.cases if case.outcome is CaseOutcome.SKIPPED)
        ran = {case.name for case in head.cases}
        for name in names if head.ended in (SuiteEnd.EXITED, SuiteEnd.NOTHING) else ():
            now = renamed(name, self._changed.renames)
            if now not in ran or self._changed.empties(name):
                yield now

    async def _find_reaching(self) -> frozenset[str] | None:
        """The files or packages of tests that reach the change; None where all count as reaching."""
        changed = self._changed
        if self._plan.framework is Framework.JEST:
            return await self._found_by_jest()
        paths = {path for file in changed.reachable for path in (file.old_path, file.path)}
        return await asyncio.to_thread(reaching_units, self._plan, changed.files, paths, changed.small_texts)

    async def _found_by_jest(self) -> frozenset[str] | None:
        """jest knows it from what its own resolver finds. It is asked where there is an order worth the time."""
        changed = self._changed
        known = all(file.status != "D" and language_of(file.path) is Language.NODE for file in changed.reachable)
        if not known or sum(is_test(path) for path in changed.files) < _FEW_FILES:
            return None
        related = tuple(sorted(file.path for file in changed.reachable))
        found = await self._runs.head(SuiteSelection(listing=True, related=related))
        return frozenset(found.listed) if found.complete and found.listed else None

    def _judged(self, trial: Trial, tree: Tree) -> TestReview:
        """What a trial means."""
        change = self._changed.change()
        idle = _idle(trial.head, self._changed, self._settings.uncovered)
        missing = trial.comparison.missing or unmet_dependencies(trial, change, tree)
        if missing is not None and missing.hint == INSTALL_HINT and self._plan.advice:
            missing = replace(missing, hint=f"{self._plan.advice} {INSTALL_HINT}")
        return TestReview(
            findings=(*findings_of(trial, change, tree), *idle),
            notes=(*notes_of(trial), *self._unmeasured(trial.head), *_said_of(missing)),
            examined=tuple(self._examined(trial)) if missing is None else (),
            missing=_missing(missing),
            ran=self._counted(trial.head),
        )

    def _counted(self, head: TestResult) -> TestsRun | None:
        if not head.lists_passed:
            return None
        names = {case.name for case in (*head.passing, *head.failing) if not case.loading}
        reaching = None if self._reaching is None else sum(parts_of(name)[0] in self._reaching for name in names)
        return TestsRun(ran=len(names), reaching=reaching)

    def _unmeasured(self, head: TestResult) -> Iterator[str]:
        wanted = self._settings.uncovered != OFF and self._plan.language is not Language.NODE
        measured = self.selection.measured if wanted else ()
        missing = [name for name in measured if name not in head.lines]
        if missing and head.complete:
            reason = head.unmeasured or "pytest and unittest do not run these tests"
            counted = f"{len(missing)} of {len(measured)} files"
            yield f"coverage of the changed lines was not measured in {counted}: {reason}"

    def _examined(self, trial: Trial) -> Iterator[Examined]:
        """How closely the tests looked at each changed file, by what really ran or was compiled."""
        head = trial.head
        if not (head.complete or trial.comparison.limited) or not (head.passing or head.passed):
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
    def selection(self) -> SuiteSelection:
        """All tests, in which order, and what is measured: the change's own lines; where it edits tests, all lines."""
        first = tuple(sorted(self._reaching or ()))
        if self._plan.language is Language.NODE:
            measured = tuple(path for path in self._changed.new_lines if _is_plain_javascript(path))
            return SuiteSelection(measured=measured, first=first)
        if self._plan.framework not in (Framework.PYTEST, Framework.UNITTEST, Framework.COMMAND):
            return SuiteSelection(first=first)
        return SuiteSelection(
            measured=tuple(self._changed.lines),
            everything=bool(self._edits) and self._runs.absent is None,
            first=first,
        )

    async def _again(self, compared: SuiteComparison) -> TestResult:
        """Run what failed once more, alone where the framework can: what passes now is flaky."""
        failed = compared.new_failures[:MOST_FAILURES]
        only = tuple(case.file if case.loading and case.file else case.name for case in failed)
        return await self._runs.fresh_run("again", SuiteSelection(only=only))


class _HangWatch:
    """Ends tests that hang: asks the base how long it takes for what runs now, once nothing has happened for long."""

    def __init__(self, runs: ProjectRuns) -> None:
        self._runs = runs
        self._asked: asyncio.Task[TestResult] | None = None
        self._names: tuple[str, ...] = ()

    def __call__(self, progress: Progress) -> bool:
        names = tuple(progress.running)
        if progress.quiet_seconds < allowed_seconds(0.0) or self._runs.absent is not None:
            return False
        if self._asked is None or self._names != names:
            self.end()
            self._names = names
            self._asked = asyncio.create_task(self._runs.base(SuiteSelection(only=names), "waited"))
        if not self._asked.done() or self._asked.exception() is not None or not self._asked.result().complete:
            return False
        waited = progress.quiet_seconds if names else progress.seconds
        return waited > allowed_seconds(self._asked.result().seconds)

    def end(self) -> None:
        if self._asked is not None:
            self._asked.cancel()


def _seconds(base: TestResult | NoTests) -> float:
    return base.seconds if isinstance(base, TestResult) else 0.0


def _is_plain_javascript(path: str) -> bool:
    """Whether it runs as it is written."""
    return path.endswith((".js", ".cjs", ".mjs")) and not is_test(path)


def _together(heard: Sequence[TestReview]) -> TestReview:
    """What the tests of all projects say. Evidence is missing where one of them should have given some."""
    lacking = [part.missing for part in heard if part.missing is not None]
    return TestReview(
        findings=tuple(finding for part in heard for finding in part.findings),
        notes=tuple(dict.fromkeys(note for part in heard for note in part.notes)),
        log="\n\n".join(part.log for part in heard if part.log),
        examined=tuple(examined for part in heard for examined in part.examined),
        missing=_joined(lacking, everywhere=len(lacking) == len(heard)),
        failing_before=frozenset(name for part in heard for name in part.failing_before),
        ran=reduce(TestsRun.plus, counted) if (counted := [part.ran for part in heard if part.ran]) else None,
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
