"""The account of a run, gathered in one place for every command and every form that tells of it."""

import re
from collections.abc import Collection, Iterator
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
from burnish.workspace.slices import tree_files

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
    found = [entry.finding for entry in run.findings if entry.status is FindingStatus.OPEN]
    shown = sorted(found, key=lambda each: each.severity.rank)[:_MOST_SHOWN]
    places = [(each, each.location) for each in shown if not _SECRET.search(f"{each.rule} {each.title}")]
    texts = _texts(repository, run.commit, {place.file for _, place in places if place and place.line})
    for finding, place in places:
        lines = texts.get(place.file, []) if place else []
        if place and place.line and place.line <= len(lines):
            yield finding.id, _line(place.line, lines[place.line - 1].rstrip(), finding.title)


def _texts(repository: Repository, commit: str, paths: Collection[str]) -> dict[str, list[str]]:
    """The lines of some files, asked for at once."""
    if not paths:
        return {}
    try:
        files = tree_files(repository, commit, sorted(paths), _MOST_BYTES)
    except BurnishError:  # the commit was removed since
        return {}
    return {file.path: _lines(file.content) for file in files if file.content is not None}


def _lines(raw: bytes) -> list[str]:
    return clean_text(raw.decode(errors="replace")).expandtabs(4).split("\n")


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
