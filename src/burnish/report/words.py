"""The wording of everything that is told about a run, shared by text, page, documents and live lines."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import reduce
from typing import Any

from msgspec.structs import asdict

from burnish.core.break_glass import BreakGlass
from burnish.core.budget import Budget, dollars
from burnish.core.events import (
    AnyEvent,
    BudgetReached,
    Built,
    Cancelled,
    Closed,
    Decided,
    FindingAdded,
    FindingAnnotated,
    FindingRefuted,
    FindingWaived,
    Fixed,
    ProcessStarted,
    Reviewed,
    RunStarted,
    Sealed,
    SessionAdopted,
    SessionFinished,
    Skipped,
    TimerFired,
    TreeChanged,
    Validated,
    WorkFailed,
    WorkLost,
    WorkStarted,
)
from burnish.core.evidence import Evidence, TestsRun
from burnish.core.findings import Counts, Finding, FindingStatus, FixVerdict, Severity, Tracked, count
from burnish.core.gates import Judgement
from burnish.core.protocol import Choice, ChoiceAction, FallbackTurn
from burnish.core.reviews import Answer, Usage
from burnish.core.state import (
    AnsweredReview,
    Building,
    Ended,
    FailedReview,
    FixerAnswer,
    Fixing,
    FixResult,
    Phase,
    Review,
    Reviewing,
    ReviewStatus,
    Run,
    Scope,
    Sealing,
    Stopping,
    Validating,
    Waiting,
)
from burnish.report.account import Account, NextStep, RunSnapshot, gaps_of, left_of_last_round
from burnish.report.output import Tone, Toned, flat

ANALYSERS_ALONE = (
    "Reviewed by static analysers only. They catch known mistakes and run your tests, but cannot tell whether the "
    "change does what it should."
)
FILES_AS_THEY_ARE = (
    "Files were reviewed as they are, without tests. Existing code is judged more leniently than a change: only rules "
    "that proved accurate on existing code can block."
)
WHOLE_PROGRAM = (
    "The base holds no code, so that this program was judged like existing code: only rules that proved accurate on "
    "such code can block."
)
ADD_A_MODEL = 'To add a model, choose a ready one from `burnish agent list`: --agent NAME, or [roles] review = "NAME".'
WHAT_HELPS = (
    'In burnish.toml of the base, add an agent that reads the change ([roles] review = "NAME"), or list generated and '
    "vendored paths ([review] ignore)."
)
APPROVE_ANYWAY = "To approve the change anyway: --allow-unexamined."
LOGS_REMOVED = "The logs, prompts and transcripts of {} were removed ('burnish clean', or the limits in [keep])."
MOST_NAMED = 10
"""Files that are named before they are only counted."""
_TONES = {
    "approved": Tone.GOOD,
    "accepted": Tone.GOOD,
    "waiting": Tone.CAREFUL,
    "unproven": Tone.CAREFUL,
    "interrupted": Tone.CAREFUL,
    "failed": Tone.BAD,
    "stopped": Tone.BAD,
    "blocked": Tone.BAD,
    "did-not-run": Tone.BAD,
    "over-budget": Tone.BAD,
}
_NO_BUDGET = Budget()
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))

# --- events and phases -------------------------------------------------------------------------------------------


def trail_line(event: AnyEvent, before: Run | None, after: Run) -> str:
    """One event and, where it moved the run, the phase that it led to, on a line of its own."""
    words = what_happened(event)
    moved = before is None or phase_words(before.phase) != phase_words(after.phase)
    return f"{words}\n  → {phase_words(after.phase)}" if moved else words


EVENT_WORDS: dict[type, Callable[[Any], str]] = {
    WorkStarted: lambda event: f"by {event.agent}",
    ProcessStarted: lambda event: f"is process {event.process.pid}",
    WorkFailed: lambda event: event.failure.kind.value,
    WorkLost: lambda _event: "lost",
    TimerFired: lambda _event: "pause over",
    Built: lambda _event: "done",
    Validated: lambda event: event.status.value,
    Reviewed: lambda event: result_words(event.answer, event.evidence),
    TreeChanged: lambda event: f"the working tree changed ({event.change.tree})",
    SessionAdopted: lambda event: f"taken over by session {event.session[:8]}",
    SessionFinished: lambda event: f"{result_words(event.answer)}, story {event.status.value}",
    Fixed: lambda event: f"{event.summary} ({event.change.tree})",
    Sealed: lambda event: f"done: {event.digest}",
    RunStarted: lambda event: f"started: {event.protocol.name}, {event.mode.value}",
    Skipped: lambda event: f"skipped: {event.reason.value}",
    BudgetReached: lambda event: f"budget reached: {event.limit}",
    Decided: lambda event: f"decided: {event.choice}" + (f" with {event.agent}" if event.agent else ""),
    Cancelled: lambda _event: "cancelled",
    Closed: lambda event: f"closed: {event.outcome.value}",
    FindingRefuted: lambda _event: "a finding was refuted",
    FindingWaived: lambda _event: "a finding was waived",
    FindingAnnotated: lambda _event: "a finding was annotated",
    FindingAdded: lambda _event: "a finding was added",
}


def what_happened(event: AnyEvent) -> str:
    effect = getattr(event, "effect", "")
    words = EVENT_WORDS[type(event)](event)
    return f"{effect} {words}" if effect else words


def result_words(answer: Answer | None, evidence: Evidence | None = None) -> str:
    if answer is None:
        return "unreadable"
    if answer.findings or not answer.clean:
        return counts_words(count(answer.findings)) or "not clean"
    lacks_evidence = evidence is not None and (evidence.missing is not None or not evidence.examined)
    return "no evidence" if lacks_evidence else "clean"


def counts_words(counts: Counts) -> str:
    """`1 critical, 2 low`; nothing where nothing was found."""
    return ", ".join(f"{amount} {severity}" for severity, amount in asdict(counts).items() if amount)


def attempt_words(run: Run, reviewer: str, attempt: int) -> str:
    """`attempt 2`, or that the fallback makes it: it may come before the first agent has used up all of its own."""
    rule, assignment = run.protocol.failures, run.roles.reviewer(reviewer)
    is_last = rule.fallback is FallbackTurn.LAST and assignment.fallback is not None and attempt > rule.retries + 1
    if is_last and run.other_agent is None:
        return "fallback"
    return f"attempt {attempt}" if attempt > 1 else ""


def phase_words(phase: Phase) -> str:
    match phase:
        case Building():
            return "building"
        case Validating():
            return f"validation {phase.number}" + (", before sealing" if phase.approval else "")
        case Reviewing():
            return f"reviewing round {phase.round}" + (" (ratchet)" if phase.scope is Scope.RATCHET else "")
        case Fixing():
            order = phase.order
            optional = f", {len(order.may)} optional" if order.may else ""
            what = "failed validation" if order.after_validation else f"{len(order.must)} required{optional}"
            return f"fixing after round {order.round}: {what}"
        case Waiting():
            keys = "/".join(choice.key for choice in phase.choices)
            loud = "" if phase.priority.value == "normal" else f" ({phase.priority.value})"
            return f"waiting for {keys}{loud}: {phase.reason}"
        case Sealing():
            return f"sealing ({', '.join(kind.value for kind in phase.kinds)})"
        case Stopping():
            return f"stopping ({phase.outcome.value})"
        case Ended():
            return f"{phase.outcome.value}: {phase.reason}"


def step_words(step: NextStep) -> tuple[str, ...]:
    before = (f"{step.first}, then:",) if step.first else ()
    return (*before, f"Next: {step.command}", f"      {step.does}")


# --- the state of a run ------------------------------------------------------------------------------------------


def state_word(snapshot: RunSnapshot) -> Toned:
    """One word: `running`, `interrupted`, `stopping`, `waiting`, or the outcome."""
    phase, outcome = snapshot.run.phase, snapshot.run.outcome
    going_on = "interrupted" if snapshot.interrupted else "stopping" if isinstance(phase, Stopping) else "running"
    word = outcome.value if outcome else "waiting" if isinstance(phase, Waiting) else going_on
    if snapshot.run.is_reported:
        return Toned(f"{word}, not enforced", Tone.CAREFUL)
    return Toned(word, _TONES.get(word, Tone.PLAIN))


def what_is_kept(run: Run) -> str:
    """What an interrupted run has, and does not do again."""
    phase = run.phase.interrupted if isinstance(run.phase, Stopping) else run.phase
    if isinstance(phase, Reviewing):
        done = sum(isinstance(seat.work, AnsweredReview | FailedReview) for seat in phase.seats)
        if not done:
            return f"no review in round {len(run.rounds)} was done"
        kept = "was done and is kept" if done == 1 else "were done and are kept"
        return f"{done} of {number(len(phase.seats), 'review')} in round {len(run.rounds)} {kept}"
    return "what was done is kept"


def reason(snapshot: RunSnapshot) -> str:
    phase = snapshot.run.phase
    if isinstance(phase, Ended | Waiting | Stopping):
        return flat(phase.reason)
    return f"{phase_words(phase)}, {'not active' if snapshot.interrupted else f'by {snapshot.driver}'}"


def choice_words(choice: Choice) -> str:
    """One way on; where it calls another agent, how that is named."""
    return f"{choice.text} (--agent NAME)" if choice.action is ChoiceAction.ANOTHER_AGENT else choice.text


def seal_words(run: Run) -> str:
    """`Sealed: tree 1234…`, or that the seal is no approval; nothing where there is no seal."""
    if not run.seal:
        return ""
    if not run.is_reported:
        return f"Sealed: tree {run.tree[:12]}."
    return (
        "Not approved. The policy says [gate] enforce = false, so this is only reported (exit code 0). The seal of "
        f"tree {run.tree[:12]} is of kind 'reported'."
    )


def glass_words(record: BreakGlass) -> str:
    said = f"Break-glass: {flat(record.at)} by {flat(record.by)}: {flat(record.reason)}"
    return f"{said} (commit {flat(record.commit)[:12]} against {flat(record.base)}; {flat(record.missing)})"


def waiting_lines(account: Account) -> tuple[str, ...]:
    """What is left in a run that waits for a person, and where to read it; nothing of any other."""
    if not isinstance(account.run.phase, Waiting):
        return ()
    counts = left_of_last_round(account.run)
    minor = counts.medium + counts.low + counts.info
    rounds = number(len(account.run.rounds), "review round")
    left = f"After {rounds}, issues remain: critical {counts.critical}, important {counts.high}, minor {minor}"
    told = {left: counts.total, f"Findings document: {account.document}": account.document}
    return tuple(line for line, holds in told.items() if holds)


def effort(account: Account) -> tuple[str, ...]:
    """What a run took: of a budget, or else its time, and that it cost nothing where that is so."""
    run = account.run
    if run.started.budget.caps:
        return (f"Usage: {usage_of(run)}",)
    free = not run.usage.cost_usd and not run.usage.tokens
    by_rule = all(review.agent in account.by_rule for review in run.last_answered)
    if not run.last_answered or not (free and by_rule):
        return ()
    return (f"Took {run.busy:.1f} s, cost $0.00: no model was called.",)


def kind_of_review(account: Account) -> tuple[str, ...]:
    """Sentences about the reviewers, if analysers were among them: rules cannot judge what a change is meant to do."""
    by_rule = [review.reviewer for review in account.run.last_answered if review.agent in account.by_rule]
    if not by_rule:
        return ()
    if account.run.subject.as_is:
        return (FILES_AS_THEY_ARE,)
    imported = (WHOLE_PROGRAM,) if account.run.subject.imported else ()
    if len(by_rule) == len(account.run.last_answered):
        return (*imported, ANALYSERS_ALONE, ADD_A_MODEL)
    return (
        *imported,
        f"Static analysers, which cannot tell whether the change does what it should: {', '.join(by_rule)}.",
    )


# --- evidence ----------------------------------------------------------------------------------------------------


def review_words(review: Review) -> str:
    """The result of one reviewer. It is clean only if the reviewer examined something."""
    if isinstance(review, FailedReview):
        return f"did not run, {review.failure.kind.value}: {review.failure.message}"
    if review.status is not ReviewStatus.NO_EVIDENCE:
        return _STATUS_WORDS.get(review.status) or counts_words(review.counts) or "not clean"
    if review.evidence.missing is not None:
        return f"no evidence: {review.evidence.missing.reason}"
    closest = max((each.level for each in review.evidence.examined), key=lambda level: level.rank, default=None)
    examined = "no analyser for the changed files" if closest is None else f"the changed files were {closest.words}"
    return f"no evidence: {examined}"


_STATUS_WORDS = {
    ReviewStatus.CLEAN: "clean",
    ReviewStatus.INCOMPLETE: "incomplete: no findings, but the story is not done",
}


def census_line(run: Run) -> str:
    """`Examined: 3 of 4 changed files (2 linted, 1 read by an agent)`; nothing where no round was judged."""
    census = [entry for entry in run.census if entry.file.need.line is None or entry.file.need.line.rank]
    if not census:
        return ""
    enough = [entry for entry in census if entry.enough]
    counted = Counter(entry.level for entry in enough)
    closest_first = sorted(counted, key=lambda level: -level.rank)
    levels = ", ".join(f"{counted[level]} {level.words.removeprefix('only ')}" for level in closest_first)
    files = f"{'' if run.subject.as_is else 'changed '}{'file' if len(census) == 1 else 'files'}"
    return f"Examined: {len(enough)} of {len(census)} {files}" + (f" ({levels})" if levels else "")


def tests_line(run: Run) -> str:
    """`Tests: 214 ran, 12 of them reach the change`; nothing where none were counted in the last round."""
    found = [review.evidence.tests for review in run.last_answered if review.evidence.tests is not None]
    if not found:
        return ""
    tests = reduce(TestsRun.plus, found)
    reaching = "" if tests.reaching is None else f", {tests.reaching} of them reach the change"
    return f"Tests: {tests.ran} ran{reaching}"


def gap_lines(run: Run) -> Iterator[str]:
    """What was not examined, and what would change that."""
    found = gaps_of(run)
    for gap in found[:MOST_NAMED]:
        yield ": ".join(filter(None, ("Not proven", gap.subject, gap.reason)))
    if len(found) > MOST_NAMED:
        more = number(len(found) - MOST_NAMED, "more file")
        yield f"Not proven: {more}; `burnish show {run.id} --json` lists them all"
    hints = {gap.hint: None for gap in found}
    yield from filter(None, hints)
    if "" in hints:
        yield WHAT_HELPS if run.subject.as_is else f"{WHAT_HELPS} {APPROVE_ANYWAY}"


# --- findings ----------------------------------------------------------------------------------------------------


def severity_word(severity: Severity) -> Toned:
    """A severity; only the worst two stand out."""
    return Toned(severity.value, Tone.BAD if severity.at_least(Severity.HIGH) else Tone.PLAIN)


def status_word(entry: Tracked) -> Toned:
    """What has become of a finding, in one word."""
    if entry.status is FindingStatus.OPEN and entry.blocking:
        return Toned("blocks", Tone.BAD)
    return Toned(entry.status.value, Tone.PLAIN if entry.status is FindingStatus.OPEN else Tone.FAINT)


def dismissal(entry: Tracked) -> str:
    """`waived: a constant (ada, 2026-11-16)`."""
    day = datetime.fromtimestamp(entry.dismissed_at, UTC).date().isoformat() if entry.dismissed_at else ""
    who = ", ".join(part for part in (flat(entry.dismissed_by), day) if part)
    return f"{entry.status.value}: {flat(entry.note)}" + (f" ({who})" if who else "")


def worst_first(entry: Tracked) -> tuple[int, bool, bool]:
    """The order of findings: by severity; of one severity, what is open, and of that what blocks, comes first."""
    return entry.finding.severity.rank, entry.status is not FindingStatus.OPEN, not entry.blocking


def found_in(entry: Tracked) -> str:
    return f"round {entry.round}" if entry.round else "an earlier run"


def places(finding: Finding) -> list[str]:
    """`app.py:3`, for every place that it names, the first one first."""
    return [
        flat(location.file if location.line is None else f"{location.file}:{location.line}")
        for location in (finding.location, *finding.also_at)
        if location is not None
    ]


def judgement_word(judgement: Judgement | None) -> Toned:
    """The judgement of a round in a word or two."""
    if judgement is None:
        return Toned("not judged", Tone.PLAIN)
    if judgement.passes:
        return Toned("clean", Tone.GOOD)
    if judgement.clean:
        return Toned("not proven", Tone.CAREFUL)
    blocking = len(judgement.blocking) + len(judgement.carried)
    return Toned(f"{blocking} blocking" if blocking else "not clean", Tone.BAD)


def fix_words(fix: FixResult) -> str:
    commit = f", commit {fix.commit[:12]}" if fix.commit else ""
    return f"{fix.status.value}{commit}" + (f": {fix.summary}" if fix.summary else "")


def fix_answers(fix: FixResult) -> Iterator[str]:
    """The fixer's answer for each finding that it was given, and for others; then the findings without an answer."""
    yield from (_fix_answer(one) for one in fix.answers if one.verdict is not FixVerdict.NO_ANSWER)
    unanswered = [one.finding[:8] for one in fix.answers if one.verdict is FixVerdict.NO_ANSWER]
    if unanswered:
        yield f"no answer for {', '.join(unanswered)}"
    yield from (f"{_fix_answer(one)} (the fixer was not given this finding)" for one in fix.strays)


