"""From bytes of an agent to bounded, harmless text. Every parser starts here; nothing else decodes an answer."""

import re

from burnish.contracts.errors import UnreadableError

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""A longer answer is not read at all: it is not a review, and half of one could look clean."""

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


def decode(raw: bytes) -> str:
    """Decode an answer: line ends made equal, escapes and control characters removed, invalid bytes replaced."""
    if len(raw) > MAX_ANSWER_BYTES:
        raise UnreadableError(
            f"The answer is {len(raw):,} bytes long; at most {MAX_ANSWER_BYTES:,} are read.",
            hint="Ask the reviewer for its findings only, not for its transcript.",
        )
    text = raw.decode("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    text = clean_text(text)
    if not text.strip():
        raise UnreadableError("The answer is empty.", hint="An empty answer is never a clean review: ask again.")
    return text


def clean_text(text: str) -> str:
    """Remove terminal escapes, control characters and invisible direction marks; keep newlines and tabs."""
    return _CONTROL.sub("", _ANSI.sub("", text))


def bounded(text: str, limit: int = 4_000) -> str:
    """Cut a field to a length that people and prompts can bear, saying so."""
    text = text.strip()
    return text if len(text) <= limit else text[:limit].rstrip() + " … (cut)"
