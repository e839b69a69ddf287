"""From bytes of an agent to bounded, harmless text. Every parser starts here; nothing else decodes an answer."""

import re
from collections.abc import Iterable

from burnish.contracts.errors import UnreadableError

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""A longer answer is not read at all: it is not a review, and half of one could look clean."""

# An operating system command without its terminator is no escape: removing it would hide what follows from us alone.
_ANSI = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b\n]*+(?:\x07|\x1b\\)|[@-Z\\-_])")
# Control characters, marks that change the direction of text, and the invisible copies of ASCII ("tag characters").
_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff"
    "\U000e0000-\U000e007f]"
)
# Half of a surrogate pair can be written in JSON, but not as UTF-8.
_SURROGATE = re.compile("[\ud800-\udfff]")


def decode(raw: bytes) -> str:
    """Decode an answer: line ends made equal, escapes and control characters removed, invalid bytes replaced."""
    if len(raw) > MAX_ANSWER_BYTES:
        raise UnreadableError(
            f"The answer is {len(raw):,} bytes long; at most {MAX_ANSWER_BYTES:,} are read.",
            hint="Ask the reviewer for its findings only, not for its transcript.",
        )
    text = clean_text(raw.decode("utf-8", errors="replace"))
    if not text.strip():
        raise UnreadableError("The answer is empty.", hint="An empty answer is never a clean review: ask again.")
    return text


def clean_text(text: str) -> str:
    """Remove terminal escapes, control characters and invisible direction marks; keep newlines and tabs.

    A carriage return is a line end here, too: JSON can carry one past the decoder, and a terminal would write over it.
    """
    if text.isprintable():  # most fields are, and this costs next to nothing
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROL.sub("", _ANSI.sub("", text))
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def first_text_in(texts: Iterable[str]) -> str:
    """The first text that is not empty, or the empty one."""
    return next((text for text in texts if text), "")


def bounded(text: str, limit: int = 4_000) -> str:
    """Cut a field to a length that people and prompts can bear, saying so."""
    text = text.strip()
    return text if len(text) <= limit else text[:limit].rstrip() + " … (cut)"
