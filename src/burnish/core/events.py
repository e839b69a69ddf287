"""Events: frozen facts in a closed union. A run is what its events say, in their order, and nothing else.

Each event carries its time. The first one holds everything that was resolved at the start, so that later edits of
files change nothing in a run. Any process may append `INTENTS`; only the run's one writer may append the others.
"""

import json
import re
from enum import Enum
from typing import Any, get_args

import msgspec

from burnish.core.budget import Budget, Share
from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.evidence import CensusFile, Evidence
from burnish.core.findings import Finding, FixVerdict, Tracked
from burnish.core.line_changes import FileChange
from burnish.core.protocol import Protocol, Reviewer, SeatKind, SkipReason
from burnish.core.reviews import Answer, Failure, Usage
from burnish.core.values import Value
from burnish.core.work import Assignment, ProcessMark


class Event(Value, tag_field="type"):
    """Something that happened, and when (seconds since the epoch).

    Tags and field names are on disk in every ledger: a class may be renamed, its tag never.
    """

    at: float


class Mode(Enum):
    """Whether a run may change code: one round of reviews, or the whole loop."""

    REVIEW = "review"
    FIX = "fix"


class Subject(Value):
    """What is under review, frozen at the start."""

    branch: str
    base: str
    base_commit: str
    head: str
    tree: str
    story: str = ""
    status_file: str = ""
    """The file that says how the story stands, where a session is to mark it; empty where there is none."""
    title: str = ""
    changed: tuple[CensusFile, ...] = ()
    """The files that differ between the merge base and the tree."""
    paths: tuple[str, ...] = ()
    """The files and folders that are looked at, where that is not all. Such a review is never sealed."""
    as_is: bool = False
    """Files are reviewed as they are, and not what a change did to them. Such a review is never sealed either."""
    imported: bool = False
    """The change adds a whole program to a base without code, so that it is judged like existing code."""

    @property
    def is_whole_change(self) -> bool:
        """Whether all of a change is looked at: nothing else can be sealed."""
        return not (self.paths or self.as_is)

    @property
    def compared(self) -> str:
        """What is reviewed, against what."""
        return f"the files of {self.branch} as they are" if self.as_is else f"{self.branch} against {self.base}"

    @property
    def story_or_branch(self) -> str:
        """The story that it belongs to; without one, the branch stands for it."""
        return " ".join(self.story.split()) or self.branch


class Roles(Value):
    """Who does what. A reviewer that is not named is played by `review`."""

    review: Assignment
    fix: Assignment
    build: Assignment | None = None
    reviewers: dict[str, Assignment] = msgspec.field(default_factory=dict[str, Assignment])

    def reviewer(self, name: str) -> Assignment:
        return self.reviewers.get(name, self.review)

    def panel(self, protocol: Protocol) -> tuple[Reviewer, ...]:
        """The seats of a protocol that are in use."""
        seats: list[Reviewer] = []
        for seat in protocol.panel:
            if seat.kind is not SeatKind.EXTRA or seat.name in self.reviewers:
                seats.append(seat)
            if seat.kind is SeatKind.CHECK and seat.beside.name in self.reviewers:
                seats.append(seat.beside)
        return tuple(seats)


class Change(Value):
    """What a builder, fixer or session left behind: the commit, its exact tree, and where lines went."""

    commit: str
    tree: str
    files: tuple[FileChange, ...] = ()
    """Where the lines of the tree before went."""
    changed: tuple[CensusFile, ...] = ()
    """The files that differ between the merge base and this tree."""


