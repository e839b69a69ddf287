"""The state of a run: one class per phase, holding only what is valid in it, and the history that all phases share."""

from enum import Enum

import msgspec

from burnish.core.errors import RefusedError
from burnish.core.events import Mode, Outcome, Roles, RunStarted, Subject, ValidationStatus
from burnish.core.evidence import CensusEntry, CensusFile, Evidence
from burnish.core.findings import Counts, Finding, FixVerdict, Tracked, count
from burnish.core.gates import Judgement
from burnish.core.protocol import Choice, Priority, Protocol, Reviewer
from burnish.core.reviews import Answer, Failure, ScoreCard, Usage
from burnish.core.values import Value, replace
from burnish.core.work import Work


class SealKind(Enum):
    """What an approval rests on. A seal may be of several kinds; `approved` stands alone."""

    APPROVED = "approved"
    ACCEPTED = "accepted"
    """A person took the risk of what is open."""
    SELF_REVIEWED = "self-reviewed"
    """The session that made the change reviewed it."""
    UNPROVEN = "unproven"
    """Not everything was examined, and the base's policy or a flag allows that."""
    WAIVED = "waived"
    """A person waived or refuted a blocking finding, and the base's policy does not list the waiver."""
    LOCAL_POLICY = "local-policy"
    """The policy came from the working tree, which the user trusts, not from the base."""
    REPORTED = "reported"
    """The gate was not passed, and the policy does not enforce it: the seal only says that a review took place."""


class Scope(Enum):
    """How a round looks at the change: whole and fresh, or at the open findings and the fix, with fresh eyes."""

    FULL = "full"
    RATCHET = "ratchet"


class ReviewStatus(Enum):
    """What came of a review. Without evidence it is never clean."""

    CLEAN = "clean"
    FINDINGS = "findings"
    NO_EVIDENCE = "no-evidence"
    """It ran, but had nothing to go on."""
    INCOMPLETE = "incomplete"
    """A session reports nothing, and left its story as not done."""
    DID_NOT_RUN = "did-not-run"


class AnsweredReview(Value, tag_field="review", tag="answered"):
    """A reviewer's readable answer."""

    reviewer: str
    agent: str
    answer: Answer
    started_at: float
    finished_at: float
    slow: bool = False
    prompt: str = ""
    """The digest of what it was given."""
    evidence: Evidence = Evidence()
    looked: bool = False
    """Whether it examined at least one changed file as closely as that file needs."""
    story_open: bool = False
    """Whether it is a session that left its story as not done."""
    attempt: int = 1
    """Which attempt of the round gave it."""

    @property
    def status(self) -> ReviewStatus:
        if not self.answer.clean or self.answer.findings:
            return ReviewStatus.FINDINGS
        if self.story_open:
            return ReviewStatus.INCOMPLETE
        return ReviewStatus.CLEAN if self.looked and self.evidence.missing is None else ReviewStatus.NO_EVIDENCE

    @property
    def counts(self) -> Counts:
        return count(self.answer.findings)


class FailedReview(Value, tag_field="review", tag="did-not-run"):
    """A reviewer that gave no usable answer, and why."""

    reviewer: str
    failure: Failure
    attempt: int = 1
    """The last one."""

    @property
    def status(self) -> ReviewStatus:
        return ReviewStatus.DID_NOT_RUN

    @property
    def counts(self) -> Counts:
        return Counts()


Review = AnsweredReview | FailedReview


class Seat(Value):
    """A reviewer's place in the round under way: still at work, or with its review."""

    reviewer: str
    work: Work | Review


class FixStatus(Enum):
    """What came of a fix."""

    FIXED = "fixed"
    UNCHANGED = "unchanged"
    DID_NOT_RUN = "did-not-run"


class FixerAnswer(Value):
    """The fixer's word on one finding."""

    finding: str
    verdict: FixVerdict
    text: str = ""


class FixResult(Value):
    """The fix that followed a round, or a failed validation."""

    status: FixStatus
    commit: str = ""
    summary: str = ""
    text: str = ""
    """The fixer's whole answer, bounded."""
    answers: tuple[FixerAnswer, ...] = ()
    """One for each finding that the fixer was handed, in that order."""
    strays: tuple[FixerAnswer, ...] = ()
    """Answers about findings that it was not handed."""


class Round(Value):
    """One round, listed from the start of its first review."""

    number: int
    scope: Scope
    tree: str
    commit: str
    opened_at: float
    reviews: tuple[Review, ...] = ()
    judgement: Judgement | None = None
    census: tuple[CensusEntry, ...] = ()
    """How closely each changed file was examined in this round."""
    fix: FixResult | None = None

    @property
    def answered(self) -> tuple[AnsweredReview, ...]:
        """The reviews that say something."""
        return tuple(review for review in self.reviews if isinstance(review, AnsweredReview))


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
    then_review: bool = False
    """A person asked for one more review: it follows, whatever the fix changes."""
    notes: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """What a person said about findings, by their id."""

    @property
    def commit_title(self) -> str:
        """How the message of the fix's commit begins."""
        if self.after_validation:
            return "fix: address failed validation"
        return f"fix: address code review round {self.round}"


class Building(Value, tag_field="phase", tag="building"):
    """The builder makes the change that will be reviewed."""

    work: Work

    @property
    def key(self) -> str:
        return "build"


class Approval(Value):
    """An approval that waits until the project's own commands have passed on its exact tree."""

    reason: str
    accepted: bool = False
    """A person took the risk; the gate did not pass."""