def _fix_answer(answer: FixerAnswer) -> str:
    said = f": {answer.text}" if answer.text else ""
    return f"{answer.finding[:8]} {answer.verdict.words}{said}"


# --- numbers -----------------------------------------------------------------------------------------------------


def duration(seconds: float) -> str:
    """`45 s`, `3 min`, `2 h`, `5 d`: as exact as a glance needs."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{max(0, int(seconds))} s"


def number(amount: int, noun: str) -> str:
    """`1 round`, `2 rounds`."""
    return f"{amount} {noun}" if amount == 1 else f"{amount} {noun}s"


def usage(used: Usage, budget: Budget = _NO_BUDGET) -> str:
    """Time, tokens and money, as far as they are known, and how much of each there may be."""
    parts = [f"{used.seconds:.1f} s of agent time"]
    if used.tokens or budget.tokens is not None:
        parts.append(f"{used.tokens:,}{'' if budget.tokens is None else f' of {budget.tokens:,}'} tokens")
    if used.cost_usd or budget.cost_usd is not None:
        most = "" if budget.cost_usd is None else f" of ${dollars(budget.cost_usd)}"
        parts.append(f"${dollars(used.cost_usd)}{most}")
    return ", ".join(parts)


def usage_of(run: Run) -> str:
    budget = run.started.budget
    at_work = "" if budget.minutes is None else f", {run.busy / 60:.1f} of {budget.minutes:g} minutes active"
    return f"{usage(run.usage, budget)}{at_work}"
