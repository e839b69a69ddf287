"""Findings as text for people: the worst first, each with its id, its place, its fate and who found it."""

from collections.abc import Iterator

from burnish.cli import run_words
from burnish.cli.screen import Line, Tone, Toned, flat
from burnish.contracts.text import bounded
from burnish.core.findings import FindingStatus, FixVerdict, Severity, Tracked
from burnish.core.state import FixerAnswer, FixResult, Run
from burnish.usecases.run_findings import short_ids

_LONGEST = 400
"""Characters of each text that a list can bear."""


def finding_lines(run: Run, *, details: bool = False) -> Iterator[Line]:
    """All findings of a run by severity. Those that were settled stay listed: nothing is silently hidden."""
    ids = short_ids(run)
    for severity in Severity:
        entries = [entry for entry in run.findings if entry.finding.severity is severity]
        if entries:
            yield (run_words.severity(severity),)
            for entry in sorted(entries, key=open_first):
                yield from _lines(entry, ids[entry.finding.id])
                if details:
                    yield from _details(entry)


def open_first(entry: Tracked) -> tuple[bool, bool]:
    """The order of findings of one severity: what is open, and of that what blocks, comes first."""
    return entry.status is not FindingStatus.OPEN, not entry.blocking


def _lines(entry: Tracked, short: str) -> Iterator[Line]:
    finding = entry.finding
    place = run_words.place(finding)
    found_by = ", ".join(flat(name) for name in finding.found_by)
    origin = f" ({found_by}, {found_in(entry)})" if found_by else f" ({found_in(entry)})"
    where = f"{place} " if place else ""
    yield f"  {short} ", fate(entry), f" {where}{flat(finding.title)}{origin}"
    for source in finding.sources:
        yield (f"    {', '.join(map(flat, source.found_by))}: {source.severity.value}, {flat(source.title)}",)
    if entry.note:
        yield (f"    note: {flat(entry.note)}",)


def answer_lines(fix: FixResult) -> Iterator[str]:
    """What the fixer says of each finding that it was handed, and of others; which of them it says nothing of."""
    yield from (answer_words(one) for one in fix.answers if one.verdict is not FixVerdict.NO_ANSWER)
    unanswered = [one.finding[:8] for one in fix.answers if one.verdict is FixVerdict.NO_ANSWER]
    if unanswered:
        yield f"no answer for {', '.join(unanswered)}"
    yield from (f"{answer_words(one)} (the fixer was not handed this finding)" for one in fix.strays)


def answer_words(answer: FixerAnswer) -> str:
    """The fixer's word on a finding, in one line."""
    said = f": {answer.text}" if answer.text else ""
    return f"{answer.finding[:8]} {answer.verdict.words}{said}"


def _details(entry: Tracked) -> Iterator[Line]:
    finding = entry.finding
    texts = {
        "problem": finding.problem,
        "impact": finding.impact,
        "evidence": finding.evidence,
        "suggestion": finding.suggestion,
    }
    yield from ((f"    {name}: {bounded(flat(text), _LONGEST)}",) for name, text in texts.items() if text.strip())
    for source in finding.sources:
        said = {"problem": source.problem, "suggestion": source.suggestion}
        who = ", ".join(map(flat, source.found_by))
        yield from (
            (f"    {name}, as {who} says: {bounded(flat(text), _LONGEST)}",)
            for name, text in said.items()
            if text.strip() and text != texts[name]
        )


def found_in(entry: Tracked) -> str:
    """When a finding was first reported."""
    return f"round {entry.round}" if entry.round else "an earlier run"


def fate(entry: Tracked) -> Toned:
    """What has become of a finding, in one word."""
    if entry.status is FindingStatus.OPEN and entry.blocking:
        return Toned("blocks", Tone.BAD)
    return Toned(entry.status.value, Tone.PLAIN if entry.status is FindingStatus.OPEN else Tone.FAINT)
