"""The epic as a pure function: `evolve(epic, event) -> epic`.

The same rules hold as for the loop of a run: no IO, no clock, and an event that does not fit raises
`IllegalEpicEventError` and leaves the epic as it was. `decide` is in `burnish.core.epics.schedule`.
"""

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from burnish.core.epics.events import (
    AnyEpicEvent,
    CarriedReview,
    CarriedTicket,
    DriverLost,
    EpicCancelled,
    EpicClosed,
    EpicContinued,
    EpicReviewContinued,
    EpicReviewEnded,
    EpicReviewStarted,
    EpicReviewWaits,
    EpicStarted,
    IterationStarted,
    MergeConflicted,
    MergeOutdated,
    MergePrepared,
    MergeRefused,
    PlanChanged,
    PullRequestFailed,
    PullRequestOpened,
    RolledBack,
    TicketContinued,
    TicketEnded,
    TicketMerged,
    TicketReturned,
    TicketStarted,
    TicketWaits,
)
from burnish.core.epics.plan import Ticket, cycle_in, ranks
from burnish.core.epics.state import (
    SETTLED,
    Epic,
    EpicEnd,
    EpicNotReviewed,
    EpicReview,
    EpicReviewed,
    EpicUnderReview,
    TicketApproved,
    TicketBlocked,
    TicketCompleted,
    TicketConflicting,
    TicketFailed,
    TicketMerging,
    TicketPending,
    TicketProgress,
    TicketRunning,
    TicketSkipped,
    TicketState,
    TicketWaiting,
    index_of,
    is_unreviewed,
    run_of,
    state_as,
    with_ticket,
    with_tickets,
)
from burnish.core.events import Event, Outcome
from burnish.core.values import Value, replace

MOST_RESOLUTIONS = 2
"""How often conflicts of one ticket are given to an agent before a person is asked."""
MOST_LOST = 3
"""How often a run is driven on after its process died."""
MOST_RETURNS = 3
"""How often a ticket is tried again whose agent had reached a limit."""
_NOT_REVIEWED = "was not reviewed, so its work is not merged"
_SKIPPED = "was skipped"
_SOURCE_SKIPS = "its source says so"
_GOOD = (Outcome.APPROVED, Outcome.ACCEPTED)


class IllegalEpicEventError(Exception):
    """An event that cannot happen in this state. The epic is unchanged."""

    def __init__(self, event: Event, why: str) -> None:
        super().__init__(f"{type(event).__name__} is illegal: {why}")


def evolve(epic: Epic | None, event: AnyEpicEvent) -> Epic:
    """The epic after an event. `None` is the state before the first."""
    if epic is None:
        if not isinstance(event, EpicStarted):
            raise IllegalEpicEventError(event, "an epic starts with EpicStarted")
        return _start(event)
    if epic.end is not None:
        raise IllegalEpicEventError(event, "the epic has ended")
    handle = _HANDLERS.get(type(event))
    if handle is None:
        raise IllegalEpicEventError(event, "an epic starts once")
    following = _pause(epic, _give_up_rest(handle(epic, event), event.at), event)
    return replace(following, version=epic.version + 1, at=event.at)


def replay(events: Iterable[AnyEpicEvent], epic: Epic | None = None) -> Epic | None:
    for event in events:
        epic = evolve(epic, event)
    return epic


def _start(event: EpicStarted) -> Epic:
    carried = {one.ticket: _carried(one) for one in event.carried if not one.built}
    built = {one.ticket: one.built for one in event.carried if one.built}

    def first(ticket: Ticket) -> TicketState:
        # Where it is merged is known better than that it is done; what is not merged yet is not, where it is done.
        known = carried.get(ticket.id)
        return known if isinstance(known, TicketCompleted) or (known and not ticket.done) else _unbegun(ticket)

    if event.parallel < 1:
        raise IllegalEpicEventError(event, "nothing could begin")
    tickets = {
        ticket.id: TicketProgress(ticket=ticket, state=first(ticket), handed=built.get(ticket.id, ""))
        for ticket in event.plan.tickets
    }
    urgency = _rank(event, tickets)
    to_merge = tuple(name for name, one in tickets.items() if isinstance(one.state, TicketApproved))
    epic = Epic(
        started=event,
        plan=event.plan,
        tickets=tickets,
        ranks=urgency,
        index=index_of(tickets, urgency, to_merge),
        tip=event.tip or event.baseline,
        review=_carried_review(event.reviewed),
        at=event.at,
    )
    return _block_dependents(epic, _came_to_nothing(epic), event.at)


