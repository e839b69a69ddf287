"""The names in records: of the story, of files, of moments. Nothing here lets a name leave its folder."""

import hashlib
import re
import time
import unicodedata

from burnish.core.state import GoodReview, MissingReview, Review, Reviewing, Round, Run, Stopping

MAX_NAME_BYTES = 80
"""With everything around it, a name stays far below the 255 bytes that file systems allow."""
_DIGITS = 10
_APART = "~"
"""Stands before the digits that keep a name apart. No name that is used as it is contains it."""


def slug(text: str) -> str:
    """A text as part of a file's name. Two texts never have the same.

    One that can be a name is used as it is. Any other becomes as much of it as can be read, and digits that no other
    text has.
    """
    name = _readable(text, MAX_NAME_BYTES)
    if name == text:
        return name
    digits = hashlib.sha256(text.encode("utf-8", errors="surrogateescape")).hexdigest()[:_DIGITS]
    readable = _readable(text, MAX_NAME_BYTES - _DIGITS - len(_APART)) or "unnamed"
    return f"{readable}{_APART}{digits}"


def _readable(text: str, most: int) -> str:
    """The letters, marks and digits of any script, with hyphens for the rest, in a number of bytes.

    In the composed form, because some file systems give a decomposed name back under other bytes.
    """
    composed = unicodedata.normalize("NFC", text)
    fit = "".join(sign if sign in "._-" or unicodedata.category(sign)[0] in "LMN" else " " for sign in composed)
    name = re.sub(r"\.{2,}", ".", re.sub(" +", "-", fit)).strip(".-")
    return name.encode()[:most].decode(errors="ignore").rstrip(".-")


def moment(at: float) -> str:
    """An ISO 8601 time in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


def minute(at: float) -> str:
    """`YYYY-MM-DD HH:MM`, in UTC: the same bytes on every machine."""
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(at))


def reviews_of(run: Run, round_: Round) -> tuple[Review, ...]:
    """The reviews of a round so far. While the panel sits, they are with the seats."""
    phase = run.phase.interrupted if isinstance(run.phase, Stopping) else run.phase
    if round_.reviews or not isinstance(phase, Reviewing) or phase.round != round_.number:
        return round_.reviews
    works = (seat.work for seat in phase.seats)
    return tuple(work for work in works if isinstance(work, GoodReview | MissingReview))


def answered(reviews: tuple[Review, ...]) -> tuple[GoodReview, ...]:
    """The reviews that say something."""
    return tuple(review for review in reviews if isinstance(review, GoodReview))
