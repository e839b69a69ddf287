"""Text that moves no cursor and hides nothing: the one place that knows terminal escapes and control characters."""

import re

# An operating system command without its terminator is no escape: removing it would hide what follows from us alone.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b\n]*+(?:\x07|\x1b\\)|[@-Z\\-_])")
# Control characters, marks that change the direction of text, and the invisible copies of ASCII ("tag characters").
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
# Half of a surrogate pair can be written in JSON, but not as UTF-8.
_SURROGATE = re.compile("[\ud800-\udfff]")


def without_escapes(text: str) -> str:
    """Text without terminal escapes and with equal line ends. Control characters stay.

    A carriage return is a line end: JSON can carry one past the decoder, and a terminal would write over the line.
    """
    return _ESCAPE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def clean_text(text: str) -> str:
    """Remove terminal escapes, control characters and invisible direction marks; keep newlines and tabs."""
    if text.isprintable():  # most fields are, and this costs next to nothing
        return text
    text = _CONTROL.sub("", without_escapes(text))
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