class Validating(Value, tag_field="phase", tag="validating"):
    """The project's own commands run on the tree, before a review or before a seal."""

    number: int
    work: Work
    approval: Approval | None = None
    """What follows when they pass; None: a review."""

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

    def seat_of(self, effect: str) -> Seat:
        for seat in self.seats:
            if effect.removeprefix("pause:").rpartition(":")[0] == self.key(seat):
                return seat
        raise RefusedError(f"no seat of round {self.round} is called '{effect}'")

    def with_work(self, seat: Seat, work: Work | Review) -> "Reviewing":
        """The panel with the work of one seat changed."""
        changed = replace(seat, work=work)
        return replace(self, seats=tuple(changed if other.reviewer == seat.reviewer else other for other in self.seats))

    @property
    def attempt(self) -> int:
        """The latest attempt of any seat."""
        return max(seat.work.attempt for seat in self.seats)

    @property
    def reviews(self) -> tuple[Review, ...]:
        return tuple(seat.work for seat in self.seats if isinstance(seat.work, AnsweredReview | FailedReview))


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

    kinds: tuple[SealKind, ...]
    reason: str
    work: Work
    outcome: Outcome = Outcome.APPROVED
    """What the run ends with once the seal is stored."""

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
    tree: str = ""
    """The exact tree on which they ran. It says nothing about any other."""


class Run(Value):
    """Everything that is known of a run: what it was started with, its history, and the phase it is in."""

    started: RunStarted
    phase: Phase
    commit: str
    tree: str
    changed: tuple[CensusFile, ...] = ()
    """The files that differ between the merge base and the tree."""
    version: int = 1
    """How many events were folded."""
    rounds: tuple[Round, ...] = ()
    limit: int = 1
    """Reviews allowed so far; a person may raise it up to the hard cap."""
    findings: tuple[Tracked, ...] = ()
    origins: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """The path in the first round of each file that was renamed since."""
    said: tuple[str, ...] = ()
    """The digests of what the builder and the fixers answered, in their order."""
    picked: str = ""
    """The other task of a list that the builder chose; empty where it did the one that it was given."""
    out_of_work: bool = False
    """Whether the builder or a fixer said that no task of the list is left."""
    validation: Validation | None = None
    failed_validations: int = 0
    """Failed validations in a row."""
    validations: int = 0
    fixes: int = 0
    """Fixes that were asked for."""
    repairs: int = 0
    """Those of them that a failed validation asked for, not a review."""
    infrastructure_failures: int = 0
    """Counted apart: they use up no review."""
    unusable: tuple[str, ...] = ()
    """Reviewers' agents that are not installed or not logged in, where the protocol does not ask them again."""
    other_agent: str | None = None
    """Whom a person chose to review instead."""
    seal: str = ""
    seal_kinds: tuple[SealKind, ...] = ()
    closed: bool = False
    """Whether the end is on record, so that no later version with other rules can reopen it."""
    session: str = ""
    """The session that drives it; empty where burnish runs the agents."""
    owner: int = 0
    """The process of that session, or the one that asked for the run."""
    ended_at: float = 0.0
    """When the end was decided and nothing ran any more; 0 before."""
    usage: Usage = Usage()
    at: float = 0.0
    """When the last event happened."""
    busy: float = 0.0
    """Seconds for which it was active: without the time in which it waited for a person or was not driven."""

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
    def panel(self) -> tuple[Reviewer, ...]:
        """The seats in use."""
        return self.roles.panel(self.protocol)

    @property
    def subject(self) -> Subject:
        return self.started.subject

    @property
    def may_fix(self) -> bool:
        return self.started.mode is Mode.FIX

    @property
    def is_reported(self) -> bool:
        """Whether it did not pass its gate, but the policy does not enforce that: see `SealKind.REPORTED`."""
        return SealKind.REPORTED in self.seal_kinds

    @property
    def outcome(self) -> Outcome | None:
        """How it ended; None before its end."""
        return self.phase.outcome if isinstance(self.phase, Ended) else None

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What a person can choose, where the run waits for one."""
        return self.phase.choices if isinstance(self.phase, Waiting) else ()

    @property
    def judgement(self) -> Judgement | None:
        """That of the last round."""
        return self.rounds[-1].judgement if self.rounds else None

    @property
    def last_answered(self) -> tuple[AnsweredReview, ...]:
        """The reviews of the last round that say something."""
        return self.rounds[-1].answered if self.rounds else ()

    @property
    def validated(self) -> Validation | None:
        """What the project's own commands said of the tree as it is now; None where they have not run on it."""
        return self.validation if self.validation is not None and self.validation.tree == self.tree else None

    def with_last_round(self, **changes: object) -> "Run":
        return replace(self, rounds=(*self.rounds[:-1], replace(self.rounds[-1], **changes)))

    @property
    def blockers(self) -> tuple[Finding, ...]:
        """All that blocks after the last round."""
        return self.judgement.blockers if self.judgement else ()

    @property
    def census(self) -> tuple[CensusEntry, ...]:
        """How closely each changed file was examined in the last round that was judged."""
        return next((past.census for past in reversed(self.rounds) if past.judgement is not None), ())

    @property
    def revisions(self) -> int:
        """Fixes that followed a judged round."""
        return sum(1 for round_ in self.rounds if round_.fix is not None)

    @property
    def revisions_begun(self) -> int:
        """Fixes that a judged round asked for, the one under way included."""
        return self.fixes - self.repairs


class ScoredReview(Value):
    """A scored review. Attempt 0 is the original work, 1 and 2 are its revisions."""

    attempt: int
    card: ScoreCard
    reviewed_at: float


def scored_reviews(run: Run) -> tuple[ScoredReview, ...]:
    return tuple(
        ScoredReview(attempt=round_.number - 1, card=review.answer.card, reviewed_at=review.finished_at)
        for round_ in run.rounds
        for review in round_.reviews
        if isinstance(review, AnsweredReview) and review.answer.card is not None
    )
