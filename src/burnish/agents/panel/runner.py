"""Runs the analysers for all reviewers of a round: each tool once on each tree, for all that need its results.

The base is looked at only by tools that found something in the change, and only in the files where they did.
"""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from burnish.agents.panel import rule_caches
from burnish.agents.panel.doubts.project import UNDEFINED
from burnish.agents.panel.doubts.table import with_doubts
from burnish.agents.panel.interface import (
    Hit,
    Task,
    ToolError,
    ToolInvocation,
    ToolName,
    TooMuchSaidError,
    UnloadableFileError,
)
from burnish.agents.panel.novelty import LinesOf, introduced
from burnish.agents.panel.places import is_filled_in, is_template, shows_placeholders
from burnish.agents.panel.programs import program
from burnish.agents.panel.project_tests.pythons import exists, virtual_environments
from burnish.agents.panel.snapshots import ChangeSnapshot, TreeSnapshot
from burnish.agents.panel.suppressions import marked
from burnish.agents.panel.tools.eslint import PROGRAM as ESLINT
from burnish.agents.panel.tools.reading import INVALID_SYNTAX, NOT_READ, UNREADABLE
from burnish.agents.panel.tools.registry import TOOLS
from burnish.agents.panel.tools.ty import (
    SECONDS,
    explaining,
    need_explaining,
    with_explanations,
    with_given_members,
    with_packages,
    without_unknown_packages,
)
from burnish.agents.panel.undecided import undecided
from burnish.agents.project_copies import prepared_view
from burnish.agents.services import Services
from burnish.core.reviews import Failure
from burnish.core.state import Run
from burnish.core.values import Value, replace
from burnish.settings.agent_kinds import AgentKind
from burnish.system.process import Command, Finished, ProcessLimits
from burnish.workspace.views import CopyView

_Result = TypeVar("_Result")

AT_ONCE = 400
"""Files on one command line."""
KEPT_BYTES = 256 * 1024 * 1024
_STARTS_OTHERS = (ToolName.ESLINT, ToolName.OXLINT)
"""The tools that may look for further programs on the user's PATH."""


_ALONE = TOOLS.keys() - {ToolName.TY}
_MOST_SPLIT = 40
"""How often files are divided among more calls of a tool: enough for four of 400 that are to blame."""
_SAID_TOO_MUCH = "A tool has more to say about this file than burnish keeps, so it was not examined."
_NO_TYPES = "Types were not checked"
_CREDENTIAL_ADDRESSES = ("betterleaks.generic-credential-uri", "betterleaks.mongodb-connection-string")
_NO_ESLINT = (
    "eslint is configured but not installed: install the packages in the checkout (npm install), or in each copy with "
    "[workspace] prepare"
)


class Looked(Value):
    """What one tool found, and which of its files it really looked at."""

    hits: tuple[Hit, ...] = ()
    examined: tuple[str, ...] = ()
    note: str = ""
    """Why it did not look, where a review can do without."""


def _no_lines(path: str) -> None:
    del path


def _without_templates(looked: Looked, lines: LinesOf) -> Looked:
    """What was found, without files that are templates of code: a linter for the code itself cannot judge them."""
    broken = {hit.file for hit in looked.hits if hit.rule == INVALID_SYNTAX}
    templates = {path for path in broken if is_template(path, lines(path) or ())}
    unknown = [hit for hit in looked.hits if hit.rule == UNDEFINED and hit.line]
    templates |= {hit.file for hit in unknown if is_filled_in(_line(lines, hit.file, hit.line or 0))}
    return replace(
        looked,
        hits=tuple(hit for hit in looked.hits if hit.file not in templates),
        examined=tuple(path for path in looked.examined if path not in templates),
    )


def _without_placeholders(looked: Looked, lines: LinesOf) -> Looked:
    """What was found, without addresses that only show where a name and a password go."""

    def is_placeholder(hit: Hit) -> bool:
        line = _line(lines, hit.file, hit.line) if hit.rule in _CREDENTIAL_ADDRESSES and hit.line else ""
        return shows_placeholders(line)

    return replace(looked, hits=tuple(hit for hit in looked.hits if not is_placeholder(hit)))


def _line(lines: LinesOf, path: str, number: int) -> str:
    return next(iter((lines(path) or ())[number - 1 : number]), "")


