"""How burnish writes: lines for people, with tones at a terminal only, tables, and one JSON object for programs.

Nothing else writes to the streams. A text says the same without its tones. Every word is cleaned before it is painted:
what an agent wrote brings no tone of its own.
"""

import io
import json
import os
import re
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from typing import Any, NamedTuple, TextIO

from burnish.core.text import clean_text


class Tone(Enum):
    PLAIN = ""
    STRONG = "1"
    FAINT = "2"
    BAD = "31"
    GOOD = "32"
    CAREFUL = "33"
    CODE = "36"
    """A line of the tree, and what stands below it: it is cut where it does not fit."""
    COMMAND = "01"
    """What a person may type: it is never broken, so that it can be copied."""

    @property
    def word(self) -> str:
        """`good`, `bad`, …: how a style sheet calls it."""
        return self.name.lower()


class Toned(NamedTuple):
    text: str
    tone: Tone


Part = str | Toned
Line = tuple[Part, ...]

_BEGINNING = re.compile(r" *(?:(?:critical|high|medium|low|info) +)?")
_HANGING = 2
"""Columns by which later rows of a line without an indentation are set in."""
_WORDS = re.compile(r"\s*\S+ ?|\s+")


def prepare_streams() -> None:
    """Let no character that a terminal cannot show end a command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def at_terminal() -> bool:
    """Whether a question can be asked: a terminal is at both ends."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def print_line(text: str) -> None:
    _write(sys.stdout, text)


def print_error(text: str) -> None:
    """Write a line for people to the standard error output. A closed pipe there is no further error."""
    with suppress(BrokenPipeError):
        _write(sys.stderr, text)


def print_lines(lines: Iterable[Line]) -> None:
    """Write lines to the standard output; at a terminal with their tones, and broken between words where they end."""
    columns = columns_of(sys.stdout)
    colour = columns is not None and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
    for line in lines:
        for row in [line] if columns is None else fitted(line, columns):
            sys.stdout.write(_text(row, colour=colour))


def columns_of(stream: TextIO) -> int | None:
    """How wide the terminal is; None where it is none."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80 if stream.isatty() else None
    except (OSError, ValueError):
        return 80


def fitted(line: Line, columns: int) -> Iterator[Line]:
    """A line in rows of so many columns. Later rows begin below the words of the first."""
    text = "".join(_toned(part, whole=True).text for part in line)
    tones = {part.tone for part in line if isinstance(part, Toned)}
    if width(text) <= columns or Tone.COMMAND in tones:
        yield line
    elif Tone.CODE in tones:
        yield (Toned(cut(text, columns), Tone.CODE),)
    else:
        hanging = _hanging(text) or _HANGING
        yield from _rows(line, " " * min(hanging, columns // 3), columns)


def _hanging(text: str) -> int:
    """Where the words of a line begin: after its indentation, and after the severity of a finding."""
    found = _BEGINNING.match(text)
    return found.end() if found else 0


def _rows(line: Line, indent: str, columns: int) -> Iterator[Line]:
    row: list[Part] = []
    used = 0
    for part in line:
        tone = part.tone if isinstance(part, Toned) else Tone.PLAIN
        for word in _WORDS.findall(clean_text(part.text if isinstance(part, Toned) else part)):
            begins = used > len(indent) and used + width(word.rstrip()) > columns
            if begins:
                yield tuple(row)
                row.clear()
                row.append(indent)
                used = len(indent)
            shown = word.lstrip() if begins else word
            row.append(Toned(shown, tone))
            used += width(shown)
    yield tuple(row)


def cut(text: str, columns: int) -> str:
    """A text that ends in so many columns."""
    if width(text) <= columns:
        return text
    while text and width(text) >= columns:
        text = text[:-1]
    return f"{text}…" if columns > 0 else ""


def print_piece(text: str) -> None:
    """Write a piece of a log, and send it off at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def print_json(value: Mapping[str, Any]) -> None:
    sys.stdout.write(json_text(value))


def json_text(value: Mapping[str, Any]) -> str:
    """One JSON object; characters as they are where the standard output can carry them all, else escaped."""
    carries_all = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(value, indent=2, ensure_ascii=not carries_all) + "\n"


def discard_output() -> None:
    """Point the standard output to nowhere, so that the interpreter does not fail again when it ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def plain(lines: Iterable[Line]) -> str:
    """Lines as they are in a file: without their tones."""
    return "".join(_text(line, colour=False) for line in lines)


def flat(text: str) -> str:
    """Text as one line: what comes from an agent must not look like lines of ours."""
    return " ".join(clean_text(text).split())


def wrapped(sentences: Iterable[str], mark: str, indent: str) -> list[str]:
    """Sentences as a list, each in lines that a person can read; line breaks inside them are lost."""
    wrap = textwrap.TextWrapper(110, initial_indent=mark, subsequent_indent=indent, break_on_hyphens=False)
    return [wrap.fill(" ".join(sentence.split())) for sentence in sentences]


def table(heads: Sequence[str], rows: Sequence[Sequence[Part]]) -> list[Line]:
    """A line of heads, then the rows, in columns as wide as their widest cells. Cells are made flat."""
    titles = [Toned(head, Tone.FAINT) for head in heads]
    cells = [titles, *([_toned(part) for part in row] for row in rows)]
    widths = [max(width(cell.text) for cell in column) for column in zip(*cells, strict=True)]
    padded = (zip(row, widths, strict=True) for row in cells)
    return [
        tuple(part for cell, wide in row for part in (cell, " " * (wide - width(cell.text)), "  ")) for row in padded
    ]


def width(text: str) -> int:
    """How many columns a text takes at a terminal: wide characters two, combining ones none."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def _toned(part: Part, *, whole: bool = False) -> Toned:
    clean = clean_text if whole else flat
    return Toned(clean(part.text), part.tone) if isinstance(part, Toned) else Toned(clean(part), Tone.PLAIN)


def _text(line: Line, *, colour: bool) -> str:
    return "".join(_painted(part, colour=colour) for part in line).rstrip() + "\n"


def _painted(part: Part, *, colour: bool) -> str:
    if isinstance(part, str):
        return clean_text(part)
    words = clean_text(part.text)
    return f"\x1b[{part.tone.value}m{words}\x1b[0m" if colour and part.tone is not Tone.PLAIN else words


def _write(stream: TextIO, text: str) -> None:
    # Text of a file or of an agent may be in it, and must not steer the terminal.
    stream.write(clean_text(text) + "\n")
