"""Records: files written from the state of a run for people and other tools. The ledger is the truth, these are copies.

A recorder is a pure function from a run to texts, so that the same run always gives the same bytes.
"""

from typing import Protocol

import msgspec

from burnish.core.state import Run
from burnish.core.values import Value


class RecordFile(Value):
    """One file, by its path below the root of the checkout, or of the run's own folder of records."""

    path: str
    text: str
    in_checkout: bool = True
    """Other tools look for it in the checkout. Otherwise it is kept with the run alone."""
    findings_of: int | None = None
    """The round whose findings it lists, where it does."""
    shared: bool = False
    """A JSON object that others may add fields to; see `burnish.records.sharing`."""
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
    """One layout of records."""

    def files(self, run: Run, texts: RecordTexts) -> tuple[RecordFile, ...]:
        """Everything that is to be on record of this run now, in the order in which it is written: verdicts last."""
        ...

    def place(self, run: Run) -> str:
        """What the names of this run's records in a checkout begin with; empty where none belongs there."""
        ...
