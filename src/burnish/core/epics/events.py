"""What happens in an epic. An epic is what its events say; runs are its children, and their events stay with them.

Only how a child ended is repeated here, because the epic goes on from there.
"""

from enum import Enum
from typing import Any, get_args

import msgspec

from burnish.core.budget import Budget, Share
from burnish.core.epics.plan import EpicPlan
from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.events import Event, Outcome
from burnish.core.reviews import Usage
from burnish.core.values import Value


class MergeMethod(Enum):
    """How the work of a ticket comes into the epic's branch."""

    MERGE = "merge"
    SQUASH = "squash"


class OverlapRule(Enum):
    """What follows if two tickets say that they change the same files."""

    TELL = "tell"
    """Both may be built at once; their agents are told."""
    SERIALISE = "serialise"


class CarriedTicket(Value):
    """A ticket that an earlier run of the same epic has merged, or whose work it approved."""

    ticket: str
    run: str
    commit: str = ""
    """The commit of the epic's branch that holds it; empty where it is not merged."""
    approved: str = ""
    """The commit that was approved; empty where it is merged."""
    built: str = ""
    """The commit that was built without a review. It is not built again."""
    outcome: Outcome = Outcome.APPROVED


class CarriedReview(Value):
    """How the review of the whole epic ended in an earlier run."""

    run: str
    outcome: Outcome
    reason: str
    commit: str


class MergeConflict(Value):
    """Why approved work could not be merged as it is."""

    commit: str
    """A merge of both sides that is not finished: its files have conflict markers, or it fails validation."""
    onto: str
    """The commit of the epic's branch that it was merged with."""
    files: tuple[str, ...] = ()
    """The files with conflict markers."""
    output: str = ""
    """What validation said of a merge without conflicts."""

    @property
    def words(self) -> str:
        if self.files:
            more = f" and {len(self.files) - 3} more" if len(self.files) > 3 else ""
            return f"conflicts in {', '.join(self.files[:3])}{more}"
        return "validation fails on the merged tree"


class EpicStarted(Event, tag="epic-started"):
    """The epic begins; everything that governs it is in here."""

    epic: str
    """The name of this run of the epic."""
    plan: EpicPlan
    branch: str
    """The branch that approved tickets are merged into."""
    base: str
    baseline: str
    """The commit that the branch begins at."""
    tip: str = ""
    """The commit that it is at already, where an earlier run of the epic has merged tickets."""
    parallel: int
    """Tickets at work at once."""
    iterations: int = 0
    """How often up to so many tickets begin together, at most; 0 where each begins as soon as a place is free."""
    pause: float = 0.0
    """Seconds from the end of one iteration to the next."""
    method: MergeMethod = MergeMethod.MERGE
    overlap: OverlapRule = OverlapRule.TELL
    budget: Budget = Budget()
    """The caps of the whole epic."""
    ticket_budget: Budget = Budget()
    """The caps of one ticket."""
    carried: tuple[CarriedTicket, ...] = ()
    reviewed: CarriedReview | None = None
    """The review of exactly this, where an earlier run has made it."""
    pull_request: bool = False
    """Whether the branch is pushed and a pull request is opened once the epic is approved."""
    halts: bool = False
    """Whether nothing is begun while a person must decide about a ticket, or after one has taken a ticket over."""
    checkpoint: bool = False
    """Whether the epic pauses after each ticket, until a person has it go on."""
    request: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """How each run is asked for, which the core does not look into."""


class PlanChanged(Event, tag="plan-changed"):
    """A person edited the source. What has begun keeps what it began with."""

    plan: EpicPlan


class TicketStarted(Event, tag="ticket-started"):
    """A run of a ticket is about to begin; recorded before it exists."""

    ticket: str
    run: str
    onto: str
    """The commit of the epic's branch that it starts from."""
    conflict: MergeConflict | None = None
    """What is to be resolved, where the ticket's work is approved already."""
    handed: str = ""
    """The commit that holds its work already: an agent that was given another ticket chose this one."""
    reserved: Share = Share()
    """What it may use up of the epic's budget."""


class TicketWaits(Event, tag="ticket-waits"):
    """The run of a ticket waits for a person."""

    ticket: str
    run: str
    reason: str


class TicketContinued(Event, tag="ticket-continued"):
    """A person has decided."""

    ticket: str
    run: str


