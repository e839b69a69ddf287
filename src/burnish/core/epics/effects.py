"""What an epic wants done now. Effects are values with deterministic ids; a driver carries them out."""

from burnish.core.budget import Share
from burnish.core.epics.events import MergeConflict
from burnish.core.events import Outcome
from burnish.core.values import Value


class BeginTicket(Value):
    """Give the ticket's next run a name, and put it on record."""

    id: str
    ticket: str
    onto: str
    conflict: MergeConflict | None = None
    handed: str = ""
    """The commit that holds its work already."""
    reserved: Share = Share()


class BeginIteration(Value):
    """Wait until it is time, and put on record that the next tickets may begin."""

    id: str
    number: int
    at: float
    """Not before this moment."""


class BeginReview(Value):
    """The same for the run that reviews the merged epic."""

    id: str
    onto: str
    reserved: Share = Share()


class DriveRun(Value):
    """Have a run driven until it ends or waits for a person. `ticket` is empty for the review of the epic."""

    id: str
    run: str
    ticket: str


class WatchRun(Value):
    """Notice when a person decides what a run waits for."""

    id: str
    run: str
    ticket: str


class StopRun(Value):
    """End a run for good."""

    id: str
    run: str
    ticket: str


class PrepareMerge(Value):
    """Make the merge as a commit, check its seal, and validate it."""

    id: str
    ticket: str
    commit: str


class FinishMerge(Value):
    """Move the branch."""

    id: str
    ticket: str
    onto: str
    commit: str


class RollBack(Value):
    id: str


class OpenPullRequest(Value):
    id: str


class CloseEpic(Value):
    id: str
    outcome: Outcome
    reason: str


EpicEffect = (
    BeginTicket
    | BeginIteration
    | BeginReview
    | DriveRun
    | WatchRun
    | StopRun
    | PrepareMerge
    | FinishMerge
    | RollBack
    | OpenPullRequest
    | CloseEpic
)
