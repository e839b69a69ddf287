"""Epics: what burnish adds to the time of agents, how soon it acts, and that its cost grows linearly."""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.core.epics.simulation import Simulation, World, chain, diamonds, layers, started, wide
from tests.epics.project import REVISED, Project
from tests.epics.project import Ticket as Listed

from benchmarks.measure import Figure, compare
from burnish.core.epics.events import AnyEpicEvent
from burnish.core.epics.loop import evolve
from burnish.core.epics.plan import Ticket
from burnish.core.epics.schedule import decide
from burnish.core.epics.state import Epic
from burnish.core.events import ProcessStarted, Reviewed, decode
from burnish.runtime.journal import stream_of
from burnish.usecases.epics import Epics
from burnish.usecases.write_epic_records import EpicRecordKeeper
from burnish.workspace.repository import Repository

TICKETS = 1_000
_GRAPHS: dict[str, Callable[[int], tuple[Ticket, ...]]] = {
    "one chain": chain,
    "all independent": wide,
    "layers of ten": layers,
    "diamonds": diamonds,
}


_REVISION_SECONDS, _UPDATE_SECONDS = 5.0, 0.1
"""What seed 001 allows for the start of a revision, and for an update of the state."""


def figures() -> Iterator[Figure]:
    yield _revision()
    yield _update()
    yield _ticket()
    for name, graph in _GRAPHS.items():
        whole, half = _events(graph(TICKETS)), _events(graph(TICKETS // 2))
        yield compare(
            f"fold and decide an epic of {TICKETS:,} tickets, {name}",
            lambda whole=whole: _go_through(whole),
            lambda half=half: _go_through(half),
            against=f"{TICKETS // 2} tickets",
            limit=2.6,
        )


def _revision() -> Figure:
    """From the answer of a reviewer that is not content to the process of the agent that revises."""
    with tempfile.TemporaryDirectory(prefix="burnish-benchmarks-") as folder:
        project = Project(Path(folder), [Listed("a")])
        project.says("review", REVISED, "a")
        _run(project)
        run = project.state().tickets["a"].runs[-1]
        with project.machine.ledger() as ledger:
            events = [decode(event.body) for event in ledger.read(stream_of(run))]
    failed = next(event.at for event in events if isinstance(event, Reviewed))
    begun = next(event.at for event in events if isinstance(event, ProcessStarted) and event.effect.startswith("fix"))
    name = "start of a revision, from the answer of the reviewer to the agent's process"
    return Figure(name=name, ours=begun - failed, peer=_REVISION_SECONDS, against="the limit of the seed", limit=0.1)


def _update() -> Figure:
    """The state file of an epic of 100 tickets, after an event of one of them."""
    with tempfile.TemporaryDirectory(prefix="burnish-benchmarks-") as folder:
        project = Project(Path(folder), [Listed("a")])
        _run(project)
        repository = Repository.discover(project.machine.root)
        simulation = Simulation(started(wide(100), 8), World())
        simulation.run()
        with project.machine.ledger() as ledger:
            keeper = EpicRecordKeeper(repository, Epics(ledger))
            took: list[float] = []
            epic: Epic | None = None
            for event in simulation.events:
                epic = evolve(epic, event)
                began = time.perf_counter()
                keeper.write(epic)
                took.append(time.perf_counter() - began)
    name = "update of the state file of 100 tickets, the median of all events"
    median = sorted(took)[len(took) // 2]
    return Figure(name=name, ours=median, peer=_UPDATE_SECONDS, against="the limit of the seed", limit=0.5)


def _ticket() -> Figure:
    """What each ticket of an epic takes, built, reviewed, sealed and merged, against one such run by itself."""
    with tempfile.TemporaryDirectory(prefix="burnish-benchmarks-") as folder:
        epic = Project(Path(folder) / "epic", [Listed(f"t{number}") for number in range(10)])
        began = time.perf_counter()
        _run(epic, "--parallel", "1")
        each = (time.perf_counter() - began) / 11  # with the review of the whole
        alone = Project(Path(folder) / "alone", [Listed("a")])
        alone.machine.git("branch", "ticket/a", "main")
        began = time.perf_counter()
        done = alone.machine.burnish(
            *("fix", "--build", "--branch", "ticket/a", "--base", "main", "--protocol", "ticket"),
            *("--story", "a", "--intent", "Do a."),
        )
        single = time.perf_counter() - began
        if done.code:
            raise RuntimeError(done.err)
    name = "a ticket of an epic, built, reviewed and merged"
    return Figure(name=name, ours=each, peer=single, against="one such run by itself", limit=1.8)


def _run(project: Project, *options: str) -> None:
    done = project.run(*options)
    if done.code:
        raise RuntimeError(done.err)


def _events(tickets: Sequence[Ticket]) -> Sequence[AnyEpicEvent]:
    simulation = Simulation(started(tickets, 8), World())
    simulation.run()
    return simulation.events


def _go_through(events: Sequence[AnyEpicEvent]) -> None:
    epic: Epic | None = None
    for event in events:
        epic = evolve(epic, event)
        decide(epic)
