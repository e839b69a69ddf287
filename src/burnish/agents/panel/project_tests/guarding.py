"""Whether a change silences its own tests, or bends them. What that means is said in `silenced` and `former_tests`."""

import asyncio
from collections.abc import Collection, Iterator, Sequence

from burnish.agents.panel.project_tests.commands import SuiteSelection, can_choose, can_list, runs_files
from burnish.agents.panel.project_tests.comparison import SuiteComparison, renamed
from burnish.agents.panel.project_tests.findings import rule_of
from burnish.agents.panel.project_tests.former_tests import (
    at_most,
    decides_outcomes,
    edited_rule,
    edited_test,
    only_by_edit,
    still_failing,
)
from burnish.agents.panel.project_tests.project_runs import ProjectRuns
from burnish.agents.panel.project_tests.projects import is_test, language_of, stands_alone, steers_tests
from burnish.agents.panel.project_tests.silenced import (
    Guarded,
    guarded_lines,
    guarded_names,
    no_longer_run,
    silenced,
)
from burnish.agents.panel.project_tests.values import Case, FileLines, Framework, Language, TestPlan, TestResult
from burnish.core.evidence import Missing
from burnish.core.finding_likeness import listed
from burnish.core.findings import Finding, FindingStatus
from burnish.core.values import Value, replace


class Guarding(Value):
    """What a change did to its own tests."""

    findings: tuple[Finding, ...] = ()
    missing: Missing | None = None


class Guard:
    """Looks at what a change did to the tests of one project."""

    def __init__(self, tests: ProjectRuns, selection: SuiteSelection) -> None:
        self._tests = tests
        self._selection = selection
        """What was run and measured on the change."""

    async def look(self, base: TestResult, head: TestResult, compared: SuiteComparison) -> Guarding:
        """Whether the change silences its own tests, or bends them."""
        gone = (*compared.gone, *self._emptied(base, head))
        choosable = head.choosable or can_choose(self._tests.plan)
        guarded = await self._tested_by(head, gone, choosable=choosable) if gone else Guarded()
        # What is gone is told as such, unless its code is still there and others run it: then its verdict counts.
        told = () if guarded.left and not guarded.lost else gone
        edited = await self._former_tests(base, head, {case.name for case in told}, choosable=choosable)
        if guarded.lost:
            return replace(edited, findings=(*edited.findings, silenced(gone, guarded.lost)))
        failing = {rule for finding in edited.findings for rule in listed(finding.rule)}
        plain = [case for case in gone if case.name not in compared.replaced and edited_rule(case.name) not in failing]
        return replace(edited, findings=(*edited.findings, no_longer_run(plain))) if plain else edited

    def _emptied(self, base: TestResult, head: TestResult) -> Iterator[Case]:
        """Tests that still run, and do nothing any more."""
        passing = {case.name for case in head.passing}
        for case in base.passing:
            if renamed(case.name, self._tests.changed.renames) in passing and self._tests.changed.empties(case.name):
                yield case

    async def _tested_by(self, head: TestResult, gone: Sequence[Case], *, choosable: bool) -> Guarded:
        """What these tests tested, by lines where those can be measured, else by names."""
        if choosable:
            names = tuple(case.name for case in gone)
            ran = await self._tests.base(SuiteSelection(only=names, everything=True), "gone")
            code = {path: lines for path, lines in ran.lines.items() if not is_test(path)}
            if code:
                runs = await self._run_by_passing(head)
                sources = await asyncio.to_thread(self._tests.changed.sources, code)
                return await asyncio.to_thread(guarded_lines, code, runs, sources)
        return await asyncio.to_thread(self._named_by, gone)

    async def _run_by_passing(self, head: TestResult) -> dict[str, FileLines]:
        """What passing tests run on the change, measured once more where the first run does not say that."""
        without = tuple(case.name for case in (*head.failing, *head.failing_as_expected))
        if self._tests.plan.framework is Framework.GO or (self._selection.everything and not without):
            return head.lines
        again = await self._tests.fresh_run("measured", SuiteSelection(everything=True, without=without))
        return again.lines

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

    async def _former_tests(
        self, base: TestResult, head: TestResult, told: Collection[str], *, choosable: bool
    ) -> Guarding:
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
        by_file = bool(base.listed) or can_list(plan) or runs_files(plan)
        plain = by_file and not reported and all(stands_alone(path) for path in edits)
        only = tuple(sorted(path for path in edits if path in changed.base_files)) if plain else ()
        if plain and not only:
            return Guarding()
        former = await self._tests.fresh_run("former", SuiteSelection(only=only), restored)
        steering = [edit for path, edit in edits.items() if steers_tests(path)]
        if not former.complete and decides_outcomes(steering):
            reason = "the change edits the test configuration, and the tests cannot run with the base's version"
            return Guarding(missing=Missing(reason=reason, hint="Restore the test configuration."))
        then = await self._passed_before(base, former, choosable=choosable)
        bent = at_most([case for case in only_by_edit(then, head, former) if case.name not in told])
        if bent:
            # What fails at random must not accuse the change.
            names = SuiteSelection(only=tuple(case.name for case in bent))
            again = await self._tests.fresh_run("former-again", names, restored)
            passing = {case.name for case in again.passing}
            bent = tuple(case for case in bent if case.name not in passing)
        still = self._still_failing(head, former)
        tree = await self._tests.tree()
        return Guarding(
            findings=(
                *(still_failing(case, plan, tree) for case in still),
                *(edited_test(case, edits, plan, tree) for case in bent if case not in still),
            )
        )

    async def _passed_before(self, base: TestResult, former: TestResult, *, choosable: bool) -> TestResult:
        """What the base says of tests whose former version fails on the change."""
        known = {case.name for case in base.cases}
        unknown = tuple(case.name for case in former.failing if case.name not in known and not case.loading)
        files = self._tests.changed.base_files
        asked = tuple(name for name in unknown if "::" not in name or name.partition("::")[0] in files)
        if not asked or not choosable or not base.partial:
            return base
        more = await self._tests.base(SuiteSelection(only=asked))
        return replace(base, cases=(*base.cases, *more.cases)) if more.complete else base

    def _reported(self) -> dict[str, str]:
        """Files of tests that were reported as failing in an earlier round and edited since, as they were then."""
        run, found = self._tests.run, dict[str, str]()
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
        reported = {rule for tracked in self._tests.run.findings for rule in listed(tracked.finding.rule)}
        failing_now = {case.name for case in head.failing}
        known = [case for case in former.failing if rule_of(case.name) in reported and case.name not in failing_now]
        return at_most(known) if self._reported() else ()


def reaches(plan: TestPlan, path: str) -> bool:
    """Whether tests of a plan can say something of a file."""
    language = language_of(path)
    return plan.language is None or language is None or language is plan.language
