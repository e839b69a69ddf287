"""Which lines of a file became which, from its two texts: for rewriting by tools, and for following findings."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from burnish.agents.panel.autofix.edits import Span


class Block(NamedTuple):
    """Old lines that new ones replace, counted from 0, the ends not part. One of both may be empty."""

    start: int
    end: int
    new_start: int
    new_end: int

    def touches(self, first: int, last: int) -> bool:
        """Whether a line of a range, counted from 1, is replaced, or lines come directly after one of them."""
        if self.start == self.end:
            return first <= self.start <= last
        return self.start < last and first <= self.end


def blocks(before: bytes, after: bytes) -> tuple[Block, ...]:
    """How a text changed, as small as can be told: lines that were rewritten in place are blocks of their own."""
    matcher = SequenceMatcher(None, lines_of(before), lines_of(after))
    found: list[Block] = []
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        if kind == "replace" and end - start == new_end - new_start:
            pairs = zip(range(start, end), range(new_start, new_end), strict=True)
            found += [Block(line, line + 1, new_line, new_line + 1) for line, new_line in pairs]
        elif kind != "equal":
            found.append(Block(start, end, new_start, new_end))
    return tuple(found)


def lines_of(content: bytes) -> list[bytes]:
    """The lines with their ends; only a line feed ends one, as for every tool."""
    lines = [line + b"\n" for line in content.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def as_spans(before: bytes, after: bytes, changed: Sequence[Block]) -> tuple[Span, ...]:
    """Blocks as edits of the old text."""
    old, new = lines_of(before), lines_of(after)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    return tuple(
        Span(starts[block.start], starts[block.end], b"".join(new[block.new_start : block.new_end]))
        for block in changed
    )


def moved(first: int, last: int, changed: Sequence[Block]) -> tuple[int, int]:
    """Where a range of lines is now. Of lines that were replaced, what replaced them is meant."""
    begin = _moved(first, changed, at_end=False)
    return begin, max(begin, _moved(last, changed, at_end=True))


def _moved(line: int, changed: Sequence[Block], *, at_end: bool) -> int:
    shift = 0
    for block in changed:
        if line <= block.start:
            break
        if line <= block.end:
            return block.new_end if at_end else block.new_start + 1
        shift = block.new_end - block.end
    return line + shift