class ValidationStatus(Enum):
    """The outcome of the project's own commands. One that cannot run is a failed work, not a failed validation."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class StoryStatus(Enum):
    """What the status file that belongs to a story says after a session."""

    DONE = "done"
    NOT_DONE = "not-done"
    ABSENT = "absent"


class Outcome(Enum):
    """How a run ended."""

    APPROVED = "approved"
    ACCEPTED = "accepted"
    FAILED = "failed"
    UNPROVEN = "unproven"
    """Nothing blocks, but not everything was examined."""
    STOPPED = "stopped"
    BLOCKED = "blocked"
    SKIPPED = "skipped"
    DID_NOT_RUN = "did-not-run"
    OVER_BUDGET = "over-budget"
    CANCELLED = "cancelled"


EVIDENCE = 2
"""The rules from which on a judgement counts evidence, and nothing is sealed that was not validated."""


DISTINCT = 3
"""The rules from which on only what speaks of the same problem is merged, and a fixer answers for each finding."""

RULES = DISTINCT
"""The rules of runs that begin now."""


class RunStarted(Event, tag="run-started"):
    """The run begins; everything that governs it is in here."""

    run: str
    mode: Mode
    subject: Subject
    protocol: Protocol
    roles: Roles
    build: bool = False
    skip: SkipReason | None = None
    """Why what was built is not reviewed: the run ends `skipped`, without a seal."""
    interactive: bool = False
    max_reviews: int | None = None
    budget: Budget = Budget()
    rules: int = 1
    """The rules of the loop that the run follows, so that an older ledger can still be replayed: see `EVIDENCE`."""
    allow_unexamined: bool = False
    """Whether a change that is not proven is approved all the same, with a seal that says so."""
    enforced: bool = True
    """Whether a review that does not pass the gate fails. If not, it is sealed as `reported`."""
    local_policy: bool = False
    """Whether the policy came from a working tree that the user trusts, not from the base."""
    waivers: tuple[str, ...] = ()
    """The findings that the base's policy waives, by their ids."""
    remembered: tuple[Tracked, ...] = ()
    """What earlier runs of the subject left open, refuted or waived, at its place in this tree."""
    owner: int = 0
    """The process that asked for the run: the shell or session from which burnish was started."""
    session: str = ""
    """The session that reviews and fixes its own working tree in place; empty where burnish runs the agents."""
    parallel_agents: bool = False
    """Whether the subject is uncommitted work, and other runs were at work on the repository when this one began."""
    supersedes: tuple[str, ...] = ()
    """The runs of the same subject that were ended so that this one could begin."""
    rounds_before: int = 0
    """Rounds of ended runs on the same tree that count towards the hard cap."""
    context: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """All that governs the run beside the protocol: the runtime's `RunContext`, which the core does not look into."""
    invocation: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """What the user typed, as the runtime's `Invocation`."""
    inputs: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Both of them as text, in ledgers of older versions."""


class WorkStarted(Event, tag="work-started"):
    """An attempt begins; recorded before its process exists."""

    effect: str
    agent: str
    share: Share | None = None
    """What it reserves of the budget."""


class ProcessStarted(Event, tag="process-started"):
    """The process of an attempt exists."""

    effect: str
    process: ProcessMark


class WorkFailed(Event, tag="work-failed"):
    """An attempt ended without a usable result."""

    effect: str
    failure: Failure
    usage: Usage = Usage()


class WorkLost(Event, tag="work-lost"):
    """An attempt was ended with its orchestrator, or by a signal. It is made again; what it cost is spent."""

    effect: str
    usage: Usage = Usage()


class TimerFired(Event, tag="timer-fired"):
    """A pause is over."""

    effect: str


class Built(Event, tag="built"):
    """The builder is done."""

    effect: str
    change: Change
    summary: str = ""
    prompt: str = ""
    """The digest of what it was given."""
    said: str = ""
    """The digest of its whole answer."""
    transcript: str = ""
    picked: str = ""
    """The other task of the list that it chose to work on; empty where that is the one that it was given."""
    out_of_work: bool = False
    """Whether it said that no task is left."""
    usage: Usage = Usage()


class Validated(Event, tag="validated"):
    """The project's own commands ran, or there were none."""

    effect: str
    status: ValidationStatus
    output: str = ""
    usage: Usage = Usage()


class Reviewed(Event, tag="reviewed"):
    """A reviewer answered. What it was given and what it said are blobs, by their digests."""

    effect: str
    answer: Answer
    evidence: Evidence = Evidence()
    """What it rests on. Nothing was examined unless it says so."""
    prompt: str = ""
    transcript: str = ""
    usage: Usage = Usage()


class TreeChanged(Event, tag="tree-changed"):
    """The working tree that is under review was changed by other work than the fixer's.

    What reviewers said of the former tree does not count: the round is asked for again, on the tree as it is now.
    """

    change: Change
    files: tuple[str, ...] = ()
    """Some of the files that differ."""


class SessionAdopted(Event, tag="session-adopted"):
    """Another session drives the run from now on, or the same one in another process."""

    session: str
    owner: int = 0
    """Its process."""


class SessionFinished(Event, tag="session-finished"):
    """A session that reviews and fixes ended with exit 0. No answer means that it could not be read."""

    effect: str
    answer: Answer | None
    change: Change
    status: StoryStatus
    newly_done: bool = False
    evidence: Evidence = Evidence()
    prompt: str = ""
    """The digest of what it was given."""
    usage: Usage = Usage()


