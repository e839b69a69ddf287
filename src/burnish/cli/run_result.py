"""The result of a run that was driven, in the form that was asked for."""

from collections.abc import Iterator

from burnish.cli.documents import document, put
from burnish.cli.output import complain
from burnish.cli.screen import flat
from burnish.core.findings import Finding
from burnish.core.state import Ended, FindingStatus, GoodReview, Run, Waiting
from burnish.usecases.driving import Driven
from burnish.usecases.kinds_of_review import kind_of_review
from burnish.usecases.next_steps import next_step
from burnish.usecases.run_view import state_of
from burnish.usecases.runs import Sighting

SHOWN = 20
"""Findings that the summary names before it only counts."""


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
    lines += [*_open_findings(run), *_notes(run)]
    phase = run.phase
    reason = f": {phase.reason}" if isinstance(phase, Ended | Waiting) else ""
    outcome = phase.outcome.value if isinstance(phase, Ended) else state_of(run)
    return [*lines, f"{outcome}{reason}", *kind_of_review(run), *next_steps(driven)]


def _open_findings(run: Run) -> Iterator[str]:
    """What is open, the worst first; with a blocker goes what the fixer said of it."""
    entries = [entry for entry in run.findings if entry.status is FindingStatus.OPEN]
    entries.sort(key=lambda entry: entry.finding.severity.rank)
    said = {each.finding: each.text for round_ in run.rounds if round_.fix for each in round_.fix.answers}
    for entry in entries[:SHOWN]:
        finding = entry.finding
        yield f"  {finding.severity.value:<8} {_place(finding)}{finding.title} [{finding.id[:8]}]"
        if entry.blocking and finding.id in said:
            yield f"           {flat(said[finding.id])}"
    if len(entries) > SHOWN:
        yield f"  … and {len(entries) - SHOWN} more: burnish findings {run.id}"


def _notes(run: Run) -> Iterator[str]:
    """What reviewers of the last round could not look at."""
    for review in run.rounds[-1].reviews if run.rounds else ():
        if isinstance(review, GoodReview):
            yield from (f"  {review.reviewer}: {flat(note)}" for note in review.answer.notes)


def _round_line(run: Run, index: int) -> str:
    round_ = run.rounds[index]
    judgement = round_.judgement
    word = "not judged" if judgement is None else ("clean" if judgement.clean else "blocked")
    answered = sum(1 for review in round_.reviews if isinstance(review, GoodReview))
    fix = f", fix: {round_.fix.status.value}" if round_.fix else ""
    return f"round {round_.number} ({round_.scope.value}): {answered} of {len(round_.reviews)} answered, {word}{fix}"


def _place(finding: Finding) -> str:
    location = finding.location
    if location is None:
        return ""
    return f"{location.file}:{location.line}: " if location.line else f"{location.file}: "


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
