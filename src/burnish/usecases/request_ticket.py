"""What each run of an epic is asked for: its branch, what its agents are told, and its share of the budget."""

from collections.abc import Iterable
from itertools import islice

import msgspec

from burnish.core.epics.events import MergeConflict
from burnish.core.epics.plan import Ticket, branch_of
from burnish.core.epics.schedule import overlaps
from burnish.core.epics.state import (
    Epic,
    EpicUnderReview,
    TicketBlocked,
    TicketCompleted,
    TicketFailed,
    TicketProgress,
    TicketRunning,
    TicketSkipped,
)
from burnish.core.errors import BurnishError
from burnish.core.events import Mode
from burnish.core.protocol import SkipReason
from burnish.core.values import Value, replace
from burnish.prompts.fences import visible
from burnish.prompts.rendering import fill
from burnish.runtime.context import Picking
from burnish.settings.loading import Flags
from burnish.settings.types import Complexity
from burnish.sources.bead_tracker import BEADS, BeadStatus
from burnish.sources.beads import KIND as BEADS_KIND
from burnish.usecases.merge_ticket import check_holds
from burnish.usecases.plan_run import RunRequest
from burnish.usecases.read_brief import Brief
from burnish.workspace.landing import branch_commit
from burnish.workspace.merging import advance_branch, create_branch
from burnish.workspace.repository import Repository

_MOST_OTHERS = 5_000
"""Beads among which an agent may choose."""


class EpicOptions(Value):
    """How the runs of an epic are asked for, as the epic's first event holds it."""

    flags: Flags = Flags()
    agents: tuple[str, ...] = ()
    complexity: Complexity | None = None
    max_rounds: int | None = None
    allow_unexamined: bool = False
    review: bool = True
    skip: SkipReason = SkipReason.REVIEW_DISABLED
    """Why nothing is reviewed, where nothing is."""
    top: str = ""
    """The bead that a list is limited to."""
    resolver: str = ""
    """The agent that resolves conflicts: the one that fixes, or the builder where that is no agent that can."""


def options_of(epic: Epic) -> EpicOptions:
    return msgspec.convert(epic.started.request, EpicOptions)


def complexity_of(ticket: Ticket) -> Complexity | None:
    return Complexity(ticket.complexity) if ticket.complexity else None


def request_of(epic: Epic, run: str, repository: Repository) -> RunRequest:
    """What a run of the epic is asked for. Makes its branch."""
    review = epic.review
    if isinstance(review, EpicUnderReview) and review.run == run:
        check_holds(repository, epic, review.onto)
        return _review_request(epic, review)
    one = next((one for one in epic.running if isinstance(one.state, TicketRunning) and one.state.run == run), None)
    if one is None or not isinstance(one.state, TicketRunning):
        raise BurnishError(f"{epic.id} has no run '{run}' under way.", hint=f"`burnish status {epic.id}` shows it.")
    if one.state.conflict is not None:
        return _resolution_request(epic, one, one.state, one.state.conflict, repository)
    branch = branch_of(epic.plan, one.ticket.id)
    existing = branch_commit(repository, branch)
    if not one.ticket.begun or existing is None or repository.is_ancestor(existing, one.state.onto):
        advance_branch(repository, branch, one.state.handed or one.state.onto, run)
    request = _request(epic, one.ticket, one.state, branch=branch)
    has_work = branch_commit(repository, branch) != one.state.onto
    return replace(request, build=False) if one.ticket.built and has_work else request


def _request(epic: Epic, ticket: Ticket, running: TicketRunning, *, branch: str) -> RunRequest:
    options = options_of(epic)
    return RunRequest(
        mode=Mode.FIX,
        branch=branch,
        base=epic.started.branch,
        ticket=brief_of(epic, ticket),
        epic=epic.id,
        share=running.reserved,
        minutes=minutes_left(epic),
        story=ticket.id,
        flags=options.flags,
        agents=options.agents,
        chosen=ticket.agents or {},
        complexity=complexity_of(ticket) or options.complexity,
        max_rounds=options.max_rounds,
        build=not running.handed,
        status_file=_inside(epic.plan.source) if epic.plan.kind == "stories" else "",
        review=ticket.reviewed and options.review,
        skip=options.skip,
        picking=_picking(epic, ticket),
        allow_unexamined=options.allow_unexamined,
    )


def _picking(epic: Epic, ticket: Ticket) -> Picking | None:
    """The list of beads that a bead is from: its agent may choose another one that is free."""
    if epic.plan.kind != BEADS_KIND:
        return None
    free = (name for name in epic.index.ready if not epic.tickets[name].handed)
    source = _inside(epic.plan.source)
    return Picking(
        task=ticket.id,
        folder=source or BEADS,
        others=tuple(islice((name for name in free if name != ticket.id), _MOST_OTHERS)),
        parallel=epic.started.parallel,
        beside=tuple(one.ticket.id for one in epic.running if one.ticket.id != ticket.id),
    )


