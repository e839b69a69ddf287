"""Whether a change silences its own tests, or bends them. What that means is said in `silenced` and `former_tests`."""

import asyncio
from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

from burnish.agents.panel.project_tests.change import ChangeUnderTest
from burnish.agents.panel.project_tests.commands import SuiteSelection, can_choose
from burnish.agents.panel.project_tests.comparison import SuiteComparison
from burnish.agents.panel.project_tests.findings import rule_of
from burnish.agents.panel.project_tests.former_tests import (
    at_most,
    decides_outcomes,
    edited_test,
    only_by_edit,
    still_failing,
)
from burnish.agents.panel.project_tests.places import Tree
from burnish.agents.panel.project_tests.projects import is_test, language_of, steers_tests
from burnish.agents.panel.project_tests.silenced import (
    Guarded,
    guarded_lines,
    guarded_names,
    is_emptied,
    no_longer_run,
    silenced,
)
from burnish.agents.panel.project_tests.values import Case, FileLines, Framework, Language, TestPlan, TestResult
from burnish.core.evidence import Missing
from burnish.core.finding_likeness import listed
from burnish.core.findings import Finding, FindingStatus
from burnish.core.reviews import Failure
from burnish.core.state import Run
from burnish.core.values import Value, replace


class ProjectTests(Protocol):
    """The tests of one project, which can be run again."""

    @property
    def plan(self) -> TestPlan: ...
    @property
    def changed(self) -> ChangeUnderTest: ...
    @property
    def earlier(self) -> Run: ...
    @property
    def tree(self) -> Tree: ...
    @property
    def choice(self) -> SuiteSelection: ...

    async def base_run(self, side: str, choice: SuiteSelection) -> TestResult: ...
    async def fresh_run(
        self, side: str, choice: SuiteSelection, restored: dict[str, bytes | None] | None = None
    ) -> TestResult | Failure: ...


class Guarding(Value):
    """What a change did to its own tests."""

    findings: tuple[Finding, ...] = ()
    missing: Missing | None = None


