"""A seat of the embedded panel: analysers on the files of the change, and the project's own tests."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any

from burnish.agents.interface import Card, Changed, Cost, Failed, Rejection, Review
from burnish.agents.panel.autofix.applying import AutofixResult, apply_autofixes
from burnish.agents.panel.checks import blocking, hits_for, looks_for_bugs, runs_tests, tasks_for
from burnish.agents.panel.findings import findings_from
from burnish.agents.panel.interface import Hidden, Hit, Task, ToolError, ToolName
from burnish.agents.panel.own_checks.reporting import OwnRule
from burnish.agents.panel.programs import version
from burnish.agents.panel.project_checks.reviewing import ChecksReview, review_checks
from burnish.agents.panel.project_tests.reviewing import TestReview, review_tests
from burnish.agents.panel.runner import AnalyserRunner, Looked
from burnish.agents.panel.selectors import plain
from burnish.agents.panel.snapshots import ChangeSnapshot
from burnish.agents.panel.standing import in_imported_code, in_standing_code
from burnish.agents.panel.suppressions import without_suppressions
from burnish.agents.services import Job, Services
from burnish.core.effects import StartReview
from burnish.core.events import Subject
from burnish.core.evidence import Evidence, Examined, Level, Missing
from burnish.core.finding_identity import anchored
from burnish.core.finding_likeness import listed
from burnish.core.findings import Finding, FindingStatus, Location, Severity
from burnish.core.reviews import Answer, Failure, FailureKind, Former, FormerAnswer, Usage
from burnish.core.state import Run
from burnish.core.values import Value, replace
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings, AnalyserSettings
from burnish.system import clock
from burnish.workspace.clones import Clone
from burnish.workspace.names import shown

OF_TESTS = ("test:", "tests:", "witness:")
_SECRETS = "security"
"""The check that looks for secrets."""
_OF_SECRETS = (OwnRule.PASSWORD.value, OwnRule.PASSWORD_IN_CODE.value, OwnRule.ACCESS_KEY.value)
_CONFIGURATION_HINT = "Correct the configuration in the base."
_IMPORT_HINT = (
    "Read them with `burnish findings`, then approve the change with --allow-unexamined. If the program is new, review "
    "it in parts of fewer than 50 files, which are judged as new code: burnish review FOLDER."
)


class _Said(Value):
    """What one seat has to say, before it becomes an answer."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    unheard: tuple[str, ...]
    """How rules begin of which nothing is known this time: those of tests and checks that gave no evidence."""
    evidence: Evidence
    given: str
    log: str


class Analysers:
    """The embedded panel. All seats of a run share one runner: each tool looks at each side once."""

    card = Card(kind=AgentKind.ANALYSERS, cost=Cost.TOLD)

    def check(self, settings: AgentSettings) -> None:
        del settings

    async def review(self, job: Job[StartReview], services: Services) -> Review | Failed:
        return await review_seat(services.shared(AnalyserRunner), job)

    async def change(
        self, job: Job[Any], services: Services, clone: Clone, rejection: Rejection | None
    ) -> Changed | Failed:
        """Make the fixes of the tools themselves. What the project's commit hooks reject is taken back as a whole."""
        if rejection is None:
            started = clock.now()
            result = await apply_autofixes(services.shared(AnalyserRunner), job, clone)
            usage = Usage(seconds=clock.now() - started)
        else:
            usage, log = rejection.work.usage, rejection.work.transcript.decode(errors="replace")
            result = AutofixResult(answers=rejection.work.answers, summary=rejection.work.summary, log=log)
            result = result.taken_back(f"the project's commit hook rejected it: {rejection.text}")
        return Changed(
            summary=result.summary,
            text=result.summary,
            answers=result.answers,
            transcript=result.log.encode(errors="replace"),
            usage=usage,
            kept=rejection is None,
            by_rule=True,
        )


AGENT = Analysers()


async def review_seat(runner: AnalyserRunner, job: Job[StartReview]) -> Review | Failed:
    """Have the analysers of one seat look at the change."""
    started = clock.now()
    snapshot = await runner.snapshot(job.run)
    if not snapshot.shown.entries:
        return Failed(failure=Failure(kind=FailureKind.EMPTY_DIFF, message="there is nothing to review"))
    said = await _say(runner, job, snapshot)
    said = await asyncio.to_thread(snapshot.head.was_written_to) or said
    usage = Usage(seconds=clock.now() - started)
    if isinstance(said, Failure):
        return Failed(failure=said, usage=usage)
    return Review(
        answer=_answer(job.run, job.effect.reviewer, said, snapshot),
        evidence=said.evidence,
        given=said.given.encode(errors="replace"),
        transcript=said.log.encode(errors="replace"),
        usage=usage,
    )