class AnalyserRunner:
    """The analysers of one run."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._shared: dict[object, asyncio.Task[Any]] = {}
        self._snapshot: ChangeSnapshot | None = None
        self._numbers = count(1)
        self._split = 0
        # The panel takes as long as kingfisher, its slowest tool, so that the others leave it a processor.
        self._turns = asyncio.Semaphore(max(1, (os.cpu_count() or 2) - 1))

    async def snapshot(self, run: Run) -> ChangeSnapshot:
        """The change as it is now. What was kept of an earlier state of it is let go."""
        return await self._once(("snapshot", run.commit), lambda: self._take_snapshot(run))

    async def _take_snapshot(self, run: Run) -> ChangeSnapshot:
        before, self._shared = self._snapshot, {key: task for key, task in self._shared.items() if not task.done()}
        if before is not None:
            await asyncio.to_thread(before.discard)
        snapshot = await asyncio.to_thread(
            ChangeSnapshot, self.services, run.subject.base_commit, run.commit, run.subject.paths
        )
        # Before any tool asks for its files: kingfisher takes longest, so that its files must not be the last.
        await asyncio.to_thread(lambda: (snapshot.head.to_scan, snapshot.least_python))
        self._snapshot = snapshot
        return snapshot

    def start_early(self, snapshot: ChangeSnapshot, task: Task, stop: asyncio.Event) -> None:
        """Start a tool before all is known that others need. `introduced` waits for it, and says if it failed."""
        key = (snapshot.commit, task)
        if key in self._shared:
            return
        begun = self._shared[key] = asyncio.create_task(self._compare(snapshot, task, stop))

        def forget_failure(ended: asyncio.Task[Looked]) -> None:
            if (ended.cancelled() or ended.exception()) and self._shared.get(key) is ended:
                del self._shared[key]

        begun.add_done_callback(forget_failure)

    async def introduced(self, snapshot: ChangeSnapshot, task: Task, stop: asyncio.Event) -> Looked:
        """What a tool finds in the change that it does not find without it. Raises `ToolError` where it failed."""
        return await self._once((snapshot.commit, task), lambda: self._compare(snapshot, task, stop))

    async def _compare(self, snapshot: ChangeSnapshot, task: Task, stop: asyncio.Event) -> Looked:
        looked = _without_templates(await self._on(snapshot, snapshot.head, task, stop), snapshot.head.lines)
        looked = _without_placeholders(looked, snapshot.head.lines)
        now, renamed = snapshot.head.lines, snapshot.old_paths
        if any(hit.file in renamed for hit in looked.hits):
            tree = await self._once((snapshot.commit, "base"), lambda: asyncio.to_thread(lambda: snapshot.base))
            before = tree.lines
            known = undecided(looked.hits, head_lines=now, base_lines=before, renamed=renamed)
            there = replace(task, files=tuple(sorted(known)))
            at_base = await self._on(snapshot, tree, there, stop) if known else Looked()
            if at_base.note:
                return at_base
            hits = introduced(looked.hits, at_base.hits, head_lines=now, base_lines=before, renamed=renamed)
        else:
            hits, before = looked.hits, _no_lines
        if task.tool is ToolName.BURNISH:
            hits = (*hits, *await asyncio.to_thread(lambda: snapshot.tree_hits))
        hits = await asyncio.to_thread(snapshot.project.with_doubts, hits)
        hits = with_doubts(marked(hits, head_lines=now, base_lines=before, renamed=renamed), now)
        if not hits:
            return replace(looked, hits=())
        places = await asyncio.to_thread(snapshot.places_of, {hit.file for hit in hits})
        return replace(looked, hits=tuple(replace(hit, surroundings=places.get(hit.file)) for hit in hits))

    async def _on(self, snapshot: ChangeSnapshot, tree: TreeSnapshot, task: Task, stop: asyncio.Event) -> Looked:
        if task.tool is ToolName.BURNISH:
            return Looked(hits=await asyncio.to_thread(tree.own_hits, task.files))
        if task.tool is ToolName.TY:
            return await self._types(snapshot, tree, task, stop)
        folder = await self._folder(tree, task)
        if task.tool is ToolName.RUFF:
            task = replace(task, choice=replace(task.choice, least_python=snapshot.least_python))
        if task.tool is not ToolName.ESLINT:
            return await self._look(folder, task, stop)
        view = await self._once((tree, "prepared"), lambda: self._prepare(tree, task.files, stop))
        if not has_eslint(view):
            return Looked(note=_NO_ESLINT)
        return _as_installed(await self._look(folder, task, stop, view), view)

    async def _types(self, snapshot: ChangeSnapshot, tree: TreeSnapshot, task: Task, stop: asyncio.Event) -> Looked:
        """What ty finds. Files that it cannot look at were linted all the same: a note says that it did not."""
        modules = await self._once((tree, "modules"), lambda: asyncio.to_thread(lambda: tree.modules))
        if not modules.complete:
            return Looked(note=f"{_NO_TYPES}: the change imports too many modules")
        python = "" if snapshot.changes_packages else self._python()
        call = TOOLS[task.tool].invocation(task.files, task.choice)
        call = with_packages(call, python, modules.roots, snapshot.least_python)
        try:
            hits = TOOLS[task.tool].read(await self.start(modules.folder, task.tool, call, stop), task.files)
        except ToolError as error:
            return Looked(note=f"{_NO_TYPES}: {str(error).rstrip('.')}")
        hits = without_unknown_packages(hits, modules.imports)
        hits = with_given_members(hits, modules.texts())
        if need_explaining(hits):
            # Few changes have such a hit, so that few pay for a second run. Where it fails, nothing is doubted.
            hits = with_explanations(hits, await self.start(modules.folder, task.tool, explaining(call), stop))
        return Looked(hits=hits)

    def _python(self) -> str:
        """The environment in which the packages of the project may be installed; empty where there is none."""
        places = virtual_environments(self.services.repository.root, (), self.services.environment)
        return next((str(one.folder) for one in places if exists(one)), "")

    async def _folder(self, tree: TreeSnapshot, task: Task) -> Path:
        """Where a tool finds its files. Those to scan are there already: kingfisher starts without another turn."""
        if task.tool is ToolName.KINGFISHER and tree.can_be_scanned:
            return tree.to_scan
        own = (task.choice.own_configuration, task.tool is ToolName.KINGFISHER)
        return await self._once((tree, own), lambda: asyncio.to_thread(tree.folder_for, task))

    async def _prepare(self, tree: TreeSnapshot, files: Sequence[str], stop: asyncio.Event) -> CopyView:
        """Make a tree ready for a linter of the project's own, which lives among its dependencies."""
        view = await prepared_view(self.services, tree.whole, f"prepare:{next(self._numbers)}", stop, files)
        if isinstance(view, Failure):
            raise ToolError(f"The tree cannot be prepared for eslint: {view.message}.", hint="See [workspace] prepare.")
        return view

    async def look(self, folder: Path, tasks: Sequence[Task], stop: asyncio.Event) -> tuple[Hit, ...]:
        """Everything that tools find in a tree as it is, but ty. Raises `ToolError` where one did not do its work."""
        present = [task for task in tasks if task.tool in _ALONE and is_present(folder, task.tool)]
        found = await asyncio.gather(*(self._look(folder, task, stop) for task in present))
        return tuple(hit for looked in found for hit in looked.hits)

    async def _look(self, folder: Path, task: Task, stop: asyncio.Event, view: CopyView | None = None) -> Looked:
        # kingfisher looks at its whole folder, however many files there are.
        batches = (task.files,) if task.tool is ToolName.KINGFISHER else _batches(task.files)
        found = await asyncio.gather(*(self._run(folder, replace(task, files=files), stop, view) for files in batches))
        return Looked(
            hits=tuple(hit for looked in found for hit in looked.hits),
            examined=tuple(path for looked in found for path in looked.examined),
        )

    async def _run(self, folder: Path, task: Task, stop: asyncio.Event, view: CopyView | None) -> Looked:
        tool = TOOLS[task.tool]
        finished = await self.start(folder, task.tool, tool.invocation(task.files, task.choice), stop, view=view)
        try:
            hits = await asyncio.to_thread(tool.read, finished, task.files)
        except UnloadableFileError as error:
            others = tuple(file for file in task.files if file != error.hit.file)
            looked = await self._run(folder, replace(task, files=others), stop, view) if others else Looked()
            return replace(looked, hits=(*looked.hits, error.hit))
        except TooMuchSaidError:
            self._split += 1
            if task.tool is ToolName.KINGFISHER or self._split > _MOST_SPLIT:
                raise  # it looks at its whole folder; and each time costs seconds
            return await self._run_apart(folder, task, stop, view)
        unread = tool.passed_over(finished, task.files) | {hit.file for hit in hits if hit.rule in NOT_READ}
        return Looked(hits=hits, examined=tuple(path for path in task.files if path not in unread))

    async def _run_apart(self, folder: Path, task: Task, stop: asyncio.Event, view: CopyView | None) -> Looked:
        """The same for each half of the files. One of which a tool says too much by itself counts as not examined."""
        middle = len(task.files) // 2
        if not middle:
            (file,) = task.files
            return Looked(hits=(Hit(tool=task.tool, rule=UNREADABLE, file=file, line=None, message=_SAID_TOO_MUCH),))
        halves = (task.files[:middle], task.files[middle:])
        first, second = [await self._run(folder, replace(task, files=files), stop, view) for files in halves]
        return Looked(hits=(*first.hits, *second.hits), examined=(*first.examined, *second.examined))

    async def start(
        self,
        folder: Path,
        tool: ToolName,
        call: ToolInvocation,
        stop: asyncio.Event,
        *,
        writable: Sequence[str] = (),
        view: CopyView | None = None,
    ) -> Finished:
        """Run a tool in the sandbox, without the network."""
        path = str((view.root if view else folder) / ESLINT) if tool is ToolName.ESLINT else program(tool)
        environment = {**self._environment(tool), "NO_COLOR": "1", **call.environment}
        command = Command(argv=(path, *call.arguments), folder=str(folder), environment=environment, stdin=call.stdin)
        if tool is ToolName.KINGFISHER:
            rules = await self._rules(command, stop)
            return await self._started(tool, _with_rules(command, rules), stop, writable, owned=rules)
        # All tools of a panel come here in one turn of the loop: kingfisher starts in it, and the others in the next.
        await asyncio.sleep(0)
        async with self._turns:
            return await self._started(tool, command, stop, writable, view=view)

    async def _started(
        self,
        tool: ToolName,
        command: Command,
        stop: asyncio.Event,
        writable: Sequence[str],
        *,
        owned: Path | None = None,
        view: CopyView | None = None,
    ) -> Finished:
        agent = self.services.settings.agent(AgentKind.ANALYSERS.value)
        seconds = SECONDS if tool is ToolName.TY else agent.timeout if agent else None
        return await self.services.run_command(
            command,
            ProcessLimits(seconds=seconds, kept_bytes=KEPT_BYTES),
            # A name of its own for each: what one tool left behind is ended without ending the others.
            effect=f"analyse:{tool.value}:{next(self._numbers)}",
            writable=tuple(writable),
            owned=() if owned is None else (str(owned),),
            stop=stop,
            view=view,
            network=False,
        )

    def _environment(self, tool: ToolName) -> dict[str, str]:
        """What a tool sees of the user's environment. A sandbox in which no PATH need be shown is made sooner."""
        environment = self.services.tool_environment()
        return {name: value for name, value in environment.items() if name != "PATH" or tool in _STARTS_OTHERS}

    async def _rules(self, command: Command, stop: asyncio.Event) -> Path | None:
        """The folder of the compiled rules for a command of kingfisher's; None where it keeps none."""
        folder = rule_caches.folder_of(self.services, command.argv)
        if folder.is_dir():
            return folder
        return await self._once(folder, lambda: rule_caches.compile_rules(self.services, command.argv, stop))

    async def _once(self, key: object, work: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
        """The first caller does the work; a failure is not kept, so that a second attempt really is one."""
        task: asyncio.Task[_Result] | None = self._shared.get(key)
        if task is None:
            task = self._shared[key] = asyncio.create_task(work())
        try:
            return await asyncio.shield(task)
        except BaseException:
            if self._shared.get(key) is task:
                del self._shared[key]
            raise


def _with_rules(command: Command, folder: Path | None) -> Command:
    """kingfisher's command with its rules compiled; without a folder for them it compiles them itself."""
    program, verb, *rest = command.argv
    cache = "--no-rule-cache" if folder is None else f"--rule-cache-dir={folder}"
    return replace(command, argv=(program, verb, cache, *rest))


def is_present(folder: Path, tool: ToolName) -> bool:
    """Whether a tool can be run in a tree: eslint is the project's own, all others must be there."""
    return tool is not ToolName.ESLINT or (folder / ESLINT).exists()


def has_eslint(view: CopyView) -> bool:
    """Whether a copy has eslint, or shows that of the checkout."""
    place = view.root / ESLINT
    # The copy itself is mounted, too, and so are its packages, together or one by one.
    mounts = (mount for mount in view.mounts if place.is_relative_to(mount.target))
    shown = (Path(mount.source) / place.relative_to(mount.target) for mount in mounts)
    return any(program.exists() for program in (view.folder / ESLINT, *shown))


def _as_installed(looked: Looked, view: CopyView) -> Looked:
    """What eslint found. Where only the checkout has it, a fix could not be tried, so that none is offered."""
    if is_present(view.folder, ToolName.ESLINT):
        return looked
    return replace(looked, hits=tuple(replace(hit, remedy=None, fixable=False) for hit in looked.hits))


def _batches(files: Sequence[str]) -> Iterator[tuple[str, ...]]:
    yield from (tuple(files[place : place + AT_ONCE]) for place in range(0, len(files), AT_ONCE))
