"""Where an epic stands: one class for each state of a ticket, with only the fields that are valid in it."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import TypeVar

from burnish.core.budget import Share
from burnish.core.epics.events import EpicStarted, MergeConflict
from burnish.core.epics.plan import EpicPlan, Ticket
from burnish.core.events import Outcome
from burnish.core.reviews import Usage
from burnish.core.values import Value, replace

_S = TypeVar("_S")
_GOOD = (Outcome.APPROVED, Outcome.ACCEPTED)


class TicketPending(Value):
    """Not begun. It waits for its dependencies, or for a free place."""


class TicketRunning(Value):
    """A run is at work on it."""

    run: str
    onto: str
    conflict: MergeConflict | None = None
    handed: str = ""
    """The commit that holds its work already."""
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


class TicketSkipped(Value):
    """A person, or the source, left it out. Its work is not merged, and it did not fail."""

    reason: str
    run: str = ""
    """Empty where the source said so."""


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
    | TicketSkipped
    | TicketBlocked
)
SETTLED = (TicketCompleted, TicketFailed, TicketSkipped, TicketBlocked)
"""Nothing more happens to a ticket in one of these."""


class TicketProgress(Value):
    """One ticket: what it is now, and what it went through."""

    ticket: Ticket
    state: TicketState = TicketPending()
    runs: tuple[str, ...] = ()
    """All its runs, the oldest first."""
    resolutions: int = 0
    """How many of them were to resolve a conflict."""
    iteration: int = 0
    """The iteration that it last began in; 0 where there are none."""
    handed: str = ""
    """The commit that holds its work already, where an agent chose it that was given another ticket."""
    returns: int = 0
    """How often it came back because an agent had reached a limit."""
    started_at: float = 0.0
    settled_at: float = 0.0
    usage: Usage = Usage()


class Index(Value):
    """What the tickets say together. It is kept up with them, so that no step looks through all of them."""

    needed_by: dict[str, tuple[str, ...]]
    unmet: dict[str, int]
    """How many dependencies of a ticket are not done yet."""
    ready: tuple[str, ...]
    """The tickets that could begin, the most urgent first."""
    active: tuple[str, ...]
    """The tickets that have begun and are not settled, in the order in which their runs came to work."""
    unsettled: int
    lost: str = ""
    """The first critical ticket that failed or is blocked: the epic fails with it."""


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
    index: Index
    tip: str
    """The commit of the epic's branch, as far as its merges tell."""
    iteration: int = 0
    """The number of the last iteration that began."""
    slots: tuple[str, ...] = ()
    """The tickets that began in it."""
    failed_iterations: tuple[int, ...] = ()
    """Those in which a ticket failed."""
    not_before: float = 0.0
    """When the next iteration may begin at the earliest: an agent has reached a limit."""
    out_of_work: str = ""
    """The ticket whose agent said that none is left: nothing more begins."""
    review: EpicReview = EpicNotReviewed()
    paused: str = ""
    """The ticket after which nothing is begun until a person has it go on."""
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
    def active(self) -> tuple[TicketProgress, ...]:
        """The tickets that have begun and are not settled, in the order in which their runs came to work."""
        return tuple(self.tickets[name] for name in self.index.active)

    @property
    def running(self) -> tuple[TicketProgress, ...]:
        return tuple(one for one in self.active if isinstance(one.state, TicketRunning))

    @property
    def waiting(self) -> tuple[TicketProgress, ...]:
        return tuple(one for one in self.active if isinstance(one.state, TicketWaiting))

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing more can happen: all tickets are settled, or those that are not have not begun."""
        return self.is_settled or (self.started.iterations > 0 and not self.index.active and not self.is_halted)

    @property
    def is_halted(self) -> bool:
        """Whether nothing is begun before a person has decided."""
        return bool(self.paused) or (self.started.halts and bool(self.waiting))

    @property
    def is_settled(self) -> bool:
        """Whether nothing more happens to any ticket."""
        return self.index.unsettled == 0

    @property
    def failed_critical(self) -> TicketProgress | None:
        """The first critical ticket that failed or is blocked: the epic fails with it."""
        return self.tickets[self.index.lost] if self.index.lost else None

    @property
    def is_approved(self) -> bool:
        """Whether what was merged may be called approved, or accepted by a person."""
        return self.approval is not None

    @property
    def approval(self) -> Outcome | None:
        """How what was merged was approved: as its review ended, else as its tickets did; None where it was not."""
        if isinstance(self.review, EpicReviewed):
            return self.review.outcome if self.review.outcome in _GOOD else None
        kinds = (TicketCompleted, TicketSkipped, *((TicketPending,) if self.started.iterations else ()))
        settled = all(isinstance(one.state, kinds) for one in self.tickets.values())
        if self.plan.reviewed_whole or not settled or not self.merged:
            return None
        accepted = any(state_as(one, TicketCompleted).outcome is not Outcome.APPROVED for one in self.merged)
        return Outcome.ACCEPTED if accepted else Outcome.APPROVED

    @property
    def merged(self) -> tuple[TicketProgress, ...]:
        """The tickets whose work the epic's branch holds."""
        return tuple(
            one for one in self.tickets.values() if isinstance(one.state, TicketCompleted) and one.state.commit
        )

    def waits_for(self, ticket: Ticket) -> tuple[str, ...]:
        """The dependencies of a ticket that are not settled yet."""
        return tuple(
            name
            for name in ticket.depends_on
            if name in self.tickets and not isinstance(self.tickets[name].state, SETTLED)
        )


