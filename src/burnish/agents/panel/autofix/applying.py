"""The fixer of the embedded panel: fixes of the analysers themselves, in the clone of a fixer.

A fix stays only where the tools find nothing new after it and the tests fail no more than before. It never commits.
"""

import asyncio
from collections.abc import Sequence

from burnish.agents.panel.autofix.answers import AutofixOutcome, answer, remark, summary
from burnish.agents.panel.autofix.drafts import Draft
from burnish.agents.panel.autofix.edits import why_untouchable
from burnish.agents.panel.autofix.fixes import Fix, fix_from
from burnish.agents.panel.autofix.rewriting import confined, rewrites, rewriting
from burnish.agents.panel.autofix.targets import Target, may_be_fixable, places_of, targets_of
from burnish.agents.panel.autofix.trials import revert_fixes_that_break_tests, write_file
from burnish.agents.panel.checks import hits_for, tasks_for
from burnish.agents.panel.interface import Hit, SourceFile, ToolError, ToolName
from burnish.agents.panel.runner import AnalyserRunner
from burnish.agents.panel.snapshots import MOST_BYTES
from burnish.agents.panel.tools.registry import TOOLS
from burnish.agents.services import Job
from burnish.core.effects import StartFix
from burnish.core.events import FixAnswer
from burnish.core.findings import Finding
from burnish.core.values import Value, replace
from burnish.workspace.clones import Clone
from burnish.workspace.folders import read_inside, remove_folder

_WHOLE_PANEL = ""
"""Any name that is no reviewer's: a fix must not add to what any of them finds."""


class AutofixResult(Value):
    """What came of the fixes: an answer for every finding at hand."""

    answers: tuple[FixAnswer, ...]
    summary: str
    log: str = ""

    def taken_back(self, reason: str) -> "AutofixResult":
        """The same, where nothing of it can stay."""
        text = f"reverted: {reason}"
        answers = (replace(one, fixed=False, text=text) if one.fixed else one for one in self.answers)
        line = reason.partition("\n")[0]  # a hook may say a lot
        return AutofixResult(
            answers=tuple(answers), summary=f"all fixes were reverted: {line}", log=f"{self.log}\n{text}"
        )


async def apply_autofixes(runner: AnalyserRunner, job: Job[StartFix], clone: Clone) -> AutofixResult:
    """Fix what the tools themselves can fix of an order. Raises `ToolError` where one of them did not do its work."""
    order = job.effect.order
    findings = (*order.must, *order.may)
    mending = _Fixing(runner, job, clone)
    drafts = await mending.drafts(findings)
    while await mending.attempt(drafts):
        pass
    tests = await revert_fixes_that_break_tests(runner.services, job, clone, drafts)
    unsafe = runner.services.settings.analysers.unsafe_fixes
    outcome = AutofixOutcome(drafts, lambda hit: remark(hit, unsafe=unsafe))
    answers = tuple(answer(finding, outcome) for finding in findings)
    log = "\n".join([*(f"{one.finding}: {one.text}" for one in answers), tests])
    return AutofixResult(answers=answers, summary=summary(answers, outcome), log=log)


