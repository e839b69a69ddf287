"""A run as text for people: what happened round by round, what was found, what blocks, and what to do next."""

from collections.abc import Iterator, Sequence

from burnish.cli import run_words
from burnish.cli.finding_text import answer_lines, finding_lines
from burnish.cli.screen import Line, Tone, Toned, flat
from burnish.core.evidence import summary
from burnish.core.gates import Judgement
from burnish.core.protocol import Choice, ChoiceAction
from burnish.core.state import (
    Ended,
    FixResult,
    GoodReview,
    MissingReview,
    Review,
    Round,
    Run,
    Scope,
    Seat,
    Stopping,
    Waiting,
)
from burnish.core.work import Pausing, Ready, Running
from burnish.records.escalation import escalation
from burnish.runtime.trail import attempt_words, phase_words
from burnish.usecases.evidence_words import census_line, gap_lines, review_words
from burnish.usecases.kinds_of_review import kind_of_review
from burnish.usecases.next_steps import Step
from burnish.usecases.run_view import seats_of
from burnish.usecases.runs import Sighting
from burnish.usecases.status import open_blockers


def run_lines(sighting: Sighting, steps: Sequence[Step]) -> Iterator[Line]:
    """The whole account of a run."""
    run = sighting.run
    yield from headline(sighting)
    yield (f"  {flat(run.subject.branch)} against {flat(run.subject.base)}, {_mode(run)}",)
    yield (f"  commit {run.commit[:12]}, tree {run.tree[:12]}",)
    for round_ in run.rounds:
        yield from _round_lines(run, round_)
    if run.findings:
        yield ()
        yield from finding_lines(run)
    yield from _blocking_lines(run)
    yield from _evidence_lines(run)
    yield ()
    yield (f"Seal: {run.seal}" if run.seal else "Seal: none",)
    yield (f"Usage: {run_words.usage_of(run)}",)
    yield from ((sentence,) for sentence in kind_of_review(run))
    yield ()
    yield from choice_lines(run)
    yield from step_lines(steps)


def step_lines(steps: Sequence[Step]) -> Iterator[Line]:
    """What to do next, a command on a line of its own."""
    return ((line,) for step in steps for line in step.lines)


def headline(sighting: Sighting) -> Iterator[Line]:
    """The name, the state, and why."""
    run = sighting.run
    yield Toned(run.id, Tone.STRONG), ": ", run_words.state(sighting), f": {reason(sighting)}"


def budget_lines(run: Run) -> Iterator[Line]:
    """What was used up of the budget, where there is one."""
    if run.started.budget.caps:
        yield (f"  used: {run_words.usage_of(run)}",)


def reason(sighting: Sighting) -> str:
    """Why it is where it is."""
    run = sighting.run
    match run.phase:
        case Ended() | Waiting() | Stopping():
            return flat(run.phase.reason)
        case _ if sighting.interrupted:
            return f"{phase_words(run.phase)}, and nobody drives it"
        case _:
            return f"{phase_words(run.phase)}, by {sighting.driver}"


def _mode(run: Run) -> str:
    rounds = f"{len(run.rounds)} of at most {run_words.number(run.limit, 'round')}"
    return f"protocol {flat(run.protocol.name)}, {run.started.mode.value}, {rounds}"


def _round_lines(run: Run, round_: Round) -> Iterator[Line]:
    yield ()
    ratchet = ", ratchet" if round_.scope is Scope.RATCHET else ""
    yield (Toned(f"Round {round_.number}", Tone.STRONG), f"{ratchet}, tree {round_.tree[:12]}")
    for seat in seats_of(run, round_):
        yield _seat_line(run, seat)
        if isinstance(seat.work, GoodReview):
            yield from ((f"    {flat(note)}",) for note in seat.work.answer.notes)
    if round_.judgement is not None:
        yield _judgement_line(round_.judgement)
    if round_.fix is not None:
        yield _fix_line(round_.fix)
        yield from ((f"    {flat(line)}",) for line in answer_lines(round_.fix))


def _seat_line(run: Run, seat: Seat) -> Line:
    work = seat.work
    match work:
        case GoodReview() | MissingReview():
            return _review_line(work)
        case Running():
            attempt = attempt_words(run, seat.reviewer, work.attempt) or "attempt 1"
            return (f"  {flat(seat.reviewer)}: at work, by {flat(work.agent)}, {attempt}",)
        case Pausing():
            attempt = attempt_words(run, seat.reviewer, work.attempt)
            return (f"  {flat(seat.reviewer)}: pausing before {'the fallback' if attempt == 'fallback' else attempt}",)
        case Ready():
            return (f"  {flat(seat.reviewer)}: to be started",)


def _review_line(review: Review) -> Line:
    match review:
        case GoodReview():
            return (f"  {flat(review.reviewer)}: {flat(review_words(review))}" + (", slow" if review.slow else ""),)
        case MissingReview():
            why = flat(review_words(review)).removeprefix("did not run")
            return (f"  {flat(review.reviewer)}: ", Toned("did not run", Tone.BAD), why)


def _judgement_line(judgement: Judgement) -> Line:
    if judgement.passes:
        return "  judgement: ", Toned("clean", Tone.GOOD)
    if judgement.clean:
        return "  judgement: ", Toned("not proven", Tone.CAREFUL), f": {flat(summary(judgement.gaps))}"
    blocking = len(judgement.blocking) + len(judgement.carried)
    carried = f", {len(judgement.carried)} of an earlier round" if judgement.carried else ""
    reasons = "".join(f"; {flat(reason)}" for reason in judgement.reasons)
    return "  judgement: ", Toned("not clean", Tone.BAD), f", {blocking} blocking{carried}{reasons}"


def _fix_line(fix: FixResult) -> Line:
    commit = f", commit {fix.commit[:12]}" if fix.commit else ""
    summary = f": {flat(fix.summary)}" if fix.summary else ""
    return (f"  fix: {fix.status.value}{commit}{summary}",)


def _blocking_lines(run: Run) -> Iterator[Line]:
    """What blocks beside findings that can be named: the objections of the last judgement."""
    count = open_blockers(run)
    judgement = run.rounds[-1].judgement if run.rounds else None
    if judgement is None or judgement.clean or not count:
        return
    yield ()
    yield (f"{run_words.number(count, 'finding')} {'blocks' if count == 1 else 'block'}",)
    yield from ((f"  {flat(finding.title)}",) for finding in judgement.blocking if finding.synthetic)


def _evidence_lines(run: Run) -> Iterator[Line]:
    """How closely the change was examined."""
    lines = [line for line in (census_line(run), *gap_lines(run)) if line]
    if lines:
        yield ()
        yield from ((flat(line),) for line in lines)


def choice_lines(run: Run) -> Iterator[Line]:
    """What is left in a waiting run, and what it offers."""
    told = escalation(run)
    yield from ((flat(line),) for line in (told.lines if told else ()))
    if isinstance(run.phase, Waiting):
        yield from (_choice_line(choice) for choice in run.phase.choices)


def _choice_line(choice: Choice) -> Line:
    agent = " (--agent NAME)" if choice.action is ChoiceAction.ANOTHER_AGENT else ""
    return (f"  {flat(choice.key)}) {flat(choice.text)}{agent}",)
