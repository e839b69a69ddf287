"""One piece of work: started, running, lost, paused; what it used up, and results of what does not run."""

from burnish.core.events import (
    Built,
    Change,
    Fixed,
    ProcessStarted,
    Reviewed,
    Sealed,
    TimerFired,
    WorkFailed,
    WorkLost,
    WorkStarted,
)
from burnish.core.protocol import (
    Reviewer,
    ValidateRule,
)
from burnish.core.reviews import Failure, FailureKind, Usage
from burnish.core.state import (
    Building,
)
from burnish.core.values import replace
from burnish.core.work import ProcessMark, Ready, Running
from tests.core.driving import CLEAN, PLAIN, Driven, found, problem, rewritten

PAIR = replace(PLAIN, panel=(Reviewer(name="critic"), Reviewer(name="witness")))
VALIDATED = replace(PLAIN, validate=ValidateRule(after_fix=True))
BAD = found(problem("bad"))
MARK = ProcessMark(pid=7, started=1.5)


def test_everything_that_was_used_is_added_up() -> None:
    usage = Usage(seconds=1, tokens=10, cost_usd=0.25)
    driven = Driven(VALIDATED, build=True)
    driven.fail(FailureKind.UNREADABLE, "build:", usage=usage)
    driven.build("tree-1", usage=usage)
    driven.validate(usage=usage)
    driven.fail(FailureKind.UNREADABLE, usage=usage)
    driven.answer(BAD, usage=usage)
    driven.fix("tree-2", rewritten("a.py"), usage=usage)
    driven.validate(usage=usage)
    driven.answer(CLEAN, usage=usage)
    driven.fail(FailureKind.UNREADABLE, "seal:", usage=usage)
    driven.seal()
    assert driven.run.usage == Usage(seconds=9, tokens=90, cost_usd=2.25)
    assert driven.run.infrastructure_failures == 3
    assert len(driven.run.rounds) == 2


def test_lost_work_is_made_again_and_counts_as_nothing() -> None:
    driven = Driven(build=True)
    driven.start()
    driven.happen(WorkLost(at=9, effect="build:1"))
    assert driven.start() == ("build:1",)
    driven.build("tree-1")
    driven.start()
    driven.happen(WorkLost(at=9, effect="review:1:critic:1"))
    assert driven.start() == ("review:1:critic:1",)
    assert driven.run.infrastructure_failures == 0
    assert len(driven.run.rounds) == 1


def test_lost_work_is_made_again_at_the_same_attempt() -> None:
    driven = Driven()
    driven.fail(FailureKind.UNREADABLE)
    driven.start()
    driven.happen(WorkLost(at=9, effect="review:1:critic:2"))
    assert driven.reviewing.seats[0].work == Ready(attempt=2)


def test_running_work_knows_its_agent_its_start_and_its_process() -> None:
    driven = Driven(build=True)
    driven.start()
    driven.happen(ProcessStarted(at=2, effect="build:1", process=MARK))
    assert driven.run.phase == Building(work=Running(attempt=1, agent="fixer", since=1, process=MARK))
    driven.build("tree-1")
    driven.start()
    driven.happen(ProcessStarted(at=5, effect="review:1:critic:1", process=MARK))
    (seat,) = driven.reviewing.seats
    assert seat.work == Running(attempt=1, agent="first", since=3, process=MARK)


def test_what_is_not_ready_running_or_pausing_cannot_start_end_or_go_on() -> None:
    driven = Driven(build=True)
    not_ready = ": build is ready at attempt 1"
    assert driven.refusal(WorkStarted(at=1, effect="build:2", agent="x")).endswith(not_ready)
    assert driven.refusal(ProcessStarted(at=1, effect="build:1", process=MARK)).endswith(not_ready)
    assert driven.refusal(WorkLost(at=1, effect="build:1")).endswith(not_ready)
    assert driven.refusal(TimerFired(at=1, effect="pause:build:1")).endswith(not_ready)
    driven.start()
    running = ": build is running at attempt 1"
    assert driven.refusal(WorkStarted(at=1, effect="build:1", agent="x")).endswith(running)
    assert driven.refusal(ProcessStarted(at=1, effect="build:2", process=MARK)).endswith(running)
    assert driven.refusal(WorkLost(at=1, effect="build:2")).endswith(running)
    driven.fail(FailureKind.CRASHED, "build:")
    pausing = ": build is pausing at attempt 2"
    assert driven.refusal(TimerFired(at=1, effect="pause:build:1")).endswith(pausing)
    assert driven.refusal(WorkStarted(at=1, effect="build:2", agent="x")).endswith(pausing)


def test_a_result_of_what_does_not_run_is_refused() -> None:
    driven = Driven()
    answer = Reviewed(at=1, effect="review:1:critic:1", answer=CLEAN)
    assert driven.refusal(answer).endswith(": 'review:1:critic:1' is not running")
    driven.start()
    failure = Failure(kind=FailureKind.CRASHED, message="x")
    late = WorkFailed(at=1, effect="review:1:critic:2", failure=failure)
    assert driven.refusal(late).endswith(": 'review:1:critic:2' is not running")
    assert driven.refusal(replace(answer, effect="review:1:nobody:1")).endswith(
        ": no seat of round 1 is called 'review:1:nobody:1'"
    )
    building = Driven(build=True)
    building.start()
    built = Built(at=1, effect="build:2", change=Change(commit="c", tree="t"))
    assert building.refusal(built) == "Built is illegal while building: 'build:2' is not running"
    sealing = Driven()
    sealing.answer(CLEAN)
    sealed = Sealed(at=1, effect="seal:1", digest="d")
    assert sealing.refusal(sealed) == "Sealed is illegal while sealing: 'seal:1' is not running"
    driven.answer(BAD)
    driven.start()
    fixed = Fixed(at=1, effect="fix:2:1", change=Change(commit="c", tree="t"))
    assert driven.refusal(fixed) == "Fixed is illegal while fixing: 'fix:2:1' is not running"


def test_a_seat_that_has_answered_does_not_start_again() -> None:
    driven = Driven(PAIR)
    driven.start()
    driven.answer(CLEAN)
    refusal = driven.refusal(WorkStarted(at=9, effect="review:1:critic:1", agent="first"))
    assert refusal == "WorkStarted is illegal while reviewing: critic has answered"