class Guard:
    """Looks at what a change did to the tests of one project."""

    def __init__(self, tests: ProjectTests) -> None:
        self._tests = tests

    async def look(self, base: TestResult, head: TestResult, compared: SuiteComparison) -> Guarding | Failure:
        """Whether the change silences its own tests, or bends them."""
        gone = (*compared.gone, *self._emptied(base, head))
        guarded = await self._tested_by(head, gone) if gone else Guarded()
        # What is gone is told as such, unless its code is still there and others run it: then its verdict counts.
        told = () if guarded.left and not guarded.lost else gone
        edited = await self._former_tests(base, head, {case.name for case in told})
        if isinstance(edited, Failure):
            return edited
        if guarded.lost:
            return replace(edited, findings=(*edited.findings, silenced(gone, guarded.lost)))
        plain = [case for case in gone if case.name not in compared.replaced]
        return replace(edited, findings=(*edited.findings, no_longer_run(plain))) if plain else edited

    def _emptied(self, base: TestResult, head: TestResult) -> Iterator[Case]:
        """Tests that still run, and do nothing any more."""
        edits, renames = self._tests.changed.edits, self._tests.changed.renames
        passing = {case.name for case in head.passing}
        for case in base.passing:
            edit = edits.get(case.file)
            now = case.name.replace(case.file, renames.get(case.file, case.file), 1)
            if edit and edit.path.endswith(".py") and now in passing and is_emptied(edit.before, edit.now, case.name):
                yield case

    async def _tested_by(self, head: TestResult, gone: Sequence[Case]) -> Guarded:
        """What these tests tested, by lines where those can be measured, else by names."""
        if can_choose(self._tests.plan):
            names = tuple(case.name for case in gone)
            ran = await self._tests.base_run("gone", SuiteSelection(only=names, everything=True))
            code = {path: lines for path, lines in ran.lines.items() if not is_test(path)}
            if code:
                runs = await self._run_by_passing(head)
                sources = await asyncio.to_thread(self._tests.changed.sources, code)
                return await asyncio.to_thread(guarded_lines, code, runs, sources)
        return await asyncio.to_thread(self._named_by, gone)

    async def _run_by_passing(self, head: TestResult) -> dict[str, FileLines]:
        """What passing tests run on the change, measured once more where the first run does not say that."""
        without = tuple(case.name for case in (*head.failing, *head.failing_as_expected))
        if self._tests.plan.framework is Framework.GO or (self._tests.choice.everything and not without):
            return head.lines
        again = await self._tests.fresh_run("measured", SuiteSelection(everything=True, without=without))
        return again.lines if isinstance(again, TestResult) else {}

    def _named_by(self, gone: Sequence[Case]) -> Guarded:
        changed = self._tests.changed
        inline = self._tests.plan.language is Language.RUST  # tests stand beside the code
        paths = {path for path in changed.files if reaches(self._tests.plan, path)}
        before = {path for path in changed.base_files if reaches(self._tests.plan, path)}
        tests = {path for path in paths if inline or is_test(path)}
        old_tests = {path for path in before if inline or is_test(path)}
        return guarded_names(
            gone,
            changed.texts(changed.base, old_tests),
            changed.texts(changed.head, tests),
            changed.texts(changed.head, {path for path in paths if not is_test(path)}),
        )

    async def _former_tests(self, base: TestResult, head: TestResult, told: Collection[str]) -> Guarding | Failure:
        """Run tests and their configuration as they were on the code of the change."""
        changed, plan = self._tests.changed, self._tests.plan
        edits = {path: edit for path, edit in changed.edits.items() if path.startswith(plan.project)}
        reported = self._reported()
        restored: dict[str, bytes | None] = {}
        for path, edit in edits.items():
            if edit.path != path:
                restored[edit.path] = None
            restored[path] = edit.before.encode() if path in changed.base_files else None
        restored |= {path: text.encode() for path, text in reported.items()}
        if not restored or not base.lists_passed:
            return Guarding()
        whole = any(steers_tests(path) for path in edits) or not can_choose(plan)
        names = tuple(case.name for case in base.passing if case.file in edits or case.file in reported)
        if not whole and not names and not reported:
            return Guarding()
        only = () if whole or reported else names
        former = await self._tests.fresh_run("former", SuiteSelection(only=only), restored)
        if isinstance(former, Failure):
            return former
        steering = [edit for path, edit in edits.items() if steers_tests(path)]
        if not former.complete and decides_outcomes(steering):
            reason = "the change edits the test configuration, and the tests cannot run with the base's version"
            return Guarding(missing=Missing(reason=reason, hint="Restore the test configuration."))
        bent = at_most([case for case in only_by_edit(base, head, former) if case.name not in told])
        still = self._still_failing(head, former)
        return Guarding(
            findings=(
                *(still_failing(case, plan, self._tests.tree) for case in still),
                *(edited_test(case, edits, plan, self._tests.tree) for case in bent if case not in still),
            )
        )

    def _reported(self) -> dict[str, str]:
        """Files of tests that were reported as failing in an earlier round and edited since, as they were then."""
        run, found = self._tests.earlier, dict[str, str]()
        commits = {round_.number: round_.commit for round_ in run.rounds}
        for tracked in run.findings:
            names = [rule.removeprefix("test:") for rule in listed(tracked.finding.rule) if rule.startswith("test:")]
            commit = commits.get(tracked.last_reported_round, "")
            if tracked.status is not FindingStatus.OPEN or not commit or commit == self._tests.changed.head:
                continue
            for path in {name.partition("::")[0] for name in names}:
                then = self._tests.changed.text(commit, path)
                if then and is_test(path) and then != self._tests.changed.text(self._tests.changed.head, path):
                    found[path] = then
        return found

    def _still_failing(self, head: TestResult, former: TestResult) -> tuple[Case, ...]:
        """Failures of earlier rounds that are there as soon as their tests are what they were."""
        reported = {rule for tracked in self._tests.earlier.findings for rule in listed(tracked.finding.rule)}
        failing_now = {case.name for case in head.failing}
        known = (case for case in former.failing if rule_of(case.name) in reported)
        return tuple(case for case in known if case.name not in failing_now) if self._reported() else ()


def reaches(plan: TestPlan, path: str) -> bool:
    """Whether tests of a plan can say something of a file."""
    language = language_of(path)
    return plan.language is None or language is None or language is plan.language