def _resolution_request(
    epic: Epic, one: TicketProgress, running: TicketRunning, conflict: MergeConflict, repository: Repository
) -> RunRequest:
    """Have an agent bring two approved sides together, on a branch beside the ticket's own, and review the result."""
    ticket, options = one.ticket, options_of(epic)
    branch = f"{branch_of(epic.plan, ticket.id)}-merge-{running.run[-6:]}"
    create_branch(repository, branch, conflict.commit)
    request = _request(epic, ticket, running, branch=branch)
    brief = brief_of(epic, ticket)
    resolver = (f"build={options.resolver}",) if conflict.files and options.resolver else ()
    return replace(
        request,
        ticket=replace(brief, text=text_to_resolve(epic, conflict, brief.text)),
        agents=(*request.agents, *resolver),
        build=bool(conflict.files),
        build_title=f"fix: resolve conflicts of {ticket.id} with {epic.started.branch}",
    )


def text_to_resolve(epic: Epic, conflict: MergeConflict, ticket: str) -> str:
    branch = epic.started.branch
    if conflict.files:
        return fill("epic-conflict", branch=branch, files=_list(map(visible, conflict.files)), ticket=ticket)
    return fill("epic-merge-fails", branch=branch, output=visible(conflict.output), ticket=ticket)


def _review_request(epic: Epic, review: EpicUnderReview) -> RunRequest:
    options = options_of(epic)
    return RunRequest(
        mode=Mode.FIX,
        branch=epic.started.branch,
        base=epic.started.base,
        ticket=brief_of_epic(epic),
        epic=epic.id,
        share=review.reserved,
        minutes=minutes_left(epic),
        story=epic.plan.id,
        flags=options.flags,
        agents=options.agents,
        complexity=options.complexity,
        max_rounds=options.max_rounds,
        allow_unexamined=options.allow_unexamined,
    )


def minutes_left(epic: Epic) -> float | None:
    cap = epic.started.budget.minutes
    return None if cap is None else max(0.0, cap - epic.usage.seconds / 60)


def brief_of(epic: Epic, ticket: Ticket) -> Brief:
    """What the builder and the reviewer of a ticket are told."""
    role = f"The part of this ticket: {ticket.role}" if ticket.role else ""
    parts = (epic.plan.coordination, role, _beside(epic, ticket))
    return Brief(
        path=ticket.file or epic.plan.source,
        file=_inside(ticket.file),
        title=ticket.title or ticket.id,
        text=_header(ticket) + ticket.text,
        acceptance=ticket.acceptance,
        ticked={criterion: criterion in ticket.ticked for criterion in ticket.boxes},
        coordination="\n\n".join(part for part in parts if part),
        epic=_inside(epic.plan.source),
    )


def _header(ticket: Ticket) -> str:
    """What a bead's tracker says of it beside its text. It is in progress from the moment at which it is picked."""
    if ticket.priority is None:
        return ""
    return f"Bead: {ticket.id}\nStatus: {BeadStatus.IN_PROGRESS.value}\nPriority: {ticket.priority}\n\n"


def _inside(path: str) -> str:
    """A path where it is one below the root of the repository."""
    return "" if path.startswith("/") else path


def _beside(epic: Epic, ticket: Ticket) -> str:
    """The tickets that say they change the same files, and what became of them so far."""
    others = [one for one in epic.tickets.values() if one.ticket.id != ticket.id and overlaps(one.ticket, ticket)]
    if not others:
        return ""
    return fill(
        "epic-beside",
        tickets=_list(f"{one.ticket.id} ({_stands(one)}): {', '.join(one.ticket.touches)}" for one in others),
    )


def _stands(one: TicketProgress) -> str:
    match one.state:
        case TicketCompleted():
            return "merged" if one.state.commit else "done"
        case TicketFailed() | TicketBlocked():
            return "came to nothing"
        case TicketSkipped():
            return "skipped"
        case TicketRunning():
            return "at work now"
        case _:
            return "not merged yet"


def brief_of_epic(epic: Epic) -> Brief:
    """What the reviewers of the merged epic judge by: the whole, and which tickets are not in it."""
    plan = epic.plan
    lost = {one.ticket.id: state.reason for one in epic.tickets.values() if (state := _lost(one))}
    text = fill(
        "epic-review",
        title=plan.title or plan.id,
        description=plan.description,
        merged=_list(f"{one.ticket.id}: {one.ticket.title or one.ticket.id}" for one in epic.merged),
        missing=_list(f"{name}: {reason}" for name, reason in lost.items()),
        acceptance=_list(plan.acceptance),
    )
    return Brief(
        path=plan.source,
        file=_inside(plan.source),
        title=plan.title or plan.id,
        text=text,
        acceptance=plan.acceptance,
        coordination=plan.coordination,
        epic=_inside(plan.source),
    )


def _lost(one: TicketProgress) -> TicketFailed | TicketSkipped | TicketBlocked | None:
    return one.state if isinstance(one.state, TicketFailed | TicketSkipped | TicketBlocked) else None


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items) or "None."