def _carried(one: CarriedTicket) -> TicketState:
    if one.approved:
        return TicketApproved(run=one.run, outcome=one.outcome, commit=one.approved)
    return TicketCompleted(run=one.run, outcome=one.outcome, commit=one.commit)


def _carried_review(review: CarriedReview | None) -> EpicReview:
    if review is None:
        return EpicNotReviewed()
    return EpicReviewed(run=review.run, outcome=review.outcome, reason=review.reason, commit=review.commit)


def _plan_changed(epic: Epic, event: PlanChanged) -> Epic:
    """Take in what a person added or edited. What has begun keeps its text; it stays even if the plan drops it."""
    if not isinstance(epic.review, EpicNotReviewed):
        raise IllegalEpicEventError(event, "the merged epic is under review")
    if epic.rolled_back is not None:
        raise IllegalEpicEventError(event, "what was merged is taken back")
    tickets: dict[str, TicketProgress] = {}
    for ticket in event.plan.tickets:
        tickets[ticket.id] = _taken_in(epic.tickets.get(ticket.id), ticket)
    for name, known in epic.tickets.items():
        if name not in tickets and (_has_begun(known) or known.handed):
            tickets[name] = known
    ordered = tuple(one.ticket for one in tickets.values())
    urgency = _rank(event, tickets)
    index = index_of(tickets, urgency, epic.index.active)
    # A review of the whole that was asked for is not dropped by an edit.
    whole = event.plan.reviewed_whole or epic.plan.reviewed_whole
    plan = replace(event.plan, tickets=ordered, reviewed_whole=whole)
    epic = replace(epic, plan=plan, tickets=tickets, ranks=urgency, index=index)
    return _block_dependents(epic, _came_to_nothing(epic), event.at)


def _taken_in(known: TicketProgress | None, ticket: Ticket) -> TicketProgress:
    """A ticket of an edited plan, with what is known of it. One that came back unbegun keeps its history."""
    if known is None:
        return TicketProgress(ticket=ticket, state=_unbegun(ticket))
    if _has_begun(known):
        return known
    return replace(known, ticket=ticket, state=_unbegun(ticket), settled_at=0.0)


def _has_begun(one: TicketProgress) -> bool:
    if isinstance(one.state, TicketSkipped):
        return bool(one.state.run)
    return not isinstance(one.state, TicketPending | TicketBlocked)


def _came_to_nothing(epic: Epic) -> dict[str, str]:
    """The tickets that those which need them wait for in vain, and why."""
    lost: dict[str, str] = {}
    for name, one in epic.tickets.items():
        if isinstance(one.state, TicketFailed):
            lost[name] = "failed"
        elif isinstance(one.state, TicketSkipped):
            lost[name] = _SKIPPED
        elif is_unreviewed(one.state):
            lost[name] = _NOT_REVIEWED
    return lost


def _rank(event: EpicStarted | PlanChanged, tickets: dict[str, TicketProgress]) -> dict[str, int]:
    """How urgent each ticket is. What one that has begun or is done depended on no longer matters, and may be gone."""
    is_open = {name: isinstance(one.state, TicketPending) for name, one in tickets.items()}
    graph = [one.ticket if is_open[name] else replace(one.ticket, depends_on=()) for name, one in tickets.items()]
    unknown = [needed for ticket in graph for needed in ticket.depends_on if needed not in tickets]
    if unknown or cycle_in(graph) or len({ticket.id for ticket in event.plan.tickets}) < len(event.plan.tickets):
        raise IllegalEpicEventError(event, "its plan has unknown dependencies, a cycle, or an id twice")
    return ranks(graph, in_order=event.plan.in_order)


def _unbegun(ticket: Ticket) -> TicketState:
    if ticket.done:
        return TicketCompleted()
    return TicketSkipped(reason=_SOURCE_SKIPS) if ticket.skipped else TicketPending()


