"""Random epics in which everything goes wrong that can: what must hold after every event."""

from random import Random

import pytest

from burnish.core.budget import Budget
from burnish.core.epics.events import (
    EPIC_EVENTS,
    AnyEpicEvent,
    DriverLost,
    EpicCancelled,
    EpicClosed,
    EpicContinued,
    EpicReviewContinued,
    EpicReviewWaits,
    EpicStarted,
    MergeConflict,
    MergeOutdated,
    MergePrepared,
    PlanChanged,
    RolledBack,
    TicketContinued,
    TicketEnded,
    TicketMerged,
    TicketStarted,
    TicketWaits,
    decode_epic,
)
from burnish.core.epics.loop import IllegalEpicEventError, replay
from burnish.core.epics.schedule import decide
from burnish.core.epics.state import (
    Epic,
    EpicReviewed,
    TicketApproved,
    TicketBlocked,
    TicketCompleted,
    TicketFailed,
    TicketMerging,
    TicketPending,
    TicketRunning,
    TicketSkipped,
    TicketWaiting,
    index_of,
)
from burnish.core.events import Outcome, encode
from burnish.core.values import replace
from tests.core.epics.simulation import Doing, Simulation, World, dice, mixed, started, ticket

_REPEATABLE = (DriverLost, EpicReviewContinued, EpicReviewWaits, MergeOutdated, TicketContinued, TicketWaits)
"""What can happen twice to a run or a merge, so that a repeated one is not always illegal."""
_BAD = (Outcome.FAILED, Outcome.UNPROVEN, Outcome.BLOCKED, Outcome.DID_NOT_RUN, Outcome.STOPPED)


class Trouble(World):
    """Runs fail, wait, spend and lose their process; merges conflict and are refused."""

    def __init__(self, random: Random) -> None:
        super().__init__()
        self.random = random
        self.much = random.choice((0.0, 0.1, 0.4))

    def doing(self, ticket: str) -> Doing:
        random = self.random
        outcome = Outcome.ACCEPTED if random.random() < self.much / 4 else Outcome.APPROVED
        if ticket.startswith("plain") or (ticket and random.random() < self.much / 4):
            outcome = Outcome.SKIPPED
        return Doing(
            seconds=random.uniform(0.5, 5),
            outcome=random.choice(_BAD) if random.random() < self.much / 2 else outcome,
            lost=random.randint(1, 4) if random.random() < self.much / 2 else 0,
            waits=random.randint(1, 2) if random.random() < self.much else 0,
            answered=random.random() < 0.9,
            spends=random.random(),
            returns=random.choice(("pick", "stop", "wait")) if random.random() < self.much else "",
            out_of_work=random.random() < self.much / 8,
        )

    def merge(self, ticket: str) -> MergeConflict | str | None:
        del ticket
        if self.random.random() < self.much:
            return MergeConflict(commit="half", onto="", files=("a.py",))
        return "no valid seal" if self.random.random() < self.much / 10 else None

    def merge_seconds(self) -> float:
        return self.random.choice((0.0, 0.5))


