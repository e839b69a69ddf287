"""Runs of the tests of one project: on the change, on its base, on the change with other files. Each is asked for here.

A run with the same files, command, environment and selection as an earlier one is not repeated: see `kept`. Copies are
made when they are first needed. `Bench` serves many short runs on one copy.
"""

import asyncio
import hashlib
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress

from burnish.agents.panel.kept import environment_digest
from burnish.agents.panel.project_tests.change import ChangeUnderTest
from burnish.agents.panel.project_tests.commands import SuiteSelection
from burnish.agents.panel.project_tests.kept import KeptResults, SuiteState
from burnish.agents.panel.project_tests.places import Tree
from burnish.agents.panel.project_tests.progress import Progress
from burnish.agents.panel.project_tests.running import TestRun, run_tests
from burnish.agents.panel.project_tests.values import NoTests, TestPlan, TestResult
from burnish.agents.project_copies import prepared_view
from burnish.agents.services import Job, Services
from burnish.core.effects import StartReview
from burnish.core.reviews import Failure
from burnish.core.state import Run
from burnish.core.values import replace
from burnish.system.nofollow import folder_of, write_new
from burnish.workspace.clones import Clone
from burnish.workspace.folders import read_inside
from burnish.workspace.views import CopyView

Restored = Mapping[str, bytes | None]
"""Files that are put into a copy, by their paths; None for one that is taken away."""
_LARGEST_FILE = 64_000_000


_LABELS = {
    "head": "tests",
    "base": "tests on the base",
    "list": "tests of the base",
    "former": "tests as they were",
    "mutants": "tests on wrong versions of changed lines",
}
"""What a live line calls a run of tests, by its side."""


