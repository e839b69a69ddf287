"""One run, as every command and every form tells it: the folded state, and the facts that the state does not hold.

`burnish.usecases.tell_run` is the only place that gathers an account. A renderer takes one and asks nothing else.
"""

from collections.abc import Iterator

import msgspec

from burnish.core.break_glass import BreakGlass
from burnish.core.evidence import Gap
from burnish.core.findings import Counts, Finding, FindingStatus, count
from burnish.core.state import (
    Building,
    Ended,
    Fixing,
    Outcome,
    Phase,
    Reviewing,
    Round,
    Run,
    Sealing,
    Seat,
    Stopping,
    Validating,
    Waiting,
)
from burnish.core.values import Value
from burnish.core.work import Running, effect_id
from burnish.system.identifiers import ProcessIdentity

EXIT_CODES = {
    Outcome.APPROVED: 0,
    Outcome.ACCEPTED: 0,
    Outcome.SKIPPED: 0,
    Outcome.FAILED: 1,
    Outcome.STOPPED: 1,
    Outcome.BLOCKED: 1,
    Outcome.CANCELLED: 1,
    Outcome.DID_NOT_RUN: 4,
    Outcome.OVER_BUDGET: 5,
    Outcome.UNPROVEN: 6,
}
WAITING_EXIT = 3
_RUNNING_EXIT = 4
"""A command that stops while its run goes on has not seen the outcome."""
_SHORTEST_ID = 8


class RunSnapshot(Value):
    """A run at one moment, and the living process that drives it, if there is one."""

    run: Run
    driver: ProcessIdentity | None = None

    @property
    def at_rest(self) -> bool:
        """Whether it has ended, or waits for a person."""
        return isinstance(self.run.phase, Ended | Waiting)

    @property
    def interrupted(self) -> bool:
        """Whether there is work to be done, and no process that does it."""
        return self.driver is None and not self.at_rest

    @property
    def needs_person(self) -> bool:
        """Whether it does not go on by itself."""
        return isinstance(self.run.phase, Waiting) or self.interrupted

    @property
    def exit_code(self) -> int:
        """What a command that followed the run to this point exits with."""
        if self.run.is_reported:
            return 0
        if self.run.outcome is not None:
            return EXIT_CODES[self.run.outcome]
        return WAITING_EXIT if isinstance(self.run.phase, Waiting) else _RUNNING_EXIT


class NextStep(Value):
    """What a person could do next: one command line, and what it does."""

    command: str
    """As it can be typed into a shell."""
    does: str
    first: str = ""
    """What a person must do before."""


class WorkInProgress(Value):
    effect: str
    name: str
    """The reviewer, or what is done: `fix`, `build`, `validation`, `seal`."""
    label: str = ""
    """What it is called while it is watched, where that is more than its name: `REVIEW critic`, `FIX bd-7 2/5`."""
    agent: str
    since: float
    doing: str = ""
    """In one short line, as far as its log tells."""


class SourceLine(Value):
    """A line of the tree, and what of it is meant."""

    number: int
    text: str
    start: int
    """The first character that is meant, from 0."""
    length: int


class Account(RunSnapshot):
    """A run, and everything that is told of it beside its state."""

    steps: tuple[NextStep, ...] = ()
    """What a person could do next, the likeliest first."""
    result: str = ""
    """Where the result is, in a sentence; empty where there is none, or this command did not put it there."""
    paused: bool = False
    """Whether it was left after one round, as the user asked, with more to do."""
    at_work: tuple[WorkInProgress, ...] = ()
    document: str = ""
    """Where the findings of a waiting run are to be read; empty where its protocol writes no such document."""
    policy_origin: str | None = None
    """Whose settings govern it; None where that is not known."""
    policy_notes: tuple[str, ...] = ()
    """What was said of settings that are not used."""
    by_rule: tuple[str, ...] = ()
    """The agents that review by rule, without judging what a change is meant to do."""
    logs_removed: bool = False
    break_glass: tuple[BreakGlass, ...] = ()
    """When its tree went ahead without a seal that holds."""
    code: dict[str, SourceLine] = msgspec.field(default_factory=dict[str, SourceLine])
    """The line that each open finding is about, by the finding's id; none of a secret."""


