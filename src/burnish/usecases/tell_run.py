"""The account of a run, gathered in one place for every command and every form that tells of it."""

import re
from collections.abc import Iterator
from pathlib import Path

from burnish.core.errors import BurnishError
from burnish.core.findings import FindingStatus
from burnish.core.protocol import RecordLayout
from burnish.core.state import Run, Waiting
from burnish.core.text import clean_text
from burnish.core.values import replace
from burnish.records.interface import RecordTexts
from burnish.records.registry import record_files
from burnish.report.account import Account, RunSnapshot, SourceLine
from burnish.runtime.context import context_of, has_context
from burnish.usecases.next_steps import next_steps
from burnish.workspace.break_glass import find_break_glass
from burnish.workspace.repository import Repository

_MOST_SHOWN = 200
_MOST_BYTES = 4 * 1024 * 1024
_LONGEST_LINE = 200
_SECRET = re.compile(
    r"kingfisher:|burnish:password|ruff:S10[567]\b|secret|password|credential|token|api.?key", re.IGNORECASE
)
"""What may be about a secret, which is not shown."""
_NAMED = re.compile(r"`([^`]+)`")


def tell(repository: Repository, snapshot: RunSnapshot, folder: Path | None = None) -> Account:
    """The whole account. `folder` is where the user is, for the commands that come next."""
    steps, code = next_steps(repository, snapshot, folder), dict(_code(repository, snapshot.run))
    return replace(
        tell_state(snapshot), steps=steps, code=code, break_glass=find_break_glass(repository, snapshot.run.tree)
    )


def _code(repository: Repository, run: Run) -> Iterator[tuple[str, SourceLine]]:
    """The line that each open finding is about. A secret is not repeated."""
    texts: dict[str, list[str]] = {}
    shown = [entry.finding for entry in run.findings if entry.status is FindingStatus.OPEN]
    for finding in sorted(shown, key=lambda each: each.severity.rank)[:_MOST_SHOWN]:
        place = finding.location
        if place is None or place.line is None or _SECRET.search(f"{finding.rule} {finding.title}"):
            continue
        if place.file not in texts:
            texts[place.file] = _lines(repository, run.commit, place.file)
        if place.line <= len(texts[place.file]):
            yield finding.id, _line(place.line, texts[place.file][place.line - 1].rstrip(), finding.title)


def _lines(repository: Repository, commit: str, path: str) -> list[str]:
    try:
        raw = repository.read_file(commit, path) or b""
    except BurnishError:  # the commit was removed since
        return []
    return clean_text(raw[:_MOST_BYTES].decode(errors="replace")).expandtabs(4).split("\n")


def _line(number: int, text: str, title: str) -> SourceLine:
    """A line with what the title names in it, else with all of its code."""
    text = text[:_LONGEST_LINE]
    for name in _NAMED.findall(title):
        found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
        if found:
            return SourceLine(number=number, text=text, start=found.start(), length=len(name))
    start = len(text) - len(text.lstrip())
    return SourceLine(number=number, text=text, start=start, length=len(text) - start)


def tell_state(snapshot: RunSnapshot) -> Account:
    """An account without what to do next, for which git must be asked."""
    run = snapshot.run
    account = Account(run=run, driver=snapshot.driver, document=_document(run))
    if not has_context(run.started):
        return account
    inputs = context_of(run)
    agents = {review.agent: inputs.settings.agent(review.agent) for review in run.last_answered}
    return replace(
        account,
        policy_origin=inputs.policy.value,
        policy_notes=inputs.governance.notices,
        by_rule=tuple(name for name, agent in agents.items() if agent is not None and agent.kind.is_by_rule),
    )


def _document(run: Run) -> str:
    """The newest findings document on record of a run that waits, in the layout that has them."""
    if not isinstance(run.phase, Waiting) or run.protocol.layout is not RecordLayout.EPIC:
        return ""
    files = record_files(run, RecordTexts())
    return files[-1].path if files else ""
