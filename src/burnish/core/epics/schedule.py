"""What an epic does next: `decide(epic) -> effects`, a pure function.

A ticket begins as soon as its dependencies are merged and a place is free; there are no waves. The one with the longest
chain behind it comes first, unless the plan is to be followed in its order. Work is merged one ticket at a time:
each merge begins where the last one ended.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from heapq import merge
from itertools import chain

from burnish.core.budget import LEAST_COST_USD, LEAST_TOKENS, Share
from burnish.core.epics.effects import (
    BeginIteration,
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
from burnish.core.epics.events import OverlapRule
from burnish.core.epics.plan import Ticket, counted
from burnish.core.epics.state import (
    Epic,
    EpicNotReviewed,
    EpicReviewed,
    EpicUnderReview,
    TicketApproved,
    TicketBlocked,
    TicketConflicting,
    TicketFailed,
    TicketMerging,
    TicketPending,
    TicketProgress,
    TicketRunning,
    TicketWaiting,
    is_unreviewed,
    run_of,
    state_as,
)
from burnish.core.events import Outcome
from burnish.core.reviews import Usage

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
    """What should happen now. Asking twice gives the same; what is under way under the same id is not started."""
    if epic.end is not None:
        return ()
    if epic.cancelled is not None:
        return _stop(epic)
    effects = [*_merges(epic), *_begin(epic), *_drive(epic)]
    effects += _next_iteration(epic) if all(isinstance(effect, WatchRun) for effect in effects) else ()
    if effects or not epic.is_at_rest:
        return tuple(effects)
    return _at_the_end(epic)


def _next_iteration(epic: Epic) -> Iterator[BeginIteration]:
    """Once all that began together has come to an end, the next tickets begin. One that waits for a person may wait."""
    number = epic.iteration + 1
    is_used = bool(epic.slots) or not epic.iteration
    if number > epic.started.iterations or epic.out_of_work or epic.is_halted or not epic.index.ready or not is_used:
        return
    pause = epic.started.pause if epic.iteration else 0.0
    yield BeginIteration(id=f"iteration:{number}", number=number, at=max(epic.not_before, epic.at + pause))


def _stop(epic: Epic) -> tuple[EpicEffect, ...]:
    stops = [StopRun(id=f"stop:{run}", run=run, ticket=ticket) for run, ticket in _under_way(epic)]
    finishing = [effect for effect in _merges(epic) if isinstance(effect, FinishMerge)]
    if stops or finishing:
        return (*finishing, *stops)
    return (CloseEpic(id="close", outcome=Outcome.CANCELLED, reason=epic.cancelled or "cancelled"),)


def _under_way(epic: Epic) -> Iterator[tuple[str, str]]:
    for one in epic.active:
        if isinstance(one.state, TicketRunning | TicketWaiting):
            yield run_of(one.state), one.ticket.id
    if isinstance(epic.review, EpicUnderReview):
        yield epic.review.run, ""


def _drive(epic: Epic) -> Iterator[EpicEffect]:
    """Drive as many runs as there are places. One that a person sends on may find its place taken: it comes next."""
    for one in epic.running[: epic.started.parallel]:
        state = state_as(one, TicketRunning)
        yield DriveRun(id=f"run:{state.run}:{state.lost}", run=state.run, ticket=one.ticket.id)
    for one in epic.waiting:
        run = run_of(one.state)
        yield WatchRun(id=f"watch:{run}", run=run, ticket=one.ticket.id)
    review = epic.review
    if isinstance(review, EpicUnderReview):
        if review.waits:
            yield WatchRun(id=f"watch:{review.run}", run=review.run, ticket="")
        else:
            yield DriveRun(id=f"run:{review.run}:{review.lost}", run=review.run, ticket="")


def _merges(epic: Epic) -> Iterator[EpicEffect]:
    """The one merge that is next. One that is prepared comes first: the next one begins at its commit."""
    for one in epic.active:
        if isinstance(one.state, TicketMerging):
            name, state = one.ticket.id, one.state
            yield FinishMerge(id=f"move:{name}:{state.commit}", ticket=name, onto=state.onto, commit=state.commit)
            return
    approved = [one for one in epic.active if isinstance(one.state, TicketApproved)]
    for one in sorted(approved, key=lambda one: epic.ranks[one.ticket.id])[:1]:
        commit = state_as(one, TicketApproved).commit
        yield PrepareMerge(id=f"merge:{one.ticket.id}:{commit}", ticket=one.ticket.id, commit=commit)


def _begin(epic: Epic) -> Iterator[BeginTicket]:
    """The tickets that begin now: those that resolve a conflict, then the most urgent ones.

    A place is kept for a ticket that only waits for merges, if it is more urgent than what could take that place.
    Without this, every link of a long chain would wait for work that has time.
    """
    if epic.failed_critical is not None or epic.is_halted:
        return
    slots = epic.started.parallel - len(epic.slots) if _may_begin(epic) else 0
    conflicting = [one for one in epic.active if isinstance(one.state, TicketConflicting)]
    free = epic.started.parallel - len(epic.running)
    if epic.started.halts or epic.started.checkpoint:
        # A person may stop the epic between two tickets: the next one waits until this one is merged.
        free = epic.started.parallel - (len(epic.active) - len(conflicting))
    conflicting.sort(key=lambda one: epic.ranks[one.ticket.id])
    busy, promised = [one.ticket for one in epic.active], _promised(epic)
    coming = [] if epic.started.iterations else _coming(epic)
    urgent = merge(epic.index.ready, coming, key=lambda name: epic.ranks[name])
    for one in chain(conflicting, (epic.tickets[name] for name in urgent)):
        if free <= 0:
            return
        if one.ticket.id in coming:
            free -= 1
            continue
        takes_slot = isinstance(one.state, TicketPending) and not one.handed
        if takes_slot and epic.started.iterations and slots <= 0:
            continue
        is_alone = epic.started.overlap is OverlapRule.SERIALISE and isinstance(one.state, TicketPending)
        if is_alone and any(overlaps(one.ticket, other) for other in busy):
            continue
        reserved = _share(epic, promised, among=free)
        if promised and reserved.parts == 0:
            return
        conflict = one.state.conflict if isinstance(one.state, TicketConflicting) else None
        name, number = one.ticket.id, len(one.runs) + 1
        onto = conflict.onto if conflict else epic.tip
        yield BeginTicket(
            id=f"begin:{name}:{number}",
            ticket=name,
            onto=onto,
            conflict=conflict,
            handed=one.handed,
            reserved=reserved,
        )
        promised.append(reserved)
        busy.append(one.ticket)
        free -= 1
        slots -= takes_slot


def _may_begin(epic: Epic) -> bool:
    """Whether tickets may take a place of this iteration. Work that is handed over has one already."""
    return epic.iteration > 0 and not epic.out_of_work


def _coming(epic: Epic) -> list[str]:
    """The tickets that can begin once everything is merged that is approved now, the most urgent first."""
    approved = [one.ticket.id for one in epic.active if isinstance(one.state, TicketApproved | TicketMerging)]
    met = Counter(dependent for name in approved for dependent in epic.index.needed_by.get(name, ()))
    coming = [name for name, count in met.items() if count == epic.index.unmet[name]]
    pending = [name for name in coming if isinstance(epic.tickets[name].state, TicketPending)]
    return sorted(pending, key=lambda name: epic.ranks[name])


def overlaps(one: Ticket, other: Ticket) -> bool:
    """Whether two tickets say that they change the same file."""
    return any(_same_file(first, second) for first in one.touches for second in other.touches)


def _same_file(one: str, other: str) -> bool:
    if one == other or fnmatchcase(one, other) or fnmatchcase(other, one):
        return True
    return one.startswith(f"{other.rstrip('/')}/") or other.startswith(f"{one.rstrip('/')}/")


def _share(epic: Epic, promised: Sequence[Share], *, among: int) -> Share:
    """What the next run may use up of the epic's budget, beside what is promised to others.

    If others may give something back, too little is offered as nothing, and the run waits. If not, it gets what is
    left, even if that is nothing: it ends over budget and says so.
    """
    costs, tokens = [share.cost_usd or 0.0 for share in promised], [share.tokens or 0 for share in promised]
    left = epic.started.budget.left(epic.usage.plus(Usage(cost_usd=sum(costs), tokens=sum(tokens))))
    own = epic.started.ticket_budget
    rest = 0 if promised else 1
    cost = _part(left.cost_usd, own.cost_usd, among, LEAST_COST_USD, rest)
    count = _part(left.tokens, own.tokens, among, LEAST_TOKENS, rest)
    return Share(cost_usd=cost, tokens=None if count is None else int(count))


def _part(left: float | None, own: float | None, among: int, least: float, rest: int) -> float | None:
    """As much as a run of its own may use up; without such a cap, an equal part of what is left."""
    if left is None:
        return None
    wanted = left / among if own is None else own
    enough = wanted <= left and (own is not None or wanted >= least)
    return wanted if enough else left * rest


def _promised(epic: Epic) -> list[Share]:
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
    if epic.plan.reviewed_whole and epic.merged and isinstance(epic.review, EpicNotReviewed):
        return (BeginReview(id="begin-review", onto=epic.tip, reserved=_share(epic, (), among=1)),)
    if epic.is_approved and epic.started.pull_request and epic.pull_request is None:
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
        told = f"{count} of {counted(epic.plan, len(epic.tickets))} came to nothing: {names}"
        return CloseEpic(id="close", outcome=worst, reason=f"{reason or told}{_iterations(epic)}")
    if epic.approval is not None:
        return CloseEpic(id="close", outcome=epic.approval, reason=f"{_all_done(epic)}{_iterations(epic)}")
    return CloseEpic(id="close", outcome=Outcome.SKIPPED, reason=f"{_unmerged(epic)}{_iterations(epic)}")


def _unmerged(epic: Epic) -> str:
    built = [one for one in epic.tickets.values() if is_unreviewed(one.state)]
    if built:
        return f"{counted(epic.plan, len(built))} built without a review, so nothing was merged"
    if epic.started.iterations and not epic.tickets:
        return "nothing was begun: no bead is open and free"
    return "nothing was merged, so there is nothing to review"


def _iterations(epic: Epic) -> str:
    """What a loop of iterations has to add: those that failed, and why it ended before all was done."""
    if not epic.started.iterations:
        return ""
    failed = ", ".join(map(str, epic.failed_iterations))
    told = f"; {len(epic.failed_iterations)} of {epic.iteration} iterations failed: {failed}" if failed else ""
    left = sum(isinstance(one.state, TicketPending) for one in epic.tickets.values())
    if not left:
        return told
    most = epic.started.iterations
    why = f"the limit of {most} iteration{'' if most == 1 else 's'} is reached"
    if epic.out_of_work:
        why = f"the agent of {epic.out_of_work} said that none is left"
    return f"{told}; {counted(epic.plan, left)} not begun: {why}"


def _all_done(epic: Epic) -> str:
    count = len(epic.merged)
    merged = f"{counted(epic.plan, count)} merged"
    if isinstance(epic.review, EpicReviewed):
        return f"{merged}, and the whole was reviewed"
    alone = "it was approved" if count == 1 else "each was approved"
    if epic.approval is Outcome.ACCEPTED:
        alone = f"{alone}, or accepted by a person,"
    return f"{merged}; {alone} by itself, and the whole was not reviewed together"
