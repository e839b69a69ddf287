"""A run as one HTML page: no scripts, nothing from elsewhere, and every text of an agent escaped.

Templates are filled in strictly: text is escaped, and only what a template made is markup. There is no way to mark a
text as safe; more markup means another template.
"""

import html
import time
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from typing import NamedTuple

from msgspec.structs import asdict

from burnish import __version__
from burnish.core.findings import Counts, FindingStatus, Tracked
from burnish.core.gates import Judgement
from burnish.core.state import AnsweredReview, FailedReview, FixResult, ReviewStatus, Round, Run, Seat
from burnish.core.text import clean_text
from burnish.core.work import Pausing, Ready, Running
from burnish.prompts.rendering import render as fill_in
from burnish.report import words
from burnish.report.account import Account, seats_of, short_ids
from burnish.report.output import Tone

_TONES = {
    ReviewStatus.CLEAN: Tone.GOOD,
    ReviewStatus.FINDINGS: Tone.CAREFUL,
    ReviewStatus.NO_EVIDENCE: Tone.CAREFUL,
    ReviewStatus.INCOMPLETE: Tone.CAREFUL,
    ReviewStatus.DID_NOT_RUN: Tone.BAD,
}
_EXPLAINED = (ReviewStatus.NO_EVIDENCE, ReviewStatus.INCOMPLETE)


class Markup(NamedTuple):
    """Text that is HTML already."""

    html: str


def fill(name: str, /, **values: str | Markup) -> Markup:
    """A template by its name, filled in. A value that it does not take, or that is missing, is an error."""
    texts = {
        key: value.html if isinstance(value, Markup) else html.escape(clean_text(value))
        for key, value in values.items()
    }
    return Markup(fill_in(_file(f"{name}.html"), texts).rstrip("\n"))


@cache
def _file(name: str) -> str:
    return resources.files("burnish.report").joinpath("templates", name).read_text(encoding="utf-8")


def _joined(parts: Iterable[Markup]) -> Markup:
    return Markup("\n".join(part.html for part in parts))


def render(account: Account) -> str:
    run = account.run
    state = words.state_word(account)
    evidence = [line for line in (words.census_line(run), *words.gap_lines(run)) if line] or ["No round was judged."]
    page = fill(
        "page",
        style=Markup(_file("page.css").rstrip("\n")),
        version=__version__,
        run=run.id,
        state=state.text,
        tone=state.tone.word,
        branch=run.subject.branch,
        against=fill("line", text="files as they are") if run.subject.as_is else fill("against", base=run.subject.base),
        reason=words.reason(account),
        facts=_joined(_facts(run)),
        next=_joined(_next(account)),
        evidence=_joined(fill("line", text=line) for line in evidence),
        rounds=_rounds(run),
        findings=_findings(run),
    )
    return page.html + "\n"


def _next(account: Account) -> Iterator[Markup]:
    for choice in account.run.choices:
        yield fill("choice", key=choice.key, text=words.choice_words(choice))
    if account.result:
        yield fill("line", text=account.result)
    for step in account.steps:
        if step.first:
            yield fill("line", text=f"{step.first}, then:")
        yield fill("step", command=step.command, does=step.does)
    yield from (fill("line", text=sentence) for sentence in words.kind_of_review(account))


def _facts(run: Run) -> Iterator[Markup]:
    still_open = [entry for entry in run.findings if entry.status is FindingStatus.OPEN]
    facts = {
        "Story": run.subject.story,
        "Protocol": f"{run.protocol.name}, {run.started.mode.value}",
        "Rounds": f"{len(run.rounds)} of at most {run.limit}",
        "Findings": f"{len(still_open)} open of {len(run.findings)}",
        "Commit": run.commit[:12],
        "Tree": run.tree[:12],
        "Seal": run.seal[:19] or "none",
        "Validation": run.validation.status.value if run.validation else "",
        "Started": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(run.started.at)),
        "Usage": words.usage_of(run),
    }
    return (fill("fact", name=name, value=value) for name, value in facts.items() if value)


