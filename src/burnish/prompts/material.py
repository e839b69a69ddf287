"""What prompts are made of: everything that is known about a piece of work, as typed values.

Callers give all that they have. Which of it an agent gets is decided here in `prompts`, by what its protocol says.
"""

from enum import Enum

import msgspec

from burnish.core.events import Subject
from burnish.core.findings import Finding
from burnish.core.reviews import ContractName, ScoreCard
from burnish.core.state import FixerAnswer, FixOrder
from burnish.core.values import Value

DEFAULT_LIMIT = 50_000
"""Characters of a diff or an output that a prompt holds at most."""


class TestStatus(Enum):
    """How the project's own checks went."""

    __test__ = False  # not a test, whatever its name suggests to a collector

    PASSING = "passing"
    FAILING = "failing"
    SKIPPED = "skipped"
    UNKNOWN = "unknown"


class Criterion(Value, omit_defaults=False):
    """An acceptance criterion and whether it is said to be met; None where the brief has no box and no builder said."""

    criterion: str
    met: bool | None = None


class TicketMaterial(Value):
    """What a ticket adds to its subject."""

    ticket_id: str
    ticket_path: str = ""
    epic_path: str = ""
    acceptance_criteria: tuple[Criterion, ...] = ()


class TicketReviewContext(Value, omit_defaults=False):
    """A ticket as its reviewer is given it. The names are fixed: other tools and prompts use them."""

    ticket_id: str
    ticket_path: str
    epic_path: str
    ticket_branch: str
    base_commit: str
    final_commit: str
    files_modified: tuple[str, ...]
    test_suite_status: TestStatus
    acceptance_criteria: tuple[Criterion, ...]
    revision_count: int
    previous_review_feedback: str | None


class TaskMaterial(Value):
    """What is worked on, what was asked for, and what the project says to everybody who works on it."""

    run: str
    subject: Subject
    phase: str = ""
    """What the records of the run call this part of the loop, where they have a word for it."""
    brief: str = ""
    brief_path: str = ""
    """Where the brief is in the repository, if it is there."""
    intent: str = ""
    acceptance: tuple[str, ...] = ()
    coordination: str = ""
    guidance: tuple[tuple[str, str], ...] = ()
    """Names and texts of the project's guidance files, from the base."""
    parallel: int = 1
    """How many agents work on tasks of the same list at the same time, at most."""
    beside: tuple[str, ...] = ()
    """The tasks that others of them had when this one began."""
    in_place: bool = False
    """Whether the agent works in the user's own checkout, not in a copy."""


class ReviewMaterial(TaskMaterial):
    """Everything about one review."""

    round: int
    reviewer: str
    contract: ContractName
    rules: tuple[tuple[str, str], ...] = ()
    """Globs and texts of the rules that concern this change."""
    diff: str = ""
    diff_limit: int = DEFAULT_LIMIT
    files_modified: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """Changed files that the configuration leaves out of the review."""
    implementer_output: str = ""
    output_limit: int = DEFAULT_LIMIT
    test_status: TestStatus = TestStatus.UNKNOWN
    test_output: str = ""
    revision_count: int = 0
    attempt: int = 0
    """How many fixes were made before this review."""
    previous_feedback: str = ""
    former: tuple[Finding, ...] = ()
    answers: tuple[FixerAnswer, ...] = ()
    """What the fixer says of the findings of the round before."""
    titles: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """The titles of those findings, by their ids."""
    fix_diff: str = ""
    parallel_agents: bool = False
    ticket: TicketMaterial | None = None
    scratch: str = ""
    """The folder of the throwaway copy, where the reviewer has one."""
    status_files: tuple[str, ...] = ()
    """Where a session says how its story stands."""


class FixMaterial(TaskMaterial):
    """Everything about one fix."""

    round: int
    """The round whose findings are fixed, or whose review waits until the project's own checks pass."""
    order: FixOrder
    findings_files: tuple[str, ...] = ()
    """Files of the clone that hold the findings in the form of the protocol's records."""
    attempts: tuple[str, ...] = ()
    """What the reviews so far said of a ticket and what was done about it, one line each."""
    test_commands: tuple[str, ...] = ()
    coverage_floor: float | None = None
    validation_status: TestStatus = TestStatus.UNKNOWN
    validation_output: str = ""
    hook_rejection: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    """What the person in charge says about findings, by their id; an empty id means all of them."""
    card: ScoreCard | None = None
    """The scores of the review that asks for a revision."""
    output_limit: int = DEFAULT_LIMIT


class BuildMaterial(TaskMaterial):
    """Everything about the making of a change."""

    choice: str = ""
    """The task of a list that the builder was given, where it may choose another one."""

    test_commands: tuple[str, ...] = ()
    coverage_floor: float | None = None
    output_limit: int = DEFAULT_LIMIT
