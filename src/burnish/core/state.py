"""The state of a run: one class per phase, holding only what is valid in it, and the history that all phases share."""

from enum import Enum

import msgspec

from burnish.core.events import FixAnswer, Mode, Roles, RunStarted, Subject, ValidationStatus
from burnish.core.findings import Counts, Finding, count
from burnish.core.gates import Judgement
from burnish.core.outcomes import Outcome
from burnish.core.protocol import Choice, Priority, Protocol
from burnish.core.reviews import Answer, Failure, Usage
from burnish.core.values import Value
from burnish.core.work import Work


class SealKind(Enum):
    """What an approval rests on."""

    APPROVED = "approved"
    ACCEPTED = "accepted"
    SELF_REVIEWED = "self-reviewed"


class Scope(Enum):
    """How a round looks at the change: whole and fresh, or at the open findings and the fix, with fresh eyes."""

    FULL = "full"
    RATCHET = "ratchet"


class ReviewStatus(Enum):
    """Three outcomes of a review, never two."""

    CLEAN = "clean"
    FINDINGS = "findings"
    DID_NOT_RUN = "did-not-run"


class GoodReview(Value, tag_field="review", tag="answered"):
    """A reviewer's readable answer."""

    reviewer: str
    agent: str
    answer: Answer
    started_at: float
    finished_at: float
    slow: bool = False
    prompt: str = ""
    """The digest of what it was given."""

    @property
    def status(self) -> ReviewStatus:
        nothing_reported = self.answer.clean and not self.answer.findings
        return ReviewStatus.CLEAN if nothing_reported else ReviewStatus.FINDINGS

    @property
    def counts(self) -> Counts:
        return count(self.answer.findings)


class MissingReview(Value, tag_field="review", tag="did-not-run"):
    """A reviewer that gave no usable answer, and why."""

    reviewer: str
    failure: Failure

    @property
    def status(self) -> ReviewStatus:
        return ReviewStatus.DID_NOT_RUN

    @property
    def counts(self) -> Counts:
        return Counts()


Review = GoodReview | MissingReview


class Seat(Value):
    """A reviewer's place in the round under way: still at work, or with its review."""

    reviewer: str
    work: Work | Review


class FixStatus(Enum):
    """What came of a fix."""

    FIXED = "fixed"
    UNCHANGED = "unchanged"
    DID_NOT_RUN = "did-not-run"


class FixResult(Value):
    """The fix that followed a round, or a failed validation."""

    status: FixStatus
    commit: str = ""
    summary: str = ""
    answers: tuple[FixAnswer, ...] = ()


class Round(Value):
    """One round, listed from the start of its first review."""

    number: int
    scope: Scope
    tree: str
    commit: str
    opened_at: float
    reviews: tuple[Review, ...] = ()
    judgement: Judgement | None = None
    fix: FixResult | None = None


class FindingStatus(Enum):
    """The fate of a finding so far."""

    OPEN = "open"
    RESOLVED = "resolved"
    WITHDRAWN = "withdrawn"
    REFUTED = "refuted"
    WAIVED = "waived"
    FILED = "filed"


class Tracked(Value):
    """A finding over the rounds of a run. Its location is kept up to date as fixes move lines."""

    finding: Finding
    round: int
    seen: int
    """The last round in which a reviewer reported it."""
    status: FindingStatus = FindingStatus.OPEN
    blocking: bool = False
    touched: bool = False
    """Whether a fix changed its lines since it was last reported."""
    asked: bool = False
    """Whether it was put to a person, who has decided."""
    note: str = ""

    @property
    def holds(self) -> bool:
        """An open blocker whose lines nobody touched: it blocks even if later reviewers miss it."""
        return self.status is FindingStatus.OPEN and self.blocking and not self.touched


