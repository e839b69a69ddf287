"""A loop of iterations: slots, the limit, the pause, what agents picked instead, and when nothing more begins."""

import pytest

from burnish.core.epics.effects import BeginIteration
from burnish.core.epics.events import CarriedTicket, EpicStarted, IterationStarted, PlanChanged, TicketStarted
from burnish.core.epics.loop import MOST_RETURNS, IllegalEpicEventError, evolve
from burnish.core.epics.plan import Ticket
from burnish.core.epics.schedule import decide
from burnish.core.epics.state import TicketCompleted, TicketFailed, TicketPending
from burnish.core.events import Outcome
from burnish.core.values import replace
from tests.core.epics.simulation import Doing, Simulation, World, started, ticket, wide


def beads(*tickets: Ticket, parallel: int = 1, iterations: int = 50, pause: float = 0.0) -> EpicStarted:
    start = started(tickets, parallel)
    plan = replace(start.plan, kind="beads", reviewed_whole=False)
    return replace(start, plan=plan, iterations=iterations, pause=pause)


class Agents(World):
    """Each run of a ticket does the next thing that is written down for it, and then as usual."""

    def __init__(self, **doings: list[Doing]) -> None:
        super().__init__()
        self._scripts = doings

    def doing(self, ticket: str) -> Doing:
        script = self._scripts.get(ticket, [])
        return script.pop(0) if script else Doing()


def _states(simulation: Simulation) -> dict[str, type]:
    return {name: type(one.state) for name, one in simulation.epic.tickets.items()}


def _begun(simulation: Simulation) -> list[tuple[int, str]]:
    """Which tickets began, in which iteration."""
    found: list[tuple[int, str]] = []
    iteration = 0
    for event in simulation.events:
        if isinstance(event, IterationStarted):
            iteration = event.number
        elif isinstance(event, TicketStarted):
            found.append((iteration, event.ticket))
    return found


def _reason(simulation: Simulation) -> str:
    assert simulation.epic.end is not None
    return simulation.epic.end.reason


def test_the_most_urgent_come_first_and_as_many_as_there_are_slots() -> None:
    listed = [replace(one, priority=priority) for one, priority in zip(wide(5), (2, 0, 1, 0, 2), strict=True)]
    simulation = Simulation(beads(*listed, parallel=2), World())
    simulation.run()
    assert _begun(simulation) == [(1, "t1"), (1, "t3"), (2, "t2"), (2, "t0"), (3, "t4")]
    assert _reason(simulation).startswith("5 beads merged; each was approved by itself")


def test_a_dependency_beats_a_priority() -> None:
    listed = (replace(ticket("late", "first"), priority=0), replace(ticket("first"), priority=4))
    simulation = Simulation(beads(*listed), World())
    simulation.run()
    assert _begun(simulation) == [(1, "first"), (2, "late")]


def test_the_limit_of_iterations_leaves_the_rest_open_and_says_so() -> None:
    simulation = Simulation(beads(*wide(5), parallel=2, iterations=2), World())
    simulation.run()
    assert simulation.epic.end is not None
    assert simulation.epic.end.outcome is Outcome.APPROVED
    assert _reason(simulation).endswith("; 1 bead not begun: the limit of 2 iterations is reached")
    assert _states(simulation)["t4"] is TicketPending


def test_iterations_begin_a_pause_after_the_last_one_ended() -> None:
    simulation = Simulation(beads(*wide(3), pause=10.0), World())
    simulation.run()
    moments = [event.at for event in simulation.events if isinstance(event, IterationStarted)]
    assert moments == [0.0, 11.0, 22.0]


def test_a_ticket_that_fails_fails_its_iteration_and_the_next_one_has_its_turn() -> None:
    world = Agents(t1=[Doing(outcome=Outcome.FAILED)])
    simulation = Simulation(beads(*wide(3)), world)
    simulation.run()
    assert simulation.epic.failed_iterations == (2,)
    assert simulation.epic.end is not None
    assert simulation.epic.end.outcome is Outcome.FAILED
    assert _reason(simulation) == "1 of 3 beads came to nothing: t1; 1 of 3 iterations failed: 2"
    assert _states(simulation) == {"t0": TicketCompleted, "t1": TicketFailed, "t2": TicketCompleted}


def test_once_an_agent_says_that_none_is_left_what_runs_finishes_and_nothing_begins() -> None:
    world = Agents(t0=[Doing(seconds=1, returns="stop", out_of_work=True)], t1=[Doing(seconds=5)])
    simulation = Simulation(beads(*wide(4), parallel=2), world)
    simulation.run()
    assert _begun(simulation) == [(1, "t0"), (1, "t1")]
    assert _states(simulation)["t0"] is TicketPending
    assert _reason(simulation).endswith("; 3 beads not begun: the agent of t0 said that none is left")


