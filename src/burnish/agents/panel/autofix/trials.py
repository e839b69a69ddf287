"""The project's tests on the fixes of analysers: files with which tests fail that did not fail before are put back.

The tests run on a throwaway copy of the clone: what they leave behind is no part of a fix.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from burnish.agents.panel.autofix.drafts import Draft
from burnish.agents.panel.autofix.halving import Halving
from burnish.agents.panel.project_tests.comparison import NoEvidence, compare
from burnish.agents.panel.project_tests.running import TestRun, plans_for, run_tests
from burnish.agents.panel.project_tests.values import NoTests, TestPlan, TestResult
from burnish.agents.project_copies import installed_view
from burnish.agents.services import Job, Services
from burnish.core.effects import StartFix
from burnish.settings.types import OFF
from burnish.system import clock
from burnish.workspace.clones import Clone
from burnish.workspace.folders import write_inside
from burnish.workspace.views import CopyView

_NAMED = 3
_NO_TIME = "reverted: tests fail with the fixes, and there was no time to find out with which"


async def revert_fixes_that_break_tests(
    services: Services, job: Job[StartFix], clone: Clone, drafts: Sequence[Draft]
) -> str:
    """Put back the files that break tests; what the tests said, for the log."""
    changed = tuple(draft for draft in drafts if draft.is_changed)
    if not changed:
        return "nothing was changed"
    if services.settings.analysers.tests == OFF:
        return "tests were not run: the policy turns them off"
    copy = await asyncio.to_thread(services.clones.copy, clone, f"{clone.name}-scratch")
    try:
        paths = tuple(draft.path for draft in changed)
        view = await asyncio.to_thread(installed_view, services, copy, paths)
        found = await asyncio.to_thread(plans_for, view, paths, services)
        ways = [way for each in found.values() for way in each]
        plan = next((way for way in ways if isinstance(way, TestPlan)), None)
        if plan is None:
            return f"tests were not run: {next((way.reason for way in ways if isinstance(way, NoTests)), '')}"
        refused = await _Trial(services, job, plan, view, changed).refused()
    finally:
        await asyncio.to_thread(services.clones.remove, copy)
    for draft, reason in refused.items():
        write_file(clone.path, draft.path, draft.take_back(reason))
    return "\n".join([f"tests were run: {plan.text}", *(f"{one.path} {why}" for one, why in refused.items())])


class _Trial:
    """The search for the files that break tests, within the time that tests may take."""

    def __init__(
        self, services: Services, job: Job[StartFix], plan: TestPlan, view: CopyView, drafts: Sequence[Draft]
    ) -> None:
        self._services = services
        self._job = job
        self._plan = plan
        self._view = view
        self._drafts = drafts
        self._deadline = clock.now() + services.settings.analysers.test_seconds

    async def refused(self) -> dict[Draft, str]:
        """The files that cannot stay, and why. Without any fix the tests are run only where they fail with all."""
        after = await self._run(self._drafts)
        if after.passed:
            return {}
        before = await self._run(())
        found = broken(before, after)
        return await self._search(before, found) if found else {}

    async def _search(self, before: TestResult, found: str) -> dict[Draft, str]:
        search = Halving(self._drafts)
        reasons: dict[Draft, str] = {}
        while search.group:
            if found:
                reasons.update(dict.fromkeys(search.group, f"reverted: {found} fails with it"))
                search.fails()
            else:
                search.holds()
            if search.group and clock.now() > self._deadline:
                reasons.update(dict.fromkeys(search.undecided, _NO_TIME))
                search.give_up()
            elif search.group:
                found = broken(before, await self._run(search.kept + search.group))
        return {draft: reasons[draft] for draft in search.refused}

    async def _run(self, mended: Sequence[Draft]) -> TestResult:
        for draft in self._drafts:
            write_file(self._view.folder, draft.path, draft.content if draft in mended else draft.original)
        run = TestRun(self._view, self._plan, self._job.effect.id)
        return await run_tests(self._services, run, self._job.stop)


def write_file(folder: Path, name: str, content: bytes) -> None:
    """Put new content into a file that may be run as before. No link is followed."""
    path = folder / name
    mode = path.lstat().st_mode
    write_inside(folder, name, content)
    path.chmod(mode & 0o777)


def broken(before: TestResult, after: TestResult) -> str:
    """Which tests fail, or are not run, that were all right before, in words; empty where there are none."""
    difference = compare(before, after)
    if isinstance(difference, NoEvidence):
        return ""
    names = [case.name for case in (*difference.new_failures, *difference.gone)]
    if not names:
        return "" if difference.whole is None else "the whole test suite"
    rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{rest}"
