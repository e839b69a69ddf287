"""What a person sees while a run goes on: a line for each thing that happened, on the standard error output."""

from burnish.cli.output import complain
from burnish.cli.screen import flat
from burnish.core.events import (
    AnyEvent,
    BudgetReached,
    Built,
    Fixed,
    ProcessStarted,
    Reviewed,
    RunStarted,
    Sealed,
    TimerFired,
    Validated,
    ValidationStatus,
    WorkFailed,
    WorkLost,
    WorkStarted,
)
from burnish.core.evidence import looked
from burnish.core.state import FixStatus, Run, Validating, Waiting
from burnish.runtime.trail import attempt_words, phase_words, what_happened

_VALIDATED = {ValidationStatus.PASSED: "✓", ValidationStatus.FAILED: "✗", ValidationStatus.SKIPPED: "–"}


def show(event: AnyEvent, run: Run) -> None:
    """One event. Marks of processes and the end of pauses are nobody's concern."""
    if isinstance(event, ProcessStarted | TimerFired | RunStarted):
        return
    if isinstance(event, WorkStarted):
        if event.effect.startswith("review:"):
            complain(f"  … {_short(event.effect, run)} by {event.agent}")
        elif not isinstance(run.phase, Validating):
            complain(f"  … {_short(event.effect, run)}")
        return
    words = what_happened(event)
    if isinstance(event, Fixed):
        words = f"{event.effect} {_fixed(event, run)}"
    complain(f"  {_mark(event, run)} {_short(words, run)}")
    if isinstance(run.phase, Waiting):
        complain(f"  ? {phase_words(run.phase)}")


def _mark(event: AnyEvent, run: Run) -> str:
    """✓ only where something passed, ✗ where it did not, and – for everything that is neither."""
    match event:
        case Reviewed() if event.answer.findings or not event.answer.clean:
            return "✗"
        case Reviewed():
            proven = event.evidence.missing is None and looked(run.changed, event.evidence)
            return "✓" if proven else "–"
        case Validated():
            return _VALIDATED[event.status]
        case Sealed() | Built():
            return "✓"
        case WorkFailed() | WorkLost() | BudgetReached():
            return "✗"
        case _:
            return "–"


def _fixed(event: Fixed, run: Run) -> str:
    """Whether the tree under review is another one now, as the round has it on record."""
    fix = run.rounds[-1].fix if run.rounds else None
    changed = run.tree == event.change.tree and (fix is None or fix.status is FixStatus.FIXED)
    did = "changed the tree" if changed else "changed nothing"
    return f"{did}: {flat(event.summary)}" if event.summary else did


def _short(words: str, run: Run) -> str:
    """`review:2:critic:1 clean` → `round 2: critic clean`."""
    head, _, tail = words.partition(" ")
    parts = head.split(":")
    if parts[0] == "review" and len(parts) == 4:
        attempt = attempt_words(run, parts[2], int(parts[3]))
        return f"round {parts[1]}: {parts[2]}{f' ({attempt})' if attempt else ''} {tail}".rstrip()
    names = {"fix": "fix", "validate": "validation", "seal": "seal", "build": "build"}
    return f"{names.get(parts[0], head)} {tail}".rstrip()


def title(run: Run) -> str:
    """The first line of a run."""
    scope = "the loop" if run.may_fix else "one round of reviews"
    rounds = len(run.rounds)
    again = f", resumed after {rounds} round{'' if rounds == 1 else 's'}" if rounds else ""
    ended = "".join(f", supersedes {name}" for name in run.started.supersedes)
    subject = f"{run.subject.branch} against {run.subject.base}"
    return f"run {run.id}: {subject}, protocol {run.protocol.name}, {scope}{ended}{again}"