class Rules:
    """What must hold after every event."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.merged: set[str] = set()

    def __call__(self, before: Epic | None, event: AnyEpicEvent, epic: Epic) -> None:
        if before is None:
            return
        match event:
            case TicketStarted():
                self._begins(before, event)
            case TicketMerged():
                assert isinstance(before.tickets[event.ticket].state, TicketMerging)
                assert event.ticket not in self.merged
                assert self.world.holds[event.commit] == self.merged | {event.ticket}
                self.merged.add(event.ticket)
            case MergePrepared():
                assert isinstance(before.tickets[event.ticket].state, TicketApproved)
            case TicketEnded() if event.outcome not in {Outcome.APPROVED, Outcome.ACCEPTED}:
                assert isinstance(epic.tickets[event.ticket].state, TicketFailed | TicketCompleted | TicketSkipped)
            case RolledBack():
                assert epic.plan.rollback_on_failure
                assert epic.failed_critical is not None
            case _:
                pass
        if len(self.merged) % 4 == 0:
            assert epic.index == replace(index_of(epic.tickets, epic.ranks, epic.index.active), lost=epic.index.lost), (
                "the index tells something else than the tickets"
            )
        self._check_money(epic)

    def _begins(self, before: Epic, event: TicketStarted) -> None:
        one = before.tickets[event.ticket]
        assert before.failed_critical is None
        assert not before.is_halted
        if before.started.iterations and event.conflict is None:
            assert before.iteration > 0 or event.handed
            assert event.handed == one.handed
            assert event.handed or (not before.out_of_work and len(before.slots) < before.started.parallel)
        needed = {name for name in one.ticket.depends_on if not before.tickets[name].ticket.done}
        assert needed <= self.world.holds[event.onto]
        assert needed <= self.merged

    def _check_money(self, epic: Epic) -> None:
        """What is used and promised is never more than the cap."""
        cap = epic.started.budget.cost_usd
        if cap is None:
            return
        states = [one.state for one in epic.active]
        runs = [state.running if isinstance(state, TicketWaiting) else state for state in states]
        promised = sum(run.reserved.cost_usd or 0.0 for run in runs if isinstance(run, TicketRunning))
        assert epic.usage.cost_usd + promised <= cap + 1e-9


def _any_epic(random: Random) -> EpicStarted:
    tickets = [replace(one, critical=random.random() < 0.05) for one in mixed(random.randint(1, 14), random)]
    if random.random() < 0.3:
        plain = replace(ticket("plain"), reviewed=False)
        tickets = [plain, *tickets, ticket("after", "plain"), replace(ticket("done", "t0"), done=True)]
    if random.random() < 0.2:
        tickets = [replace(ticket("left-out"), skipped=True), *tickets, ticket("needs-it", "left-out", "t0")]
    start = started(tickets, random.choice((1, 2, 4)), serialise=random.random() < 0.2)
    if random.random() < 0.4:
        own = Budget(cost_usd=random.choice((None, 0.5, 2.0)))
        start = replace(start, budget=Budget(cost_usd=random.choice((0.005, 0.05, 1.0, 10.0))), ticket_budget=own)
    kind, whole = random.choice((("epic", True), ("stories", False), ("beads", False)))
    plan = replace(start.plan, kind=kind, reviewed_whole=whole, rollback_on_failure=random.random() < 0.5)
    plan = replace(plan, in_order=random.random() < 0.5)
    start = replace(start, halts=random.random() < 0.2, checkpoint=random.random() < 0.2)
    if kind == "beads":
        plan = replace(plan, tickets=tuple(replace(one, priority=random.randint(0, 4)) for one in plan.tickets))
        start = replace(start, iterations=random.choice((1, 3, 50)), pause=random.choice((0.0, 1.5)))
    return replace(start, plan=plan, pull_request=random.random() < 0.5)


def _edit_plan(epic: Epic, random: Random, number: int) -> PlanChanged:
    """A person adds a ticket, removes one that is not needed by others, and rewrites all texts."""
    kept = list(epic.plan.tickets)
    needed = {name for one in kept for name in one.depends_on}
    free = [one for one in kept if one.id not in needed]
    if free and random.random() < 0.5:
        kept.remove(random.choice(free))
    after = [one.id for one in random.sample(kept, min(2, len(kept)))]
    edited = [replace(one, text=f"{one.text} And more.", skipped=random.random() < 0.1) for one in kept]
    return PlanChanged(at=epic.at, plan=replace(epic.plan, tickets=(*edited, ticket(f"new{number}", *after))))


def _interfere(simulation: Simulation, random: Random, number: int) -> None:
    """A person edits the plan or ends the epic, or a driver repeats something old."""
    chance = random.random()
    event: AnyEpicEvent = random.choice(simulation.events)
    if chance < 0.3:
        event = _edit_plan(simulation.epic, random, number)
    elif chance < 0.35:
        event = EpicCancelled(at=simulation.now)
    elif chance < 0.6:
        event = EpicClosed(at=simulation.now, outcome=Outcome.APPROVED, reason="forged")
    elif isinstance(event, _REPEATABLE):
        return
    before, told = simulation.epic, repr(simulation.epic)
    try:
        simulation.append(event)
    except IllegalEpicEventError:
        assert simulation.epic is before
        assert repr(before) == told


def _carry_out(seed: int) -> Simulation:
    random = dice(seed)
    world = Trouble(random)
    simulation = Simulation(_any_epic(random), world, Rules(world))
    crashes = random.choice((0.0, 0.02, 0.1))
    for number in range(random.randint(0, 3)):
        simulation.run(until=random.uniform(0, 20), crash=lambda: random.random() < crashes)
        if simulation.epic.end is None:
            _interfere(simulation, random, number)
    simulation.run(crash=lambda: random.random() < crashes)
    while simulation.epic.paused and simulation.epic.end is None and not simulation.epic.waiting:
        assert not simulation.epic.running
        simulation.append(EpicContinued(at=simulation.now))
        simulation.run(crash=lambda: random.random() < crashes)
    return simulation


def _check(simulation: Simulation) -> None:
    epic = simulation.epic
    assert epic.end is not None or epic.waiting or getattr(epic.review, "waits", "")
    assert replay(decode_epic(encode(event)) for event in simulation.events) == epic
    if epic.end is not None:
        assert decide(epic) == ()
        assert epic.cancelled is not None or epic.is_at_rest
        assert epic.iteration <= epic.started.iterations
        _check_approval(epic, epic.end.outcome)
    for one in epic.tickets.values():
        if isinstance(one.state, TicketBlocked):
            assert one.state.by in one.state.reason
            cause = epic.tickets[one.state.by].state
            while isinstance(cause, TicketBlocked):
                cause = epic.tickets[cause.by].state
            assert isinstance(cause, TicketFailed | TicketCompleted | TicketSkipped)


def _check_approval(epic: Epic, outcome: Outcome) -> None:
    """Nothing is approved that was not reviewed: as a whole, or each ticket of it by itself."""
    if outcome not in {Outcome.APPROVED, Outcome.ACCEPTED}:
        return
    assert epic.merged
    whole = epic.review.outcome if isinstance(epic.review, EpicReviewed) else None
    if whole is not None or epic.plan.reviewed_whole:
        assert whole is outcome
        return
    states = [one.state for one in epic.tickets.values()]
    left = (TicketPending,) if epic.started.iterations else ()
    assert all(isinstance(state, (TicketCompleted, TicketSkipped, *left)) for state in states)
    merged = [state.outcome for state in states if isinstance(state, TicketCompleted) and state.commit]
    assert outcome is (Outcome.APPROVED if set(merged) == {Outcome.APPROVED} else Outcome.ACCEPTED)


@pytest.mark.parametrize("part", range(2))
def test_an_epic_ends_well_or_says_why_whatever_happens(part: int) -> None:
    seen: set[type] = set()
    for seed in range(part, 500, 2):
        try:
            simulation = _carry_out(seed)
            _check(simulation)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        seen |= {type(event) for event in simulation.events}
    assert {kind.__name__ for kind in set(EPIC_EVENTS) - seen} <= {"PullRequestFailed"}


@pytest.mark.prove
def test_many_more_epics_end_well_or_say_why() -> None:
    for seed in range(1_000, 4_000):
        _check(_carry_out(seed))
