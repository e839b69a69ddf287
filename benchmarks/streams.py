"""Events of runs as they really happen, for the benchmarks of the fold."""

from collections.abc import Sequence
from itertools import chain, count, islice, repeat

from burnish.core.effects import StartReview
from burnish.core.events import AnyEvent, FindingWaived, Reviewed, RunStarted, WorkLost, WorkStarted
from burnish.core.findings import Finding, Location, Severity
from burnish.core.loop import decide, replay
from burnish.core.reviews import Answer
from burnish.protocols.loader import load
from burnish.runtime.rehearsal import Rehearsal
from burnish.runtime.script import RehearsalScript

_SCRIPT = RehearsalScript(
    reviews={"*": ("crashed", *("; ".join(f"high app{n}.py:{n} Problem {n}" for n in range(1, 6)),) * 2, "clean")},
    fixes=("fixed",) * 5,
    validations=("passed",) * 9,
)


def one_run() -> tuple[AnyEvent, ...]:
    """A run of the default protocol: five reviewers, one crash each, findings, fixes, and an end."""
    return tuple(moment.event for moment in Rehearsal(_SCRIPT, load("default").protocol).play())


def many_runs(events: int) -> list[tuple[AnyEvent, ...]]:
    """As many whole runs as hold the number of events, the last one cut short."""
    run = one_run()
    whole, rest = divmod(events, len(run))
    return [*repeat(run, whole), *([run[:rest]] if rest else [])]


def interrupted_run(events: int) -> tuple[AnyEvent, ...]:
    """One run whose orchestrator is ended and started again all the time: reviews start and are lost."""
    begun = _up_to_review()
    run = replay(begun)
    effects = [effect for effect in decide(run) if isinstance(effect, StartReview)] if run else []
    started = [WorkStarted(at=2.0, effect=effect.id, agent=effect.agent) for effect in effects]
    lost = [WorkLost(at=3.0, effect=effect.id) for effect in effects]
    cycles = chain.from_iterable(repeat((*started, *lost)))
    return (*begun, *islice(cycles, events - len(begun)))


def waived_run(findings: int) -> tuple[AnyEvent, ...]:
    """One round with many findings, and a person who waives every one of them."""
    begun = _up_to_review()
    run = replay(begun)
    effects = [effect for effect in decide(run) if isinstance(effect, StartReview)] if run else []
    found = tuple(
        Finding(
            severity=Severity.HIGH,
            title=f"Problem {number} is not handled",
            location=Location(file=f"src/file_{number}.py", line=number + 1),
        )
        for number in range(findings)
    )
    answers = chain([Answer(clean=False, findings=found)], repeat(Answer(clean=True)))
    times = count(2.0)
    started = [WorkStarted(at=next(times), effect=effect.id, agent=effect.agent) for effect in effects]
    reviewed = [
        Reviewed(at=next(times), effect=effect.id, answer=said) for effect, said in zip(effects, answers, strict=False)
    ]
    judged = replay((*begun, *started, *reviewed))
    entries = judged.findings if judged else ()
    waived = [FindingWaived(at=next(times), finding=entry.finding.id, reason="known") for entry in entries]
    return (*begun, *started, *reviewed, *waived)


def _up_to_review() -> Sequence[AnyEvent]:
    """The beginning of a run, until its first reviews are asked for."""
    events = one_run()
    first = next(place for place, event in enumerate(events) if _starts_review(event))
    begun = events[:first]
    if not isinstance(begun[0], RunStarted):
        raise TypeError("a run starts with RunStarted")
    return begun


def _starts_review(event: AnyEvent) -> bool:
    return isinstance(event, WorkStarted) and event.effect.startswith("review:")
