"""What an epic does next: `decide(epic) -> effects`, a pure function.

A ticket begins as soon as its dependencies are merged and a place is free; there are no waves. The one with the longest
chain behind it comes first. Work is merged one ticket at a time, because each merge begins where the last one ended.
"""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from burnish.core.budget import LEAST_COST_USD, LEAST_TOKENS, Share
from burnish.core.epics.effects import (
    BeginReview,
    BeginTicket,
    CloseEpic,
    DriveRun,
    EpicEffect,
    FinishMerge,
    OpenPullRequest,
    PrepareMerge,
    RollBack,
    StopRun,
    WatchRun,
)
from burnish.core.epics.events import (
    OverlapRule,
)
from burnish.core.epics.plan import Ticket
from burnish.core.epics.state import (
    SETTLED,
    Epic,
    EpicNotReviewed,
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
    TicketWaiting,
    state_as,
    with_ticket,
)
from burnish.core.events import Outcome
from burnish.core.values import replace

_GOOD = (Outcome.APPROVED, Outcome.ACCEPTED)
_BY_WEIGHT = (
    Outcome.OVER_BUDGET,
    Outcome.DID_NOT_RUN,
    Outcome.BLOCKED,
    Outcome.FAILED,
    Outcome.STOPPED,
    Outcome.CANCELLED,
    Outcome.UNPROVEN,
)
"""Which outcome of a ticket the epic ends with, where several did not end well."""


def decide(epic: Epic) -> tuple[EpicEffect, ...]:
    """What should happen now. Asking twice gives the same answer; drivers do not start twice what has the same id."""
    if epic.end is not None:
        return ()
    if epic.cancelled is not None:
        return _stop(epic)
    effects = [*_merges(epic), *_begin(epic), *_drive(epic)]
    if effects or not epic.is_settled:
        return tuple(effects)
    return _at_the_end(epic)


def _stop(epic: Epic) -> tuple[EpicEffect, ...]:
    stops = [StopRun(id=f"stop:{run}", run=run, ticket=ticket) for run, ticket in _under_way(epic)]
    finishing = [effect for effect in _merges(epic) if isinstance(effect, FinishMerge)]
    if stops or finishing:
        return (*finishing, *stops)
    return (CloseEpic(id="close", outcome=Outcome.CANCELLED, reason=epic.cancelled or "cancelled"),)


def _under_way(epic: Epic) -> Iterator[tuple[str, str]]:
    for name, one in epic.tickets.items():
        if isinstance(one.state, TicketRunning):
            yield one.state.run, name
        elif isinstance(one.state, TicketWaiting):
            yield one.state.running.run, name
    if isinstance(epic.review, EpicUnderReview):
        yield epic.review.run, ""


def _drive(epic: Epic) -> Iterator[EpicEffect]:
    for name, one in epic.tickets.items():
        match one.state:
            case TicketRunning():
                yield DriveRun(id=f"run:{one.state.run}:{one.state.lost}", run=one.state.run, ticket=name)
            case TicketWaiting():
                run = one.state.running.run
                yield WatchRun(id=f"watch:{run}", run=run, ticket=name)
            case _:
                pass
    review = epic.review
    if isinstance(review, EpicUnderReview):
        if review.waits:
            yield WatchRun(id=f"watch:{review.run}", run=review.run, ticket="")
        else:
            yield DriveRun(id=f"run:{review.run}:{review.lost}", run=review.run, ticket="")


def _merges(epic: Epic) -> Iterator[EpicEffect]:
    """The one merge that is next. One that is prepared comes first: the next one begins at its commit."""
    for name, one in epic.tickets.items():
        if isinstance(one.state, TicketMerging):
            state = one.state
            yield FinishMerge(id=f"move:{name}:{state.commit}", ticket=name, onto=state.onto, commit=state.commit)
            return
    approved = [one for one in epic.tickets.values() if isinstance(one.state, TicketApproved)]
    for one in sorted(approved, key=lambda one: epic.ranks[one.ticket.id])[:1]:
        commit = state_as(one, TicketApproved).commit
        yield PrepareMerge(id=f"merge:{one.ticket.id}:{commit}", ticket=one.ticket.id, commit=commit)


def _begin(epic: Epic) -> Iterator[BeginTicket]:
    """The tickets that begin now: those that resolve a conflict, then the most urgent ones."""
    if epic.failed_critical is not None:
        return
    free = epic.started.parallel - len(epic.running)
    if free <= 0:
        return
    ready = [one for one in epic.tickets.values() if _is_ready(epic, one)]
    ready.sort(key=lambda one: (isinstance(one.state, TicketPending), epic.ranks[one.ticket.id]))
    busy = [one.ticket for one in epic.tickets.values() if not isinstance(one.state, (*SETTLED, TicketPending))]
    for one in ready:
        if free <= 0:
            return
        is_alone = epic.started.overlap is OverlapRule.SERIALISE and isinstance(one.state, TicketPending)
        if is_alone and any(overlaps(one.ticket, other) for other in busy):
            continue
        reserved = _reserve(epic, among=free)
        if reserved is None:
            return
        conflict = one.state.conflict if isinstance(one.state, TicketConflicting) else None
        name, number = one.ticket.id, len(one.runs) + 1
        onto = conflict.onto if conflict else epic.tip
        yield BeginTicket(id=f"begin:{name}:{number}", ticket=name, onto=onto, conflict=conflict, reserved=reserved)
        running = TicketRunning(run=f"begin:{name}", onto=onto, conflict=conflict, reserved=reserved)
        epic = with_ticket(epic, replace(one, state=running))
        busy.append(one.ticket)
        free -= 1


