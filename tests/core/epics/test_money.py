"""The budget of an epic: what each run is promised, and what happens when little is left."""

from burnish.core.budget import Budget
from burnish.core.epics.effects import BeginTicket, WatchRun
from burnish.core.epics.events import DriverLost, EpicStarted, TicketEnded, TicketStarted, TicketWaits
from burnish.core.epics.loop import MOST_LOST, evolve, replay
from burnish.core.epics.schedule import decide
from burnish.core.epics.state import Epic, TicketFailed
from burnish.core.events import Outcome
from burnish.core.reviews import Usage
from burnish.core.values import replace
from tests.core.epics.simulation import Doing, Simulation, World, started, wide


def capped(cap: float, own: float | None = None, tickets: int = 4, parallel: int = 2) -> EpicStarted:
    budget, ticket_budget = Budget(cost_usd=cap), Budget(cost_usd=own)
    return replace(started(wide(tickets), parallel), budget=budget, ticket_budget=ticket_budget)


def promises(epic: Epic | None) -> list[float | None]:
    assert epic is not None
    return [effect.reserved.cost_usd for effect in decide(epic) if isinstance(effect, BeginTicket)]


def begun(start: EpicStarted, *names: str) -> list[EpicStarted | TicketStarted]:
    effects = [effect for effect in decide(evolve(None, start)) if isinstance(effect, BeginTicket)]
    runs = [(one, one.ticket) for one in effects if one.ticket in names]
    return [
        start,
        *(TicketStarted(at=1.0, ticket=t, run=f"{t}-1", onto="c0", reserved=one.reserved) for one, t in runs),
    ]


def test_each_place_gets_an_equal_part_or_what_a_ticket_may_use_up() -> None:
    assert promises(evolve(None, capped(10.0))) == [5.0, 5.0]
    assert promises(evolve(None, capped(10.0, own=4.0))) == [4.0, 4.0]
    assert promises(evolve(None, capped(5.0, own=4.0))) == [4.0]
    assert promises(evolve(None, capped(3.0, own=4.0))) == [3.0]


def test_the_last_cents_go_to_one_run_and_not_in_parts_that_are_worth_nothing() -> None:
    assert promises(evolve(None, capped(0.015, parallel=4))) == [0.015]


def test_a_ticket_waits_for_the_money_of_a_run_that_waits_for_a_person() -> None:
    """It would otherwise begin with nothing, and fail."""
    start = capped(10.0, own=5.0)
    ended = TicketEnded(
        at=3.0,
        ticket="t0",
        run="t0-1",
        outcome=Outcome.FAILED,
        reason="",
        commit="",
        tree="",
        usage=Usage(cost_usd=2.0),
    )
    waits = TicketWaits(at=2.0, ticket="t1", run="t1-1", reason="?")
    epic = replay([*begun(start, "t0", "t1"), waits, ended])
    assert epic is not None
    assert [type(effect) for effect in decide(epic)] == [WatchRun]


def test_a_run_that_is_given_up_has_cost_what_it_cost() -> None:
    epic = replay(begun(capped(10.0), "t0"))
    for number in range(MOST_LOST + 1):
        assert epic is not None
        assert f"run:t0-1:{number}" in {effect.id for effect in decide(epic)}
        epic = evolve(epic, DriverLost(at=2.0, run="t0-1", reason="killed", usage=Usage(cost_usd=3.0)))
    assert epic is not None
    assert isinstance(epic.tickets["t0"].state, TicketFailed)
    assert epic.usage.cost_usd == 3.0


class Spender(World):
    """Every run uses up all that it may."""

    def doing(self, ticket: str) -> Doing:
        return replace(super().doing(ticket), spends=1.0)


def test_an_epic_with_too_little_money_ends_and_says_so() -> None:
    for start in (capped(0.0), capped(1.0, own=0.4), capped(1.0), capped(0.02)):
        simulation = Simulation(start, Spender())
        end = simulation.run().end
        assert end is not None
        assert end.outcome is Outcome.OVER_BUDGET
        assert simulation.epic.usage.cost_usd <= (start.budget.cost_usd or 0.0) + 1e-9
