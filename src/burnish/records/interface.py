"""Records: files written from the state of a run for people and other tools. The ledger is the truth, these are copies.

A recorder is a pure function from a run to texts, so that the same run always gives the same bytes. No name of a story
or a reviewer lets a record leave its folder.
"""

import hashlib
import re
import time
import unicodedata
from collections.abc import Callable
from typing import Protocol

import msgspec

from burnish.core.state import AnsweredReview, Reviewing, Round, Run, Stopping
from burnish.core.values import Value

MAX_NAME_BYTES = 80
"""With everything around it, a name stays far below the 255 bytes that file systems allow."""
_DIGITS = 10
_APART = "~"
"""Stands before the digits that keep a name apart. No name that is used as it is contains it."""


class RefusedRecordError(Exception):
    """A place in the checkout that is not ours to write to, and what to do about that."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class RecordFile(Value):
    """One file, by its path below the root of the checkout, or of the run's own folder of records."""

    path: str
    text: str
    in_checkout: bool = True
    """Other tools look for it in the checkout. Otherwise it is kept with the run alone."""
    findings_of: int | None = None
    """The round whose findings it lists, where it does."""
    shared: bool = False
    """A JSON object that others may add fields to; see `burnish.records.writing`."""
    take_over: Callable[[bytes], str] | None = None
    """Makes the new text of a file from what is there, where other tools write it, too. If it raises
    `RefusedRecordError`, the file stays as it is, and the files after it are not written into the checkout either."""
    is_edit: bool = False
    """`take_over` changes a file of the user's own in the checkout, whether git tracks it or not. None is made."""
    is_made: bool = False
    """An edit that begins with a file of burnish's where there is none."""
    is_verdict: bool = False
    """It says how a round ended. A version that no longer holds goes before anything else is written."""


class RecordTexts(Value):
    """What a record may say that the state of a run does not hold. All of it comes from the ledger and the trees."""

    updated_at: float = 0.0
    """When the last event of the run happened."""
    reviewed: dict[int, tuple[str, ...]] = msgspec.field(default_factory=dict[int, tuple[str, ...]])
    """The paths that were under review, by round."""
    brief_path: str = ""
    statuses: tuple[str, ...] = ()
    """The statuses that a ticket went through; see `burnish.records.ticket`."""


class Recorder(Protocol):
    def files(self, run: Run, texts: RecordTexts) -> tuple[RecordFile, ...]:
        """Everything that is to be on record of this run now, in the order in which it is written: verdicts last."""
        ...

    def place(self, run: Run) -> str:
        """What the names of this run's records in a checkout begin with; empty where none belongs there."""
        ...


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


def answered_so_far(run: Run, round_: Round) -> tuple[AnsweredReview, ...]:
    """The reviews of a round that say something. While the panel sits, they are with the seats."""
    phase = run.phase.interrupted if isinstance(run.phase, Stopping) else run.phase
    if round_.reviews or not isinstance(phase, Reviewing) or phase.round != round_.number:
        return round_.answered
    return tuple(seat.work for seat in phase.seats if isinstance(seat.work, AnsweredReview))