class TicketEnded(Event, tag="ticket-ended"):
    """The run of a ticket ended."""

    ticket: str
    run: str
    outcome: Outcome
    reason: str
    commit: str
    tree: str
    out_of_work: bool = False
    """Whether one of its agents said that no ticket is left: nothing more begins."""
    usage: Usage = Usage()


class IterationStarted(Event, tag="iteration-started"):
    """The next tickets may begin."""

    number: int


class TicketReturned(Event, tag="ticket-returned"):
    """The run of a ticket ended without work on it: it is as if it had not begun."""

    ticket: str
    run: str
    reason: str
    picked: str = ""
    """The ticket that its agent worked on instead."""
    commit: str = ""
    """The commit that holds that work."""
    out_of_work: bool = False
    """Whether its agent said that no ticket is left: nothing more begins."""
    wait: float = 0.0
    """Seconds after which it may be tried again, where its agent has reached a limit."""
    usage: Usage = Usage()


class DriverLost(Event, tag="driver-lost"):
    """The process that drove a run ended before the run did."""

    run: str
    reason: str
    usage: Usage = Usage()
    """What the run has used up so far. It counts once the run is given up."""


class MergePrepared(Event, tag="merge-prepared"):
    """The merge exists as a commit and is valid. The branch has not moved yet."""

    ticket: str
    onto: str
    commit: str


class MergeConflicted(Event, tag="merge-conflicted"):
    """Approved work could not be merged as it is."""

    ticket: str
    conflict: MergeConflict


class MergeRefused(Event, tag="merge-refused"):
    """What was approved may not be merged, such as work without a valid seal."""

    ticket: str
    reason: str
    outcome: Outcome = Outcome.BLOCKED


class MergeOutdated(Event, tag="merge-outdated"):
    """The branch has moved since the merge was prepared: it is made again."""

    ticket: str


class TicketMerged(Event, tag="merged"):
    """The epic's branch holds the work of a ticket."""

    ticket: str
    commit: str


class EpicReviewStarted(Event, tag="epic-review-started"):
    """The review of the merged epic is about to begin."""

    run: str
    onto: str
    reserved: Share = Share()


class EpicReviewWaits(Event, tag="epic-review-waits"):
    """The review of the merged epic waits for a person."""

    run: str
    reason: str


class EpicReviewContinued(Event, tag="epic-review-continued"):
    """A person has decided."""

    run: str


class EpicReviewEnded(Event, tag="epic-review-ended"):
    """The review of the merged epic ended."""

    run: str
    outcome: Outcome
    reason: str
    commit: str
    usage: Usage = Usage()


class RolledBack(Event, tag="rolled-back"):
    """The epic's branch is where it began; what it held is kept."""

    former: str
    kept: str
    """The ref that keeps it; empty where the branch could not be moved."""


class PullRequestOpened(Event, tag="pull-request-opened"):
    """The branch is pushed, and the pull request exists."""

    url: str


class PullRequestFailed(Event, tag="pull-request-failed"):
    """The branch could not be pushed, or no pull request could be opened."""

    reason: str


class EpicContinued(Event, tag="epic-continued"):
    """A person has an epic go on that paused after a ticket."""


class EpicCancelled(Event, tag="epic-cancelled"):
    """A person ends the epic."""

    note: str = ""
    by: str = ""


class EpicClosed(Event, tag="epic-closed"):
    """The epic ended."""

    outcome: Outcome
    reason: str


EpicIntent = EpicCancelled
AnyEpicEvent = (
    EpicStarted
    | PlanChanged
    | TicketStarted
    | TicketWaits
    | TicketContinued
    | TicketEnded
    | IterationStarted
    | TicketReturned
    | DriverLost
    | MergePrepared
    | MergeConflicted
    | MergeRefused
    | MergeOutdated
    | TicketMerged
    | EpicReviewStarted
    | EpicReviewWaits
    | EpicReviewContinued
    | EpicReviewEnded
    | RolledBack
    | PullRequestOpened
    | PullRequestFailed
    | EpicContinued
    | EpicCancelled
    | EpicClosed
)
EPIC_EVENTS: tuple[type[Event], ...] = get_args(AnyEpicEvent)

_decoder = msgspec.json.Decoder(AnyEpicEvent)


class UnknownEpicEventError(BurnishError):
    kind = ErrorKind.UNREADABLE


def decode_epic(body: bytes) -> AnyEpicEvent:
    try:
        return _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        hint = "It may come from a newer version of burnish: upgrade. Nothing was changed."
        raise UnknownEpicEventError(f"An event in the ledger cannot be read: {error}.", hint=hint) from None
