"""`kill -9` of the command at a chosen point of its life, and what a resume must make of it."""

import signal
import time
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from burnish.core.events import AnyEvent, ProcessStarted, WorkLost, WorkStarted
from tests.end_to_end.machine import Done, Machine
from tests.end_to_end.playing import CODES, arguments, check_state, real_events, trail
from tests.end_to_end.plots import Plot
from tests.end_to_end.world import Before


class Cut(NamedTuple):
    """Where the command dies: after so many events, and so many milliseconds later."""

    event: int
    milliseconds: int = 0


def boundaries(plot: Plot) -> Iterator[Cut]:
    """After each event of a run, those of its processes and of its end included."""
    agents = sum(isinstance(event, WorkStarted) and event.agent != "burnish" for event in plot.events)
    closing = 1
    return (Cut(number) for number in range(1, len(plot.events) + agents + closing + 1))


def in_between(plot: Plot) -> Iterator[Cut]:
    """Some time after some of the events, spread over what lies between two of them; the same each time."""
    return (Cut(cut.event, 3 + cut.event * 37 % 71) for cut in boundaries(plot) if cut.event % 4 == 2)


def cut_down(machine: Machine, cut: Cut, *words: str, run: str = "") -> list[AnyEvent]:
    """Start the command, kill it at the point, and say what was on record by then."""
    process = machine.start(*words)
    name = run or machine.wait_for_run(process)
    machine.wait_until(process, lambda ledger: ledger.version(f"run/{name}") >= cut.event)
    time.sleep(cut.milliseconds / 1000)
    machine.cut_down(process)
    assert process.returncode == -signal.SIGKILL or machine.kinds(name)[-1] == "Closed"
    return real_events(machine, name)


def survives(machine: Machine, plot: Plot, cut: Cut) -> None:
    """Killed and resumed: the same end as if nothing had happened, nothing done twice, nothing left."""
    before = Before.of(machine)
    on_record = cut_down(machine, cut, *arguments(plot))
    run = machine.runs()[0]
    resumed = machine.burnish("resume", "--json")
    check_resumed(resumed)
    check_state(machine, plot, before, machine.burnish("show", run, "--json").view)
    check_once(machine, plot, run, on_record)


def check_resumed(resumed: Done) -> None:
    """The exit code of the undisturbed run; or a word that there is nothing left to do."""
    if resumed.code == 2:
        assert "There is no run to continue" in resumed.err
        return
    outcome = resumed.view["outcome"]
    assert resumed.code == CODES[outcome]
    assert resumed.view["state"] == ("ended" if outcome else "waiting")


def check_once(machine: Machine, plot: Plot, run: str, on_record: list[AnyEvent]) -> None:
    """What had a result when the command died was not done again; the rest was done as rehearsed."""
    events = real_events(machine, run)
    assert events[: len(on_record)] == on_record
    started = {event.effect for event in on_record if isinstance(event, WorkStarted)}
    unfinished = {effect for effect in started if not _has_result(effect, on_record)}
    assert {event.effect for event in events if isinstance(event, WorkLost)} == unfinished
    calls = Counter(machine.calls(run))
    assert {effect for effect, number in calls.items() if number > 1} <= unfinished
    assert set(calls) == set(plot.conduct)
    assert sorted(trail(_without_the_lost(events))) == sorted(trail(plot.events))


def _has_result(effect: str, events: list[AnyEvent]) -> bool:
    """A start or a process is none; everything else that bears the effect's name ends it."""
    results = (event for event in events if not isinstance(event, WorkStarted | ProcessStarted))
    return any(getattr(event, "effect", "") == effect for event in results)


def _without_the_lost(events: list[AnyEvent]) -> list[AnyEvent]:
    """As if what was lost had never been started."""
    lost = Counter(event.effect for event in events if isinstance(event, WorkLost))
    kept: list[AnyEvent] = []
    for event in events:
        if isinstance(event, WorkStarted) and lost[event.effect]:
            lost[event.effect] -= 1
        elif not isinstance(event, WorkLost):
            kept.append(event)
    return kept