def _ticket_started(epic: Epic, event: TicketStarted) -> Epic:
    one = _one(epic, event, event.ticket, TicketPending, TicketConflicting)
    if isinstance(one.state, TicketConflicting) != (event.conflict is not None):
        raise IllegalEpicEventError(event, "only a conflict is resolved")
    if epic.is_halted:
        raise IllegalEpicEventError(event, "a person must decide first")
    if event.conflict is None and epic.index.unmet[event.ticket]:
        raise IllegalEpicEventError(event, f"what ticket {event.ticket} depends on is not merged")
    if event.handed != one.handed:
        raise IllegalEpicEventError(event, f"ticket {event.ticket} holds other work")
    is_new = event.conflict is None
    if is_new and not event.handed and epic.started.iterations:
        _check_slot(epic, event, one)
    running = TicketRunning(
        run=event.run, onto=event.onto, conflict=event.conflict, handed=event.handed, reserved=event.reserved
    )
    if is_new and not event.handed:
        epic = replace(epic, slots=(*epic.slots, event.ticket))
    return with_ticket(
        epic,
        replace(
            one,
            state=running,
            runs=(*one.runs, event.run),
            resolutions=one.resolutions + (not is_new),
            iteration=epic.iteration,
            handed="",
            started_at=one.started_at or event.at,
        ),
    )


def _check_slot(epic: Epic, event: TicketStarted, one: TicketProgress) -> None:
    if not epic.iteration:
        raise IllegalEpicEventError(event, "no iteration has begun")
    if epic.out_of_work or len(epic.slots) >= epic.started.parallel:
        raise IllegalEpicEventError(event, "nothing more may begin")
    if event.run in one.runs:
        raise IllegalEpicEventError(event, f"run {event.run} has ended")


def _iteration_started(epic: Epic, event: IterationStarted) -> Epic:
    if event.number != epic.iteration + 1 or event.number > epic.started.iterations:
        raise IllegalEpicEventError(event, f"iteration {epic.iteration} of {epic.started.iterations} was the last one")
    if epic.running or epic.out_of_work:
        raise IllegalEpicEventError(event, "nothing more may begin")
    return replace(epic, iteration=event.number, slots=(), not_before=0.0)


def _ticket_returned(epic: Epic, event: TicketReturned) -> Epic:
    """A ticket that has not been worked on. What its agent did instead is handed to the ticket that it is for."""
    one = _running(epic, event, event.ticket, event.run)
    one = replace(one, usage=one.usage.plus(event.usage))
    epic = replace(epic, usage=epic.usage.plus(event.usage))
    if event.out_of_work:
        epic = replace(epic, out_of_work=event.ticket)
    if event.wait:
        one = replace(one, returns=one.returns + 1)
        epic = replace(epic, not_before=max(epic.not_before, event.at + event.wait))
    other = epic.tickets.get(event.picked)
    if event.picked and (other is None or event.picked not in epic.index.ready or other.handed):
        reason = f"its agent worked on {event.picked}, which was not free"
        return _fail(epic, one, TicketFailed(run=event.run, outcome=Outcome.FAILED, reason=reason), event.at)
    if one.returns > MOST_RETURNS:
        failed = TicketFailed(run=event.run, outcome=Outcome.DID_NOT_RUN, reason=event.reason)
        return _fail(epic, one, failed, event.at)
    epic = with_ticket(epic, replace(one, state=TicketPending()))
    return with_ticket(epic, replace(other, handed=event.commit)) if other is not None else epic


def _iteration_failed(epic: Epic) -> Epic:
    if not epic.iteration or epic.iteration in epic.failed_iterations:
        return epic
    return replace(epic, failed_iterations=(*epic.failed_iterations, epic.iteration))


def _ticket_waits(epic: Epic, event: TicketWaits) -> Epic:
    one = _running(epic, event, event.ticket, event.run)
    return with_ticket(
        epic, replace(one, state=TicketWaiting(running=state_as(one, TicketRunning), reason=event.reason))
    )


def _ticket_continued(epic: Epic, event: TicketContinued) -> Epic:
    one = _one(epic, event, event.ticket, TicketWaiting)
    if run_of(one.state) != event.run:
        raise IllegalEpicEventError(event, f"ticket {event.ticket} has another run")
    return with_ticket(epic, replace(one, state=state_as(one, TicketWaiting).running))