async def _say(runner: AnalyserRunner, job: Job[StartReview], snapshot: ChangeSnapshot) -> _Said | Failure:
    reviewer, settings = job.effect.reviewer, runner.services.settings.analysers
    tested = await review_tests(runner.services, job) if runs_tests(reviewer) else TestReview()
    if isinstance(tested, Failure):
        return tested
    seat, checked = await asyncio.gather(_look(runner, job, snapshot), _own_checks(runner, job, snapshot))
    known = tuple(_not_hidden_anew(job.run, hit, snapshot) for hit in (*seat.hits, *checked.hits))
    subject = job.run.subject
    hits = hits_for(reviewer, await asyncio.to_thread(_judged, subject, known, snapshot), settings)
    undecided = _undecided(hits_for(reviewer, known, settings), hits, settings) if subject.imported else None
    deleted = await asyncio.to_thread(_deletions, snapshot, seat) if looks_for_bugs(reviewer) else ()
    return _Said(
        findings=(*findings_from(reviewer, hits, settings), *tested.findings),
        notes=(*seat.notes, *checked.notes, *tested.notes),
        unheard=(*(() if tested.looked else OF_TESTS), *(f"{tool.value}:" for tool in checked.unheard)),
        evidence=Evidence(
            examined=(*_examined(seat, deleted), *checked.examined, *tested.examined),
            missing=_first_to_tell(tested.missing, seat.missing, undecided),
            tests=tested.ran,
        ),
        given=_given(snapshot, tuple(seat.looked)),
        log=_log(hits, checked.log, tested.log),
    )


def _judged(subject: Subject, hits: Sequence[Hit], snapshot: ChangeSnapshot) -> Sequence[Hit]:
    """The hits as they count in what is under review: a change, or code that existed before."""
    if subject.as_is:
        return in_standing_code(hits, snapshot.head.lines)
    return in_imported_code(hits, snapshot.head.lines) if subject.imported else hits


def _undecided(in_a_change: Sequence[Hit], here: Sequence[Hit], settings: AnalyserSettings) -> Missing | None:
    """Why a whole program that a change adds is not approved: what would block in another change may be wrong here."""
    if blocking(in_a_change, settings) == blocking(here, settings):
        return None
    reason = (
        "findings that would block a smaller change are medium, for their rules are often wrong about whole programs"
    )
    return Missing(reason=reason, hint=_IMPORT_HINT)


def _first_to_tell(*reasons: Missing | None) -> Missing | None:
    """What leaves a run unproven comes before what is excused."""
    known = [reason for reason in reasons if reason is not None]
    return next((reason for reason in known if not reason.excused), known[0] if known else None)


async def added_secrets(services: Services, run: Run, stop: asyncio.Event) -> tuple[Finding, ...] | Failure:
    """The secrets that a change adds, as findings that block. Their values are never repeated."""
    runner, settings = services.shared(AnalyserRunner), services.settings.analysers
    try:
        snapshot = await runner.snapshot(run)
        tasks = tasks_for(_SECRETS, snapshot.files, settings, frozenset())
        scans = [task for task in tasks if task.tool in (ToolName.KINGFISHER, ToolName.BURNISH)]
        looked = await asyncio.gather(*(runner.introduced(snapshot, task, stop) for task in scans))
    except ToolError as error:
        return Failure(kind=FailureKind.CANNOT_RUN, message=f"the scan for secrets did not run: {error}")
    found = (hit for one in looked for hit in one.hits if hit.tool is ToolName.KINGFISHER or hit.rule in _OF_SECRETS)
    hits = hits_for(_SECRETS, tuple(found), settings)
    findings = _anchored(findings_from(_SECRETS, hits, settings), snapshot)
    waived = run.started.waivers
    return tuple(_as_shown(one) for one in findings if one.severity.at_least(Severity.HIGH) and one.id not in waived)


async def _own_checks(runner: AnalyserRunner, job: Job[StartReview], snapshot: ChangeSnapshot) -> ChecksReview:
    if job.run.subject.as_is or not looks_for_bugs(job.effect.reviewer):
        return ChecksReview()  # files as they are bring nothing new
    return await review_checks(runner.services, job, snapshot)


class _Seat(Value):
    """What the tools of one seat did."""

    looked: dict[Task, Looked]
    notes: tuple[str, ...] = ()
    missing: Missing | None = None

    @property
    def hits(self) -> tuple[Hit, ...]:
        return tuple(hit for looked in self.looked.values() for hit in looked.hits)


