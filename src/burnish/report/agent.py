"""A run for a coding agent: the verdict, what is open and how to fix it, and the one next step, in few tokens."""

from collections.abc import Iterator

from burnish.contracts.text import bounded
from burnish.core.events import ValidationStatus
from burnish.core.findings import FindingStatus, Tracked
from burnish.core.state import FailedReview, Run
from burnish.report import words
from burnish.report.account import Account, short_ids
from burnish.report.output import flat

MOST = 20
"""Findings that are told; the rest is counted."""
_LONGEST = 300
_OUTPUT_LINES = 8


def render(account: Account) -> str:
    return "\n".join(_lines(account)) + "\n"


def _lines(account: Account) -> Iterator[str]:
    run = account.run
    yield f"{words.state_word(account).text}: {words.reason(account)}"
    yield f"{flat(run.subject.compared)}, run {run.id}"
    for review in run.rounds[-1].reviews if run.rounds else ():
        if isinstance(review, FailedReview):
            yield f"{flat(review.reviewer)}: {bounded(flat(words.review_words(review)), _LONGEST)}"
    yield from _failed_validation(run)
    yield from _findings(account)
    yield from (bounded(flat(line), _LONGEST) for line in words.gap_lines(run))
    if account.result:
        yield flat(account.result)
    if account.steps:
        step = account.steps[0]
        yield f"next: {f'{step.first}, then ' if step.first else ''}{step.command}"


def _failed_validation(run: Run) -> Iterator[str]:
    if run.validation is None or run.validation.status is not ValidationStatus.FAILED:
        return
    lines = [flat(line) for line in run.validation.output.splitlines() if line.strip()]
    yield f"validation failed: {'; '.join(lines[:1])}"
    yield from (f"  {bounded(line, _LONGEST)}" for line in lines[1:][-_OUTPUT_LINES:])


def _findings(account: Account) -> Iterator[str]:
    run, ids = account.run, short_ids(account.run)
    entries = [entry for entry in run.findings if entry.status is FindingStatus.OPEN]
    entries.sort(key=lambda entry: (not entry.blocking, entry.finding.severity.rank))
    blocking = sum(entry.blocking for entry in entries)
    yield f"open findings: {len(entries)}, of which {blocking} block"
    for entry in entries[:MOST]:
        yield from _finding(account, entry, ids[entry.finding.id])
    if len(entries) > MOST:
        yield f"and {len(entries) - MOST} more: burnish findings {run.id}"


def _finding(account: Account, entry: Tracked, short: str) -> Iterator[str]:
    """`app.py:3 critical ruff:F821 cfe30bd4 blocks`, then what is wrong, the line, and what to do."""
    finding = entry.finding
    places = words.places(finding)
    also = f" (and {len(places) - 1} more places)" if len(places) > 1 else ""
    rule = flat(finding.rule) or flat(finding.category) or "-"
    blocks = " blocks" if entry.blocking else ""
    yield f"{places[0] if places else '-'}{also} {finding.severity.value} {rule} {short}{blocks}"
    yield f"  {bounded(flat(finding.title), _LONGEST)}"
    code = account.code.get(finding.id)
    if code is not None and code.text.strip():
        yield f"  code: {bounded(flat(code.text), _LONGEST)}"
    todo = flat(finding.suggestion)
    if todo:
        yield f"  do: {bounded(todo, _LONGEST)}"
    elif why := flat(finding.problem or finding.impact or finding.evidence):
        yield f"  why: {bounded(why, _LONGEST)}"