class PreparationError(Exception):
    """A copy could not be prepared for tests."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Copies:
    """The copies of the base and of the change in which tests are run."""

    def __init__(self, services: Services, job: Job[StartReview], changed: ChangeUnderTest) -> None:
        self.services = services
        self.job = job
        self.changed = changed
        self.paths = tuple({path: None for file in changed.reachable for path in (file.old_path, file.path)})
        self._clones: list[Clone] = []
        self._sides: dict[str, CopyView] = {}
        self._making = asyncio.Lock()

    async def of(self, commit: str) -> CopyView:
        """The copy of the base or of the change, one for all projects."""
        async with self._making:
            if commit not in self._sides:
                side = "head" if commit == self.changed.head else "base"
                self._sides[commit] = await self.fresh(side, commit)
            return self._sides[commit]

    async def fresh(self, side: str, commit: str) -> CopyView:
        """Another copy: what tests left behind in the first decides nothing there. Raises `PreparationError`."""
        services, job = self.services, self.job
        clone = await services.clone(f"{job.name}-{side}", self.changed.base, commit, writable=True)
        self._clones.append(clone)
        found = await prepared_view(services, clone, f"{job.effect.id}:{side}", job.stop, self.paths)
        if isinstance(found, Failure):
            raise PreparationError(found)
        return found

    def discard(self) -> None:
        for clone in self._clones:
            self.services.clones.remove(clone)


class ProjectRuns:
    """The tests of one project, which can be run on both sides, as often as it takes."""

    def __init__(self, copies: Copies, plan: TestPlan, kept: KeptResults, absent: NoTests | None) -> None:
        self.plan = plan
        self.changed = copies.changed
        self.absent = absent
        """Why there is nothing to run on the base, where that is so."""
        self.log: list[str] = []
        self._copies = copies
        self._services = copies.services
        self._kept = kept
        self._environment = ""

    @property
    def run(self) -> Run:
        """The run of burnish, so far."""
        return self._copies.job.run

    async def tree(self) -> Tree:
        """Where failures of the change are placed."""
        root = str((await self._copies.of(self.changed.head)).root)
        changed = self.changed

        def text(path: str) -> str:
            return changed.text(changed.head, path)

        return Tree(root=root, is_file=changed.files.__contains__, project=self.plan.project, text=text)

    async def head(self, selection: SuiteSelection, watch: Callable[[Progress], bool] | None = None) -> TestResult:
        """Tests on the change."""
        return await self._run("head", self.changed.head, selection, watch=watch)

    async def base(self, selection: SuiteSelection, side: str = "base") -> TestResult:
        """Tests on the base."""
        result = await self._run(side, self.changed.base, selection)
        return replace(result, partial=bool(selection.only))

    async def fresh_run(
        self,
        side: str,
        selection: SuiteSelection,
        restored: Restored | None = None,
        *,
        commit: str = "",
        watch: Callable[[Progress], bool] | None = None,
    ) -> TestResult:
        """Tests in another copy of the change (or of another commit), in which some files may be other ones."""
        return await self._run(side, commit or self.changed.head, selection, watch=watch, restored=restored or {})

    def bench(self, side: str, commit: str = "") -> "Bench":
        """A copy of the change (or of another commit) for many runs."""
        return Bench(self, side, commit or self.changed.head)

    async def _run(
        self,
        side: str,
        commit: str,
        selection: SuiteSelection,
        *,
        watch: Callable[[Progress], bool] | None = None,
        restored: Restored | None = None,
    ) -> TestResult:
        if restored is not None:
            return await self.bench(side, commit).run(selection, restored, watch=watch)

        async def run() -> TestResult:
            return await self.run_in(await self._copies.of(commit), side, selection, watch)

        state = await asyncio.to_thread(self._state, commit, "", {})
        return await self._kept_or(side, state, selection, run)

    async def run_on(
        self, bench: "Bench", selection: SuiteSelection, files: Restored, watch: Callable[[Progress], bool] | None
    ) -> TestResult:
        """Tests in the copy of a bench, with some files replaced."""

        async def run() -> TestResult:
            async with bench.with_files(files) as view:
                return await self.run_in(view, bench.side, selection, watch)

        state = await asyncio.to_thread(self._state, bench.commit, bench.side, files)
        return await self._kept_or(bench.side, state, selection, run)

    async def _kept_or(
        self, side: str, state: SuiteState, selection: SuiteSelection, run: Callable[[], Awaitable[TestResult]]
    ) -> TestResult:
        """What an earlier run found; else what this one finds, which is kept."""
        result = await asyncio.to_thread(self._kept.find, state, selection)
        if result is not None:
            self.log.append(f"kept from an earlier run: {_said(side, self.plan, result)}")
            return result
        result = await run()
        await asyncio.to_thread(self._kept.keep, state, selection, result)
        return result

    async def fresh_copy(self, side: str, commit: str) -> CopyView:
        """Another copy of a commit, prepared for the tests of this project."""
        project = f"-{self.plan.project.replace('/', '-')}" if self.plan.project else ""
        return await self._copies.fresh(f"{side}{project}", commit)

    async def run_in(
        self, view: CopyView, side: str, selection: SuiteSelection, watch: Callable[[Progress], bool] | None = None
    ) -> TestResult:
        """One run in a copy."""
        effect = self._copies.job.effect.id
        label = _LABELS.get(side, "tests once more")
        tests = TestRun(view, self.plan, f"{effect}:{side}{self._place}", selection, effect, label, watch)
        result = await run_tests(self._services, tests, self._copies.job.stop)
        self.log.append(_said(side, self.plan, result))
        return result

    @property
    def _place(self) -> str:
        plan = self.plan
        project = f"-{plan.project.replace('/', '-')}" if plan.project else ""
        return f"{project}-{plan.language.value.lower()}" if plan.language and plan.project else project

    def _state(self, commit: str, purpose: str, restored: Restored) -> SuiteState:
        if not self._environment:
            self._environment = environment_digest(self._services, self.plan.project)
        digest = hashlib.sha256(self.changed.tree(commit).encode())
        for path, content in sorted(restored.items()):
            digest.update(repr((path, content)).encode())
        return SuiteState(tree=digest.hexdigest(), environment=self._environment, plan=self.plan, purpose=purpose)


class Bench:
    """One copy for many runs, each with some files replaced. It is made when the first of them is not known yet.

    What tests leave behind stays: it is for short runs.
    """

    def __init__(self, runs: ProjectRuns, side: str, commit: str) -> None:
        self.side = side
        self.commit = commit
        self._runs = runs
        self._view: CopyView | None = None

    async def run(
        self, selection: SuiteSelection, files: Restored, *, watch: Callable[[Progress], bool] | None = None
    ) -> TestResult:
        """Run tests with some files replaced."""
        return await self._runs.run_on(self, selection, files, watch)

    @asynccontextmanager
    async def with_files(self, files: Restored) -> AsyncGenerator[CopyView]:
        """The copy with these files; afterwards they are as they were."""
        view = self._view = self._view or await self._runs.fresh_copy(self.side, self.commit)
        former = await asyncio.to_thread(_put, view, files)
        try:
            yield view
        finally:
            await asyncio.shield(asyncio.to_thread(_put, view, former))


def _put(view: CopyView, files: Restored) -> dict[str, bytes | None]:
    """Put files into a copy; what was there. Where a folder is gone, its tests are, too."""
    former: dict[str, bytes | None] = {}
    for path, content in files.items():
        former[path] = read_inside(view.folder, path, _LARGEST_FILE)
        with suppress(OSError):
            if content is None:
                with folder_of(view.folder, path) as (folder, name):
                    os.unlink(name, dir_fd=folder)
            else:
                mode = 0o755 if os.access(view.folder / path, os.X_OK) else 0o644
                write_new(view.folder, path, content, mode=mode, make=True)
    return former


def _said(side: str, plan: TestPlan, result: TestResult) -> str:
    """One run, for the transcript."""
    tests = "1 test" if len(result.cases) == 1 else f"{len(result.cases)} tests"
    counted = f"{tests}, {len(result.failing)} failing" if result.cases else "no tests listed"
    place = f" (in {plan.project})" if plan.project else ""
    end = f"{result.ended.value}, exit code {result.code}, {result.seconds:.1f} s, {counted}"
    return f"{side}: $ {plan.text}{place}\n{end}\n{result.message}\n{result.output}".rstrip()
