"""How runs are shown on a screen: lines in which a few words may have a tone, and pieces of logs.

A text says the same without its tones, which only a terminal gets, and only where NO_COLOR is not set. Every word is
cleaned before it is painted: what an agent wrote brings no tone of its own.
"""

import os
import sys
from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from burnish.core.text import clean_text


class Tone(Enum):
    """What a word means to whoever glances at it."""

    PLAIN = ""
    STRONG = "1"
    FAINT = "2"
    BAD = "31"
    GOOD = "32"
    CAREFUL = "33"

    @property
    def word(self) -> str:
        """`good`, `bad`, …: how a style sheet calls it."""
        return self.name.lower()


class Toned(NamedTuple):
    """A word with a tone."""

    text: str
    tone: Tone


Part = str | Toned
Line = tuple[Part, ...]


def show_lines(lines: Iterable[Line]) -> None:
    """Write lines to the standard output."""
    colour = wants_colour()
    for line in lines:
        sys.stdout.write(_text(line, colour=colour))


def plain(lines: Iterable[Line]) -> str:
    """Lines as they are in a file: without their tones."""
    return "".join(_text(line, colour=False) for line in lines)


def _text(line: Line, *, colour: bool) -> str:
    return "".join(_painted(part, colour=colour) for part in line).rstrip() + "\n"


def show_piece(text: str) -> None:
    """Write a piece of a log at once: whoever follows it waits for it."""
    sys.stdout.write(text)
    sys.stdout.flush()


def wants_colour() -> bool:
    """Whether tones are to be painted."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


def flat(text: str) -> str:
    """Text as one line: what comes from an agent must not look like lines of ours."""
    return " ".join(clean_text(text).split())


def _painted(part: Part, *, colour: bool) -> str:
    match part:
        case Toned():
            words = clean_text(part.text)
            return f"\x1b[{part.tone.value}m{words}\x1b[0m" if colour and part.tone is not Tone.PLAIN else words
        case str():
            return clean_text(part)
