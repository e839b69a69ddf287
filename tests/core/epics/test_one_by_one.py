"""How an epic ends whose tickets are reviewed one by one, and what a skipped ticket means."""

import pytest

from burnish.core.epics.events import EpicContinued, EpicStarted
from burnish.core.epics.plan import Ticket, branch_of
from burnish.core.epics.state import EpicReviewed, TicketBlocked, TicketCompleted, TicketSkipped
from burnish.core.events import Outcome
from burnish.core.values import replace
from tests.core.epics.simulation import Doing, Simulation, World, planned, started, ticket, wide


def _without_whole(tickets: tuple[Ticket, ...]) -> EpicStarted:
    start = started(tickets)
    return replace(start, plan=replace(start.plan, kind="stories", reviewed_whole=False))


def test_without_a_review_of_the_whole_each_ticket_stands_for_itself() -> None:
    epic = Simulation(_without_whole(wide(2)), World()).run()
    assert epic.end is not None
    assert epic.end.outcome is Outcome.APPROVED
    assert epic.end.reason == "2 stories merged; each was approved by itself, and the whole was not reviewed together"


def test_what_someone_else_put_into_the_branch_has_the_whole_reviewed() -> None:
    world = World()
    world.branch = "moved"
    world.holds["moved"] = frozenset()
    epic = Simulation(_without_whole(wide(1)), world).run()
    assert isinstance(epic.review, EpicReviewed)


def test_a_ticket_that_the_source_leaves_out_blocks_what_needs_it_and_nothing_else() -> None:
    tickets = (replace(ticket("a"), skipped=True), ticket("b", "a"), ticket("c"))
    epic = Simulation(_without_whole(tickets), World()).run()
    states = {name: type(one.state) for name, one in epic.tickets.items()}
    assert states == {"a": TicketSkipped, "b": TicketBlocked, "c": TicketCompleted}
    assert epic.end is not None
    assert epic.end.outcome is Outcome.BLOCKED


def test_a_ticket_that_a_person_skipped_is_not_merged_and_fails_nothing() -> None:
    class Skipping(World):
        def doing(self, ticket: str) -> Doing:
            return Doing(outcome=Outcome.SKIPPED if ticket == "t0" else Outcome.APPROVED)

    epic = Simulation(_without_whole(wide(2)), Skipping()).run()
    assert epic.tickets["t0"].state == TicketSkipped(run="t0-1", reason="so")
    assert epic.end is not None
    assert epic.end.outcome is Outcome.APPROVED
    assert [one.ticket.id for one in epic.merged] == ["t1"]


def test_one_ticket_that_a_person_accepted_makes_the_whole_accepted() -> None:
    class Accepting(World):
        def doing(self, ticket: str) -> Doing:
            return Doing(outcome=Outcome.ACCEPTED if ticket == "t0" else Outcome.APPROVED)

    epic = Simulation(_without_whole(wide(2)), Accepting()).run()
    assert epic.end is not None
    assert epic.end.outcome is Outcome.ACCEPTED


@pytest.mark.parametrize(("kind", "branch"), [("epic", "ticket/a"), ("stories", "story/a"), ("beads", "bead/a")])
def test_a_branch_is_named_after_what_it_is_for(kind: str, branch: str) -> None:
    assert branch_of(replace(planned(wide(1)), kind=kind), "a") == branch


def test_an_epic_pauses_after_each_ticket_where_a_person_wants_to_look() -> None:
    simulation = Simulation(replace(_without_whole(wide(3)), parallel=1, checkpoint=True), World())
    paused = [simulation.run().paused]
    while simulation.epic.paused:
        simulation.append(EpicContinued(at=simulation.now))
        paused.append(simulation.run().paused)
    assert paused == ["t0", "t1", ""]
    assert simulation.epic.end is not None


def test_nothing_is_begun_after_a_person_took_a_ticket_over() -> None:
    class TakenOver(World):
        def doing(self, ticket: str) -> Doing:
            return Doing(outcome=Outcome.BLOCKED if ticket == "t0" else Outcome.APPROVED)

    simulation = Simulation(replace(_without_whole(wide(2)), parallel=1, halts=True), TakenOver())
    assert simulation.run().paused == "t0"
    assert not simulation.epic.tickets["t1"].runs


def test_nothing_is_begun_while_a_person_must_decide() -> None:
    class Asking(World):
        def doing(self, ticket: str) -> Doing:
            return Doing(waits=1, answered=False) if ticket == "t0" else Doing()

    simulation = Simulation(replace(_without_whole(wide(2)), parallel=1, halts=True), Asking())
    simulation.run()
    assert not simulation.epic.tickets["t1"].runs


def test_tickets_begin_in_the_order_of_the_plan_where_it_says_so() -> None:
    plan = (ticket("first"), ticket("second"), ticket("third", "second"))
    start = replace(_without_whole(plan), parallel=1)
    start = replace(start, plan=replace(start.plan, in_order=True))
    simulation = Simulation(start, World())
    simulation.run()
    assert list(simulation.spans) == ["first", "second", "third"]
