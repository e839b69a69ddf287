"""Two versions of a file, line by line: which lines stayed, which were replaced by which. White space is nothing."""

import difflib
from collections.abc import Sequence

from burnish.core.values import Value

MAX_COMPARED_LINES = 2_000
"""Where more lines than these changed, they are not compared further: that would take too long."""


MAX_EDITED_LINES = 50
"""A longer block of replaced lines is a rewrite: which line became which cannot be told."""


class Replaced(Value):
    """Lines of the base in whose place there are others now. Numbers count from 1."""

    base: range
    head: range


class LineComparison(Value):
    """What became of the lines of a file."""

    unchanged: frozenset[int]
    """The numbers of the lines of the head that the base has too, in the same order."""
    replaced: tuple[Replaced, ...]
    """Blocks that are short enough to have been edited line by line."""


def compare(base: Sequence[str], head: Sequence[str]) -> LineComparison:
    """Compare lines that have no white space any more."""
    start = _common(base, head)
    end = _common(base[start:][::-1], head[start:][::-1])
    unchanged = {*range(1, start + 1), *range(len(head) - end + 1, len(head) + 1)}
    before, now = base[start : len(base) - end], head[start : len(head) - end]
    if max(len(before), len(now)) > MAX_COMPARED_LINES:
        return LineComparison(unchanged=frozenset(unchanged), replaced=())
    replaced: list[Replaced] = []
    # Empty lines are everywhere: as anchors they would make the comparison slow and its result arbitrary.
    matcher = difflib.SequenceMatcher(lambda line: not line, before, now, autojunk=False)
    for tag, *bounds in matcher.get_opcodes():
        base_from, base_to, head_from, head_to = (start + 1 + bound for bound in bounds)
        if tag == "equal":
            unchanged.update(range(head_from, head_to))
        elif tag == "replace" and max(base_to - base_from, head_to - head_from) <= MAX_EDITED_LINES:
            replaced.append(Replaced(base=range(base_from, base_to), head=range(head_from, head_to)))
    return LineComparison(unchanged=frozenset(unchanged), replaced=tuple(replaced))


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines are equal from the beginning on."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (left, right) in pairs if left != right), min(len(one), len(other)))