def _ticket_ended(epic: Epic, event: TicketEnded) -> Epic:
    one = _one(epic, event, event.ticket, TicketRunning, TicketWaiting)
    if run_of(one.state) != event.run:
        raise IllegalEpicEventError(event, f"ticket {event.ticket} has another run")
    one = replace(one, usage=one.usage.plus(event.usage))
    epic = replace(epic, usage=epic.usage.plus(event.usage))
    if event.out_of_work:
        epic = replace(epic, out_of_work=event.ticket)
    running = _running_of(one)
    if event.outcome in _GOOD:
        resolved = running.conflict.files if running.conflict else ()
        approved = TicketApproved(run=event.run, outcome=event.outcome, commit=event.commit, resolved=resolved)
        return with_ticket(epic, replace(one, state=approved))
    if event.outcome is Outcome.SKIPPED and one.ticket.reviewed:
        skipped = TicketSkipped(run=event.run, reason=event.reason)
        epic = with_ticket(epic, replace(one, state=skipped, settled_at=event.at))
        return _block_dependents(epic, {event.ticket: _SKIPPED}, event.at)
    is_built = event.commit != running.onto
    if event.outcome is Outcome.SKIPPED and is_built:
        # Built and validated, as it was asked for. Without a seal it is merged into nothing.
        done = TicketCompleted(run=event.run, outcome=Outcome.SKIPPED)
        epic = with_ticket(epic, replace(one, state=done, settled_at=event.at))
        return _block_dependents(epic, {event.ticket: _NOT_REVIEWED}, event.at)
    failed = TicketFailed(run=event.run, outcome=event.outcome, reason=event.reason)
    if event.outcome is Outcome.SKIPPED:
        failed = replace(failed, outcome=Outcome.DID_NOT_RUN, reason="the builder changed nothing")
    return _fail(epic, one, failed, event.at)


def _running_of(one: TicketProgress) -> TicketRunning:
    return one.state.running if isinstance(one.state, TicketWaiting) else state_as(one, TicketRunning)


def _driver_lost(epic: Epic, event: DriverLost) -> Epic:
    review = epic.review
    if isinstance(review, EpicUnderReview) and review.run == event.run:
        if review.lost < MOST_LOST:
            return replace(epic, review=replace(review, lost=review.lost + 1))
        ended = EpicReviewed(run=event.run, outcome=Outcome.DID_NOT_RUN, reason=event.reason, commit=review.onto)
        return replace(epic, review=ended, usage=epic.usage.plus(event.usage))
    one = next((one for one in epic.running if state_as(one, TicketRunning).run == event.run), None)
    if one is None:
        raise IllegalEpicEventError(event, f"run {event.run} is not at work")
    running = state_as(one, TicketRunning)
    if running.lost < MOST_LOST:
        return with_ticket(epic, replace(one, state=replace(running, lost=running.lost + 1)))
    epic = replace(epic, usage=epic.usage.plus(event.usage))
    one = replace(one, usage=one.usage.plus(event.usage))
    return _fail(epic, one, TicketFailed(run=event.run, outcome=Outcome.DID_NOT_RUN, reason=event.reason), event.at)


def _merge_prepared(epic: Epic, event: MergePrepared) -> Epic:
    one = _one(epic, event, event.ticket, TicketApproved)
    merging = TicketMerging(approved=state_as(one, TicketApproved), onto=event.onto, commit=event.commit)
    if event.onto != epic.tip:
        # Someone moved the branch. What came into it so was reviewed with no ticket: only the whole can tell.
        epic = replace(epic, plan=replace(epic.plan, reviewed_whole=True))
    return with_ticket(epic, replace(one, state=merging))


def _merge_conflicted(epic: Epic, event: MergeConflicted) -> Epic:
    one = _one(epic, event, event.ticket, TicketApproved)
    approved = state_as(one, TicketApproved)
    if one.resolutions < MOST_RESOLUTIONS:
        return with_ticket(epic, replace(one, state=TicketConflicting(approved=approved, conflict=event.conflict)))
    reason = f"cannot be merged: {event.conflict.words}, after {one.resolutions} attempts to resolve it"
    return _fail(epic, one, TicketFailed(run=approved.run, outcome=Outcome.BLOCKED, reason=reason), event.at)


def _merge_refused(epic: Epic, event: MergeRefused) -> Epic:
    one = _one(epic, event, event.ticket, TicketApproved, TicketMerging)
    failed = TicketFailed(run=run_of(one.state), outcome=event.outcome, reason=event.reason)
    return _fail(epic, one, failed, event.at)