async def _look(runner: AnalyserRunner, job: Job[StartReview], snapshot: ChangeSnapshot) -> _Seat:
    """Run the tools of a seat. Where a project's own configuration stops one, burnish's own rules take its place."""
    reviewer, settings = job.effect.reviewer, runner.services.settings.analysers
    for task in tasks_for(reviewer, snapshot.files, settings, frozenset()):
        if task.tool is ToolName.KINGFISHER:  # the panel takes as long as this tool
            runner.start_early(snapshot, task, job.stop)
    configured = await asyncio.to_thread(lambda: snapshot.configured)
    tasks = tasks_for(reviewer, snapshot.files, settings, configured)
    tried = await asyncio.gather(*(_try(runner, snapshot, task, job.stop) for task in tasks))
    failed = {task.tool: error for task, error in zip(tasks, tried, strict=True) if isinstance(error, ToolError)}
    if failed:
        tasks = tasks_for(reviewer, snapshot.files, settings, configured - failed.keys())
        tried = await asyncio.gather(*(runner.introduced(snapshot, task, job.stop) for task in tasks))
    notes = tuple(_stopped(tool, error) for tool, error in failed.items())
    notes = (*notes, *dict.fromkeys(one.note for one in tried if isinstance(one, Looked) and one.note))
    looked = {task: one for task, one in zip(tasks, tried, strict=True) if isinstance(one, Looked)}
    # The line for code is met by other seats, or it is not; a seat without its tool only has nothing to say.
    nothing = bool(failed) and not any(one.examined for one in looked.values())
    missing = Missing(reason=notes[0], hint=_CONFIGURATION_HINT, excused=True) if nothing else None
    present = {task: one for task, one in looked.items() if not one.note}
    return _Seat(looked=present, notes=notes, missing=missing)


async def _try(runner: AnalyserRunner, snapshot: ChangeSnapshot, task: Task, stop: asyncio.Event) -> Looked | ToolError:
    """What a tool found, or why it could not run as the project configures it."""
    try:
        return await runner.introduced(snapshot, task, stop)
    except ToolError as error:
        if not task.choice.own_configuration:
            raise
        return error


def _stopped(tool: ToolName, error: ToolError) -> str:
    why = str(error).rstrip(".")
    return f"{tool.value} does not run with the project's configuration, so burnish used its own rules: {why}"


def _not_hidden_anew(run: Run, hit: Hit, snapshot: ChangeSnapshot) -> Hit:
    """A hit as it counts in this run: what was reported in an earlier round is not made milder by a comment since."""
    if hit.hidden is not Hidden.NAMED:
        return hit
    rule = f"{hit.tool.value}:{plain(hit.rule)}"
    place = Location(file=hit.file, line=hit.line)
    (probe,) = _anchored((Finding(severity=Severity.LOW, title="", location=place),), snapshot)
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


def _deletions(snapshot: ChangeSnapshot, seat: _Seat) -> tuple[str, ...]:
    """Deleted files that nothing names any more but what linters of this seat looked at."""
    linted = {
        path
        for task, looked in seat.looked.items()
        for path in looked.examined
        if _level(task.tool, path) is Level.LINTED
    }
    return tuple(path for path, named_by in snapshot.deleted.items() if named_by <= linted)


def _answer(run: Run, reviewer: str, said: _Said, snapshot: ChangeSnapshot) -> Answer:
    findings = tuple(_as_shown(finding) for finding in _anchored(said.findings, snapshot))
    return Answer(
        clean=not findings,
        findings=findings,
        former=tuple(_former(run, reviewer, findings, said.unheard)),
        whole=True,
        notes=said.notes,
    )


def _as_shown(finding: Finding) -> Finding:
    """With its files as people and former findings name them; its lines were looked up by their names in git."""
    if finding.location is None:
        return finding
    first, *others = (replace(place, file=shown(place.file)) for place in (finding.location, *finding.also_at))
    return replace(finding, location=first, also_at=tuple(others))


def _anchored(findings: Sequence[Finding], snapshot: ChangeSnapshot) -> tuple[Finding, ...]:
    """The findings, each tied to its line without comments that silence tools: adding one makes no new finding."""

    def lines(path: str) -> Sequence[str]:
        return [without_suppressions(line) for line in snapshot.head.lines(path) or ()]

    return anchored(findings, lines)


def _former(run: Run, reviewer: str, findings: Sequence[Finding], unheard: tuple[str, ...]) -> Iterator[Former]:
    """A rule does not overlook: what it reported once and does not report now is gone, wherever the fix was made."""
    for tracked in run.findings:
        finding = tracked.finding
        known = tracked.status is FindingStatus.OPEN and finding.rule and reviewer in finding.found_by
        if any(rule.startswith(unheard) for rule in listed(finding.rule)):
            continue
        if known and not any(_is_still(finding, now) for now in findings):
            yield Former(id=finding.id, answer=FormerAnswer.FIXED, evidence=f"{finding.rule} no longer reports it")


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


def _given(snapshot: ChangeSnapshot, tasks: Sequence[Task]) -> str:
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
    return json.dumps({"base": snapshot.shown.merge_base, "head": snapshot.commit, "analysers": looked}, indent=1)


def _log(hits: Sequence[Hit], *said: str) -> str:
    lines = [f"{shown(hit.file)}:{hit.line}: {hit.tool.value} {hit.rule}: {hit.message}" for hit in hits]
    return "\n".join([*lines, *(words for words in said if words)])
