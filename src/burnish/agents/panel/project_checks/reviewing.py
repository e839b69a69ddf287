"""Runs the checks that the base configures on a change, and says what of their reports is new.

The base is run only where a report could be an old one. On the change each check runs with the base's configuration;
what the change's own configuration would not have reported counts as hidden by the change.
"""

import asyncio
import os
import posixpath
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from burnish.agents.panel.interface import Hidden, Hit, ToolError, ToolName
from burnish.agents.panel.kept import KeptValues, environment_digest, key_of
from burnish.agents.panel.novelty import LinesOf, introduced
from burnish.agents.panel.project_checks import inside
from burnish.agents.panel.project_checks.detection import (
    DESK,
    FILTER,
    LINES_REPORT,
    SCRIPTS,
    TARGET_FOLDER,
    CannotRun,
    CheckPlan,
    CommitTree,
    Configured,
    Machine,
    configured_checks,
    plan_for,
    steers,
)
from burnish.agents.panel.project_checks.outputs import (
    COMPILE,
    CheckOutput,
    CheckSite,
    failure_hit,
    read,
    skipped_hooks,
)
from burnish.agents.panel.project_checks.packages import Packages, cargo_packages, go_packages
from burnish.agents.panel.project_tests.compiled import dependency_files
from burnish.agents.panel.snapshots import ChangeSnapshot
from burnish.agents.panel.tools.reading import output_of, text
from burnish.agents.panel.undecided import undecided
from burnish.agents.project_copies import prepared_view
from burnish.agents.services import Job, Services
from burnish.core.effects import StartReview
from burnish.core.evidence import Examined, Level
from burnish.core.reviews import Failure
from burnish.core.values import Value, replace
from burnish.settings.types import AUTO, OFF
from burnish.system.files import make_private_directory
from burnish.system.process import Command, Finished, ProcessLimits
from burnish.workspace.clones import Clone
from burnish.workspace.errors import UnsafeResultError
from burnish.workspace.folders import read_inside, remove_folder, write_inside
from burnish.workspace.names import shown
from burnish.workspace.slices import tree_files, words_in
from burnish.workspace.views import CopyView

KEPT_BYTES = 64 * 1024 * 1024
MOST_FILES = 300
"""Files on a command line."""
_MOST_DEPENDENCY_FILES = 2_000
_WITH_PATHS = 'shift "$0"; exec "$@"'


class ChecksReview(Value):
    """What the project's own checks have to say."""

    hits: tuple[Hit, ...] = ()
    notes: tuple[str, ...] = ()
    examined: tuple[Examined, ...] = ()
    """The changed files that were compiled or type-checked."""
    unheard: tuple[ToolName, ...] = ()
    """The checks that are configured and said nothing: what they reported earlier is not known to be gone."""
    log: str = ""


async def review_checks(services: Services, job: Job[StartReview], snapshot: ChangeSnapshot) -> ChecksReview:
    """Run every check that the base configures for the changed files."""
    wanted = services.settings.analysers.checks
    if wanted == OFF:
        return ChecksReview()
    change = await asyncio.to_thread(CheckedChange, services, snapshot)
    checks = [one for one in change.checks if wanted == AUTO or one.tool.value in wanted]
    if not checks:
        return ChecksReview()
    round_ = _Round(services, job, change)
    try:
        return await round_.review(checks)
    finally:
        await asyncio.shield(asyncio.to_thread(round_.discard))


