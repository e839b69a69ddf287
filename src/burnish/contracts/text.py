"""From bytes of an agent to bounded, harmless text. Every parser starts here; nothing else decodes an answer."""

from collections.abc import Iterable

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.text import clean_text

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""A longer answer is not read at all: it is not a review, and half of one could look clean."""


class UnreadableError(BurnishError):
    """An answer that cannot be read as a review. It is never a clean one."""

    kind = ErrorKind.UNREADABLE


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


def first_text_in(texts: Iterable[str]) -> str:
    return next((text for text in texts if text), "")


def bounded(text: str, limit: int = 4_000) -> str:
    """Cut a field to a length that people and prompts can bear, saying so."""
    text = text.strip()
    return text if len(text) <= limit else text[:limit].rstrip() + " … (cut)"
