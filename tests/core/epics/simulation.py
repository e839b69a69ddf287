"""Epics carried out on a virtual clock: graphs of tickets, and a driver that performs effects and can crash.

What a crash does not take away is in `World`: the branch, and what a run comes to. Everything else is forgotten, and
the driver goes on from the events.
"""

import heapq
from collections.abc import Callable, Mapping, Sequence
from random import Random

from burnish.core.budget import Share
from burnish.core.epics.effects import (
    BeginIteration,
    BeginReview,
    BeginTicket,
    CloseEpic,
    DriveRun,
    EpicEffect,
    FinishMerge,
    OpenPullRequest,
    PrepareMerge,
    RollBack,
    StopRun,
    WatchRun,
)
from burnish.core.epics.events import (
    AnyEpicEvent,
    DriverLost,
    EpicClosed,
    EpicReviewContinued,
    EpicReviewEnded,
    EpicReviewStarted,
    EpicReviewWaits,
    EpicStarted,
    IterationStarted,
    MergeConflict,
    MergeConflicted,
    MergeOutdated,
    MergePrepared,
    MergeRefused,
    OverlapRule,
    PullRequestOpened,
    RolledBack,
    TicketContinued,
    TicketEnded,
    TicketMerged,
    TicketReturned,
    TicketStarted,
    TicketWaits,
)
from burnish.core.epics.loop import IllegalEpicEventError, evolve, replay
from burnish.core.epics.plan import EpicPlan, Ticket
from burnish.core.epics.schedule import decide
from burnish.core.epics.state import Epic
from burnish.core.events import Outcome
from burnish.core.reviews import Usage
from burnish.core.values import Value, replace


