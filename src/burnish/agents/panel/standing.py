"""What can block in existing code, which is reviewed as it is and not as a change.

In a change, every rule counts: an agent may well have imported a module that does not exist. A project that runs
shows that its modules exist. So there, a rule can block only if it was accurate where it was measured. A hit of any
other rule is medium at most, and a comment that silences a tool is the project's own decision.

A change that adds a whole program to a base without code is judged alike. But it is a change, and whether the program
runs is not known: comments count as in any change, and what would block otherwise leaves the run unproven.
"""

import re
from collections.abc import Sequence
from functools import cache

from burnish.agents.panel.interface import Hidden, Hit, ToolName
from burnish.agents.panel.novelty import LinesOf
from burnish.agents.panel.own_checks.reporting import OwnRule
from burnish.agents.panel.python_source import parse_python
from burnish.agents.panel.rulebook import Measured, standing
from burnish.agents.panel.selectors import plain
from burnish.agents.panel.tools.reading import INVALID_SYNTAX
from burnish.core.values import replace

_LEAST_JUDGED = 3
_MOST_WRONG = 0.15
_LEAST_SERIOUS = 0.3
_UNDEFINED = "F821"
_MANY_NAMES = 10
"""A project that works with so many names that are nowhere defined is given them by what a tool cannot see."""
_SILENCED = re.compile(r"#\s*(?:pylint:\s*disable|pyright:\s*ignore|type:\s*ignore|noqa|nosec)\b|//\s*(?:NOLINT|@ts-)")
"""Comments for other tools too: a person has looked at this line."""
_VARIANTS = (".tsx", ".ts")
"""What the names of rules end with that are the same for another parser."""


def in_standing_code(hits: Sequence[Hit], lines: LinesOf) -> tuple[Hit, ...]:
    """The hits as they count in existing code. That there is a submodule is no finding."""
    counted = tuple(hit for hit in hits if hit.rule != OwnRule.SUBMODULE.value)
    guessed = _guessed(counted, lines)
    return tuple(_as_standing(hit, is_guess=hit in guessed) for hit in counted)


def in_imported_code(hits: Sequence[Hit], lines: LinesOf) -> tuple[Hit, ...]:
    """The hits as they count in a whole program that a change adds at once."""
    guessed = _guessed(hits, lines)
    return tuple(replace(hit, doubtful=_may_be_right(hit, is_guess=hit in guessed)) for hit in hits)


def _guessed(hits: Sequence[Hit], lines: LinesOf) -> frozenset[Hit]:
    """The hits that may well be wrong in code that works, however accurate their rules are."""
    unparsed = {hit.file for hit in hits if hit.rule == INVALID_SYNTAX}
    believed = {hit for hit in hits if _is_proven(hit.tool.value, plain(hit.rule))}
    python = {hit.file for hit in believed if hit.file.endswith(".py")} - unparsed
    # What a tool says of code for another Python is a guess.
    unparsed |= {file for file in python if parse_python("\n".join(lines(file) or ())) is None}
    unknown = sum(hit.tool is ToolName.RUFF and hit.rule == _UNDEFINED for hit in hits)

    def is_guess(hit: Hit) -> bool:
        line = next(iter((lines(hit.file) or ())[(hit.line or 1) - 1 : hit.line]), "")
        given = hit.rule == _UNDEFINED and unknown >= _MANY_NAMES
        return hit.file in unparsed or given or _SILENCED.search(line) is not None

    return frozenset(filter(is_guess, believed))


def _as_standing(hit: Hit, *, is_guess: bool) -> Hit:
    is_hidden = hit.hidden is not Hidden.NOT
    doubtful = is_hidden or _may_be_right(hit, is_guess=is_guess)
    return replace(hit, hidden=Hidden.BEFORE if is_hidden else Hidden.NOT, doubtful=doubtful)


def _may_be_right(hit: Hit, *, is_guess: bool) -> bool:
    return is_guess or hit.doubtful or not _is_proven(hit.tool.value, plain(hit.rule))


@cache
def _is_proven(tool: str, rule: str) -> bool:
    for variant in _VARIANTS:
        rule = rule.removesuffix(variant)
    measured = standing().get(tool, {}).get(rule, Measured())
    judged = measured.serious + measured.harmless + measured.wrong
    is_right = measured.wrong <= _MOST_WRONG * judged and measured.serious >= _LEAST_SERIOUS * judged
    return judged >= _LEAST_JUDGED and is_right
