"""A person edits the source of an epic while it is at work; and events that cannot be true."""

import pytest

from burnish.core.epics.effects import BeginTicket
from burnish.core.epics.events import (
    AnyEpicEvent,
    EpicClosed,
    MergePrepared,
    PlanChanged,
    PullRequestOpened,
    RolledBack,
    TicketContinued,
    TicketEnded,
    TicketStarted,
    TicketWaits,
)
from burnish.core.epics.loop import IllegalEpicEventError, evolve, replay
from burnish.core.epics.plan import Ticket
from burnish.core.epics.schedule import decide
from burnish.core.epics.state import Epic, TicketBlocked, TicketPending, TicketRunning
from burnish.core.events import Outcome
from burnish.core.values import replace
from tests.core.epics.simulation import planned, started, ticket


def begun(name: str) -> TicketStarted:
    return TicketStarted(at=1.0, ticket=name, run=f"{name}-1", onto="c0")


def ended(name: str, outcome: Outcome) -> TicketEnded:
    return TicketEnded(at=2.0, ticket=name, run=f"{name}-1", outcome=outcome, reason="so", commit="w", tree="t")


def after(tickets: list[Ticket], *events: AnyEpicEvent) -> Epic:
    epic = replay([replace(started(tickets), plan=planned(tickets, rollback=True)), *events])
    assert epic is not None
    return epic


def edited(*tickets: Ticket) -> PlanChanged:
    return PlanChanged(at=3.0, plan=planned(tickets, rollback=True))


def test_what_has_begun_keeps_its_text_and_the_rest_follows_the_plan() -> None:
    epic = after([ticket("a"), ticket("b"), ticket("c")], begun("a"))
    epic = evolve(epic, edited(replace(ticket("b"), text="New."), ticket("d", "b")))
    assert list(epic.tickets) == ["b", "d", "a"]
    assert epic.tickets["b"].ticket.text == "New."
    assert isinstance(epic.tickets["a"].state, TicketRunning)
    assert epic.plan.tickets == tuple(one.ticket for one in epic.tickets.values())
    again = evolve(epic, edited(replace(ticket("a"), text="Other.")))
    assert again.tickets["a"].ticket.text == "Do a."


def test_a_new_ticket_does_not_begin_on_work_that_failed_or_was_not_reviewed() -> None:
    plain = replace(ticket("plain"), reviewed=False)
    tickets = [plain, ticket("bad"), ticket("x", "plain")]
    epic = after(tickets, begun("plain"), begun("bad"), ended("plain", Outcome.SKIPPED), ended("bad", Outcome.FAILED))
    epic = evolve(epic, edited(*tickets, ticket("y", "x"), ticket("z", "bad")))
    reasons = {name: one.state.reason for name, one in epic.tickets.items() if isinstance(one.state, TicketBlocked)}
    assert reasons == {
        "x": "depends on plain, which was not reviewed, so its work is not merged",
        "y": "depends on x, which is blocked because plain was not reviewed, so its work is not merged",
        "z": "depends on bad, which failed",
    }
    assert not [effect for effect in decide(epic) if isinstance(effect, BeginTicket)]


def test_a_ticket_that_was_done_may_come_to_depend_on_what_waited_for_it() -> None:
    epic = after([replace(ticket("done", "x"), done=True), ticket("x")])
    epic = evolve(epic, edited(replace(ticket("done"), done=True), ticket("x", "done")))
    assert [effect.ticket for effect in decide(epic) if isinstance(effect, BeginTicket)] == ["x"]
    gone = evolve(epic, edited(replace(ticket("done"), done=True)))
    assert gone.waits_for(gone.tickets["done"].ticket) == ()


def test_the_first_critical_ticket_that_came_to_nothing_is_named_as_the_cause() -> None:
    tickets = [ticket("c0", critical=True), ticket("bad"), ticket("c1", "bad", critical=True), ticket("other")]
    epic = after(tickets, begun("bad"), ended("bad", Outcome.FAILED))
    assert epic.failed_critical is not None
    assert epic.failed_critical.ticket.id == "c1"
    assert epic.tickets["c0"].state == TicketBlocked(by="c1", reason="the critical ticket c1 came to nothing")
    (close,) = decide(epic)
    assert getattr(close, "reason", "") == "the critical ticket c1 is blocked: it depends on bad, which failed"


def test_a_run_that_a_person_sends_on_waits_for_a_place() -> None:
    waits = TicketWaits(at=2.0, ticket="a", run="a-1", reason="?")
    goes_on = TicketContinued(at=3.0, ticket="a", run="a-1")
    epic = replay([started([ticket("a"), ticket("b")], 1), begun("a"), waits, begun("b"), goes_on])
    assert epic is not None
    assert [effect.id for effect in decide(epic)] == ["run:b-1:0"]
    freed = evolve(epic, ended("b", Outcome.FAILED))
    assert [effect.id for effect in decide(freed)] == ["run:a-1:0"]


@pytest.mark.parametrize(
    "event",
    [
        edited(ticket("a", "b"), ticket("b", "a")),
        edited(ticket("b", "nowhere")),
        edited(ticket("b"), ticket("b")),
        begun("b"),
        begun("unknown"),
        ended("a", Outcome.APPROVED),
        replace(ended("c", Outcome.APPROVED), run="other"),
        MergePrepared(at=3.0, ticket="c", onto="c0", commit="c1"),
        RolledBack(at=3.0, former="c1", kept="refs/k"),
        PullRequestOpened(at=3.0, url="u"),
        EpicClosed(at=3.0, outcome=Outcome.APPROVED, reason="forged"),
        TicketContinued(at=3.0, ticket="c", run="c-1"),
        started([ticket("a")]),
    ],
    ids=lambda event: type(event).__name__,
)
def test_what_cannot_be_true_is_refused(event: AnyEpicEvent) -> None:
    epic = after([ticket("a"), ticket("b", "a"), ticket("c")], begun("c"))
    with pytest.raises(IllegalEpicEventError):
        evolve(epic, event)
    assert isinstance(epic.tickets["a"].state, TicketPending)


def test_an_epic_without_places_cannot_start() -> None:
    with pytest.raises(IllegalEpicEventError):
        evolve(None, started([ticket("a")], 0))


def test_the_plan_of_an_epic_that_was_taken_back_is_not_changed() -> None:
    tickets = [ticket("bad"), ticket("late", "bad", critical=True)]
    epic = after(tickets, begun("bad"), ended("bad", Outcome.FAILED), RolledBack(at=3.0, former="c1", kept="refs/k"))
    with pytest.raises(IllegalEpicEventError):
        evolve(epic, edited(ticket("fresh")))