def dice(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - tests that can be repeated, and no secrets


def ticket(name: str, *depends_on: str, critical: bool = False) -> Ticket:
    return Ticket(id=name, text=f"Do {name}.", depends_on=depends_on, critical=critical)


def chain(count: int) -> tuple[Ticket, ...]:
    return tuple(ticket(f"t{place}", *([f"t{place - 1}"] if place else [])) for place in range(count))


def wide(count: int) -> tuple[Ticket, ...]:
    return tuple(ticket(f"t{place}") for place in range(count))


def layers(count: int, width: int = 10) -> tuple[Ticket, ...]:
    """Each ticket of a layer depends on every ticket of the one before it."""

    def before(place: int) -> Sequence[str]:
        first = (place // width - 1) * width
        return [f"t{other}" for other in range(first, first + width)] if first >= 0 else []

    return tuple(ticket(f"t{place}", *before(place)) for place in range(count))


def diamonds(count: int, width: int = 8) -> tuple[Ticket, ...]:
    """One ticket, some that depend on it, one that depends on all of these, and so on."""
    tickets: list[Ticket] = []
    while len(tickets) < count:
        top = tickets[-1:]
        middle = [ticket(f"t{len(tickets) + place}", *(one.id for one in top)) for place in range(width)]
        tickets += [*middle, ticket(f"t{len(tickets) + width}", *(one.id for one in middle))]
    return tuple(tickets[:count])


def mixed(count: int, random: Random, most: int = 3, reach: int = 20) -> tuple[Ticket, ...]:
    """Each ticket depends on some of those that come shortly before it."""

    def before(place: int) -> Sequence[str]:
        near = range(max(0, place - reach), place)
        return [f"t{other}" for other in sorted(random.sample(near, min(random.randint(0, most), len(near))))]

    return tuple(ticket(f"t{place}", *before(place)) for place in range(count))


def planned(tickets: Sequence[Ticket], *, rollback: bool = False) -> EpicPlan:
    return EpicPlan(id="e", tickets=tuple(tickets), source="epic.yaml", kind="epic", rollback_on_failure=rollback)


def started(tickets: Sequence[Ticket], parallel: int = 4, *, serialise: bool = False) -> EpicStarted:
    overlap = OverlapRule.SERIALISE if serialise else OverlapRule.TELL
    return EpicStarted(
        at=0.0,
        epic="e-1",
        plan=planned(tickets),
        branch="epic/e",
        base="main",
        baseline="c0",
        parallel=parallel,
        overlap=overlap,
    )


class Doing(Value):
    """How one run goes: what happens in turn, and how it ends."""

    seconds: float = 1.0
    outcome: Outcome = Outcome.APPROVED
    lost: int = 0
    """How often its process dies."""
    waits: int = 0
    """How often it asks a person."""
    answered: bool = True
    """Whether the person answers."""
    spends: float = 0.0
    """The part of its share that it uses up."""
    returns: str = ""
    """Why it comes back unbegun, in a loop of iterations: its agent picks another ticket, or none, or has to wait."""
    out_of_work: bool = False
    """Whether its agent says that no ticket is left."""


class World:
    """What is outside of the driver, and survives it: runs, the branch, and the commits that it can be at.

    Subclasses let things go wrong. Here every run is approved after a second, and every merge succeeds at once.
    """

    def __init__(self, durations: Mapping[str, float] | None = None) -> None:
        self.branch = "c0"
        self.holds: dict[str, frozenset[str]] = {"c0": frozenset()}
        self.doings: dict[str, Doing] = {}
        self.shares: dict[str, Share] = {}
        self._durations = durations or {}

    def doing(self, ticket: str) -> Doing:
        """How the next run of a ticket goes; of the epic's review, for an empty name."""
        return Doing(seconds=self._durations.get(ticket, 1.0))

    def merge(self, ticket: str) -> MergeConflict | str | None:
        """A conflict, the reason of a refusal, or None for a merge that succeeds."""
        del ticket
        return None

    def merge_seconds(self) -> float:
        return 0.0

    def name_run(self, ticket: str, share: Share) -> str:
        run = f"{ticket or 'epic'}-{len(self.doings) + 1}"
        self.doings[run] = self.doing(ticket)
        self.shares[run] = share
        return run

    def commit(self, onto: str, ticket: str) -> str:
        name = f"c{len(self.holds)}"
        self.holds[name] = self.holds[onto] | {ticket}
        return name

    def usage(self, run: str) -> Usage:
        share, part = self.shares[run], self.doings[run].spends
        return Usage(cost_usd=(share.cost_usd or 0.0) * part, tokens=int((share.tokens or 0) * part))


Watcher = Callable[[Epic | None, AnyEpicEvent, Epic], None]


class Simulation:
    """A driver: it starts what `decide` wants and is not under way, and appends what comes of it."""

    def __init__(self, start: EpicStarted, world: World, watch: Watcher | None = None) -> None:
        self.world = world
        self.events: list[AnyEpicEvent] = []
        self.now = 0.0
        self.spans: dict[str, tuple[float, float]] = {}
        """When the run of each ticket was driven for the first time, and when it ended."""
        self._watch = watch
        self._under_way: dict[str, EpicEffect] = {}
        self._agenda: list[tuple[float, int, str]] = []
        self._onto: dict[str, str] = {}
        """Where the branch was when a merge was begun."""
        self._count = 0
        self.epic = evolve(None, start)
        self._keep(None, start)

    @property
    def driven(self) -> int:
        """How many runs of tickets are being driven."""
        return sum(isinstance(effect, DriveRun) and bool(effect.ticket) for effect in self._under_way.values())

    def run(self, *, until: float = float("inf"), crash: Callable[[], bool] = lambda: False) -> Epic:
        """Go on until the epic ends, only a person can help, or the time is over."""
        self._start_wanted()
        while self._agenda and self._agenda[0][0] <= until and self.epic.end is None:
            self.now = self._agenda[0][0]
            # What happens at the same moment happens before the next decision, so that ties favour no ticket.
            while self._agenda and self._agenda[0][0] == self.now:
                _, _, name = heapq.heappop(self._agenda)
                events = self._perform(self._under_way[name])
                if crash():
                    self.crash()
                else:
                    self._take(self._under_way.pop(name), events)
            self._start_wanted()
        return self.epic

    def append(self, event: AnyEpicEvent) -> None:
        before = self.epic
        self.epic = evolve(before, event)
        self._keep(before, event)

    def crash(self) -> None:
        """Forget everything but the events and the world; effects under way have come to nothing."""
        self._under_way, self._agenda = {}, []
        again = replay(self.events)
        assert again == self.epic
        assert again is not None
        self.epic = again

    def _keep(self, before: Epic | None, event: AnyEpicEvent) -> None:
        self.events.append(event)
        if self._watch is not None:
            self._watch(before, event, self.epic)

    def _take(self, effect: EpicEffect, events: Sequence[AnyEpicEvent]) -> None:
        """Append what came of an effect. It may have become pointless since it was started; then it may be illegal."""
        for event in events:
            try:
                self.append(event)
            except IllegalEpicEventError:
                assert effect not in decide(self.epic), f"{effect} was wanted, but {event} is illegal"

    def _start_wanted(self) -> None:
        wanted = decide(self.epic)
        assert decide(self.epic) == wanted
        assert wanted or self.epic.end is not None or self.epic.paused, "an epic that has not ended wants nothing"
        for effect in wanted:
            if effect.id not in self._under_way:
                seconds = self._seconds(effect)
                self._under_way[effect.id] = effect
                if seconds is not None:
                    self._count += 1
                    heapq.heappush(self._agenda, (self.now + seconds, self._count, effect.id))
        assert self.driven <= self.epic.started.parallel

    def _seconds(self, effect: EpicEffect) -> float | None:
        """How long it takes; None where it never ends."""
        match effect:
            case DriveRun():
                if effect.ticket:
                    self.spans.setdefault(effect.ticket, (self.now, self.now))
                return self.world.doings[effect.run].seconds
            case BeginIteration():
                return max(0.0, effect.at - self.now)
            case WatchRun():
                return 1.0 if self.world.doings[effect.run].answered else None
            case PrepareMerge():
                self._onto[effect.id] = self.world.branch
                return self.world.merge_seconds()
            case _:
                return 0.0

    def _perform(self, effect: EpicEffect) -> list[AnyEpicEvent]:  # noqa: C901, PLR0911, PLR0912 - one case an effect
        world, at = self.world, self.now
        match effect:
            case BeginTicket():
                run = world.name_run(effect.ticket, effect.reserved)
                begun = TicketStarted(at=at, ticket=effect.ticket, run=run, onto=effect.onto, reserved=effect.reserved)
                return [replace(begun, conflict=effect.conflict, handed=effect.handed)]
            case BeginIteration():
                return [IterationStarted(at=at, number=effect.number)]
            case BeginReview():
                run = world.name_run("", effect.reserved)
                return [EpicReviewStarted(at=at, run=run, onto=effect.onto, reserved=effect.reserved)]
            case DriveRun():
                return [self._drive(effect)]
            case WatchRun() if effect.ticket:
                return [TicketContinued(at=at, ticket=effect.ticket, run=effect.run)]
            case WatchRun():
                return [EpicReviewContinued(at=at, run=effect.run)]
            case StopRun():
                world.doings[effect.run] = replace(world.doings[effect.run], outcome=Outcome.CANCELLED)
                return [self._ended(effect.run, effect.ticket)]
            case PrepareMerge():
                return [self._prepare(effect)]
            case FinishMerge():
                if world.branch not in {effect.onto, effect.commit}:
                    return [MergeOutdated(at=at, ticket=effect.ticket)]
                world.branch = effect.commit
                return [TicketMerged(at=at, ticket=effect.ticket, commit=effect.commit)]
            case RollBack():
                former, world.branch = world.branch, self.epic.started.baseline
                return [RolledBack(at=at, former=former, kept="refs/burnish/kept")]
            case OpenPullRequest():
                return [PullRequestOpened(at=at, url="https://example.invalid/1")]
            case CloseEpic():
                return [EpicClosed(at=at, outcome=effect.outcome, reason=effect.reason)]

    def _drive(self, effect: DriveRun) -> AnyEpicEvent:
        doing = self.world.doings[effect.run]
        if doing.lost:
            self.world.doings[effect.run] = replace(doing, lost=doing.lost - 1)
            return DriverLost(at=self.now, run=effect.run, reason="killed", usage=self.world.usage(effect.run))
        if doing.waits:
            self.world.doings[effect.run] = replace(doing, waits=doing.waits - 1)
            if effect.ticket:
                return TicketWaits(at=self.now, ticket=effect.ticket, run=effect.run, reason="a question")
            return EpicReviewWaits(at=self.now, run=effect.run, reason="a question")
        if effect.ticket:
            self.spans[effect.ticket] = (self.spans[effect.ticket][0], self.now)
        return self._ended(effect.run, effect.ticket)

    def _ended(self, run: str, name: str) -> AnyEpicEvent:
        usage, outcome, at = self.world.usage(run), self.world.doings[run].outcome, self.now
        if self.world.shares[run].parts == 0:
            outcome = Outcome.OVER_BUDGET
        if not name:
            return EpicReviewEnded(at=at, run=run, outcome=outcome, reason="so", commit=self.world.branch, usage=usage)
        commit, doing = f"work-{run}", self.world.doings[run]
        if doing.returns and self.epic.started.iterations and outcome is Outcome.APPROVED:
            others = [other for other in self.epic.tickets if other != name]
            return TicketReturned(
                at=at,
                ticket=name,
                run=run,
                reason=doing.returns,
                picked=others[len(self.events) % len(others)] if doing.returns == "pick" and others else "",
                commit=commit,
                wait=2.0 if doing.returns == "wait" else 0.0,
                out_of_work=doing.out_of_work,
                usage=usage,
            )
        ended = TicketEnded(
            at=at, ticket=name, run=run, outcome=outcome, reason="so", commit=commit, tree=commit, usage=usage
        )
        return replace(ended, out_of_work=doing.out_of_work)

    def _prepare(self, effect: PrepareMerge) -> AnyEpicEvent:
        onto, trouble = self._onto[effect.id], self.world.merge(effect.ticket)
        if isinstance(trouble, str):
            return MergeRefused(at=self.now, ticket=effect.ticket, reason=trouble)
        if trouble is not None:
            return MergeConflicted(at=self.now, ticket=effect.ticket, conflict=replace(trouble, onto=onto))
        return MergePrepared(
            at=self.now, ticket=effect.ticket, onto=onto, commit=self.world.commit(onto, effect.ticket)
        )