def _is_ready(epic: Epic, one: TicketProgress) -> bool:
    if isinstance(one.state, TicketConflicting):
        return True
    needed = (epic.tickets[name].state for name in one.ticket.depends_on)
    return isinstance(one.state, TicketPending) and all(isinstance(state, TicketCompleted) for state in needed)


def overlaps(one: Ticket, other: Ticket) -> bool:
    """Whether two tickets say that they change the same file."""
    return any(_same_file(first, second) for first in one.touches for second in other.touches)


def _same_file(one: str, other: str) -> bool:
    if one == other or fnmatchcase(one, other) or fnmatchcase(other, one):
        return True
    return one.startswith(f"{other.rstrip('/')}/") or other.startswith(f"{one.rstrip('/')}/")


def _reserve(epic: Epic, *, among: int) -> Share | None:
    """What the next run may use up of the epic's budget; None while it has to wait for what others give back.

    Where nothing runs that could give anything back, it gets what is left, even if that is nothing: it ends over budget
    and says so.
    """
    caps, own = epic.started.budget, epic.started.ticket_budget
    cost = _part(caps.cost_usd, own.cost_usd, epic.usage.cost_usd, [s.cost_usd for s in _reserved(epic)], among)
    tokens = _part(caps.tokens, own.tokens, epic.usage.tokens, [s.tokens for s in _reserved(epic)], among)
    too_little = (cost is not None and cost < LEAST_COST_USD) or (tokens is not None and tokens < LEAST_TOKENS)
    if too_little and (epic.running or isinstance(epic.review, EpicUnderReview)):
        return None
    return Share(cost_usd=cost, tokens=None if tokens is None else int(tokens))


def _part(
    cap: float | None, own: float | None, used: float, reserved: Sequence[float | None], among: int
) -> float | None:
    """As much as a run of its own may use up; without such a cap, an equal part of what is left."""
    if cap is None:
        return None
    left = max(0.0, cap - used - sum(amount or 0 for amount in reserved))
    if own is None:
        return left / among
    if own <= left:
        return own
    return 0.0 if reserved else left


def _reserved(epic: Epic) -> list[Share]:
    shares = [state_as(one, TicketRunning).reserved for one in epic.running]
    shares += [state_as(one, TicketWaiting).running.reserved for one in epic.waiting]
    return shares + ([epic.review.reserved] if isinstance(epic.review, EpicUnderReview) else [])


def _at_the_end(epic: Epic) -> tuple[EpicEffect, ...]:
    """All tickets are settled: review what was merged, or take it back, and close."""
    critical = epic.failed_critical
    if critical is not None:
        if epic.plan.rollback_on_failure and epic.rolled_back is None and epic.merged:
            return (RollBack(id="roll-back"),)
        return (_close(epic, f"the critical ticket {critical.ticket.id} {_came_to(critical)}"),)
    if epic.merged and isinstance(epic.review, EpicNotReviewed):
        return (BeginReview(id="begin-review", onto=epic.tip, reserved=_reserve(epic, among=1) or Share()),)
    approved = isinstance(epic.review, EpicReviewed) and epic.review.outcome in _GOOD
    if approved and epic.started.pull_request and epic.pull_request is None:
        return (OpenPullRequest(id="pull-request"),)
    return (_close(epic, ""),)


def _came_to(one: TicketProgress) -> str:
    match one.state:
        case TicketFailed():
            return f"failed: {one.state.reason}"
        case TicketBlocked():
            return f"is blocked: it {one.state.reason}"
        case _:
            return "did not fail"


def _close(epic: Epic, reason: str) -> CloseEpic:
    """How the epic ends: as its review did, unless tickets came to nothing."""
    failed = [one for one in epic.tickets.values() if isinstance(one.state, TicketFailed)]
    blocked = [one for one in epic.tickets.values() if isinstance(one.state, TicketBlocked)]
    outcomes = [state_as(one, TicketFailed).outcome for one in failed]
    if isinstance(epic.review, EpicReviewed) and epic.review.outcome not in _GOOD:
        outcomes.append(epic.review.outcome)
        reason = reason or f"the review of the whole epic: {epic.review.reason}"
    if blocked and not outcomes:
        outcomes.append(Outcome.BLOCKED)
    if outcomes:
        worst = next((outcome for outcome in _BY_WEIGHT if outcome in outcomes), Outcome.FAILED)
        names = ", ".join(one.ticket.id for one in (*failed, *blocked))
        count = len(failed) + len(blocked)
        told = f"{count} of {len(epic.tickets)} tickets came to nothing: {names}"
        return CloseEpic(id="close", outcome=worst, reason=reason or told)
    if isinstance(epic.review, EpicReviewed):
        return CloseEpic(id="close", outcome=epic.review.outcome, reason=_all_done(epic))
    unmerged = "nothing was merged, so there is nothing to review"
    return CloseEpic(id="close", outcome=Outcome.SKIPPED, reason=unmerged)


def _all_done(epic: Epic) -> str:
    count = len(epic.merged)
    return f"{count} ticket{'' if count == 1 else 's'} merged, and the whole was reviewed"
