"""The result of a run that was driven, in the form that was asked for."""

from collections.abc import Iterator

from burnish.cli import run_words
from burnish.cli.documents import document, put
from burnish.cli.open_findings import open_findings
from burnish.cli.output import complain
from burnish.cli.screen import flat
from burnish.core.gates import Judgement
from burnish.core.state import Ended, GoodReview, ReviewStatus, Run, Waiting
from burnish.core.steps.review import what_remains
from burnish.records.escalation import escalation
from burnish.usecases.driving import Driven
from burnish.usecases.evidence_words import census_line, gap_lines
from burnish.usecases.kinds_of_review import kind_of_review
from burnish.usecases.next_steps import next_step
from burnish.usecases.run_view import state_of
from burnish.usecases.runs import Sighting


def deliver(driven: Driven, form: str, output: str | None) -> None:
    """Write the result to a file, or to the standard output. What only people need goes where they see it."""
    if form == "text":
        text = "\n".join(summary(driven)) + "\n"
    else:
        text = document(Sighting(run=driven.run), form, _advice(driven))
        for step in next_steps(driven):
            complain(step)
    put(text, output)


def summary(driven: Driven) -> list[str]:
    """The end of the story, for people: what happened, what is open, what to do next."""
    run = driven.run
    lines = ["", *(_round_line(run, number) for number in range(len(run.rounds)))]
    lines += [*open_findings(run), *_notes(run)]
    lines += [f"  {flat(line)}" for line in (census_line(run), *gap_lines(run)) if line]
    phase = run.phase
    reason = f": {phase.reason}" if isinstance(phase, Ended | Waiting) else ""
    outcome = phase.outcome.value if isinstance(phase, Ended) else state_of(run)
    if driven.paused:
        outcome, reason = "paused", f": {what_remains(run)}; at most {run.limit} are allowed"
    used = [f"Usage: {run_words.usage_of(run)}"] if run.started.budget.caps else []
    told = escalation(run)
    return [
        *lines,
        f"{outcome}{reason}",
        *(told.lines if told else ()),
        *used,
        *kind_of_review(run),
        *next_steps(driven),
    ]


def _notes(run: Run) -> Iterator[str]:
    """What reviewers of the last round could not look at."""
    for review in run.rounds[-1].reviews if run.rounds else ():
        if isinstance(review, GoodReview):
            yield from (f"  {review.reviewer}: {flat(note)}" for note in review.answer.notes)


def _round_line(run: Run, index: int) -> str:
    round_ = run.rounds[index]
    judgement = round_.judgement
    word = "not judged" if judgement is None else _judged(judgement)
    answered = [review for review in round_.reviews if isinstance(review, GoodReview)]
    lacking = sum(1 for review in answered if review.status is ReviewStatus.NO_EVIDENCE)
    without = f", {lacking} without evidence" if lacking else ""
    fix = f", fix: {round_.fix.status.value}" if round_.fix else ""
    said = f"{len(answered)} of {len(round_.reviews)} answered{without}"
    return f"round {round_.number} ({round_.scope.value}): {said}, {word}{fix}"


def _judged(judgement: Judgement) -> str:
    if not judgement.clean:
        return "blocked"
    return "clean" if judgement.passes else "not proven"


def next_steps(driven: Driven) -> list[str]:
    """What is offered, where the result is, and what a person would do next; that comes last."""
    run = driven.run
    steps: list[str] = []
    if isinstance(run.phase, Waiting):
        steps += [f"  {choice.key}) {choice.text}" for choice in run.phase.choices]
    if run.seal:
        steps.append(f"Sealed: tree {run.tree[:12]}.")
    *result, then = _advice(driven)
    return [*steps, *result, f"Next: {then}"]


def _advice(driven: Driven) -> list[str]:
    run, landing = driven.run, driven.landing
    result = [] if landing is None else [landing.advice or f"The result is on {landing.ref}."]
    taken = None if landing is None else landing.moved
    then = f"; then: burnish resume {run.id}" if isinstance(run.phase, Waiting) else ""
    return [*result, f"{next_step(Sighting(run=run), taken=taken)}{then}"]