class UnreadableRun(Value):
    """A run whose events cannot be read. It hides none of the others."""

    name: str
    error: str


class RunList(Value):
    """Runs, the newest first, and how many older ones were left out."""

    rows: tuple[Account | UnreadableRun, ...] = ()
    left_out: int = 0


def state_of(run: Run) -> str:
    """`running`, `waiting` or `ended`."""
    return "ended" if run.outcome else "waiting" if isinstance(run.phase, Waiting) else "running"


def seats_of(run: Run, round_: Round) -> tuple[Seat, ...]:
    """Who reviews in a round: those at work while it is under way, else those with a review."""
    if isinstance(run.phase, Reviewing) and run.phase.round == round_.number:
        return run.phase.seats
    return tuple(Seat(reviewer=review.reviewer, work=review) for review in round_.reviews)


def gaps_of(run: Run) -> tuple[Gap, ...]:
    """What keeps the last judged round from being proven."""
    judged = [past.judgement for past in run.rounds if past.judgement is not None]
    return judged[-1].gaps if judged else ()


def still_open(run: Run) -> tuple[Finding, ...]:
    """The findings that a document lists: those that are open, and those that were filed for later."""
    listed = (FindingStatus.OPEN, FindingStatus.FILED)
    return tuple(entry.finding for entry in run.findings if entry.status in listed)


def open_blockers(run: Run) -> int:
    """How many findings block at this moment. An objection that no finding stands for counts as one."""
    tracked = sum(entry.status is FindingStatus.OPEN and entry.blocking for entry in run.findings)
    if tracked or run.judgement is None or run.judgement.clean:
        return tracked
    return sum(finding.synthetic for finding in run.judgement.blocking)


def left_of_last_round(run: Run) -> Counts:
    """What is open of the last round, each problem once, however many reviewers reported it."""
    last = (len(run.rounds), FindingStatus.OPEN)
    return count(entry.finding for entry in run.findings if (entry.last_reported_round, entry.status) == last)


def short_ids(run: Run) -> dict[str, str]:
    """The ids of a run's findings, each cut to the shortest length at which all differ."""
    ids = {entry.finding.id for entry in run.findings}
    length = next((size for size in range(_SHORTEST_ID, 64) if len({name[:size] for name in ids}) == len(ids)), 64)
    return {name: name[:length] for name in ids}


def work_in_progress(run: Run) -> tuple[WorkInProgress, ...]:
    """The work of a run that is under way, without a look at the logs."""
    return tuple(
        WorkInProgress(
            effect=effect_id(key, work.attempt), name=name, label=_label(run, name), agent=work.agent, since=work.since
        )
        for name, key, work in _works(run.phase)
        if isinstance(work, Running)
    )


def _label(run: Run, name: str) -> str:
    """Reviews and fixes of a story, ticket or bead are called by its id; fixes say how many there may be."""
    phase = run.phase.interrupted if isinstance(run.phase, Stopping) else run.phase
    subject = f" {run.subject.story}" if run.subject.story else ""
    match phase:
        case Reviewing():
            return f"REVIEW{subject} {name}"
        case Fixing() if phase.order.after_validation:
            return f"FIX{subject} after validation"
        case Fixing():
            return f"FIX{subject} {phase.order.round}/{max(run.limit - 1, phase.order.round)}"
        case _:
            return f"{name}{subject}" if subject else ""


def _works(phase: Phase) -> Iterator[tuple[str, str, object]]:
    match phase:
        case Reviewing():
            yield from ((seat.reviewer, phase.key(seat), seat.work) for seat in phase.seats)
        case Building() | Validating() | Fixing() | Sealing():
            yield _NAMES[type(phase)], phase.key, phase.work
        case Stopping():
            yield from _works(phase.interrupted)
        case Waiting() | Ended():
            pass


_NAMES: dict[type, str] = {Building: "build", Validating: "validation", Fixing: "fix", Sealing: "seal"}


class BranchStatus(Value):
    """A branch, what differs from its base, and the latest run of it."""

    branch: str
    base: str = ""
    why_not: str = ""
    """Why there is nothing to review, where that is so."""
    uncommitted: int = 0
    """Files of the working tree that are not committed."""
    latest: Account | None = None
    is_current: bool = False
    """Whether that run looked at what the branch is now."""
    step: NextStep | None = None