class FixAnswer(Value):
    """What a fixer says of one finding: fixed and how, not fixed and why, or refuted and by what evidence."""

    finding: str
    fixed: bool
    text: str
    refuted: bool = False
    """Says that there is no such problem. Never together with `fixed`."""

    @property
    def verdict(self) -> FixVerdict:
        if self.refuted:
            return FixVerdict.REFUTED
        return FixVerdict.FIXED if self.fixed else FixVerdict.NOT_FIXED


class Fixed(Event, tag="fixed"):
    """The fixer is done. Whether it changed anything is for the trees to say."""

    effect: str
    change: Change
    summary: str = ""
    """The first line of its answer."""
    text: str = ""
    """Its whole answer, bounded."""
    answers: tuple[FixAnswer, ...] = ()
    """What it says of findings, as it said it: some may be missing, said twice, or about none that it was handed."""
    prompt: str = ""
    """The digest of what it was given."""
    said: str = ""
    """The digest of its whole answer."""
    transcript: str = ""
    """The digest of all that the fixer said."""
    by_rule: bool = False
    """Whether the fixer would do the same again: then a fix without a change means that it can do no more."""
    out_of_work: bool = False
    """Whether it said that no task is left."""
    usage: Usage = Usage()


class Sealed(Event, tag="sealed"):
    """The seal is stored."""

    effect: str
    digest: str


class Closed(Event, tag="closed"):
    """The end that the loop decided, on record: a later version, whose rules may differ, never reopens it."""

    outcome: Outcome
    reason: str


class Skipped(Event, tag="skipped"):
    """The source leaves the subject unreviewed."""

    reason: SkipReason


class BudgetReached(Event, tag="budget-reached"):
    """A cap on money, tokens or minutes is reached."""

    limit: str


class Decided(Event, tag="decided"):
    """A person chose."""

    choice: str
    note: str = ""
    by: str = ""
    agent: str | None = None


class Cancelled(Event, tag="cancelled"):
    """A person ends the run."""

    note: str = ""
    by: str = ""


class FindingRefuted(Event, tag="finding-refuted"):
    """A person shows that a finding is false."""

    finding: str
    evidence: str
    by: str = ""


class FindingWaived(Event, tag="finding-waived"):
    """A person takes the risk of one finding."""

    finding: str
    reason: str
    by: str = ""


class FindingAnnotated(Event, tag="finding-annotated"):
    """A person tells the fixer something about a finding."""

    finding: str
    note: str
    by: str = ""


class FindingAdded(Event, tag="finding-added"):
    """A person adds a finding of their own before the fix."""

    finding: Finding
    by: str = ""


Intent = Decided | Cancelled | FindingRefuted | FindingWaived | FindingAnnotated | FindingAdded
AnyEvent = (
    RunStarted
    | WorkStarted
    | ProcessStarted
    | WorkFailed
    | WorkLost
    | TimerFired
    | Built
    | Validated
    | Reviewed
    | TreeChanged
    | SessionAdopted
    | SessionFinished
    | Fixed
    | Sealed
    | Closed
    | Skipped
    | BudgetReached
    | Decided
    | Cancelled
    | FindingRefuted
    | FindingWaived
    | FindingAnnotated
    | FindingAdded
)
INTENTS: tuple[type[Event], ...] = get_args(Intent)

_SURROGATE = re.compile("[\ud800-\udfff]")
_decoder = msgspec.json.Decoder(AnyEvent)
_encoder = msgspec.json.Encoder(order="deterministic")


def name_of(kind: type[Event]) -> str:
    """The name under which a ledger keeps events of this kind beside their bodies, such as `RunStarted`."""
    return "".join(map(str.capitalize, str(kind.__struct_config__.tag).split("-")))


def as_stored(event: AnyEvent) -> AnyEvent:
    """The event as it will be read again: of names whose bytes are no UTF-8, these are replaced.

    To be believed instead of the event itself, so that a state in memory is the one that its events give.
    """
    try:
        _encoder.encode(event)
    except UnicodeEncodeError:
        # The standard library's JSON, as it alone carries such text.
        text = json.dumps(msgspec.to_builtins(event), ensure_ascii=False)
        return _decoder.decode(_SURROGATE.sub("\ufffd", text))
    return event


def encode(event: Event) -> bytes:
    """An event as JSON; the same event always gives the same bytes."""
    return _encoder.encode(event)


class UnknownEventError(BurnishError):
    """Bytes that are no event that this version knows."""

    kind = ErrorKind.UNREADABLE


def decode(body: bytes) -> AnyEvent:
    """An event from its JSON. Raises `UnknownEventError` where it is none."""
    try:
        return _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        hint = "It may come from a newer version of burnish: upgrade. Nothing was changed."
        raise UnknownEventError(f"An event in the ledger cannot be read: {error}.", hint=hint) from None
