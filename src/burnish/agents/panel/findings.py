"""From hits to findings that a person understands: severity and words from the rulebook, facts from the tool."""

import re
from collections.abc import Collection, Sequence

from burnish.agents.panel.checks import hits_for
from burnish.agents.panel.interface import Hidden, Hit, ToolName
from burnish.agents.panel.rulings import Ruling, rule_on
from burnish.agents.panel.selectors import plain
from burnish.contracts.text import bounded
from burnish.core.findings import Action, Finding, Location, Severity
from burnish.core.values import replace
from burnish.settings.types import AnalyserSettings

MAX_TITLE = 120
MAX_SNIPPET = 600
MANY = 5
"""So many findings of one rule in one file are one finding with many places."""
MANY_IN_A_CHANGE = 10
MANY_CRITICAL = 20
"""And so many in several files. What is critical is told file by file as long as it can be read."""
MOST_PLACES = 1_000
_SYNTAX, _SEVERAL = "syntax-error", 2
_OF_COMPILER = re.compile(r"E\d+|syntax")
_OF_A_NAME = frozenset({"undefined-name", "missing-attribute", "undeclared-package"})
"""Problems of one name: wherever a file uses it, one thing is to be done."""

_CONFIDENCE = {"high": 0.9, "medium": 0.6, "low": 0.3}
_HIDDEN = {
    Hidden.NAMED: " This change tells the tool not to report it.",
    Hidden.BLANKET: " A comment in this change tells the tool to report nothing here; burnish reports it anyway.",
}
_QUOTED_NAME = re.compile(r"'([A-Za-z_$][\w$.]*)'|\"([A-Za-z_$][\w$.]*)\"")
_QUOTING = (ToolName.OXLINT, ToolName.ESLINT)
"""The tools that put names into quotes where others use backticks."""


def findings_from(reviewer: str, hits: Sequence[Hit], settings: AnalyserSettings) -> tuple[Finding, ...]:
    """What a reviewer reports: a finding for every hit that is its own, and one for many of the same rule."""
    mine = ((hit, rule_on(hit, settings)) for hit in hits_for(reviewer, hits, settings))
    of_a_rule: dict[tuple[str, Severity], dict[str, list[Finding]]] = {}
    for hit, ruling in mine:
        if ruling:
            finding = _finding(reviewer, hit, ruling)
            kind = _kind(hit, finding)
            files = of_a_rule.setdefault((kind, finding.severity), {})
            files.setdefault(hit.file, []).append(finding)
    return tuple(one for files in of_a_rule.values() for one in _together(files.values()))


def _kind(hit: Hit, finding: Finding) -> str:
    """Which problem a finding is one of, whatever its rule: secrets of all kinds, and code that does not compile."""
    if hit.tool is ToolName.CARGO and _OF_COMPILER.fullmatch(hit.rule):
        return "compile"
    return finding.title if hit.tool is ToolName.KINGFISHER else finding.rule


def _together(files: Collection[list[Finding]]) -> list[Finding]:
    """Findings of one rule, by their files; as one with all places where there are many, in one file or in all."""
    every = [one for alike in files for one in alike]
    many = MANY_CRITICAL if every[0].severity is Severity.CRITICAL else MANY_IN_A_CHANGE
    # However many errors a parser reports, a file has one problem.
    is_syntax = every[0].problem_class == _SYNTAX
    if len(files if is_syntax else every) >= many:
        return _as_one(every, many)
    return [one for alike in files for one in _of_one_file(alike, _SEVERAL if is_syntax else MANY)]


def _of_one_file(alike: list[Finding], many: int) -> list[Finding]:
    if len(alike) >= many:
        return _as_one(alike, many)
    by_thing: dict[object, list[Finding]] = {}
    for place, one in enumerate(alike):
        by_thing.setdefault(_thing(one) or place, []).append(one)
    return [one for same in by_thing.values() for one in _as_one(same, _SEVERAL)]


def _thing(finding: Finding) -> str | None:
    """What is to be done away with, wherever a file shows it: a name that is missing, a secret within an archive."""
    is_inside = finding.location is not None and finding.location.line is None
    return finding.problem if finding.problem_class in _OF_A_NAME else finding.title if is_inside else None


def _as_one(alike: list[Finding], many: int) -> list[Finding]:
    if len(alike) < many:
        return alike
    first, *others = alike
    places = tuple(other.location for other in others[:MOST_PLACES] if other.location is not None)
    title = f"{first.title}, and {len(others):,} more of the same kind"
    return [replace(first, title=title, also_at=places, fixable=all(each.fixable for each in alike))]


def _finding(reviewer: str, hit: Hit, ruling: Ruling) -> Finding:
    words = ruling.words
    return Finding(
        severity=ruling.severity,
        category=words.category,
        rule=f"{hit.tool.value}:{plain(hit.rule)}",
        problem_class=words.problem_class,
        location=Location(file=hit.file, line=hit.line, end_line=hit.end_line),
        title=_title(words.title or _message(hit)),
        problem=f"{hit.tool.value} reports: {_message(hit)}{_HIDDEN.get(hit.hidden, '')}",
        impact=words.why,
        evidence=_evidence(hit),
        suggestion=_suggestion(hit, ruling),
        confidence=_CONFIDENCE.get(hit.confidence),
        action=Action.NOTE if ruling.severity is Severity.INFO else Action.FIX,
        found_by=(reviewer,),
        fixable=hit.fixable,
    )


def _message(hit: Hit) -> str:
    """The tool's own words, with the names that it quotes in backticks."""
    if hit.tool not in _QUOTING:
        return hit.message
    return _QUOTED_NAME.sub(lambda match: f"`{match[1] or match[2]}`", hit.message)


def _title(text: str) -> str:
    """One short line: the first sentence of a text, without its end, with a capital where it begins with a word."""
    line = next(iter(text.strip().splitlines()), "")
    sentence = re.split(r"(?<=[\w`'\")])[.;] ", line, maxsplit=1)[0].rstrip(". ")
    if re.match(r"[a-z]+(?![\w.(:])", sentence):
        sentence = sentence[:1].upper() + sentence[1:]
    if len(sentence) <= MAX_TITLE:
        return sentence
    return f"{sentence[:MAX_TITLE].rsplit(' ', 1)[0]} …"


def _evidence(hit: Hit) -> str:
    return bounded(hit.snippet, MAX_SNIPPET)


def _suggestion(hit: Hit, ruling: Ruling) -> str:
    """The remedy's own words, else the tool's, else those of the rulebook."""
    remedy = hit.remedy.title if hit.remedy else ""
    advice = remedy or hit.suggestion or ruling.words.suggestion
    sentence = f"{advice.rstrip().rstrip('.')}. " if advice.strip() else ""
    return f"{sentence}See {hit.link}" if hit.link else advice
