"""The result of a run in the form that was asked for."""

from pathlib import Path

from burnish import __version__
from burnish.cli.output import as_json, complain, say
from burnish.contracts.findings import FindingsDocument
from burnish.contracts.findings import render as render_findings
from burnish.contracts.sarif_record import render_sarif
from burnish.core.findings import Finding
from burnish.core.state import Ended, FindingStatus, GoodReview, Run, Waiting
from burnish.usecases.driving import Driven
from burnish.usecases.next_steps import next_step
from burnish.usecases.run_view import state_of, view
from burnish.usecases.runs import Sighting


def deliver(driven: Driven, form: str, output: str | None) -> None:
    """Write the result to a file, or to the standard output. What only people need goes where they see it."""
    text = _rendered(driven, form)
    if form != "text":
        for step in next_steps(driven):
            complain(step)
    if output is None or not _written(Path(output), text):
        say(text.rstrip("\n"))


def _written(path: Path, text: str) -> bool:
    """A result is never lost: where its file cannot be written, the standard output gets it."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        complain(f"note: '{path}' cannot be written: {error.strerror}. Here is the result.")
        return False
    return True


def _rendered(driven: Driven, form: str) -> str:
    run = driven.run
    still_open = [entry.finding for entry in run.findings if entry.status in (FindingStatus.OPEN, FindingStatus.FILED)]
    match form:
        case "json":
            return as_json(view(run))
        case "sarif":
            return render_sarif(still_open, __version__)
        case "markdown":
            document = FindingsDocument(
                story=run.subject.story or run.subject.branch,
                round=max(1, len(run.rounds)),
                date="",
                branch=run.subject.branch,
                findings=tuple(still_open),
            )
            return render_findings(document)
        case _:
            return "\n".join(summary(driven)) + "\n"


def summary(driven: Driven) -> list[str]:
    """The end of the story, for people: what happened, what is open, what to do next."""
    run = driven.run
    lines = ["", *(_round_line(run, number) for number in range(len(run.rounds)))]
    open_findings = [entry for entry in run.findings if entry.status is FindingStatus.OPEN]
    lines += [
        f"  {entry.finding.severity.value:<8} {_place(entry.finding)}{entry.finding.title} [{entry.finding.id[:8]}]"
        for entry in open_findings[:20]
    ]
    if len(open_findings) > 20:
        lines.append(f"  … and {len(open_findings) - 20} more: burnish findings {run.id}")
    phase = run.phase
    reason = f": {phase.reason}" if isinstance(phase, Ended | Waiting) else ""
    outcome = phase.outcome.value if isinstance(phase, Ended) else state_of(run)
    return [*lines, f"{outcome}{reason}", *next_steps(driven)]


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
    """Where the result is, and what a person would do next; that comes last."""
    run, landing = driven.run, driven.landing
    steps: list[str] = []
    if isinstance(run.phase, Waiting):
        steps += [f"  {choice.key}) {choice.text}" for choice in run.phase.choices]
    if run.seal:
        steps.append(f"Sealed: tree {run.tree[:12]}.")
    if landing is not None:
        steps.append(landing.advice or f"The result is on {landing.ref}.")
    taken = None if landing is None else landing.moved
    then = f"; then: burnish resume {run.id}" if isinstance(run.phase, Waiting) else ""
    return [*steps, f"Next: {next_step(Sighting(run=run), taken=taken)}{then}"]
