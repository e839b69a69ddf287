"""For which files the base must be looked at, to tell new hits from old ones.

Most hits of a change are on lines that it added. Nothing that a tool says of the base could be the same hit
(see `novelty`), so that the tool need not run there.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from burnish.agents.panel.comparison import compare
from burnish.agents.panel.interface import Hit
from burnish.agents.panel.novelty import OF_THE_FILE, LinesOf


def undecided(
    head: Sequence[Hit], *, head_lines: LinesOf, base_lines: LinesOf, renamed: Mapping[str, str]
) -> frozenset[str]:
    """The files of the base in which one of the hits may have been before. `renamed` maps new paths to old ones."""

    @cache
    def may_be_old(path: str) -> frozenset[int] | None:
        """The lines of a file of the head that were there before, or that others stood for."""
        before = base_lines(renamed.get(path, path))
        if before is None:
            return None
        base, now = _stripped(before), _stripped(head_lines(path) or ())
        known = set(base)
        edited = {line for one in compare(base, now).replaced for line in one.head}
        return frozenset(edited | {number for number, line in enumerate(now, start=1) if line in known})

    def is_undecided(hit: Hit) -> bool:
        old = may_be_old(hit.file)
        if old is None:
            return False
        if hit.line is None or (hit.tool, hit.rule) in OF_THE_FILE:
            return True
        return hit.line in old or hit.line > len(head_lines(hit.file) or ())

    return frozenset(renamed.get(hit.file, hit.file) for hit in head if is_undecided(hit))


def _stripped(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple("".join(line.split()) for line in lines)