def _merge_outdated(epic: Epic, event: MergeOutdated) -> Epic:
    one = _one(epic, event, event.ticket, TicketMerging)
    return with_ticket(epic, replace(one, state=state_as(one, TicketMerging).approved))


def _merged(epic: Epic, event: TicketMerged) -> Epic:
    one = _one(epic, event, event.ticket, TicketMerging)
    merging = state_as(one, TicketMerging)
    if event.commit != merging.commit:
        raise IllegalEpicEventError(event, f"{merging.commit} was prepared")
    done = TicketCompleted(run=merging.approved.run, outcome=merging.approved.outcome, commit=event.commit)
    return replace(with_ticket(epic, replace(one, state=done, settled_at=event.at)), tip=event.commit)


def _review_started(epic: Epic, event: EpicReviewStarted) -> Epic:
    if not isinstance(epic.review, EpicNotReviewed) or not epic.is_at_rest:
        raise IllegalEpicEventError(event, "the epic is reviewed once, when its tickets are settled")
    return replace(epic, review=EpicUnderReview(run=event.run, onto=event.onto, reserved=event.reserved))


def _review_waits(epic: Epic, event: EpicReviewWaits) -> Epic:
    return replace(epic, review=replace(_review(epic, event, event.run), waits=event.reason))


def _review_continued(epic: Epic, event: EpicReviewContinued) -> Epic:
    return replace(epic, review=replace(_review(epic, event, event.run), waits=""))


def _review_ended(epic: Epic, event: EpicReviewEnded) -> Epic:
    _review(epic, event, event.run)
    ended = EpicReviewed(run=event.run, outcome=event.outcome, reason=event.reason, commit=event.commit)
    tip = event.commit if event.outcome in _GOOD else epic.tip
    return replace(epic, review=ended, tip=tip, usage=epic.usage.plus(event.usage))


def _rolled_back(epic: Epic, event: RolledBack) -> Epic:
    if epic.failed_critical is None or not epic.plan.rollback_on_failure or not epic.is_settled:
        raise IllegalEpicEventError(event, "only an epic whose critical ticket failed is taken back, and if it says so")
    return replace(epic, rolled_back=event.kept, tip=epic.started.baseline if event.kept else epic.tip)


def _pull_request_opened(epic: Epic, event: PullRequestOpened) -> Epic:
    if not epic.is_approved:
        raise IllegalEpicEventError(event, "the epic is not approved")
    return replace(epic, pull_request=event.url)


def _pull_request_failed(epic: Epic, event: PullRequestFailed) -> Epic:
    del event
    return replace(epic, pull_request="")


def _continued(epic: Epic, event: EpicContinued) -> Epic:
    if not epic.paused:
        raise IllegalEpicEventError(event, "the epic is not paused")
    return replace(epic, paused="")


def _cancelled(epic: Epic, event: EpicCancelled) -> Epic:
    return replace(epic, cancelled=event.note or "cancelled")


def _closed(epic: Epic, event: EpicClosed) -> Epic:
    at_work = (TicketRunning, TicketWaiting, TicketMerging)
    if any(isinstance(one.state, at_work) for one in epic.active) or isinstance(epic.review, EpicUnderReview):
        raise IllegalEpicEventError(event, "work is under way")
    if epic.cancelled is None and not epic.is_at_rest:
        raise IllegalEpicEventError(event, "tickets are not settled")
    if event.outcome in _GOOD and event.outcome is not epic.approval:
        raise IllegalEpicEventError(event, "the epic is not approved")
    return replace(epic, end=EpicEnd(outcome=event.outcome, reason=event.reason, at=event.at))


_HANDLERS: dict[type[Event], Callable[[Epic, Any], Epic]] = {
    PlanChanged: _plan_changed,
    TicketStarted: _ticket_started,
    TicketWaits: _ticket_waits,
    TicketContinued: _ticket_continued,
    TicketEnded: _ticket_ended,
    IterationStarted: _iteration_started,
    TicketReturned: _ticket_returned,
    DriverLost: _driver_lost,
    MergePrepared: _merge_prepared,
    MergeConflicted: _merge_conflicted,
    MergeRefused: _merge_refused,
    MergeOutdated: _merge_outdated,
    TicketMerged: _merged,
    EpicReviewStarted: _review_started,
    EpicReviewWaits: _review_waits,
    EpicReviewContinued: _review_continued,
    EpicReviewEnded: _review_ended,
    RolledBack: _rolled_back,
    PullRequestOpened: _pull_request_opened,
    PullRequestFailed: _pull_request_failed,
    EpicContinued: _continued,
    EpicCancelled: _cancelled,
    EpicClosed: _closed,
}