class CheckedChange:
    """What checks must know of a change."""

    def __init__(self, services: Services, snapshot: ChangeSnapshot) -> None:
        self._repository = services.repository
        self.base, self.head = snapshot.shown.merge_base, snapshot.commit
        self.policy = snapshot.base_commit
        """The commit that says which checks there are, and how they are configured."""
        self.renamed = snapshot.old_paths
        self.files = {self.base: self._repository.files(self.base), self.head: self._repository.files(self.head)}
        self.paths = tuple({path: None for one in snapshot.shown.entries for path in (one.old_path, one.path)})
        self.ignored = frozenset(file.path for file in snapshot.files if file.only_secrets)
        self.places_of = snapshot.places_of
        self.checks = configured_checks(self._tree(self.policy), self._tree(self.head), self.paths)

    def _tree(self, commit: str) -> CommitTree:
        def read_text(path: str) -> str:
            return (self.content(commit, path) or b"").decode("utf-8", errors="replace")

        return CommitTree(self.files.get(commit) or self._repository.files(commit), cache(read_text))

    def commit_of(self, side: str) -> str:
        return self.base if side == "base" else self.head

    def content(self, commit: str, path: str) -> bytes | None:
        return self._repository.read_file(commit, path) if path else None

    def configuration(self, check: Configured) -> str:
        """The text of the file that configures a check."""
        raw = self.content(self.policy if check.by_base else self.head, check.file)
        return (raw or b"").decode("utf-8", errors="replace")

    def lines(self, commit: str) -> LinesOf:
        """The lines of files of a commit."""

        @cache
        def lines(path: str) -> Sequence[str] | None:
            raw = self.content(commit, path) if path in self.files[commit] else None
            return None if raw is None else raw.decode("utf-8", errors="replace").split("\n")

        return lines

    def changed_in(self, commit: str) -> tuple[str, ...]:
        """The changed paths that a commit has."""
        return tuple(path for path in self.paths if path in self.files[commit])

    def steering(self, tool: ToolName) -> dict[str, bytes | None]:
        """The files that steer a check and are not as the base has them, each as it is there; None for a new one."""
        differing = [path for path in self.paths if steers(path, tool)]
        found = tree_files(self._repository, self.policy, differing, KEPT_BYTES)
        return {**dict.fromkeys(differing), **{file.path: file.content for file in found}}

    def python_users(self, commit: str, project: str) -> tuple[str, ...]:
        """The changed Python files of a project, and those that name one of them."""
        folder = f"{project}/" if project else ""
        changed = [path for path in self.changed_in(commit) if path.endswith((".py", ".pyi"))]
        names = {posixpath.basename(path).partition(".")[0] for path in changed} - {"__init__", "__main__", "conftest"}
        naming = {path for found in words_in(self._repository, commit, names).values() for path in found}
        users = sorted(path for path in naming if path.endswith((".py", ".pyi")) and path not in changed)
        inside = [path for path in (*changed, *users) if path.startswith(folder)]
        return tuple(inside[:MOST_FILES])


class _Copy(NamedTuple):
    """One side of the change, in a throwaway copy."""

    view: CopyView
    commit: str
    name: str


