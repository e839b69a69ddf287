"""The trail of a run: each event, and what it led to. For people, demos and the tests of protocols."""

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
    SessionFinished,
    Skipped,
    TimerFired,
    Validated,
    WorkFailed,
    WorkLost,
    WorkStarted,
)
from burnish.core.evidence import Evidence
from burnish.core.findings import Counts, count
from burnish.core.protocol import FallbackTurn
from burnish.core.reviews import Answer
from burnish.core.state import (
    Building,
    Ended,
    Fixing,
    Phase,
    Reviewing,
    Run,
    Scope,
    Sealing,
    Stopping,
    Validating,
    Waiting,
)


def line(event: AnyEvent, before: Run | None, after: Run) -> str:
    """One event and, where it moved the run, the phase that it led to, on a line of its own."""
    words = what_happened(event)
    moved = before is None or phase_words(before.phase) != phase_words(after.phase)
    return f"{words}\n  → {phase_words(after.phase)}" if moved else words


_Progress = WorkStarted | ProcessStarted | WorkFailed | WorkLost | TimerFired
_Result = Built | Validated | Reviewed | SessionFinished | Fixed | Sealed
_Decision = RunStarted | Skipped | BudgetReached | Decided | Cancelled | Closed
_Word = FindingRefuted | FindingWaived | FindingAnnotated | FindingAdded


def what_happened(event: AnyEvent) -> str:
    """An event in a few words."""
    if isinstance(event, _Progress):
        return f"{event.effect} {_progress_words(event)}"
    if isinstance(event, _Result):
        return f"{event.effect} {_result_words(event)}"
    if isinstance(event, _Word):
        return _finding_words(event)
    return _decision_words(event)


def _progress_words(event: _Progress) -> str:
    match event:
        case WorkStarted():
            return f"by {event.agent}"
        case ProcessStarted():
            return f"is process {event.process.pid}"
        case WorkFailed():
            return event.failure.kind.value
        case WorkLost():
            return "lost"
        case TimerFired():
            return "over"


def _result_words(event: _Result) -> str:
    match event:
        case Built():
            return "done"
        case Validated():
            return event.status.value
        case Reviewed():
            return answer_words(event.answer, event.evidence)
        case SessionFinished():
            said = "unreadable" if event.answer is None else answer_words(event.answer)
            return f"{said}, story {event.status.value}"
        case Fixed():
            return f"{event.summary} ({event.change.tree})"
        case Sealed():
            return f"done: {event.digest}"


def _decision_words(event: _Decision) -> str:
    match event:
        case RunStarted():
            return f"started: {event.protocol.name}, {event.mode.value}"
        case Skipped():
            return f"skipped: {event.reason.value}"
        case BudgetReached():
            return f"budget reached: {event.limit}"
        case Decided():
            return f"decided: {event.choice}" + (f" with {event.agent}" if event.agent else "")
        case Cancelled():
            return "cancelled"
        case Closed():
            return f"closed: {event.outcome.value}"


def _finding_words(event: _Word) -> str:
    match event:
        case FindingRefuted():
            return "a finding was refuted"
        case FindingWaived():
            return "a finding was waived"
        case FindingAnnotated():
            return "a finding was annotated"
        case FindingAdded():
            return "a finding was added"


def answer_words(answer: Answer, evidence: Evidence | None = None) -> str:
    """An answer in a few words."""
    if answer.clean and not answer.findings:
        lacks_evidence = evidence is not None and (evidence.missing is not None or not evidence.examined)
        return "no evidence" if lacks_evidence else "clean"
    return counts_words(count(answer.findings)) or "not clean"


def counts_words(counts: Counts) -> str:
    """`1 critical, 2 low`; nothing where nothing was found."""
    pairs = (
        (counts.critical, "critical"),
        (counts.high, "high"),
        (counts.medium, "medium"),
        (counts.low, "low"),
        (counts.info, "info"),
    )
    return ", ".join(f"{number} {name}" for number, name in pairs if number)


def attempt_words(run: Run, reviewer: str, attempt: int) -> str:
    """`attempt 2`, or that the fallback makes it: it may come before the first agent has used up all of its own."""
    rule, assignment = run.protocol.failures, run.roles.reviewer(reviewer)
    is_last = rule.fallback is FallbackTurn.LAST and assignment.fallback is not None and attempt > rule.retries + 1
    if is_last and run.other_agent is None:
        return "fallback"
    return f"attempt {attempt}" if attempt > 1 else ""


def phase_words(phase: Phase) -> str:
    """A phase in a few words."""
    match phase:
        case Building():
            return "building"
        case Validating():
            return f"validating {phase.number}" + (", before the seal" if phase.approval else "")
        case Reviewing():
            return f"reviewing {phase.round}" + (", ratchet" if phase.scope is Scope.RATCHET else "")
        case Fixing():
            order = phase.order
            what = "validation" if order.after_validation else f"{len(order.must)} must, {len(order.may)} may"
            return f"fixing after round {order.round}: {what}"
        case Waiting():
            keys = "/".join(choice.key for choice in phase.choices)
            loud = "" if phase.priority.value == "normal" else f" ({phase.priority.value})"
            return f"waiting for {keys}{loud}: {phase.reason}"
        case Sealing():
            return f"sealing, {', '.join(kind.value for kind in phase.kinds)}"
        case Stopping():
            return f"stopping, {phase.outcome.value}"
        case Ended():
            return f"{phase.outcome.value}: {phase.reason}"