def _rounds(run: Run) -> Markup:
    if not run.rounds:
        return fill("line", text="No review has started.")
    return fill("timeline", rounds=_joined(_round(run, round_) for round_ in run.rounds))


def _round(run: Run, round_: Round) -> Markup:
    verdict = words.judgement_word(round_.judgement)
    return fill(
        "round",
        tone=verdict.tone.word,
        number=str(round_.number),
        verdict=verdict.text,
        scope=f"{round_.scope.value} review",
        tree=round_.tree[:12],
        reviews=_joined(_seat(seat) for seat in seats_of(run, round_)),
        remarks=_joined(fill("line", text=text) for text in _remarks(round_.judgement, round_.fix)),
    )


def _seat(seat: Seat) -> Markup:
    work = seat.work
    match work:
        case AnsweredReview():
            took = words.duration(work.finished_at - work.started_at)
            lacking = [words.review_words(work)] if work.status in _EXPLAINED else []
            detail = "; ".join([f"{work.agent}, {took}", *lacking, *work.answer.notes])
            return _row(seat.reviewer, work.status.value, _TONES[work.status], work.counts, detail)
        case FailedReview():
            detail = f"{work.failure.kind.value}: {work.failure.message}"
            return _row(seat.reviewer, work.status.value, _TONES[work.status], work.counts, detail)
        case Running():
            return _row(seat.reviewer, "running", Tone.PLAIN, Counts(), f"{work.agent}, attempt {work.attempt}")
        case Pausing():
            return _row(seat.reviewer, "waiting", Tone.PLAIN, Counts(), f"for attempt {work.attempt}")
        case Ready():
            return _row(seat.reviewer, "not started", Tone.PLAIN, Counts(), "")


def _row(reviewer: str, status: str, tone: Tone, counts: Counts, detail: str) -> Markup:
    numbers = asdict(counts).items()
    pills = (fill("count", severity=severity, number=str(number)) for severity, number in numbers if number)
    return fill("review", reviewer=reviewer, status=status, tone=tone.word, counts=_joined(pills), detail=detail)


def _remarks(judgement: Judgement | None, fix: FixResult | None) -> Iterator[str]:
    if judgement is not None:
        yield from judgement.reasons
        if judgement.carried:
            yield f"{words.number(len(judgement.carried), 'blocking finding')} from earlier rounds"
    if fix is not None:
        yield f"Fix: {words.fix_words(fix)}"
        yield from words.fix_answers(fix)


def _findings(run: Run) -> Markup:
    """All of them. Where there is none, what that means."""
    if not run.findings:
        return fill("line", text="No findings were reported." if run.rounds else "No review has run yet.")
    ids = short_ids(run)
    entries = sorted(run.findings, key=words.worst_first)
    return _joined(_finding(entry, ids[entry.finding.id]) for entry in entries)


def _finding(entry: Tracked, short: str) -> Markup:
    finding = entry.finding
    state = words.status_word(entry)
    return fill(
        "finding",
        severity=finding.severity.value,
        unfolded="open" if entry.status in (FindingStatus.OPEN, FindingStatus.FILED) else "",
        title=finding.title,
        status=state.text,
        tone=state.tone.word,
        place=", ".join(words.places(finding)),
        texts=_joined(_texts(entry)),
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
        yield fill("text", name=f"Reported by {', '.join(source.found_by)}", text=text)
    if entry.note:
        yield fill("text", name="Note", text=entry.note)


def _origin(entry: Tracked, short: str) -> str:
    finding = entry.finding
    parts = [
        ", ".join((*finding.found_by, words.found_in(entry))),
        finding.category,
        finding.rule,
        f"confidence {finding.confidence:.0%}" if finding.confidence is not None else "",
        short,
    ]
    return " · ".join(part for part in parts if part)
