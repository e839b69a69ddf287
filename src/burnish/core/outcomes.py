"""How a run can end."""

from enum import Enum


class Outcome(Enum):
    """How a run ended."""

    APPROVED = "approved"
    ACCEPTED = "accepted"
    FAILED = "failed"
    UNPROVEN = "unproven"
    """Nothing blocks, but not everything was examined."""
    STOPPED = "stopped"
    BLOCKED = "blocked"
    SKIPPED = "skipped"
    DID_NOT_RUN = "did-not-run"
    OVER_BUDGET = "over-budget"
    CANCELLED = "cancelled"
