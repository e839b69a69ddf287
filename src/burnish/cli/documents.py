"""A run as a document of its own, and where it goes: a file, or the standard output."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from burnish import __version__
from burnish.cli.finding_text import answer_lines
from burnish.cli.output import as_json, complain, say
from burnish.contracts.sarif_record import SarifAccount, render_sarif
from burnish.core.events import Outcome
from burnish.core.findings import FindingStatus
from burnish.core.state import Ended, ReviewStatus, Run
from burnish.records.escalation import escalation
from burnish.usecases.evidence_words import gap_lines, gaps_of, review_words
from burnish.usecases.next_steps import Step
from burnish.usecases.run_view import state_of, view
from burnish.usecases.runs import Sighting

_REVIEWED = (Outcome.APPROVED, Outcome.ACCEPTED, Outcome.FAILED, Outcome.STOPPED, Outcome.BLOCKED)
"""The ends of runs whose reviewers all answered."""


def put(text: str, output: str | None) -> None:
    """A result is never lost: where its file cannot be written, the standard output gets it."""
    if output is None or not _written(Path(output), text):
        say(text.rstrip("\n"))


def _written(path: Path, text: str) -> bool:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        complain(f"note: '{path}' cannot be written: {error.strerror}. Here is the result.")
        return False
    return True


def _account(run: Run) -> SarifAccount:
    reviews = run.rounds[-1].reviews if run.rounds else ()
    silent = (review for review in reviews if review.status in (ReviewStatus.NO_EVIDENCE, ReviewStatus.DID_NOT_RUN))
    outcome = run.phase.outcome if isinstance(run.phase, Ended) else None
    return SarifAccount(
        outcome=outcome.value if outcome else state_of(run),
        complete=outcome in _REVIEWED and not gaps_of(run),
        notices=(*(f"{review.reviewer}: {review_words(review)}" for review in silent), *gap_lines(run)),
        census=run.census,
    )


def _answers(run: Run) -> Iterator[str]:
    """What fixers said, round by round."""
    for round_ in run.rounds:
        if round_.fix is not None:
            yield from (f"Round {round_.number}: {line}" for line in answer_lines(round_.fix))


def _reviewers(run: Run) -> str:
    names = [review.reviewer for review in run.rounds[-1].reviews] if run.rounds else []
    return ", ".join(names) or "none yet"


def document(sighting: Sighting, form: str, steps: Sequence[Step], result: str = "") -> str:
    """A run in a form of its own, which is every one but plain text. `result` says where its result is."""
    run = sighting.run
    still_open = [entry.finding for entry in run.findings if entry.status in (FindingStatus.OPEN, FindingStatus.FILED)]
    match form:
        case "sarif":
            return render_sarif(still_open, __version__, _account(run))
        case "markdown":
            from burnish.contracts.markdown.render import FindingsDocument, render  # noqa: PLC0415 - no other form needs it

            told = escalation(run)
            return render(
                FindingsDocument(
                    story=run.subject.story,
                    round=max(1, len(run.rounds)),
                    date=time.strftime("%Y-%m-%d %H:%M", time.gmtime(run.at)),
                    branch=run.subject.branch,
                    reviewer=_reviewers(run),
                    findings=tuple(still_open),
                    unproven=tuple(gap_lines(run)),
                    waiting=told.lines if told else (),
                    answers=tuple(_answers(run)),
                )
            )
        case "html":
            from burnish.cli.pages.run_page import run_page  # noqa: PLC0415 - no other form needs it

            return run_page(sighting, steps, result)
        case _:
            return as_json(view(run, steps))
