"""Rows in columns, each as wide as its widest cell, measured as a terminal does."""

import unicodedata
from collections.abc import Sequence

from burnish.cli.screen import Line, Part, Tone, Toned, flat

_GAP = "  "


def table(heads: Sequence[str], rows: Sequence[Sequence[Part]]) -> list[Line]:
    """A line of heads, then the rows. Cells are made flat."""
    cells = [[_flat(part) for part in row] for row in rows]
    widths = [
        max(width(head), *(width(_text(row[column])) for row in cells)) if cells else width(head)
        for column, head in enumerate(heads)
    ]
    titles: list[Part] = [Toned(head, Tone.FAINT) for head in heads]
    return [_line(row, widths) for row in [titles, *cells]]


def width(text: str) -> int:
    """How many columns a text takes: wide characters two, combining ones none."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def _flat(part: Part) -> Part:
    return Toned(flat(part.text), part.tone) if isinstance(part, Toned) else flat(part)


def _text(part: Part) -> str:
    return part.text if isinstance(part, Toned) else part


def _line(row: Sequence[Part], widths: Sequence[int]) -> Line:
    parts: list[Part] = []
    for part, wide in zip(row, widths, strict=True):
        parts += [part, " " * (wide - width(_text(part))), _GAP]
    return tuple(parts)
