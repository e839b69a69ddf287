"""The local driver of an epic: carries out what its schedule asks for and appends what comes of it. It decides nothing.

Each run has a process of its own. When this driver ends, for whatever reason, so do they; a resume drives them on.
"""

import asyncio
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NamedTuple, Protocol

from burnish.core.epics.effects import BeginIteration, BeginReview, BeginTicket, EpicEffect, WatchRun
from burnish.core.epics.events import AnyEpicEvent
from burnish.core.epics.loop import IllegalEpicEventError
from burnish.core.epics.schedule import decide
from burnish.core.epics.state import Epic
from burnish.runtime.journal import RENEW_SECONDS, EpicJournal
from burnish.runtime.runner import WAKE, Clock, stay_awake

EpicWatcher = Callable[[AnyEpicEvent, Epic], None]
"""Is told of every event, after it is durable."""


class EpicPerformer(Protocol):
    async def perform(self, effect: EpicEffect, epic: Epic) -> AnyEpicEvent | None:
        """Do what an effect asks for. Cancelling it must leave no process behind.

        None where the process of a run ended because this driver is about to end.
        """
        ...


class _Task(NamedTuple):
    effect: EpicEffect
    future: "asyncio.Future[AnyEpicEvent | None]"


class EpicRunner:
    """One epic, driven to its end, to a question for a person, or to an interruption."""

    def __init__(
        self,
        journal: EpicJournal,
        performer: EpicPerformer,
        clock: Clock,
        watch: EpicWatcher,
        drains: Callable[[Epic], None],
    ) -> None:
        """`drains` is told when a person asked to stop, and what runs is only finished."""
        self._journal = journal
        self._performer = performer
        self._clock = clock
        self._watch = watch
        self._drains = drains
        self._tasks: dict[str, _Task] = {}
        self._wake = asyncio.Event()
        self.draining = False
        """A person asked to stop: nothing is begun any more, and what runs may finish."""
        self.interrupted: signal.Signals | None = None

    async def run(self) -> Epic:
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
            await self._cancel(list(self._tasks))
            for number in (signal.SIGINT, signal.SIGTERM, WAKE):
                loop.remove_signal_handler(number)
            stay_awake()
        return self._journal.state

    def _interrupt(self, number: signal.Signals) -> None:
        """The first Ctrl-C lets what runs finish; the second one, and any other signal, ends it now."""
        if number is signal.SIGINT and not self.draining:
            self.draining = True
            self._drains(self._journal.state)
        else:
            self.interrupted = number
        self._wake.set()

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            self._journal.renew(self._clock())
            self._wake.set()

    async def _step(self) -> bool:
        """One turn: take in what happened, start what is wanted, wait for the next thing to happen."""
        self._wake.clear()
        self._collect()
        for event in self._journal.catch_up():
            self._watch(event, self._journal.state)
        wanted = {effect.id: effect for effect in self._wanted()}
        await self._cancel([name for name in self._tasks if name not in wanted])
        if self.interrupted is not None or self._journal.state.end is not None:
            return False
        for name, effect in wanted.items():
            if name not in self._tasks:
                work = self._performer.perform(effect, self._journal.state)
                self._tasks[name] = _Task(effect, asyncio.ensure_future(work))
        if all(isinstance(task.effect, WatchRun) for task in self._tasks.values()):
            await asyncio.sleep(0)  # what was decided before this driver began is seen in its first look
            if any(task.future.done() for task in self._tasks.values()):
                return True
            if self.draining:
                self.interrupted = signal.SIGINT
            # Only people can go on from here, and they need no process that waits for them.
            return False
        await self._something()
        return True

    def _wanted(self) -> tuple[EpicEffect, ...]:
        effects = decide(self._journal.state)
        if not self.draining:
            return effects
        return tuple(effect for effect in effects if not isinstance(effect, BeginTicket | BeginIteration | BeginReview))

    async def _something(self) -> None:
        waker = asyncio.ensure_future(self._wake.wait())
        try:
            futures = [task.future for task in self._tasks.values()]
            await asyncio.wait([waker, *futures], return_when=asyncio.FIRST_COMPLETED)
        finally:
            waker.cancel()

    def _collect(self) -> None:
        """Append the results of what has ended; one that no longer fits, because of a person's word, is dropped."""
        for name in [name for name, task in self._tasks.items() if task.future.done()]:
            event = self._tasks.pop(name).future.result()
            if event is None:
                continue
            with suppress(IllegalEpicEventError):
                self._journal.record(event)
                self._watch(event, self._journal.state)

    async def _cancel(self, names: Iterable[str]) -> None:
        tasks = [self._tasks.pop(name) for name in names]
        for task in tasks:
            task.future.cancel()
        await asyncio.gather(*(task.future for task in tasks), return_exceptions=True)