def run_of(state: TicketState) -> str:
    """The run that a ticket's state is about; empty where there is none."""
    match state:
        case TicketRunning() | TicketApproved() | TicketCompleted() | TicketFailed() | TicketSkipped():
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


def index_of(tickets: Mapping[str, TicketProgress], ranks: Mapping[str, int], active: tuple[str, ...] = ()) -> Index:
    """The index of tickets that were not followed one by one. Those in `active` are known to have begun."""
    needed_by: dict[str, list[str]] = {}
    unmet: dict[str, int] = {}
    for name, one in tickets.items():
        for needed in one.ticket.depends_on:
            needed_by.setdefault(needed, []).append(name)
        unmet[name] = sum(not _is_done(tickets[needed].state) for needed in one.ticket.depends_on if needed in tickets)
    ready = [name for name, one in tickets.items() if isinstance(one.state, TicketPending) and not unmet[name]]
    failed = [one for one in tickets.values() if isinstance(one.state, TicketFailed) and one.ticket.critical]
    first = min(failed, key=lambda one: one.settled_at, default=None)
    return Index(
        needed_by={name: tuple(dependents) for name, dependents in needed_by.items()},
        unmet=unmet,
        ready=tuple(sorted(ready, key=lambda name: ranks[name])),
        active=active,
        unsettled=sum(not isinstance(one.state, SETTLED) for one in tickets.values()),
        lost=first.ticket.id if first else "",
    )


def with_tickets(epic: Epic, changed: Iterable[TicketProgress]) -> Epic:
    tickets, index = dict(epic.tickets), epic.index
    for one in changed:
        before = tickets[one.ticket.id].state
        tickets[one.ticket.id] = one
        index = _followed(index, before, one)
        if _is_done(one.state) and not _is_done(before):
            index = _met(index, one.ticket.id, tickets, epic.ranks)
        if isinstance(before, TicketPending) and not index.unmet[one.ticket.id]:
            index = replace(index, ready=_without(index.ready, one.ticket.id, epic.ranks))
        if isinstance(one.state, TicketPending) and not index.unmet[one.ticket.id]:
            index = replace(index, ready=_with(index.ready, one.ticket.id, epic.ranks))
    return replace(epic, tickets=tickets, index=index)


def with_ticket(epic: Epic, one: TicketProgress) -> Epic:
    return with_tickets(epic, (one,))


def is_unreviewed(state: TicketState) -> bool:
    """Whether a ticket was built without a review, as it was asked for. Its work is merged into nothing."""
    return isinstance(state, TicketCompleted) and state.outcome is Outcome.SKIPPED


def _is_done(state: TicketState) -> bool:
    """Whether a dependent can begin."""
    return isinstance(state, TicketCompleted) and not is_unreviewed(state)


def _followed(index: Index, before: TicketState, one: TicketProgress) -> Index:
    """The index after one ticket changed its state, apart from what others wait for."""
    name, now, active = one.ticket.id, one.state, index.active
    comes_to_work = isinstance(now, TicketRunning) and not isinstance(before, TicketRunning)
    if comes_to_work or isinstance(now, (*SETTLED, TicketPending)):
        active = tuple(other for other in active if other != name)
    if comes_to_work:
        active = (*active, name)
    is_lost = one.ticket.critical and isinstance(now, TicketFailed | TicketBlocked)
    return replace(
        index,
        active=active,
        unsettled=index.unsettled - (isinstance(now, SETTLED) and not isinstance(before, SETTLED)),
        lost=index.lost or (name if is_lost else ""),
    )


def _met(index: Index, name: str, tickets: Mapping[str, TicketProgress], ranks: Mapping[str, int]) -> Index:
    """The index after a ticket was done that others wait for."""
    unmet, ready = dict(index.unmet), index.ready
    for dependent in index.needed_by.get(name, ()):
        unmet[dependent] -= 1
        if not unmet[dependent] and isinstance(tickets[dependent].state, TicketPending):
            ready = _with(ready, dependent, ranks)
    return replace(index, unmet=unmet, ready=ready)


def _with(ready: tuple[str, ...], name: str, ranks: Mapping[str, int]) -> tuple[str, ...]:
    place = bisect_left(ready, ranks[name], key=lambda other: ranks[other])
    return (*ready[:place], name, *ready[place:])


def _without(ready: tuple[str, ...], name: str, ranks: Mapping[str, int]) -> tuple[str, ...]:
    place = bisect_left(ready, ranks[name], key=lambda other: ranks[other])
    return (*ready[:place], *ready[place + 1 :])