class FixOrder(Value):
    """What the fixer is asked for."""

    number: int
    """Which fix of the run this is, from 1."""
    round: int
    """The round whose findings are fixed; 0 where validation failed before the first one."""
    must: tuple[Finding, ...] = ()
    may: tuple[Finding, ...] = ()
    """To be fixed if time permits."""
    instructions: str = ""
    """A follow-up prompt, revision notes, or the output of a failed validation."""
    after_validation: bool = False
    notes: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """What a person said about findings, by their id."""


class Building(Value, tag_field="phase", tag="building"):
    """The builder makes the change that will be reviewed."""

    work: Work

    @property
    def key(self) -> str:
        return "build"


class Validating(Value, tag_field="phase", tag="validating"):
    """The project's own commands run on the tree."""

    number: int
    work: Work

    @property
    def key(self) -> str:
        return f"validate:{self.number}"


class Reviewing(Value, tag_field="phase", tag="reviewing"):
    """The panel looks at the tree, each seat at its own pace."""

    round: int
    scope: Scope
    seats: tuple[Seat, ...]

    def key(self, seat: Seat) -> str:
        return f"review:{self.round}:{seat.reviewer}"


class Fixing(Value, tag_field="phase", tag="fixing"):
    """The fixer works in its own clone."""

    order: FixOrder
    work: Work

    @property
    def key(self) -> str:
        return f"fix:{self.order.number}"


class Waiting(Value, tag_field="phase", tag="waiting"):
    """A person must decide."""

    reason: str
    choices: tuple[Choice, ...]
    priority: Priority = Priority.NORMAL
    asked: tuple[str, ...] = ()
    """The findings that need a person's word; none where the limit is reached."""


class Sealing(Value, tag_field="phase", tag="sealing"):
    """The approval is being bound to the tree."""

    kind: SealKind
    reason: str
    work: Work

    @property
    def key(self) -> str:
        return "seal"


Active = Building | Validating | Reviewing | Fixing | Sealing
"""The phases in which work is under way."""


class Stopping(Value, tag_field="phase", tag="stopping"):
    """The end is decided; work that still runs is being ended, and what it gives is kept."""

    outcome: Outcome
    reason: str
    interrupted: Active


class Ended(Value, tag_field="phase", tag="ended"):
    """Nothing more will happen."""

    outcome: Outcome
    reason: str


Phase = Active | Waiting | Stopping | Ended


class Validation(Value):
    """The last result of the project's own commands, for reviewers and fixer."""

    status: ValidationStatus
    output: str = ""


class Run(Value):
    """Everything that is known of a run: what it was started with, its history, and the phase it is in."""

    started: RunStarted
    phase: Phase
    commit: str
    tree: str
    version: int = 1
    """How many events were folded."""
    rounds: tuple[Round, ...] = ()
    limit: int = 1
    """Reviews allowed so far; a person may raise it up to the hard cap."""
    findings: tuple[Tracked, ...] = ()
    origins: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """The path in the first round of each file that was renamed since."""
    validation: Validation | None = None
    failed_validations: int = 0
    """Failed validations in a row."""
    validations: int = 0
    fixes: int = 0
    infrastructure_failures: int = 0
    """Counted apart: they use up no review."""
    other_agent: str | None = None
    """Whom a person chose to review instead."""
    seal: str = ""
    closed: bool = False
    """Whether the end is on record, so that no later version with other rules can reopen it."""
    usage: Usage = Usage()
    at: float = 0.0
    """When the last event happened."""
    busy: float = 0.0
    """Seconds for which it was at work: not the time of a person who decides, nor that in which nobody drove it."""

    @property
    def id(self) -> str:
        return self.started.run

    @property
    def protocol(self) -> Protocol:
        return self.started.protocol

    @property
    def roles(self) -> Roles:
        return self.started.roles

    @property
    def subject(self) -> Subject:
        return self.started.subject

    @property
    def may_fix(self) -> bool:
        return self.started.mode is Mode.FIX

    @property
    def revisions(self) -> int:
        """Fixes that followed a judged round."""
        return sum(1 for round_ in self.rounds if round_.fix is not None)