class _Round:
    """One run of all checks."""

    def __init__(self, services: Services, job: Job[StartReview], change: CheckedChange) -> None:
        self._services, self._job, self._change = services, job, change
        self._clones: list[Clone] = []
        self._shared: dict[str, asyncio.Task[_Copy]] = {}
        self._turns = asyncio.Semaphore(max(1, os.cpu_count() or 1))
        self._kept = KeptValues(services, "checks", _Side)

    def discard(self) -> None:
        for clone in self._clones:
            self._services.clones.remove(clone)

    async def review(self, checks: Sequence[Configured]) -> ChecksReview:
        plans = await self._plans(checks)
        parts = await asyncio.gather(*(self._part(plan) for plan in plans))
        return ChecksReview(
            hits=tuple(dict.fromkeys(hit for part in parts for hit in part.hits)),
            notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
            examined=tuple(dict.fromkeys(one for part in parts for one in part.examined)),
            unheard=tuple(dict.fromkeys(tool for part in parts for tool in part.unheard)),
            log="\n".join(part.log for part in parts if part.log),
        )

    async def _plans(self, checks: Sequence[Configured]) -> list[CheckPlan | CannotRun]:
        """How each check is run. Where nothing is installed in copies, no copy is made to find that out."""
        workspace = self._services.settings.workspace
        installs = bool(workspace.prepare or workspace.seed)
        try:
            copy = (await self._copy("head")).view.folder if installs else None
        except ToolError as error:
            return [CannotRun(tool=check.tool, reason=str(error)) for check in checks]
        machine = Machine(
            checkout=self._services.repository.root,
            copy=copy,
            environment=self._services.tool_environment(),
            cache=self._services.cache,
        )
        texts = {check.file: self._change.configuration(check) for check in checks}
        return [await asyncio.to_thread(plan_for, check, machine, texts.__getitem__) for check in checks]

    async def _part(self, plan: CheckPlan | CannotRun) -> ChecksReview:
        """One check, on both sides as far as needed."""
        if isinstance(plan, CannotRun):
            return _unheard(plan.tool, f"{plan.tool.value} is configured but was not run: {plan.reason}")
        try:
            async with self._turns:
                return await self._compared(plan)
        except ToolError as error:
            return _unheard(plan.tool, f"`{plan.text}` gave no evidence: {str(error).rstrip('.')}")

    async def _compared(self, plan: CheckPlan) -> ChecksReview:
        change = self._change
        head = await self._run(plan, "head")
        hits = [hit for hit in head.output.hits if hit.file not in change.ignored]
        now, before = change.lines(change.head), change.lines(change.base)
        doubtful = undecided(hits, head_lines=now, base_lines=before, renamed=change.renamed)
        base: _Side | None = None
        notes = list(head.notes)
        if doubtful or (head.output.failures and not hits):
            try:
                base = await self._run(plan, "base", head.packages)
            except ToolError as error:
                notes.append(f"`{plan.text}` could not be run on the base, so old problems were left out: {error}")
                hits = [hit for hit in hits if change.renamed.get(hit.file, hit.file) not in doubtful]
        old = base.output if base else CheckOutput()
        new = introduced(hits, old.hits, head_lines=now, base_lines=before, renamed=change.renamed)
        if base is not None:
            new = (*new, *_failures(plan, head.output, old, new))
        new = await self._with_hidden(plan, new)
        places = change.places_of({hit.file for hit in new})
        return ChecksReview(
            hits=tuple(replace(hit, surroundings=places.get(hit.file)) for hit in new),
            notes=tuple(notes),
            examined=tuple(
                Examined(path=path, level=Level.CHECKED)
                for path in change.changed_in(change.head)
                if path in head.output.looked_at and shown(path) == path
            ),
            log=f"$ {plan.text}: {len(head.output.hits)} reports, {len(new)} of them new",
        )

    async def _with_hidden(self, plan: CheckPlan, new: tuple[Hit, ...]) -> tuple[Hit, ...]:
        """What is reported only with the base's configuration, where the change has another one, is hidden by it."""
        if not new or not plan.check.by_base or not self._change.steering(plan.tool):
            return new
        try:
            own = await self._run(plan, "own")
        except ToolError:
            return new
        if own.output.failures and not own.output.hits:
            return new  # it fails as well, and does not say where
        lines = self._change.lines(self._change.head)
        gone = introduced(new, own.output.hits, head_lines=lines, base_lines=lines, renamed={})
        return tuple(replace(hit, hidden=Hidden.NAMED) if hit in gone else hit for hit in new)

    async def _run(self, plan: CheckPlan, side: str, packages: Collection[str] = ()) -> "_Side":
        """What a check says of one side: of an equal run before, where that is known.

        Compilers and type checkers say the same of the same files. What a project's own scripts do is not known.
        """
        key = await asyncio.to_thread(self._key, plan, side, packages) if plan.tool not in SCRIPTS else ""
        found = await asyncio.to_thread(self._kept.find, key) if key else None
        if found is not None:
            return found
        copy = await self._copy(side, plan)
        stale = copy.view.unfit.get(plan.needs, "") if plan.needs else ""
        if stale:
            raise ToolError(f"{plan.needs} does not match: {stale}")
        said = await _Running(self._services, self._job, self._change, plan, copy).run(packages)
        if key:
            await asyncio.to_thread(self._kept.keep, {key: said})
        return said

    def _key(self, plan: CheckPlan, side: str, packages: Collection[str]) -> str:
        """The tree, the base's configuration that is laid over it, what of it is looked at, and the machine."""
        change, services = self._change, self._services
        trees = [services.repository.tree_of(commit) for commit in (change.commit_of(side), change.policy)]
        machine = environment_digest(services, plan.check.project, plan.argv[0])
        return key_of(side, trees, sorted(change.paths), sorted(packages), plan, machine)

    async def _copy(self, side: str, plan: CheckPlan | None = None) -> _Copy:
        """A copy of one side. Checks that only read share one."""
        name = f"{side}-{plan.tool.value}" if plan is not None and plan.writes else side
        task = self._shared.get(name)
        if task is None:
            task = self._shared[name] = asyncio.create_task(self._make(name, side, plan))
        return await asyncio.shield(task)

    async def _make(self, name: str, side: str, plan: CheckPlan | None) -> _Copy:
        change = self._change
        commit = change.commit_of(side)
        clone = await self._services.clone(f"{self._job.name}-checks-{name}", change.base, commit, writable=True)
        self._clones.append(clone)
        effect = f"{self._job.effect.id}:checks:{name}"
        view = await prepared_view(self._services, clone, effect, self._job.stop, change.paths)
        if isinstance(view, Failure):
            raise ToolError(f"The copy cannot be prepared: {view.message}")
        if side == "head":
            tool = plan.tool if plan is not None and plan.writes else ToolName.TSC
            await asyncio.to_thread(_lay_over, view.folder, change, tool)
        return _Copy(view, commit, name)


