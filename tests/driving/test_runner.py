"""The local driver over a real ledger, with scripted work: the same trails, and nothing lost on the way."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.agents.services import Note, Work
from burnish.core.effects import AskPerson
from burnish.core.events import AnyEvent, Cancelled, Decided, Intent, WorkLost, WorkStarted
from burnish.core.state import Ended, Outcome, Run, Waiting
from burnish.ledger.errors import LeaseHeldError
from burnish.ledger.interface import Ledger
from burnish.ledger.sqlite import open_ledger
from burnish.protocols.loader import load
from burnish.runtime.journal import Journal, RunError, intend, load_run
from burnish.runtime.rehearsal import ScriptedAgents
from burnish.runtime.runner import WAKE, Runner, recover
from burnish.runtime.script import RehearsalScript
from burnish.system.identifiers import this_process
from tests.trails.playing import play
from tests.trails.test_default import SCENARIOS as DEFAULT
from tests.trails.test_epic import SCENARIOS as EPIC
from tests.trails.test_story import SCENARIOS as STORY


class ScriptedPerformer:
    """Takes results from a script; `holding` work waits until it is stopped or cancelled."""

    def __init__(self, cast: ScriptedAgents, holding: str = "") -> None:
        self._cast = cast
        self._holding = holding
        self.held = asyncio.Event()

    async def perform(self, effect: Work, run: Run, stop: asyncio.Event, note: Note) -> AnyEvent:
        del note
        if self._holding and effect.id.startswith(self._holding):
            self.held.set()
            await stop.wait()
            return WorkLost(at=self._cast.tick(), effect=effect.id)
        await asyncio.sleep(0)
        return self._cast.result(effect, run)


class Stage:
    """A ledger, a script, and one runner after another."""

    def __init__(self, ledger: Ledger, script: RehearsalScript, holding: str = "") -> None:
        self.ledger = ledger
        self.cast = ScriptedAgents(script, load(script.protocol).protocol)
        self.performer = ScriptedPerformer(self.cast, holding)
        self.seen: list[AnyEvent] = []

    def runner(self, journal: Journal, *, answer: bool = True) -> Runner:
        async def ask(effect: AskPerson, run: Run) -> Intent | None:
            del effect
            return self.cast.decision(run)

        def watch(event: AnyEvent, run: Run) -> None:
            del run
            self.seen.append(event)

        return Runner(journal, self.performer, self.now, watch, ask if answer else None)

    def now(self) -> float:
        return self.cast.tick(0.001)

    def drive(self, journal: Journal, *, answer: bool = True) -> Run:
        """Run to the end, or to a question, and let go."""
        run = asyncio.run(self.runner(journal, answer=answer).run())
        journal.release()
        return run

    def begin(self) -> Journal:
        return Journal.begin(self.ledger, self.cast.started(), this_process())


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(tmp_path / "burnish") as opened:
        yield opened


@pytest.mark.parametrize(
    "script",
    [
        EPIC["fail, fix, pass"],
        EPIC["exhausted, one more round passes"],
        EPIC["malformed to the end"],
        EPIC["validation fails three times in a row"],
        STORY["critical, then complete"],
        DEFAULT["fixed, a clean ratchet, one full review"],
        DEFAULT["exhausted without a terminal"],
    ],
)
def test_the_runner_ends_where_the_rehearsal_ends(ledger: Ledger, script: RehearsalScript) -> None:
    stage = Stage(ledger, script)
    run = stage.drive(stage.begin())
    rehearsed = play(script)
    assert run.phase == rehearsed.phase
    assert [round_.judgement for round_ in run.rounds] == [round_.judgement for round_ in rehearsed.rounds]
    assert load_run(ledger, run.id) == run


def test_a_question_that_nobody_answers_leaves_the_run_waiting_and_free(ledger: Ledger) -> None:
    stage = Stage(ledger, EPIC["exhausted, without a decision"])
    run = stage.drive(stage.begin(), answer=False)
    assert isinstance(run.phase, Waiting)
    assert ledger.current_lease("run/rehearsal") is None
    decided = intend(ledger, "rehearsal", Decided(at=stage.now(), choice="a"))
    assert isinstance(decided.phase, Ended)


def test_a_decision_that_is_not_offered_is_refused_and_changes_nothing(ledger: Ledger) -> None:
    stage = Stage(ledger, EPIC["exhausted, without a decision"])
    run = stage.drive(stage.begin(), answer=False)
    with pytest.raises(RunError, match="not offered"):
        intend(ledger, "rehearsal", Decided(at=stage.now(), choice="z"))
    assert load_run(ledger, "rehearsal") == run


def test_an_intent_of_another_process_wakes_the_runner_and_stops_the_work(ledger: Ledger) -> None:
    stage = Stage(ledger, EPIC["clean at once"], holding="review:1")

    async def scene() -> Run:
        going = asyncio.ensure_future(stage.runner(stage.begin()).run())
        await stage.performer.held.wait()
        intend(ledger, "rehearsal", Cancelled(at=stage.now(), by="another process"))
        os.kill(os.getpid(), WAKE)
        return await going

    run = asyncio.run(scene())
    assert isinstance(run.phase, Ended)
    assert run.phase.outcome is Outcome.CANCELLED


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_work_and_leaves_a_run_that_can_be_resumed(ledger: Ledger, number: signal.Signals) -> None:
    script = EPIC["fail, fix, pass"]
    stage = Stage(ledger, script, holding="fix:1")

    async def scene() -> Runner:
        journal = stage.begin()
        runner = stage.runner(journal)
        going = asyncio.ensure_future(runner.run())
        await stage.performer.held.wait()
        os.kill(os.getpid(), number)
        await going
        journal.release()
        return runner

    assert asyncio.run(scene()).interrupted is number
    assert isinstance(stage.seen[-1], WorkLost)
    stage.performer = ScriptedPerformer(stage.cast)
    run = stage.drive(Journal.take_over(ledger, "rehearsal", this_process(), stage.now()))
    assert run.phase == play(script).phase


def test_a_second_writer_is_told_who_writes(ledger: Ledger) -> None:
    stage = Stage(ledger, EPIC["clean at once"])
    stage.begin()
    with pytest.raises(LeaseHeldError, match=str(os.getpid())):
        Journal.take_over(ledger, "rehearsal", this_process(), stage.now())


def test_recovery_makes_lost_work_again_and_nothing_else(ledger: Ledger) -> None:
    script = DEFAULT["clean at once"]
    stage = Stage(ledger, script)
    journal = stage.begin()
    journal.record(WorkStarted(at=stage.now(), effect="validate:1:1", agent="burnish"))
    journal.release()
    journal = Journal.take_over(ledger, "rehearsal", this_process(), stage.now())
    recover(journal, stage.now)
    run = stage.drive(journal)
    assert run.phase == play(script).phase
    started = [event.effect for event in stage.seen if isinstance(event, WorkStarted)]
    assert len(started) == len(set(started))


def test_a_run_that_does_not_exist_gets_a_hint(ledger: Ledger) -> None:
    with pytest.raises(RunError, match="no run 'nothing'") as error:
        load_run(ledger, "nothing")
    assert "burnish status" in error.value.hint
