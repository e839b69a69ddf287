"""Edits of a file, exact to the byte: what no edit names stays as it is, also where it is odd.

Tools count lines and characters; here that becomes places among bytes. A mark of byte order at the beginning of a file
is counted by no tool. Whether edits make sense is not asked here.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from burnish.agents.panel.interface import TextEdit

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Span(NamedTuple):
    """Some bytes of a file, and what comes in their place. The end is not part."""

    start: int
    end: int
    text: bytes

    @property
    def is_insertion(self) -> bool:
        return self.start == self.end


def why_untouchable(content: bytes) -> str:
    """Why places in a file cannot be told for sure; empty where they can."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return "the file is not UTF-8"
    if content.count(b"\r") != content.count(b"\r\n"):
        return "the tools disagree about the file's line endings"
    return ""


def spans_of(content: bytes, edits: Sequence[TextEdit]) -> tuple[Span, ...] | None:
    """The edits of one fix as places among bytes; None where one is out of the file, or they overlap."""
    lines = content.split(b"\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    spans: list[Span] = []
    for edit in edits:
        start = _offset(lines, starts, edit.line, edit.column)
        end = _offset(lines, starts, edit.end_line, edit.end_column)
        if start is None or end is None or end < start:
            return None
        spans.append(Span(start, end, edit.text.encode(errors="replace")))
    # Sorting is stable: what one fix inserts in one place comes in the order in which the tool names it.
    spans.sort(key=lambda span: (span.start, span.end))
    overlaps = any(one.end > other.start for one, other in pairwise(spans))
    return None if overlaps else tuple(spans)


def _offset(lines: Sequence[bytes], starts: Sequence[int], line: int, column: int) -> int | None:
    if not 1 <= line <= len(lines) or column < 1:
        return None
    here = lines[line - 1]
    hidden = len(_BYTE_ORDER_MARK) if line == 1 and here.startswith(_BYTE_ORDER_MARK) else 0
    text = here[hidden:].decode()
    if column > len(text) + 1:
        return None
    return starts[line - 1] + hidden + len(text[: column - 1].encode())


def clash(one: Span, other: Span) -> bool:
    """Whether it matters which of two edits is made first, or one takes away what the other one changes."""
    if one.is_insertion or other.is_insertion:
        return one.start <= other.end and other.start <= one.end
    return one.start < other.end and other.start < one.end


def apply(content: bytes, spans: Iterable[Span]) -> bytes:
    """The file with edits that do not clash, whatever their order."""
    pieces: list[bytes] = []
    place = 0
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        pieces += [content[place : span.start], span.text]
        place = span.end
    return b"".join([*pieces, content[place:]])
