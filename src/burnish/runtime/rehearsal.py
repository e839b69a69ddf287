"""A driver that plays a script instead of agents: the same loop, no process, no clock, no repository.

Authors of protocols see what theirs does before it costs anything, and the tests of every protocol are rehearsals.
"""

from collections.abc import Iterator
from typing import NamedTuple

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
from burnish.core.events import AnyEvent, BudgetReached, Skipped, TimerFired, WorkLost, WorkStarted
from burnish.core.loop import IllegalEventError, decide, evolve
from burnish.core.protocol import Protocol
from burnish.core.state import Run
from burnish.runtime.cast import Cast
from burnish.runtime.script import RehearsalScript, ScriptError

MOST_TURNS = 10_000
"""Every run ends within its limits; a script that could go on longer shows a bug."""


class Moment(NamedTuple):
    """An event and the state that it led to."""

    event: AnyEvent
    run: Run


class Rehearsal:
    """One play of a script under a protocol."""

    def __init__(self, script: RehearsalScript, protocol: Protocol) -> None:
        self._script = script
        self._cast = Cast(script, protocol)
        self._run: Run | None = None

    def play(self) -> Iterator[Moment]:
        """Play until the run ends, or waits for a decision that the script does not hold."""
        moment = self._happen(self._cast.started())
        yield moment
        if self._script.skip is not None:
            moment = self._happen(Skipped(at=self._cast.tick(), reason=self._script.skip))
            yield moment
        for _ in range(MOST_TURNS):
            before = moment
            for event in self._turn(moment.run):
                moment = self._happen(event)
                yield moment
            if moment is before:
                return
        raise ScriptError(
            "The rehearsal does not end.", hint="Please report the script: every run ends within its limits."
        )

    def _happen(self, event: AnyEvent) -> Moment:
        try:
            self._run = evolve(self._run, event)
        except IllegalEventError as error:
            hint = "The script contains something that cannot happen here."
            raise ScriptError(str(error), hint=hint) from None
        return Moment(event, self._run)

    def _turn(self, run: Run) -> Iterator[AnyEvent]:
        """Start everything that is asked for, as a panel does, then let the results come in."""
        effects = decide(run)
        for effect in effects:
            if isinstance(effect, StartBuild | StartFix | StartReview):
                yield WorkStarted(at=self._cast.tick(), effect=effect.id, agent=effect.agent)
            elif isinstance(effect, StartValidation | MakeSeal):
                yield WorkStarted(at=self._cast.tick(), effect=effect.id, agent="burnish")
        for effect in effects:
            current = self._run or run
            stopped = {one.effect for one in decide(current) if isinstance(one, StopWork)}
            if effect.id not in stopped:
                yield from self._result(effect, current)

    def _result(self, effect: Effect, run: Run) -> Iterator[AnyEvent]:
        match effect:
            case StartTimer():
                self._cast.time = max(self._cast.time, effect.until)
                yield TimerFired(at=self._cast.time, effect=effect.id)
            case ReachBudget():
                yield BudgetReached(at=self._cast.tick(), limit=effect.limit)
            case StopWork():
                yield WorkLost(at=self._cast.tick(), effect=effect.effect)
            case AskPerson():
                decision = self._cast.decision(run)
                if decision is not None:
                    yield decision
            case StartReview() | StartFix() | StartBuild() | StartValidation() | MakeSeal():
                yield self._cast.result(effect, run)
