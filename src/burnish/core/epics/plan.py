"""The plan of an epic: its tickets, what depends on what, and which of them comes first.

A source reads it from where people keep their work. It holds the texts themselves, so that later edits of files change
nothing unless a person asks for it.
"""

from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter

from burnish.core.values import Value
from burnish.core.work import Assignment


class Ticket(Value):
    """One piece of work: what its builder is told and its reviewer judges by."""

    id: str
    title: str = ""
    text: str
    """What is asked for, in markdown, as agents are given it."""
    file: str = ""
    """The file that describes it alone, as a path below the root of the repository or an absolute one."""
    depends_on: tuple[str, ...] = ()
    acceptance: tuple[str, ...] = ()
    ticked: tuple[str, ...] = ()
    """The criteria among them whose check box is ticked."""
    boxes: tuple[str, ...] = ()
    """The criteria among them that have a check box."""
    touches: tuple[str, ...] = ()
    """The files that it says it will change: paths or globs."""
    role: str = ""
    """What the epic says about its part in the whole."""
    critical: bool = False
    """Whether the epic fails with it."""
    reviewed: bool = True
    """One that is not reviewed is built and validated, but neither sealed nor merged."""
    priority: int | None = None
    """How urgent its source says that it is, the smallest first; None where the source does not say it."""
    done: bool = False
    """Whether the source says that it is done already: nothing is built for it."""
    skipped: bool = False
    """Whether the source says that it is left out: nothing is built for it, and nothing that needs it."""
    begun: bool = False
    """Whether the source says that people or other tools have worked on it already."""
    built: bool = False
    """Whether the source says that it is built: what its branch holds is reviewed as it is."""
    complexity: str = ""
    """`low`, `medium` or `high`, where the source says so: it may call for other agents."""
    agents: dict[str, Assignment] | None = None
    """The agents that the source names, by role."""


class EpicPlan(Value):
    id: str
    title: str = ""
    description: str = ""
    acceptance: tuple[str, ...] = ()
    coordination: str = ""
    """What all tickets must keep to, as it is written in the source."""
    rollback_on_failure: bool = False
    """Whether everything is taken out of the epic's branch again if a critical ticket fails."""
    tickets: tuple[Ticket, ...]
    source: str
    """The path of the file below the root of the repository, or an absolute one."""
    kind: str
    """Which reader understands the source: `epic`, `stories` or `beads`."""
    reviewed_whole: bool = True
    """Whether what was merged is reviewed once more, all of it together. If not, each ticket stands for itself."""
    left_out: tuple[str, ...] = ()
    """What of the source is no ticket, and why, in sentences."""
    protocol: str = ""
    """The protocol that the source itself asks for, where nothing else names one."""
    scope: tuple[str, ...] = ()
    """The tickets that the user named; all where it is empty."""
    state_file: str = ""
    """The state document that the user named."""
    in_order: bool = False
    """Whether tickets begin in the order in which they are listed, and not with the longest chain."""

    def ticket(self, name: str) -> Ticket | None:
        return next((ticket for ticket in self.tickets if ticket.id == name), None)


_NOUNS = {"beads": ("bead", "beads"), "stories": ("story", "stories")}


def counted(plan: EpicPlan, count: int) -> str:
    """So many tickets, in the words of their source: `1 bead`, `3 tickets`."""
    one, more = _NOUNS.get(plan.kind, ("ticket", "tickets"))
    return f"{count} {one if count == 1 else more}"


_BRANCHES = {"stories": "story", "beads": "bead"}


def branch_of(plan: EpicPlan, ticket: str) -> str:
    """The branch that a ticket is built on: `ticket/<id>`, `story/<key>` or `bead/<id>`."""
    return f"{_BRANCHES.get(plan.kind, 'ticket')}/{ticket}"


def cycle_in(tickets: Iterable[Ticket]) -> tuple[str, ...]:
    """The tickets of one circle of dependencies, the first of them again at the end; empty where there is none."""
    sorter = TopologicalSorter({ticket.id: ticket.depends_on for ticket in tickets})
    try:
        sorter.prepare()
    except CycleError as error:
        return tuple(reversed(error.args[1]))
    return ()


def ranks(tickets: Sequence[Ticket], *, in_order: bool = False) -> dict[str, int]:
    """How urgent each ticket is, the smallest first: by its priority, else by the longest chain that waits for it.

    A ticket with a long chain behind it decides how long the whole epic takes. Where people set priorities, these
    count instead. Of two that are alike, the one that is listed first comes first. `in_order`: by its place alone.
    """
    if in_order:
        return {ticket.id: rank for rank, ticket in enumerate(tickets)}
    order = tuple(TopologicalSorter({ticket.id: ticket.depends_on for ticket in tickets}).static_order())
    needed_by: dict[str, list[str]] = {}
    for ticket in tickets:
        for name in ticket.depends_on:
            needed_by.setdefault(name, []).append(ticket.id)
    chain: dict[str, int] = {}
    for name in reversed(order):
        chain[name] = 1 + max((chain[after] for after in needed_by.get(name, ())), default=0)
    urgent = sorted(tickets, key=lambda one: (1, -chain[one.id]) if one.priority is None else (0, one.priority))
    return {ticket.id: rank for rank, ticket in enumerate(urgent)}
