"""Where an epic stands: one class for each state of a ticket, with only the fields that are valid in it."""

from typing import TypeVar

from burnish.core.budget import Share
from burnish.core.epics.events import EpicStarted, MergeConflict
from burnish.core.epics.plan import EpicPlan, Ticket
from burnish.core.events import Outcome
from burnish.core.reviews import Usage
from burnish.core.values import Value, replace

_S = TypeVar("_S")


class TicketPending(Value):
    """Not begun. It waits for its dependencies, or for a free place."""


class TicketRunning(Value):
    """A run is at work on it."""

    run: str
    onto: str
    conflict: MergeConflict | None = None
    reserved: Share = Share()
    lost: int = 0
    """How often the run lost the process that drove it."""


class TicketWaiting(Value):
    running: TicketRunning
    reason: str


class TicketApproved(Value):
    """Its run ended well; its work is not merged yet."""

    run: str
    outcome: Outcome
    commit: str
    resolved: tuple[str, ...] = ()
    """The files whose conflicts the run was to resolve."""


class TicketMerging(Value):
    """The merge is made and valid; the branch is about to move."""

    approved: TicketApproved
    onto: str
    commit: str


class TicketConflicting(Value):
    """Its work could not be merged; a run is to resolve that."""

    approved: TicketApproved
    conflict: MergeConflict


class TicketCompleted(Value):
    run: str = ""
    """Empty where the source says that it was done before."""
    outcome: Outcome = Outcome.APPROVED
    commit: str = ""
    """The commit of the epic's branch that holds it; empty where it is not merged."""


class TicketFailed(Value):
    run: str
    outcome: Outcome
    reason: str


class TicketBlocked(Value):
    """A ticket that it depends on came to nothing."""

    by: str
    reason: str


TicketState = (
    TicketPending
    | TicketRunning
    | TicketWaiting
    | TicketApproved
    | TicketMerging
    | TicketConflicting
    | TicketCompleted
    | TicketFailed
    | TicketBlocked
)
SETTLED = (TicketCompleted, TicketFailed, TicketBlocked)
"""Nothing more happens to a ticket in one of these."""


class TicketProgress(Value):
    """One ticket: what it is now, and what it went through."""

    ticket: Ticket
    state: TicketState = TicketPending()
    runs: tuple[str, ...] = ()
    """All its runs, the oldest first."""
    resolutions: int = 0
    """How many of them were to resolve a conflict."""
    started_at: float = 0.0
    settled_at: float = 0.0
    usage: Usage = Usage()


class EpicNotReviewed(Value):
    """The merged epic has not been reviewed yet."""


class EpicUnderReview(Value):
    run: str
    onto: str
    reserved: Share = Share()
    lost: int = 0
    waits: str = ""
    """What a person must decide, where the run waits for that."""


class EpicReviewed(Value):
    run: str
    outcome: Outcome
    reason: str
    commit: str


EpicReview = EpicNotReviewed | EpicUnderReview | EpicReviewed


class EpicEnd(Value):
    outcome: Outcome
    reason: str
    at: float


class Epic(Value):
    started: EpicStarted
    plan: EpicPlan
    tickets: dict[str, TicketProgress]
    ranks: dict[str, int]
    """How urgent each ticket is, the smallest first."""
    tip: str
    """The commit of the epic's branch, as far as its merges tell."""
    review: EpicReview = EpicNotReviewed()
    cancelled: str | None = None
    """Why a person ended it."""
    rolled_back: str | None = None
    """The ref that keeps what was taken out of the branch; empty where the branch could not be moved."""
    pull_request: str | None = None
    """Its address; empty where none could be opened."""
    usage: Usage = Usage()
    """What all runs that have ended used up."""
    end: EpicEnd | None = None
    version: int = 1
    at: float = 0.0

    @property
    def id(self) -> str:
        """The name of this run of the epic."""
        return self.started.epic

    @property
    def running(self) -> tuple[TicketProgress, ...]:
        return tuple(one for one in self.tickets.values() if isinstance(one.state, TicketRunning))

    @property
    def waiting(self) -> tuple[TicketProgress, ...]:
        return tuple(one for one in self.tickets.values() if isinstance(one.state, TicketWaiting))

    @property
    def is_settled(self) -> bool:
        """Whether nothing more happens to any ticket."""
        return all(isinstance(one.state, SETTLED) for one in self.tickets.values())

    @property
    def failed_critical(self) -> TicketProgress | None:
        """A critical ticket that failed or is blocked: the epic fails with it."""
        lost = (one for one in self.tickets.values() if isinstance(one.state, TicketFailed | TicketBlocked))
        return next((one for one in lost if one.ticket.critical), None)

    @property
    def merged(self) -> tuple[TicketProgress, ...]:
        """The tickets whose work the epic's branch holds."""
        return tuple(
            one for one in self.tickets.values() if isinstance(one.state, TicketCompleted) and one.state.commit
        )

    def waits_for(self, ticket: Ticket) -> tuple[str, ...]:
        """The dependencies of a ticket that are not settled yet."""
        return tuple(name for name in ticket.depends_on if not isinstance(self.tickets[name].state, SETTLED))


def run_of(state: TicketState) -> str:
    """The run that a ticket's state is about; empty where there is none."""
    match state:
        case TicketRunning() | TicketApproved() | TicketCompleted() | TicketFailed():
            return state.run
        case TicketWaiting():
            return state.running.run
        case TicketMerging() | TicketConflicting():
            return state.approved.run
        case TicketPending() | TicketBlocked():
            return ""


def state_as(one: TicketProgress, kind: type[_S]) -> _S:
    """The state of a ticket that is known to be in this one."""
    if not isinstance(one.state, kind):
        raise TypeError(f"{one.ticket.id} is {type(one.state).__name__}")
    return one.state


def with_ticket(epic: Epic, one: TicketProgress) -> Epic:
    return replace(epic, tickets={**epic.tickets, one.ticket.id: one})