class _Fixing:
    """The passes over the files, each of which makes all fixes that do not meet."""

    def __init__(self, runner: AnalyserRunner, job: Job[StartFix], clone: Clone) -> None:
        self._runner = runner
        self._job = job
        self._folder = clone.path
        self._settings = runner.services.settings.analysers
        self._sources: dict[str, SourceFile] = {}
        self._configured: frozenset[ToolName] = frozenset()

    async def drafts(self, findings: Sequence[Finding]) -> tuple[Draft, ...]:
        """The files that analysers' findings are in, with what the tools say of them now."""
        files = {place.file for finding in findings if may_be_fixable(finding) for place in places_of(finding)}
        if not files:
            return ()
        snapshot = await self._runner.snapshot(self._job.run)
        self._configured = await asyncio.to_thread(lambda: snapshot.configured)
        self._sources = {file.path: file for file in snapshot.files if file.path in files}
        hits = await self._look(sorted(self._sources))
        targets = targets_of(findings, hits)
        paths = sorted({target.file for target in targets})
        return tuple([self._draft(path, targets, hits) for path in paths])

    def _draft(self, path: str, targets: Sequence[Target], hits: Sequence[Hit]) -> Draft:
        content = read_inside(self._folder, path, MOST_BYTES + 1)
        mine = [target for target in targets if target.file == path]
        draft = Draft(path, content or b"", mine, [hit for hit in hits if hit.file == path])
        reason = "the file is not a regular file" if content is None else why_untouchable(content)
        if reason:
            draft.refuse(f"not changed: {reason}")
        return draft

    async def attempt(self, drafts: Sequence[Draft]) -> bool:
        """One pass: try the fixes there are, and keep what does no harm. False when there are none."""
        for draft in drafts:
            draft.begin(await self._fixes(draft))
        trying = [draft for draft in drafts if draft.attempt is not None]
        tried = tuple(trying)
        while trying:
            for draft in trying:
                write_file(self._folder, draft.path, draft.attempt or b"")
            hits = await self._look([draft.path for draft in trying])
            for draft in trying:
                draft.judge([hit for hit in hits if hit.file == draft.path])
            trying = [draft for draft in trying if draft.attempt is not None]
        for draft in tried:
            write_file(self._folder, draft.path, draft.finish())
        return bool(tried)

    async def _look(self, paths: Sequence[str]) -> tuple[Hit, ...]:
        """What the whole panel finds in some files of the clone, as they are.

        Secrets are not looked for: no fix writes one, and that alone takes longer than all the rest.
        """
        files = [self._sources[path] for path in paths]
        wanted = tasks_for(_WHOLE_PANEL, files, self._settings, self._configured)
        tasks = [task for task in wanted if task.tool is not ToolName.KINGFISHER]
        try:
            found = await self._runner.look(self._folder, tasks, self._job.stop)
        except ToolError:
            if not self._configured:
                raise
            # The project's own configuration stops a tool: burnish's own rules are enough to see what fixes do.
            self._configured = frozenset()
            return await self._look(paths)
        return hits_for(_WHOLE_PANEL, found, self._settings)

    async def _fixes(self, draft: Draft) -> list[Fix]:
        unsafe = self._settings.unsafe_fixes
        wanted = draft.wanted()
        offered = [fix_from(draft.content, target, hit) for target, hit in wanted]
        fixes = [fix for fix in offered if fix is not None and (fix.safe or unsafe)]
        for name in sorted(
            {hit.tool for _, hit in wanted if rewrites(hit, unsafe=unsafe)}, key=lambda tool: tool.value
        ):
            pairs = [pair for pair in wanted if pair[1].tool is name and rewrites(pair[1], unsafe=unsafe)]
            after = await self._rewritten(draft, name, [hit.rule for _, hit in pairs])
            fixes += confined(draft.content, after, pairs, name, safe=not unsafe)
        return fixes

    async def _rewritten(self, draft: Draft, name: ToolName, rules: Sequence[str]) -> bytes:
        """A file as a tool rewrites it, in a folder where there is nothing else."""
        folder = self._runner.services.attempt_dir(self._job.effect.id) / "rewriting"
        remove_folder(folder)
        (folder / draft.path).parent.mkdir(parents=True)
        (folder / draft.path).write_bytes(draft.content)
        call = rewriting(TOOLS[name], draft.path, rules, unsafe=self._settings.unsafe_fixes)
        finished = await self._runner.start(folder, name, call, self._job.stop, writable=(str(folder),))
        TOOLS[name].read(finished, (draft.path,))  # a tool that failed may have left half a file
        after = read_inside(folder, draft.path, 2 * MOST_BYTES)
        remove_folder(folder)
        return draft.content if after is None else after
