"""The result of a run that was driven, in the form that was asked for."""

from collections.abc import Iterator, Sequence

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
from burnish.usecases.next_steps import Step, next_steps
from burnish.usecases.run_view import seats_of
from burnish.usecases.runs import Sighting
from burnish.usecases.status import state_word
from burnish.workspace.repository import Repository


def deliver(repository: Repository, driven: Driven, form: str, output: str | None) -> None:
    """Write the result to a file, or to the standard output. What only people need goes where they see it."""
    sighting = Sighting(run=driven.run)
    steps = next_steps(repository, sighting)
    result = driven.landing.words if driven.landing is not None else ""
    if form == "text":
        text = "\n".join([*summary(driven), *_closing(driven.run, result, steps)]) + "\n"
    else:
        text = document(sighting, form, steps, result)
        for line in _closing(driven.run, result, steps):
            complain(line)
    put(text, output)


def summary(driven: Driven) -> list[str]:
    """The end of the story, for people: what happened, what is open, what to do next."""
    run = driven.run
    lines = ["", *(_round_line(run, number) for number in range(len(run.rounds)))]
    lines += [*open_findings(run), *_notes(run)]
    lines += [f"  {flat(line)}" for line in (census_line(run), *gap_lines(run)) if line]
    phase = run.phase
    reason = f": {phase.reason}" if isinstance(phase, Ended | Waiting) else ""
    outcome = state_word(Sighting(run=run))
    if driven.paused:
        outcome, reason = "paused", f": {what_remains(run)}; at most {run.limit} are allowed"
    used = [f"Usage: {run_words.usage_of(run)}"] if run.started.budget.caps else []
    told = escalation(run)
    return [*lines, f"{outcome}{reason}", *(told.lines if told else ()), *used, *kind_of_review(run)]


def _notes(run: Run) -> Iterator[str]:
    """What reviewers of the last round could not look at."""
    for review in run.rounds[-1].reviews if run.rounds else ():
        if isinstance(review, GoodReview):
            yield from (f"  {review.reviewer}: {flat(note)}" for note in review.answer.notes)


def _round_line(run: Run, index: int) -> str:
    round_ = run.rounds[index]
    judgement = round_.judgement
    word = "not judged" if judgement is None else _judged(judgement)
    seats = seats_of(run, round_)
    answered = [seat.work for seat in seats if isinstance(seat.work, GoodReview)]
    lacking = sum(1 for review in answered if review.status is ReviewStatus.NO_EVIDENCE)
    without = f", {lacking} without evidence" if lacking else ""
    fix = f", fix: {round_.fix.status.value}" if round_.fix else ""
    said = f"{len(answered)} of {len(seats)} answered{without}"
    return f"round {round_.number} ({round_.scope.value}): {said}, {word}{fix}"


def _judged(judgement: Judgement) -> str:
    if not judgement.clean:
        return "blocked"
    return "clean" if judgement.passes else "not proven"


def _closing(run: Run, result: str, steps: Sequence[Step]) -> list[str]:
    """What was ended and sealed, where the result is, and what a person would do next; that comes last."""
    ended = [f"Superseded: {name}." for name in run.started.supersedes]
    sealed = [f"Sealed: tree {run.tree[:12]}."] if run.seal else []
    return [*ended, *sealed, *([result] if result else []), *(line for step in steps for line in step.lines)]
