"""An epic of 1,000 tickets, folded and decided event by event, against one of 500: the cost must grow linearly."""

from collections.abc import Callable, Iterator, Sequence

from tests.core.epics.simulation import Simulation, World, chain, diamonds, layers, started, wide

from benchmarks.measure import Figure, compare
from burnish.core.epics.events import AnyEpicEvent
from burnish.core.epics.loop import evolve
from burnish.core.epics.plan import Ticket
from burnish.core.epics.schedule import decide
from burnish.core.epics.state import Epic

TICKETS = 1_000
_GRAPHS: dict[str, Callable[[int], tuple[Ticket, ...]]] = {
    "one chain": chain,
    "all independent": wide,
    "layers of ten": layers,
    "diamonds": diamonds,
}


def figures() -> Iterator[Figure]:
    for name, graph in _GRAPHS.items():
        whole, half = _events(graph(TICKETS)), _events(graph(TICKETS // 2))
        yield compare(
            f"fold and decide an epic of {TICKETS:,} tickets, {name}",
            lambda whole=whole: _go_through(whole),
            lambda half=half: _go_through(half),
            against=f"{TICKETS // 2} tickets",
            limit=2.6,
        )


def _events(tickets: Sequence[Ticket]) -> Sequence[AnyEpicEvent]:
    simulation = Simulation(started(tickets, 8), World())
    simulation.run()
    return simulation.events


def _go_through(events: Sequence[AnyEpicEvent]) -> None:
    epic: Epic | None = None
    for event in events:
        epic = evolve(epic, event)
        decide(epic)
