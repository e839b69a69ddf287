"""A seat of the embedded panel: analysers on the files of the change, and the project's own tests."""

import asyncio
import json
from collections.abc import Iterator, Sequence

from burnish.agents.analysers.findings import findings_from
from burnish.agents.analysers.interface import Hidden, Hit, Task, ToolError, ToolName
from burnish.agents.analysers.programs import version
from burnish.agents.analysers.roles import STATIC_REVIEWERS, hits_for, looks_for_bugs, tasks_for
from burnish.agents.analysers.selectors import plain
from burnish.agents.analysers.suppressions import without_suppressions
from burnish.core.effects import StartReview
from burnish.core.events import AnyEvent, Reviewed, WorkFailed
from burnish.core.evidence import Evidence, Examined, Level, Missing
from burnish.core.finding_identity import anchored
from burnish.core.finding_likeness import listed
from burnish.core.findings import Finding, FindingStatus, Location, Severity
from burnish.core.reviews import Answer, Failure, FailureKind, Former, FormerAnswer, Usage
from burnish.core.state import Run
from burnish.core.values import Value, replace
from burnish.runtime.performing.bench import Bench, Looked, is_present
from burnish.runtime.performing.scenes import Scene
from burnish.runtime.performing.witnessing import Testimony, testify
from burnish.runtime.performing.workshop import Job
from burnish.system import clock
from burnish.workspace.names import shown

OF_TESTS = ("test:", "witness:")
_CONFIGURATION_HINT = "Correct the configuration on the base."
_ABSENT = {
    ToolName.HADOLINT: "Dockerfiles were not linted: pip install 'burnish[docker]' adds hadolint",
    ToolName.ESLINT: "eslint is configured but not installed in the clone: [workspace] prepare or seed can do that",
}
"""What is said of a tool that is not always there."""


