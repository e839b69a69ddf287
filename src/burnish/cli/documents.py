"""A run as a document of its own, and where it goes: a file, or the standard output."""

from collections.abc import Sequence
from pathlib import Path

from burnish import __version__
from burnish.cli.output import as_json, complain, say
from burnish.contracts.sarif_record import render_sarif
from burnish.core.findings import FindingStatus
from burnish.usecases.run_view import view
from burnish.usecases.runs import Sighting


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


def document(sighting: Sighting, form: str, advice: Sequence[str]) -> str:
    """A run in a form of its own, which is every one but plain text."""
    run = sighting.run
    still_open = [entry.finding for entry in run.findings if entry.status in (FindingStatus.OPEN, FindingStatus.FILED)]
    match form:
        case "sarif":
            return render_sarif(still_open, __version__)
        case "markdown":
            from burnish.contracts.markdown.render import FindingsDocument, render  # noqa: PLC0415 - no other form needs it

            return render(
                FindingsDocument(
                    story=run.subject.story or run.subject.branch,
                    round=max(1, len(run.rounds)),
                    date="",
                    branch=run.subject.branch,
                    findings=tuple(still_open),
                )
            )
        case "html":
            from burnish.cli.pages.run_page import run_page  # noqa: PLC0415 - no other form needs it

            return run_page(sighting, advice)
        case _:
            return as_json(view(run))
