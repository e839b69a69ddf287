"""The local driver: carries out what the loop asks for, in parallel, and appends what comes of it.

It decides nothing. Work is started and ended here, signals and intents wake it, and whatever happens, no process of
the run outlives it: work that is cut short is recorded as lost, and a later resume makes it again.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import NamedTuple, Protocol

from burnish.agents.services import Note, Work
from burnish.core.budget import Share
from burnish.core.effects import (
    AskPerson,
    Effect,
    MakeSeal,
    ReachBudget,
    StartBuild,
    StartFix,
    StartReview,
    StartTimer,
    StartValidation,
    StopWork,
)
from burnish.core.errors import BurnishError
from burnish.core.events import AnyEvent, BudgetReached, Closed, Intent, TimerFired, WorkLost, WorkStarted
from burnish.core.loop import IllegalEventError, decide
from burnish.core.state import Ended, Run, Waiting
from burnish.core.steps.flow import under_way
from burnish.runtime.journal import RENEW_SECONDS, Journal

Clock = Callable[[], float]
Asker = Callable[[AskPerson, Run], Awaitable[Intent | None]]
"""Asks a person to choose; None without an answer."""
Watcher = Callable[[AnyEvent, Run], None]
"""Is told of every event, after it is durable."""

WAKE = signal.SIGUSR1
"""What a process that appended an intent sends to the runner."""


def stay_awake() -> None:
    """Survive a wake-up that comes while no runner listens: its default would end the process.

    Not ignored, for children would inherit that.
    """
    signal.signal(WAKE, lambda _number, _frame: None)


class Performer(Protocol):
    """Does the work of an effect and says what came of it. Cancelling it must leave no process behind."""

    async def perform(self, effect: Work, run: Run, stop: asyncio.Event, note: Note) -> AnyEvent:
        """Do it; the result is the one event that ends the work."""
        ...


class _Task(NamedTuple):
    """Something under way: work, a pause, or a question."""

    future: "asyncio.Future[AnyEvent | None]"
    stop: asyncio.Event


class Runner:
    """One run, driven to its end, to a question, or to an interruption."""

    def __init__(
        self,
        journal: Journal,
        performer: Performer,
        clock: Clock,
        watch: Watcher,
        ask: Asker | None,
        *,
        pause: Callable[[Run], bool] = lambda _run: False,
        outside: str = "",
    ) -> None:
        """`pause` says when to leave a run between two pieces of work, so that a later command goes on with it.

        `outside` names an agent whose work other processes do: where nothing else is left to do, the runner leaves.
        """
        self._journal = journal
        self._performer = performer
        self._clock = clock
        self._watch = watch
        self._ask = ask
        self._pause = pause
        self._outside = outside
        self._tasks: dict[str, _Task] = {}
        self._wake = asyncio.Event()
        self.interrupted: signal.Signals | None = None

    async def run(self) -> Run:
        """Drive the run. Returns when it has ended, waits for a person, or was interrupted."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._interrupt, number)
        loop.add_signal_handler(WAKE, self._wake.set)
        renewal = loop.create_task(self._renew())
        try:
            while await self._step():
                pass
        finally:
            renewal.cancel()
            await self._end_all()
            for number in (signal.SIGINT, signal.SIGTERM, WAKE):
                loop.remove_signal_handler(number)
            stay_awake()
        return self._journal.state

    def _interrupt(self, number: signal.Signals) -> None:
        self.interrupted = number
        self._wake.set()

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            self._journal.renew(self._clock())
            self._wake.set()  # an intent of a process that could not wake us is found now, at the latest

    async def _step(self) -> bool:
        """One turn: take in what happened, start what is wanted, wait for the next thing to happen."""
        self._wake.clear()
        self._collect()
        for event in self._journal.catch_up():
            self._watch(event, self._journal.state)
        await self._drop_stale()
        if self.interrupted is not None or isinstance(self._journal.state.phase, Ended):
            return False
        if not under_way(self._journal.state) and self._pause(self._journal.state):
            return False
        version = self._journal.state.version
        for effect in decide(self._journal.state):
            if not self._is_outside(effect):
                self._begin(effect)
        if not self._tasks:
            # Only a question without a person to answer it, and the work of others, leave nothing to wait for.
            moved = self._journal.state.version != version
            return moved or not (self._outside or isinstance(self._journal.state.phase, Waiting))
        await self._something()
        return True

    def _is_outside(self, effect: Effect) -> bool:
        """Whether it is none of the runner's business; nor is the clock, while others work."""
        if isinstance(effect, StartReview | StartFix | StartBuild):
            return bool(self._outside) and effect.agent == self._outside
        return bool(self._outside) and isinstance(effect, ReachBudget) and effect.seconds > 0

    async def _something(self) -> None:
        waker = asyncio.ensure_future(self._wake.wait())
        under_way = [entry.future for entry in self._tasks.values()]
        try:
            await asyncio.wait([waker, *under_way], return_when=asyncio.FIRST_COMPLETED)
        finally:
            waker.cancel()

    def _begin(self, effect: Effect) -> None:
        if isinstance(effect, StopWork):
            if effect.effect in self._tasks:
                self._tasks[effect.effect].stop.set()
            else:
                self._record(WorkLost(at=self._clock(), effect=effect.effect))
            return
        if effect.id in self._tasks:
            return
        if isinstance(effect, AskPerson):
            if self._ask is not None:
                self._start(effect, self._question(effect, self._ask))
            return
        if isinstance(effect, StartTimer | ReachBudget):
            self._start(effect, self._timer(effect))
            return
        if self._record(self._started(effect)):
            stop = asyncio.Event()
            work = self._performer.perform(effect, self._journal.state, stop, self._note)
            self._start(effect, work, stop)

    def _start(self, effect: Effect, work: Awaitable[AnyEvent | None], stop: asyncio.Event | None = None) -> None:
        self._tasks[effect.id] = _Task(asyncio.ensure_future(work), stop or asyncio.Event())

    def _started(self, effect: Work) -> WorkStarted:
        if isinstance(effect, StartValidation | MakeSeal):
            return WorkStarted(at=self._clock(), effect=effect.id, agent="burnish")
        share = None if effect.share == Share() else effect.share
        return WorkStarted(at=self._clock(), effect=effect.id, agent=effect.agent, share=share)

    async def _timer(self, effect: StartTimer | ReachBudget) -> AnyEvent:
        if isinstance(effect, ReachBudget):
            await asyncio.sleep(effect.seconds)
            return BudgetReached(at=self._clock(), limit=effect.limit)
        await asyncio.sleep(max(0.0, effect.until - self._clock()))
        return TimerFired(at=self._clock(), effect=effect.id)

    async def _question(self, effect: AskPerson, ask: Asker) -> AnyEvent | None:
        decision = await ask(effect, self._journal.state)
        if decision is None:
            self._ask = None
        return decision

    def _collect(self) -> None:
        """Append the results of what has ended."""
        for name in [name for name, entry in self._tasks.items() if entry.future.done()]:
            event = self._tasks.pop(name).future.result()
            if event is not None:
                self._record(event)

    async def _drop_stale(self) -> None:
        """End what is no longer needed: a pause of a cancelled run, a question that was answered elsewhere."""
        run = self._journal.state
        wanted = {effect.id for effect in decide(run)} | set(under_way(run))
        await self._cancel([name for name in self._tasks if name not in wanted])

    async def _cancel(self, names: Iterable[str]) -> None:
        entries = [self._tasks.pop(name) for name in names]
        for entry in entries:
            entry.future.cancel()
        await asyncio.gather(*(entry.future for entry in entries), return_exceptions=True)

    async def _end_all(self) -> None:
        """Nothing of the run outlives its runner; what was cut short is made again by a resume."""
        await self._cancel(list(self._tasks))
        with suppress(BurnishError):
            self._journal.catch_up()
            for effect in under_way(self._journal.state, outside=self._outside):
                self._record(WorkLost(at=self._clock(), effect=effect))
            close(self._journal, self._clock)

    def _note(self, event: AnyEvent) -> None:
        self._record(event)

    def _record(self, event: AnyEvent) -> bool:
        """Append an event; one that no longer fits, because of a decision in the meantime, is dropped."""
        try:
            self._journal.record(event)
        except IllegalEventError:
            return False
        self._watch(event, self._journal.state)
        return True


def close(journal: Journal, clock: Clock) -> None:
    """Put the end on record, if there is one."""
    phase = journal.state.phase
    if isinstance(phase, Ended) and not journal.state.closed:
        journal.record(Closed(at=clock(), outcome=phase.outcome, reason=phase.reason))


def recover(journal: Journal, clock: Clock, *, outside: str = "") -> None:
    """Before a run goes on: what ran when its writer died is lost, and asked for again. Not the work of others."""
    for effect in under_way(journal.state, outside=outside):
        journal.record(WorkLost(at=clock(), effect=effect))