class _Said(Value):
    """What one seat has to say, before it becomes an answer."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    looked: bool
    """Whether there was evidence of tests."""
    evidence: Evidence
    given: str
    log: str


async def analyse(bench: Bench, job: Job[StartReview]) -> AnyEvent:
    """Have the analysers of one seat look at the change."""
    effect, run, shop = job.effect, job.run, bench.shop
    started = clock.now()
    scene = await bench.scene(run)
    if not scene.shown.entries:
        failure = Failure(kind=FailureKind.EMPTY_DIFF, message="there is nothing to review")
        return WorkFailed(at=clock.now(), effect=effect.id, failure=failure)
    said = await _say(bench, job, scene)
    said = await asyncio.to_thread(scene.head.was_written_to) or said
    usage = Usage(seconds=clock.now() - started)
    if isinstance(said, Failure):
        return WorkFailed(at=clock.now(), effect=effect.id, failure=said, usage=usage)
    return Reviewed(
        at=clock.now(),
        effect=effect.id,
        answer=_answer(run, effect.reviewer, said, scene),
        evidence=said.evidence,
        prompt=shop.keep(said.given.encode(errors="replace")),
        transcript=shop.keep(said.log.encode(errors="replace")),
        usage=usage,
    )


async def _say(bench: Bench, job: Job[StartReview], scene: Scene) -> _Said | Failure:
    reviewer, settings = job.effect.reviewer, bench.shop.inputs.settings.analysers
    testimony = Testimony() if reviewer in STATIC_REVIEWERS else await testify(bench.shop, job)
    if isinstance(testimony, Failure):
        return testimony
    seat = await _look(bench, job, scene)
    known = (_not_hidden_anew(job.run, hit, scene) for hit in seat.hits)
    hits = hits_for(reviewer, tuple(known), settings)
    deleted = await asyncio.to_thread(_deletions, scene, seat) if looks_for_bugs(reviewer) else ()
    return _Said(
        findings=(*findings_from(reviewer, hits, settings), *testimony.findings),
        notes=(*seat.notes, *testimony.notes),
        looked=testimony.looked,
        evidence=Evidence(
            examined=(*_examined(seat, deleted), *testimony.examined), missing=testimony.missing or seat.missing
        ),
        given=_given(scene, tuple(seat.looked)),
        log=_log(hits, testimony.log),
    )


class _Seat(Value):
    """What the tools of one seat did."""

    looked: dict[Task, Looked]
    notes: tuple[str, ...] = ()
    missing: Missing | None = None

    @property
    def hits(self) -> tuple[Hit, ...]:
        return tuple(hit for looked in self.looked.values() for hit in looked.hits)


async def _look(bench: Bench, job: Job[StartReview], scene: Scene) -> _Seat:
    """Run the tools of a seat. Where a project's own configuration stops one, burnish's own rules take its place."""
    reviewer, settings = job.effect.reviewer, bench.shop.inputs.settings.analysers
    configured = await asyncio.to_thread(lambda: scene.configured)
    tasks = tasks_for(reviewer, scene.files, settings, configured)
    tried = await asyncio.gather(*(_try(bench, scene, task, job.stop) for task in tasks))
    failed = {task.tool: error for task, error in zip(tasks, tried, strict=True) if isinstance(error, ToolError)}
    if failed:
        tasks = tasks_for(reviewer, scene.files, settings, configured - failed.keys())
        tried = await asyncio.gather(*(bench.introduced(scene, task, job.stop) for task in tasks))
    absent = [task.tool for task in tasks if task.tool in _ABSENT and not await _is_there(scene, task)]
    notes = (*(_stopped(tool, error) for tool, error in failed.items()), *(_ABSENT[tool] for tool in absent))
    looked = {task: one for task, one in zip(tasks, tried, strict=True) if isinstance(one, Looked)}
    # The line for code is met by other seats, or it is not; a seat without its tool only has nothing to say.
    nothing = bool(failed) and not any(one.examined for one in looked.values())
    missing = Missing(reason=notes[0], hint=_CONFIGURATION_HINT, excused=True) if nothing else None
    present = {task: one for task, one in looked.items() if task.tool not in absent}
    return _Seat(looked=present, notes=notes, missing=missing)


async def _try(bench: Bench, scene: Scene, task: Task, stop: asyncio.Event) -> Looked | ToolError:
    """What a tool found, or why it could not run as the project configures it."""
    try:
        return await bench.introduced(scene, task, stop)
    except ToolError as error:
        if not task.choice.own_configuration:
            raise
        return error


async def _is_there(scene: Scene, task: Task) -> bool:
    return await asyncio.to_thread(lambda: is_present(scene.head.folder_for(task), task.tool))


def _stopped(tool: ToolName, error: ToolError) -> str:
    why = str(error).rstrip(".")
    return f"{tool.value} does not run with the project's own configuration, so burnish's own rules were used: {why}"


def _not_hidden_anew(run: Run, hit: Hit, scene: Scene) -> Hit:
    """A hit as it counts in this run: what was reported in an earlier round is not made milder by a comment since."""
    if hit.hidden is not Hidden.NAMED:
        return hit
    rule = f"{hit.tool.value}:{plain(hit.rule)}"
    place = Location(file=hit.file, line=hit.line)
    (probe,) = _anchored((Finding(severity=Severity.LOW, title="", location=place),), scene)
    formerly = (tracked.finding for tracked in run.findings if tracked.status is FindingStatus.OPEN)
    if any(
        rule in listed(one.rule)
        and one.anchor == probe.anchor
        and one.location
        and one.location.file == shown(hit.file)
        for one in formerly
    ):
        return replace(hit, hidden=Hidden.BLANKET)
    return hit


def _deletions(scene: Scene, seat: _Seat) -> tuple[str, ...]:
    """Deleted files that nothing names any more but what linters of this seat looked at."""
    linted = {
        path
        for task, looked in seat.looked.items()
        for path in looked.examined
        if _level(task.tool, path) is Level.LINTED
    }
    return tuple(path for path, named_by in scene.deleted.items() if named_by <= linted)


def _answer(run: Run, reviewer: str, said: _Said, scene: Scene) -> Answer:
    findings = tuple(_as_shown(finding) for finding in _anchored(said.findings, scene))
    return Answer(
        clean=not findings,
        findings=findings,
        former=tuple(_former(run, reviewer, findings, looked=said.looked)),
        whole=True,
        notes=said.notes,
    )


def _as_shown(finding: Finding) -> Finding:
    """With its files as people and former findings name them; its lines were looked up by their names in git."""
    if finding.location is None:
        return finding
    first, *others = (replace(place, file=shown(place.file)) for place in (finding.location, *finding.also_at))
    return replace(finding, location=first, also_at=tuple(others))


def _anchored(findings: Sequence[Finding], scene: Scene) -> tuple[Finding, ...]:
    """The findings, each tied to its line without comments that silence tools: adding one makes no new finding."""

    def lines(path: str) -> Sequence[str]:
        return [without_suppressions(line) for line in scene.head.lines(path) or ()]

    return anchored(findings, lines)


def _former(run: Run, reviewer: str, findings: Sequence[Finding], *, looked: bool) -> Iterator[Former]:
    """A rule does not overlook: what it reported once and does not report now is gone, wherever the fix was made."""
    for tracked in run.findings:
        finding = tracked.finding
        known = tracked.status is FindingStatus.OPEN and finding.rule and reviewer in finding.found_by
        if finding.rule.startswith(OF_TESTS) and not looked:
            continue
        if known and not any(_is_still(finding, now) for now in findings):
            yield Former(id=finding.id, answer=FormerAnswer.FIXED, evidence=f"{finding.rule} reports it no longer")


def _is_still(former: Finding, now: Finding) -> bool:
    """Whether a finding of now may be a former one: one of its rules, in its file, on a line that reads the same."""
    if not listed(former.rule) & listed(now.rule):
        return False
    if former.location is None or now.location is None:
        return former.location == now.location
    return former.location.file == now.location.file and (not former.anchor or former.anchor == now.anchor)


_LEVELS = {ToolName.KINGFISHER: Level.SECRETS, ToolName.AST_GREP: Level.RULES}
"""How closely a tool looks, where it does not lint."""
_SCRIPT_ONLY = (".vue", ".svelte", ".astro")
"""Files of which oxlint sees the script and not the template."""


def _level(tool: ToolName, path: str) -> Level:
    if tool is ToolName.OXLINT and path.endswith(_SCRIPT_ONLY):
        return Level.RULES
    return _LEVELS.get(tool, Level.LINTED)


def _examined(seat: _Seat, deleted: Sequence[str]) -> tuple[Examined, ...]:
    """Every file that a tool of this seat looked at, at the closest level."""
    levels: dict[str, Level] = dict.fromkeys(deleted, Level.LINTED)
    for task, looked in seat.looked.items():
        for path in looked.examined:
            level = _level(task.tool, path)
            levels[path] = max(level, levels.get(path, level), key=lambda each: each.rank)
    # As a name that is not UTF-8 is shown, another file may really be called: it counts for neither.
    return tuple(Examined(path=path, level=level) for path, level in sorted(levels.items()) if shown(path) == path)


def _given(scene: Scene, tasks: Sequence[Task]) -> str:
    """What the review rests on: tools with their versions, rules and files. The seal names its digest."""
    looked = [
        {
            "tool": task.tool.value,
            "version": version(task.tool),
            "rules": "the project's own" if task.choice.own_configuration else list(task.choice.select),
            "files": [shown(path) for path in task.files],
        }
        for task in tasks
        if task.files
    ]
    return json.dumps({"base": scene.shown.merge_base, "head": scene.commit, "analysers": looked}, indent=1)


def _log(hits: Sequence[Hit], testimony: str) -> str:
    lines = [f"{shown(hit.file)}:{hit.line}: {hit.tool.value} {hit.rule}: {hit.message}" for hit in hits]
    return "\n".join([*lines, testimony])
