"""The findings of a run on its page: the worst first, settled ones folded, none left out."""

from collections.abc import Iterator

from burnish.cli import run_words
from burnish.cli.finding_text import fate, found_in, open_first
from burnish.cli.pages.templates import Markup, fill, joined
from burnish.core.findings import FindingStatus, Tracked
from burnish.core.state import Run
from burnish.usecases.run_findings import short_ids


def findings(run: Run) -> Markup:
    """All of them. Where there is none, what that means."""
    if not run.findings:
        return fill("line", text="None was reported." if run.rounds else "Nobody has looked yet.")
    ids = short_ids(run)
    entries = sorted(run.findings, key=lambda entry: (entry.finding.severity.rank, *open_first(entry)))
    return joined(_finding(entry, ids[entry.finding.id]) for entry in entries)


def _finding(entry: Tracked, short: str) -> Markup:
    finding = entry.finding
    state = fate(entry)
    return fill(
        "finding",
        severity=finding.severity.value,
        unfolded="open" if entry.status in (FindingStatus.OPEN, FindingStatus.FILED) else "",
        title=finding.title,
        status=state.text,
        tone=state.tone.word,
        place=", ".join(run_words.places(finding)),
        texts=joined(_texts(entry)),
        origin=_origin(entry, short),
    )


def _texts(entry: Tracked) -> Iterator[Markup]:
    finding = entry.finding
    texts = {"Problem": finding.problem, "Impact": finding.impact, "Suggestion": finding.suggestion}
    yield from (fill("text", name=name, text=text.strip()) for name, text in texts.items() if text.strip())
    if finding.evidence.strip():
        yield fill("evidence", text=finding.evidence.strip("\n"))
    for source in finding.sources:
        said = (f"{source.severity.value}, {source.title}", source.problem, source.impact, source.suggestion)
        text = "\n".join(part.strip() for part in said if part.strip())
        yield fill("text", name=f"As {', '.join(source.found_by)} says", text=text)
    if entry.note:
        yield fill("text", name="Note", text=entry.note)


def _origin(entry: Tracked, short: str) -> str:
    finding = entry.finding
    parts = [
        ", ".join((*finding.found_by, found_in(entry))),
        finding.category,
        finding.rule,
        f"confidence {finding.confidence:.0%}" if finding.confidence is not None else "",
        short,
    ]
    return " · ".join(part for part in parts if part)
