"""What blocks in code that is reviewed as it is, and not as a change.

In new code a rule is believed: what an agent just wrote may call a module that does not exist. Code that a project has
long run proves that it does, so that there a rule blocks only if it was right where it was measured. A hit of any other
is medium at most, and a comment that silences a tool is the project's own decision.
"""

from collections.abc import Sequence
from functools import cache

from burnish.agents.panel.interface import Hidden, Hit
from burnish.agents.panel.novelty import LinesOf
from burnish.agents.panel.own_checks.reporting import OwnRule
from burnish.agents.panel.python_source import parse_python
from burnish.agents.panel.rulebook import Standing, standing
from burnish.agents.panel.selectors import plain
from burnish.agents.panel.tools.reading import INVALID_SYNTAX
from burnish.core.values import replace

_LEAST_JUDGED = 3
_MOST_WRONG = 0.15
_LEAST_SERIOUS = 0.3
_VARIANTS = (".tsx", ".ts")
"""What the names of rules end with that are the same for another parser."""


def in_standing_code(hits: Sequence[Hit], lines: LinesOf) -> tuple[Hit, ...]:
    """The hits as they count where no change brought them. That a submodule is there is none.

    In a file that cannot be parsed, such as one for another Python, it is a guess what any tool says.
    """
    unparsed = {hit.file for hit in hits if hit.rule == INVALID_SYNTAX}
    believed = {hit.file for hit in hits if hit.file.endswith(".py") and _is_proven(hit.tool.value, plain(hit.rule))}
    unparsed |= {file for file in believed - unparsed if parse_python("\n".join(lines(file) or ())) is None}
    counted = [hit for hit in hits if hit.rule != OwnRule.SUBMODULE.value]
    return tuple(_as_standing(hit, guessed=hit.file in unparsed) for hit in counted)


def _as_standing(hit: Hit, *, guessed: bool) -> Hit:
    is_hidden = hit.hidden is not Hidden.NOT
    may_be_right = guessed or is_hidden or hit.doubtful or not _is_proven(hit.tool.value, plain(hit.rule))
    return replace(hit, hidden=Hidden.BEFORE if is_hidden else Hidden.NOT, doubtful=may_be_right)


@cache
def _is_proven(tool: str, rule: str) -> bool:
    for variant in _VARIANTS:
        rule = rule.removesuffix(variant)
    measured = standing().get(tool, {}).get(rule, Standing())
    judged = measured.serious + measured.harmless + measured.wrong
    is_right = measured.wrong <= _MOST_WRONG * judged and measured.serious >= _LEAST_SERIOUS * judged
    return judged >= _LEAST_JUDGED and is_right
