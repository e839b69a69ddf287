"""Two versions of a file, line by line: which lines stayed, which were replaced by which. White space is nothing."""

import difflib
from collections.abc import Sequence

from burnish.core.values import Value

MAX_COMPARED_LINES = 4_000
"""Where more lines than these changed, they are not compared further: that would take too long."""


class Replaced(Value):
    """Lines of the base in whose place there are others now. Numbers count from 1, the end is not part."""

    base_start: int
    base_end: int
    head_start: int
    head_end: int

    def holds(self, base_line: int | None, head_line: int | None) -> bool:
        """Whether one line went where the other one came."""
        if base_line is None or head_line is None:
            return False
        return self.base_start <= base_line < self.base_end and self.head_start <= head_line < self.head_end


class Comparison(Value):
    """What became of the lines of a file."""

    unchanged: frozenset[int]
    """The numbers of the lines of the head that the base has too, in the same order."""
    replaced: tuple[Replaced, ...]


def compare(base: Sequence[str], head: Sequence[str]) -> Comparison:
    """Compare lines that have no white space any more."""
    start = _common(base, head)
    end = _common(base[start:][::-1], head[start:][::-1])
    unchanged = {*range(1, start + 1), *range(len(head) - end + 1, len(head) + 1)}
    before, now = base[start : len(base) - end], head[start : len(head) - end]
    if max(len(before), len(now)) > MAX_COMPARED_LINES:
        return Comparison(unchanged=frozenset(unchanged), replaced=())
    replaced: list[Replaced] = []
    # Empty lines are everywhere: as anchors they would make the comparison slow and its result arbitrary.
    matcher = difflib.SequenceMatcher(lambda line: not line, before, now, autojunk=False)
    for tag, base_from, base_to, head_from, head_to in matcher.get_opcodes():
        first = start + 1
        if tag == "equal":
            unchanged.update(range(first + head_from, first + head_to))
        elif tag == "replace":
            replaced.append(
                Replaced(
                    base_start=first + base_from,
                    base_end=first + base_to,
                    head_start=first + head_from,
                    head_end=first + head_to,
                )
            )
    return Comparison(unchanged=frozenset(unchanged), replaced=tuple(replaced))


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines are equal from the beginning on."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (left, right) in pairs if left != right), min(len(one), len(other)))