def _lay_over(folder: Path, change: CheckedChange, tool: ToolName) -> None:
    """Give a copy of the change the base's configuration. What the change adds beside it is taken away."""
    configured = {check.project for check in change.checks if check.by_base}
    for path, content in change.steering(tool).items():
        if content is not None:
            # Where the change has no such folder any more, nothing is left there to be looked at.
            with suppress(UnsafeResultError):
                write_inside(folder, path, content)
        elif posixpath.dirname(path) in configured:
            (folder / path).unlink(missing_ok=True)


def _unheard(tool: ToolName, note: str) -> ChecksReview:
    return ChecksReview(notes=(note,), unheard=(tool,), log=note)


def _failures(plan: CheckPlan, head: CheckOutput, base: CheckOutput, new: Sequence[Hit]) -> list[Hit]:
    """A command, or one hook of it, that fails now and did not before, where no new line says why."""
    told = {hit.rule for hit in new} if plan.tool is ToolName.PRE_COMMIT else ({""} if new else set[str]())
    return [
        failure_hit(plan.tool, name, plan.text, plan.check.file, said)
        for name, said in head.failures.items()
        if name not in base.failures and name not in told
    ]


class _Side(NamedTuple):
    """What a check said of one side."""

    output: CheckOutput
    packages: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class _Running:
    """One run of a check in a copy."""

    def __init__(
        self, services: Services, job: Job[StartReview], change: CheckedChange, plan: CheckPlan, copy: _Copy
    ) -> None:
        self._services, self._job, self._change, self._plan, self._copy = services, job, change, plan, copy
        part = f"{plan.tool.value}-{plan.check.file.replace('/', '-')}"
        self._effect = f"{job.effect.id}:checks:{copy.name}:{part}"
        self._root = str(copy.view.root)

    async def run(self, packages: Collection[str]) -> _Side:
        desk = await asyncio.to_thread(self._lay_out)
        try:
            return await self._look(desk, packages)
        finally:
            await asyncio.shield(asyncio.to_thread(remove_folder, desk))

    async def _look(self, desk: Path, packages: Collection[str]) -> _Side:
        plan, change, commit = self._plan, self._change, self._copy.commit
        listed: Packages | None = None
        chosen: tuple[str, ...] = ()
        arguments: tuple[str, ...] = ()
        if plan.targets.listing:
            listed = await self._list(desk)
            known = tuple(name for name in packages if name in listed.folders)
            chosen = known if packages else listed.reached(change.paths)
            arguments = tuple(word for name in chosen for word in _package(plan.tool, name))
        elif plan.targets.files is not None:
            files = self._files()
            arguments = tuple(f"{plan.targets.files}{name}" for name in files)
        if (listed is not None or plan.targets.files is not None) and not arguments:
            return _Side(CheckOutput())
        finished = await self._start(desk, (*plan.argv, *arguments))
        project = listed.workspace if listed and plan.tool is ToolName.CARGO else plan.check.project
        place = CheckSite(root=self._root, project=project, files=change.files[commit])
        output = await asyncio.to_thread(read, plan.tool, finished, place)
        looked_at = await asyncio.to_thread(self._looked_at, desk, output, place, listed, chosen)
        skipped = skipped_hooks(finished) if plan.tool is ToolName.PRE_COMMIT else ""
        notes = (f"hooks of pre-commit that need to be installed were not run: {text(skipped)}",) if skipped else ()
        return _Side(replace(output, looked_at=looked_at), chosen if listed else (), notes)

    def _files(self) -> tuple[str, ...]:
        commit, project = self._copy.commit, self._plan.check.project
        if self._plan.tool is ToolName.MYPY:
            found = self._change.python_users(commit, project)
        else:
            found = self._change.changed_in(commit)
        return tuple(posixpath.relpath(path, project or ".") for path in found[:MOST_FILES])

    async def _list(self, desk: Path) -> Packages:
        finished = await self._start(desk, self._plan.targets.listing)
        listing = output_of(self._plan.tool, finished, (0,))
        return await asyncio.to_thread(_LISTINGS[self._plan.tool], listing, self._root)

    async def _start(self, desk: Path, argv: Sequence[str]) -> Finished:
        plan, view = self._plan, self._copy.view
        named = tuple(path for path in plan.readable if Path(path).exists())
        words = (self._program(argv[0]), *(word.replace(DESK, str(desk)) for word in argv[1:]))
        # A sandbox shows what a command line names: what is needed of the user's home is named, and dropped again.
        shown_first = ("sh", "-c", _WITH_PATHS, str(len(named)), *named) if named else ()
        given = {name: value.replace(DESK, str(desk)) for name, value in plan.environment.items()}
        keeps = (given["GOCACHE"],) if "GOCACHE" in given else ()
        for folder in keeps:
            await asyncio.to_thread(make_private_directory, Path(folder))
        command = Command(
            argv=(*shown_first, *words),
            folder=str(view.folder / plan.check.project),
            environment={**self._services.tool_environment(), **given},
        )
        limits = ProcessLimits(seconds=self._services.settings.analysers.check_seconds, kept_bytes=KEPT_BYTES)
        return await self._services.run_command(
            command,
            limits,
            effect=self._effect,
            writable=(str(view.folder), str(desk), *keeps),
            stop=self._job.stop,
            view=view,
            network=False,
        )

    def _program(self, name: str) -> str:
        """A program of the project by the path at which the sandbox shows it, unless the copy itself has it."""
        view, project = self._copy.view, self._plan.check.project
        if "/" not in name or name.startswith("/") or (view.folder / project / name).exists():
            return name
        return posixpath.normpath(view.root / project / name)

    def _lay_out(self) -> Path:
        remove_folder(self._services.attempt_dir(self._effect))
        desk = self._services.attempt_dir(self._effect)
        if self._plan.tool is ToolName.PRE_COMMIT:
            shutil.copyfile(Path(inside.__file__).with_name(FILTER), desk / FILTER)
        return desk

    def _looked_at(
        self, desk: Path, output: CheckOutput, place: CheckSite, listed: Packages | None, chosen: Sequence[str]
    ) -> frozenset[str]:
        """Files of the repository that a check really compiled or type-checked."""
        match self._plan.tool:
            case ToolName.MYPY:
                return _measured(read_inside(desk, f"{LINES_REPORT}/coverage.json", KEPT_BYTES), place)
            case ToolName.GO_VET if listed is not None:
                broken = {posixpath.dirname(hit.file) for hit in output.hits if hit.rule == COMPILE}
                files = (file for name in chosen for file in listed.files.get(name, ()))
                return frozenset(file for file in files if posixpath.dirname(file) not in broken)
            case ToolName.CARGO if not any(_is_broken(hit) for hit in output.hits):
                found = sorted((desk / TARGET_FOLDER).rglob("*.d"))[:_MOST_DEPENDENCY_FILES]
                texts = (read_inside(desk, str(file.relative_to(desk)), KEPT_BYTES) or b"" for file in found)
                decoded = (raw.decode("utf-8", errors="replace") for raw in texts)
                return dependency_files(decoded, self._root, place.project) & frozenset(place.files)
            case _:
                return output.looked_at


def _is_broken(hit: Hit) -> bool:
    """Whether it keeps rustc from looking further: an error that is no lint."""
    return hit.level == "error" and (hit.rule == "syntax" or (hit.rule.startswith("E") and hit.rule[1:].isdigit()))


def _measured(raw: bytes | None, place: CheckSite) -> frozenset[str]:
    try:
        report = msgspec.json.decode(raw or b"{}", type=dict[str, dict[str, msgspec.Raw]])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return frozenset()
    return frozenset(file for name in report.get("lines", {}) if (file := place.file(name)))


def _package(tool: ToolName, name: str) -> tuple[str, ...]:
    return ("-p", name) if tool is ToolName.CARGO else (name,)


_LISTINGS: Mapping[ToolName, Callable[[bytes, str], Packages]] = {
    ToolName.GO_VET: go_packages,
    ToolName.CARGO: cargo_packages,
}
