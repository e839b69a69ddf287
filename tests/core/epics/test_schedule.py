"""How long epics of 100 tickets take, compared with the best schedule; and which ticket begins when."""

import heapq
from collections.abc import Mapping, Sequence
from math import ceil

import pytest

from burnish.core.epics.effects import BeginTicket
from burnish.core.epics.loop import evolve
from burnish.core.epics.plan import Ticket
from burnish.core.epics.schedule import decide
from burnish.core.values import replace
from tests.core.epics.simulation import (
    Simulation,
    World,
    chain,
    diamonds,
    dice,
    layers,
    mixed,
    started,
    ticket,
    wide,
)

LIMITS = (1, 2, 4, 8, 16)
GRAPHS: dict[str, Sequence[Ticket]] = {
    "chain": chain(100),
    "wide": wide(100),
    "layers": layers(100),
    "diamonds": diamonds(100),
    "mixed": mixed(100, dice(1)),
    "deep": mixed(100, dice(1), reach=8),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_equal_tickets_take_as_long_as_in_the_best_schedule(name: str) -> None:
    """Within 5 % of a bound that no schedule can beat. It counts whole steps, so it can be reached where work divided
    by places cannot: 100 tickets at 16 places take 7 steps, not 6.25.
    """
    best = _fewest_steps(GRAPHS[name])
    for parallel in LIMITS:
        assert _makespan(GRAPHS[name], parallel, {}) <= 1.05 * best[parallel], parallel


@pytest.mark.parametrize("name", GRAPHS)
def test_tickets_of_unlike_length_take_little_longer_than_if_their_length_were_known(name: str) -> None:
    """Nothing knows how long an agent will take. Then no schedule can promise more than never to leave a place empty.

    So three things are shown: that; Graham's bound, which follows from it; and, over all limits, the distance to a
    schedule that knows every duration and puts the longest remaining path first.
    """
    ours = known = 0.0
    for parallel in LIMITS:
        random = dice(parallel)
        seconds = {one.id: random.uniform(1, 10) for one in GRAPHS[name]}
        taken = _makespan(GRAPHS[name], parallel, seconds)
        path = max(_tails(GRAPHS[name], seconds).values())
        assert taken <= sum(seconds.values()) / parallel + path * (1 - 1 / parallel) + 1e-6
        ours, known = ours + taken, known + _knowing(GRAPHS[name], parallel, seconds)
    assert ours <= 1.05 * known


def test_a_ticket_waits_for_no_slow_ticket_that_it_does_not_depend_on() -> None:
    """There are no waves: one slow ticket keeps one place, and a chain beside it goes on."""
    tickets = [ticket("slow"), *chain(10)]
    simulation = Simulation(started(tickets, 2), World({"slow": 100.0}))
    simulation.run()
    assert simulation.spans["t9"] == (9.0, 10.0)
    assert simulation.spans["slow"] == (0.0, 100.0)


def test_the_longest_chain_comes_first_and_then_the_order_of_the_plan() -> None:
    tickets = [ticket("a"), ticket("b"), ticket("root"), ticket("middle", "root"), ticket("leaf", "middle")]
    effects = decide(evolve(None, started(tickets, 2)))
    assert [effect.ticket for effect in effects if isinstance(effect, BeginTicket)] == ["root", "a"]


@pytest.mark.parametrize(
    ("one", "other"), [("src/a.py", "src/a.py"), ("src/*.py", "src/a.py"), ("src", "src/a.py"), ("src/", "src/*")]
)
def test_tickets_that_change_the_same_file_are_built_one_after_the_other_if_asked(one: str, other: str) -> None:
    tickets = [
        replace(ticket("a"), touches=(one,)),
        replace(ticket("b"), touches=(other,)),
        replace(ticket("c"), touches=("docs/a.md",)),
    ]
    serial, told = Simulation(started(tickets, serialise=True), World()), Simulation(started(tickets), World())
    serial.run()
    told.run()
    assert serial.spans == {"a": (0.0, 1.0), "b": (1.0, 2.0), "c": (0.0, 1.0)}
    assert set(told.spans.values()) == {(0.0, 1.0)}


def _makespan(tickets: Sequence[Ticket], parallel: int, seconds: Mapping[str, float]) -> float:
    simulation = Simulation(started(tickets, parallel), World(seconds))
    simulation.run()
    spans = simulation.spans
    assert len(spans) == len(tickets)
    _check_no_place_is_empty(tickets, spans, parallel)
    return max(end for _, end in spans.values())


def _check_no_place_is_empty(
    tickets: Sequence[Ticket], spans: Mapping[str, tuple[float, float]], parallel: int
) -> None:
    """A ticket that begins later than it could has found every place taken."""
    moments = sorted([(begin, 1) for begin, _ in spans.values()] + [(end, -1) for _, end in spans.values()])
    full: list[tuple[float, float]] = []
    busy, since = 0, 0.0
    for at, change in moments:
        if busy == parallel and change < 0:
            full.append((since, at))
        busy += change
        assert busy <= parallel
        since = at if busy == parallel and change > 0 else since
    joined: list[tuple[float, float]] = []
    for begin, end in full:
        joined[-1:] = [(joined[-1][0], end)] if joined and joined[-1][1] == begin else [*joined[-1:], (begin, end)]
    for one in tickets:
        could, did = max((spans[name][1] for name in one.depends_on), default=0.0), spans[one.id][0]
        assert did == could or any(begin <= could and did <= end for begin, end in joined), one.id


def _tails(tickets: Sequence[Ticket], seconds: Mapping[str, float]) -> dict[str, float]:
    """The longest path from the begin of each ticket to the end of the epic. Plans here name dependencies first."""
    tails = {one.id: seconds.get(one.id, 1.0) for one in tickets}
    for one in reversed(tickets):
        for name in one.depends_on:
            tails[name] = max(tails[name], seconds.get(name, 1.0) + tails[one.id])
    return tails


def _fewest_steps(tickets: Sequence[Ticket]) -> dict[int, int]:
    """A bound for each limit: what has steps before it and steps after it must be done between them."""
    heads: dict[str, int] = {}
    for one in tickets:
        heads[one.id] = max((heads[name] + 1 for name in one.depends_on), default=0)
    tails = {name: int(tail) - 1 for name, tail in _tails(tickets, {}).items()}
    corners = {(heads[one.id], tails[one.id]) for one in tickets}
    between = {
        (before, after): sum(heads[one.id] >= before and tails[one.id] >= after for one in tickets)
        for before, after in corners | {(0, 0)}
    }
    best = {
        parallel: max(before + ceil(count / parallel) + after for (before, after), count in between.items())
        for parallel in LIMITS
    }
    levels = _levels(tickets, heads)
    if all(set(one.depends_on) in levels for one in tickets):
        # Each level waits for the whole level before it, so the levels come one after the other: the exact optimum.
        best = {parallel: sum(ceil(len(level) / parallel) for level in levels) for parallel in LIMITS}
    return best


def _levels(tickets: Sequence[Ticket], heads: Mapping[str, int]) -> list[set[str]]:
    """No tickets, and then those with as many steps before them as the level's number."""
    return [set[str](), *({one.id for one in tickets if heads[one.id] == level} for level in set(heads.values()))]


def _knowing(tickets: Sequence[Ticket], parallel: int, seconds: Mapping[str, float]) -> float:
    """How long a schedule takes that knows all durations: the longest remaining path first."""
    tails, missing = _tails(tickets, seconds), {one.id: len(one.depends_on) for one in tickets}
    ready = [(-tails[name], name) for name, count in missing.items() if not count]
    heapq.heapify(ready)
    running: list[tuple[float, str]] = []
    now = 0.0
    while ready or running:
        while ready and len(running) < parallel:
            _, name = heapq.heappop(ready)
            heapq.heappush(running, (now + seconds[name], name))
        now, done = heapq.heappop(running)
        for one in tickets:
            if done in one.depends_on:
                missing[one.id] -= 1
                if not missing[one.id]:
                    heapq.heappush(ready, (-tails[one.id], one.id))
    return now
