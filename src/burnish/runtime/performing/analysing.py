"""A seat of the embedded panel: analysers on the files of the change, and the project's own tests."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence

from burnish.agents.analysers.findings import findings_from
from burnish.agents.analysers.interface import Hit, Task, ToolName
from burnish.agents.analysers.programs import version
from burnish.agents.analysers.roles import STATIC_REVIEWERS, WITNESS, hits_for, tasks_for
from burnish.core.effects import StartReview
from burnish.core.events import AnyEvent, Reviewed, WorkFailed
from burnish.core.evidence import Evidence, Examined, Level
from burnish.core.findings import Finding, FindingStatus
from burnish.core.identity import anchored
from burnish.core.problems import listed
from burnish.core.reviews import Answer, Failure, FailureKind, Former, FormerAnswer, Usage
from burnish.core.state import Run
from burnish.core.values import Value, replace
from burnish.runtime.performing.bench import Bench, is_present
from burnish.runtime.performing.scenes import Scene
from burnish.runtime.performing.witnessing import Testimony, testify
from burnish.runtime.performing.workshop import Job
from burnish.system import clock
from burnish.workspace.names import shown

OF_TESTS = ("test:", "witness:")
_NAMED = 5
"""Files that a note names before it only counts."""


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
    tasks = tasks_for(reviewer, scene.files, settings, scene.configured)
    testimony = Testimony() if reviewer in STATIC_REVIEWERS else await testify(bench.shop, job)
    if isinstance(testimony, Failure):
        return testimony
    hits = hits_for(reviewer, await bench.introduced(scene, tasks, job.stop), settings)
    missing = {task.tool for task in tasks if not is_present(scene.head.folder_for(task.choice), task.tool)}
    present = tuple(task for task in tasks if task.tool not in missing)
    notes = () if reviewer == WITNESS else (*_not_looked_at(scene, present), *(_ABSENT[tool] for tool in missing))
    return _Said(
        findings=(*findings_from(reviewer, hits, settings), *testimony.findings),
        notes=(*notes, *testimony.notes),
        looked=testimony.looked,
        evidence=_evidence(present, testimony),
        given=_given(scene, present),
        log=_log(hits, testimony.log),
    )


def _answer(run: Run, reviewer: str, said: _Said, scene: Scene) -> Answer:
    findings = tuple(_as_shown(finding) for finding in anchored(said.findings, scene.head.lines))
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


def _evidence(tasks: Sequence[Task], testimony: Testimony) -> Evidence:
    """Every file that a tool of this seat was given, at the closest level, and what the tests ran."""
    levels: dict[str, Level] = {}
    for task in tasks:
        level = _LEVELS.get(task.tool, Level.LINTED)
        for path in task.files:
            if shown(path) != path:  # no tool can be asked about a name that is not UTF-8, and each says so
                continue
            levels[path] = max(level, levels.get(path, level), key=lambda each: each.rank)
    examined = tuple(Examined(path=path, level=level) for path, level in sorted(levels.items()))
    return Evidence(examined=(*examined, *testimony.examined), missing=testimony.missing)


def _not_looked_at(scene: Scene, tasks: Sequence[Task]) -> Iterator[str]:
    """What nobody should believe to have been reviewed."""
    seen = {path for task in tasks for path in task.files}
    unread = [file.path for file in scene.files if file.path not in seen]
    if unread:
        yield f"not looked at, for want of an analyser: {_some(unread)}"
    if scene.left_out:
        yield f"left out: {_some(f'{path} ({reason})' for path, reason in scene.left_out)}"


def _some(names: Iterable[str]) -> str:
    listed = [shown(name) for name in names]
    rest = len(listed) - _NAMED
    return ", ".join(listed[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")


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
    ]
    return json.dumps({"base": scene.shown.merge_base, "head": scene.commit, "analysers": looked}, indent=1)


def _log(hits: Sequence[Hit], testimony: str) -> str:
    lines = [f"{shown(hit.file)}:{hit.line}: {hit.tool.value} {hit.rule}: {hit.message}" for hit in hits]
    return "\n".join([*lines, testimony])