def _one(epic: Epic, event: Event, name: str, *kinds: type[Value]) -> TicketProgress:
    """A ticket in one of the states in which an event about it can happen."""
    one = epic.tickets.get(name)
    if one is None or not isinstance(one.state, kinds):
        now = "unknown" if one is None else type(one.state).__name__.lower()
        raise IllegalEpicEventError(event, f"ticket {name} is {now}")
    return one


def _running(epic: Epic, event: Event, name: str, run: str) -> TicketProgress:
    one = _one(epic, event, name, TicketRunning)
    if state_as(one, TicketRunning).run != run:
        raise IllegalEpicEventError(event, f"ticket {name} has another run")
    return one


def _review(epic: Epic, event: Event, run: str) -> EpicUnderReview:
    if not isinstance(epic.review, EpicUnderReview) or epic.review.run != run:
        raise IllegalEpicEventError(event, f"run {run} does not review the epic")
    return epic.review


def _fail(epic: Epic, one: TicketProgress, failed: TicketFailed, at: float) -> Epic:
    epic = with_ticket(_iteration_failed(epic), replace(one, state=failed, settled_at=at))
    return _block_dependents(epic, {one.ticket.id: "failed"}, at)


def _pause(before: Epic, epic: Epic, event: AnyEpicEvent) -> Epic:
    """Stop beginning tickets after one is settled, where a person wants to look, or has taken it over."""
    if not epic.index.unsettled:
        return replace(epic, paused="") if epic.paused else epic
    name = getattr(event, "ticket", "") or _lost_ticket(before, event)
    one = epic.tickets.get(name)
    if one is None or not isinstance(one.state, SETTLED) or before.tickets[name].state is one.state:
        return epic
    taken_over = isinstance(one.state, TicketFailed) and one.state.outcome is Outcome.BLOCKED
    wanted = epic.started.checkpoint or (epic.started.halts and taken_over)
    return replace(epic, paused=name) if wanted else epic


def _lost_ticket(epic: Epic, event: AnyEpicEvent) -> str:
    if not isinstance(event, DriverLost):
        return ""
    return next((one.ticket.id for one in epic.running if run_of(one.state) == event.run), "")


def _give_up_rest(epic: Epic, at: float) -> Epic:
    """Once a critical ticket has come to nothing, the epic has failed: nothing more is begun. What runs may finish."""
    critical = epic.failed_critical
    if critical is None:
        return epic
    reason = f"the critical ticket {critical.ticket.id} came to nothing"
    changed: list[TicketProgress] = []
    for one in epic.active:
        if isinstance(one.state, TicketConflicting):
            run, words = one.state.approved.run, one.state.conflict.words
            failed = TicketFailed(run=run, outcome=Outcome.BLOCKED, reason=f"not merged: {words}; {reason}")
            changed.append(replace(one, state=failed, settled_at=at))
    if epic.index.unsettled > len(epic.index.active):
        blocked = TicketBlocked(by=critical.ticket.id, reason=reason)
        pending = (one for one in epic.tickets.values() if isinstance(one.state, TicketPending))
        changed += [replace(one, state=blocked, settled_at=at) for one in pending]
    return with_tickets(epic, changed) if changed else epic


def _block_dependents(epic: Epic, came_to: dict[str, str], at: float) -> Epic:
    """Everything that waits for tickets that came to nothing, directly or through others."""
    blocked: dict[str, TicketProgress] = {}
    lost = deque((name, why, f"{name} {why}") for name, why in came_to.items())
    while lost:
        by, why, cause = lost.popleft()
        for dependent in epic.index.needed_by.get(by, ()):
            one = epic.tickets[dependent]
            if dependent not in blocked and isinstance(one.state, TicketPending):
                state = TicketBlocked(by=by, reason=f"depends on {by}, which {why}")
                blocked[dependent] = replace(one, state=state, settled_at=at)
                lost.append((dependent, f"is blocked because {cause}", cause))
    return with_tickets(epic, blocked.values())
