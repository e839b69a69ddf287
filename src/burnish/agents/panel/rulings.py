"""What a hit means: which check reports it, if any, and how severe it is. The user's settings take precedence."""

import re
from collections.abc import Iterator

from burnish.agents.panel.interface import Hidden, Hit, ToolName
from burnish.agents.panel.places import Surroundings, surroundings
from burnish.agents.panel.rulebook import (
    STYLE,
    Claim,
    LeftOut,
    Look,
    Words,
    asked_for,
    claims,
    narrowness,
    rules_of,
)
from burnish.agents.panel.selectors import plain, selects, weight
from burnish.core.findings import Severity
from burnish.core.values import Value, replace
from burnish.settings.types import OFF, AnalyserSettings

LINTERS = (ToolName.RUFF, ToolName.OXLINT, ToolName.ESLINT)
"""The tools that a project may configure itself, and of which it may ask for further rules."""


class Ruling(Value):
    """Whose a hit is, how bad it is, and the words that go with it."""

    check: str
    severity: Severity
    words: Words


class RuleSetting(Value):
    """What the user's settings say of some rules: a severity, or None for `off`."""

    selector: str
    severity: Severity | None


def wishes(tool: ToolName, settings: AnalyserSettings) -> Iterator[RuleSetting]:
    """Everything that the settings say of a tool's rules."""
    for name, word in settings.rules.items():
        owner, _, selector = name.partition(":")
        if owner == tool.value:
            yield RuleSetting(selector=plain(selector), severity=None if word == OFF else Severity(word))


def rule_on(hit: Hit, settings: AnalyserSettings) -> Ruling | None:
    """Whose a hit is and how bad, or None where it is not reported."""
    ruling = _open_ruling(hit, settings)
    return None if ruling is None else _with_suppression(hit, ruling)


def _with_suppression(hit: Hit, ruling: Ruling) -> Ruling | None:
    """What a comment that hides a hit is worth. A change cannot silence its own gate, but it can give a reason."""
    certain = isinstance(ruling.words, Look) and ruling.words.certain
    match hit.hidden:
        case Hidden.BEFORE if not certain:
            return None
        case Hidden.NAMED if not certain and ruling.severity.at_least(Severity.LOW):
            return replace(ruling, severity=Severity.LOW)
        case _:
            return ruling


def _open_ruling(hit: Hit, settings: AnalyserSettings) -> Ruling | None:
    """The ruling where nothing hides the hit."""
    rule = plain(hit.rule)
    meant = [wish for wish in wishes(hit.tool, settings) if selects(hit.tool, wish.selector, rule)]
    wish = max(meant, key=lambda wish: weight(wish.selector), default=None)
    if wish is None:
        return _by_rulebook(hit, _claim(hit, rule))
    if wish.severity is None:
        return None
    return _by_wish(hit, wish.severity, _claim(hit, rule), weight(wish.selector))


def _claim(hit: Hit, rule: str) -> Claim | None:
    """The entry that counts for a hit."""
    return next((claim for claim in claims(hit.tool, rule) if _fits(claim.entry, hit)), None)


def _fits(entry: Look | LeftOut, hit: Hit) -> bool:
    return bool(re.search(entry.message, hit.message)) and (not entry.files or hit.file.endswith(entry.files))


def _by_rulebook(hit: Hit, claim: Claim | None) -> Ruling | None:
    match claim:
        case Claim(entry=Look() as look):
            severity = _severity(look, claim.check, hit)
            return Ruling(check=claim.check, severity=severity, words=look) if severity else None
        case Claim(entry=LeftOut() as entry) if narrowness(entry):
            return None
        case _ if hit.tool in LINTERS:
            # Only the project's own configuration can have brought a rule that no check looks for.
            return Ruling(check=STYLE, severity=Severity.LOW, words=asked_for())
        case _:
            return None


def _by_wish(hit: Hit, severity: Severity, claim: Claim | None, exactness: int) -> Ruling | None:
    match claim:
        case Claim(entry=Look() as look):
            return Ruling(check=claim.check, severity=severity, words=look)
        case Claim(entry=LeftOut()) if exactness >= claim.weight:
            return Ruling(check=claim.check, severity=severity, words=asked_for())
        case _:
            return Ruling(check=STYLE, severity=severity, words=asked_for()) if hit.tool in LINTERS else None


def _severity(look: Look, check: str, hit: Hit) -> Severity | None:
    severity = look.levels.get(hit.level, look.severity)
    if severity is None:
        return None
    match hit.surroundings or surroundings(hit.file):
        case Surroundings.PROGRAM:
            limit = None
        case Surroundings.TESTS:
            limit = look.in_tests or rules_of(check).in_tests
        case Surroundings.MATERIAL:
            limit = look.in_material
    limits = (limit, Severity.MEDIUM if hit.doubtful or _is_of_a_stub(hit) else None)
    return max((severity, *filter(None, limits)), key=lambda one: one.rank)


def _is_of_a_stub(hit: Hit) -> bool:
    """Whether a hit is about names and types of a stub, which is never run and may say things that no program can."""
    return hit.file.endswith(".pyi") and (hit.tool is ToolName.TY or plain(hit.rule) in ("F811", "F821", "F822"))