def test_a_fixer_that_says_so_ends_the_loop_as_well() -> None:
    world = Agents(t0=[Doing(out_of_work=True)])
    simulation = Simulation(beads(*wide(2)), world)
    simulation.run()
    assert _states(simulation) == {"t0": TicketCompleted, "t1": TicketPending}


def test_work_for_another_ticket_is_handed_to_it_in_the_same_iteration() -> None:
    # The simulation picks by the number of events: with two tickets, there is only the other one.
    world = Agents(t0=[Doing(returns="pick")])
    simulation = Simulation(beads(*wide(2)), world)
    simulation.run()
    first, second, third = (event for event in simulation.events if isinstance(event, TicketStarted))
    assert (first.ticket, second.ticket, third.ticket) == ("t0", "t1", "t0")
    assert second.handed == f"work-{first.run}"
    assert not third.handed
    assert [number for number, _ in _begun(simulation)] == [1, 1, 2]
    assert _states(simulation) == {"t0": TicketCompleted, "t1": TicketCompleted}


def test_work_for_a_ticket_that_another_agent_has_fails_and_is_not_counted_for_any() -> None:
    world = Agents(t0=[Doing(seconds=1, returns="pick")], t1=[Doing(seconds=5)])
    simulation = Simulation(beads(*wide(2), parallel=2), world)
    simulation.run()
    assert _states(simulation) == {"t0": TicketFailed, "t1": TicketCompleted}
    failed = simulation.epic.tickets["t0"].state
    assert isinstance(failed, TicketFailed)
    assert failed.reason == "its agent worked on t1, which was not free"


def test_a_limit_of_a_service_is_waited_for_a_few_times() -> None:
    waits = [Doing(returns="wait") for _ in range(MOST_RETURNS)]
    simulation = Simulation(beads(*wide(1)), Agents(t0=waits))
    simulation.run()
    assert _states(simulation) == {"t0": TicketCompleted}
    moments = [event.at for event in simulation.events if isinstance(event, IterationStarted)]
    assert moments == [0.0, 3.0, 6.0, 9.0]
    assert simulation.epic.failed_iterations == ()
    again = Simulation(beads(*wide(1)), Agents(t0=[Doing(returns="wait") for _ in range(MOST_RETURNS + 1)]))
    again.run()
    assert _states(again) == {"t0": TicketFailed}


def test_what_was_built_without_a_review_is_not_built_again() -> None:
    start = replace(beads(*wide(1)), carried=(CarriedTicket(ticket="t0", run="r", built="c9"),))
    simulation = Simulation(start, World())
    simulation.run()
    begun = next(event for event in simulation.events if isinstance(event, TicketStarted))
    assert begun.handed == "c9"


def test_work_that_an_earlier_run_approved_is_merged_before_anything_else() -> None:
    for start in (beads(ticket("a"), ticket("b", "a")), started([ticket("a"), ticket("b", "a")])):
        carried = replace(start, carried=(CarriedTicket(ticket="a", run="r", approved="x"),))
        simulation = Simulation(carried, World())
        simulation.run()
        assert _states(simulation) == {"a": TicketCompleted, "b": TicketCompleted}
        assert [name for _, name in _begun(simulation)] == ["b"]


def test_a_new_plan_keeps_what_came_back() -> None:
    world = Agents(t0=[Doing(returns="stop")])
    simulation = Simulation(beads(*wide(1), pause=100.0), world)
    simulation.run(until=50.0)
    edited = replace(simulation.epic.plan, tickets=(*simulation.epic.plan.tickets, ticket("new")))
    simulation.append(PlanChanged(at=50.0, plan=edited))
    assert len(simulation.epic.tickets["t0"].runs) == 1
    assert simulation.epic.index.ready == ("t0", "new")


def test_no_ticket_begins_outside_of_an_iteration() -> None:
    epic = evolve(None, beads(*wide(1)))
    assert decide(epic) == (BeginIteration(id="iteration:1", number=1, at=0.0),)
    with pytest.raises(IllegalEpicEventError, match="no iteration has begun"):
        evolve(epic, TicketStarted(at=1, ticket="t0", run="r", onto="c0"))
    with pytest.raises(IllegalEpicEventError):
        evolve(epic, IterationStarted(at=1, number=2))


def test_a_list_without_beads_ends_at_once() -> None:
    simulation = Simulation(beads(), World())
    simulation.run()
    assert simulation.epic.end is not None
    assert simulation.epic.end.outcome is Outcome.SKIPPED
    assert _reason(simulation) == "nothing was begun: no bead is open and free"
