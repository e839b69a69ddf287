"""A protocol: panel, contract, gate, limits, and what happens on failure and on exhaustion, as one typed value.

The built-in ones are TOML files in `burnish/protocols`; a user's own are read the same way. Nothing in the loop asks
which protocol it runs: it only reads these fields.
"""

from enum import Enum

from burnish.core.findings import Severity
from burnish.core.reviews import ContractName, Weight
from burnish.core.values import Value


class SeatKind(Enum):
    """Which agent a seat of the panel is for."""

    REVIEWER = "reviewer"
    """The agent that is named for it or for `review`; without one, the embedded analysers."""
    CHECK = "check"
    """The embedded analysers, always. An agent that is named for it reviews in a seat of its own beside them."""
    EXTRA = "extra"
    """The agent that is named for `review`; without one, the seat is left out."""


class Reviewer(Value):
    """A seat of the panel."""

    name: str
    kind: SeatKind = SeatKind.REVIEWER
    scratch: bool = False
    """Gets a throwaway writable copy beside its read-only clone, to run tests in."""

    @property
    def beside(self) -> "Reviewer":
        """The seat of an agent that reviews beside this check."""
        return Reviewer(name=f"{self.name}-reviewer", scratch=self.scratch)


class Dimension(Value):
    """A dimension of a score card, and how much it counts."""

    name: str
    weight: Weight


class SeverityGate(Value, tag_field="type", tag="severity"):
    """Findings at or above `block` block."""

    block: Severity


STANDARD_DIMENSIONS = (
    Dimension(name="requirement_adherence", weight=Weight.CRITICAL),
    Dimension(name="coordination_compliance", weight=Weight.CRITICAL),
    Dimension(name="code_quality", weight=Weight.IMPORTANT),
    Dimension(name="pattern_consistency", weight=Weight.IMPORTANT),
    Dimension(name="test_quality", weight=Weight.IMPORTANT),
    Dimension(name="security_performance", weight=Weight.MODERATE),
)
"""The six dimensions of the `report` contract, unless a protocol names its own."""


class ScoreGate(Value, tag_field="type", tag="score"):
    """Every dimension reaches the minimum of its weight, the weighted mean reaches `overall`, nothing blocks."""

    dimensions: tuple[Dimension, ...] = STANDARD_DIMENSIONS
    overall: float = 75
    critical: float = 90
    important: float = 70
    moderate: float = 0

    @property
    def minimum(self) -> dict[Weight, float]:
        """The score that a dimension of each weight must reach."""
        return {Weight.CRITICAL: self.critical, Weight.IMPORTANT: self.important, Weight.MODERATE: self.moderate}


class VerdictGate(Value, tag_field="type", tag="verdict"):
    """Only `pass` passes. Typed findings pass when none is high or worse."""


Gate = SeverityGate | ScoreGate | VerdictGate


class RoundLimits(Value):
    """Bounds that live in the state of a run, never in an agent's head."""

    reviews: int
    """Reviews at most, until a person adds one."""
    hard_cap: int
    """Maximum number of reviews, even if a person asks for more."""
    validation_fixes: int = 2
    """How many failed validations in a row go to the fixer before the run fails."""
    slow_review_seconds: float | None = None
    """A review that takes longer gets a warning."""


class ReviewBy(Enum):
    """Who reviews: a panel that cannot write, or one session that reviews and fixes."""

    PANEL = "panel"
    SESSION = "session"


class ReviewMode(Enum):
    """How a later round looks at the change: with fresh eyes, or with fresh eyes plus the open findings."""

    FRESH = "fresh"
    RATCHET = "ratchet"


class Feedback(Enum):
    """What a later reviewer is told of the round before: nothing, its feedback, or its follow-up and the attempt."""

    NONE = "none"
    PREVIOUS = "previous"
    FOLLOW_UP = "follow-up"


class OpenBlockers(Enum):
    """What an unfixed blocker that later reviewers miss holds up: the loop and the seal, or the seal alone."""

    LOOP = "loop"
    SEAL = "seal"


class ReviewRule(Value):
    """How rounds are reviewed."""

    by: ReviewBy = ReviewBy.PANEL
    mode: ReviewMode = ReviewMode.FRESH
    feedback: Feedback = Feedback.NONE
    open_blockers: OpenBlockers = OpenBlockers.SEAL


class FixInput(Enum):
    """What the fixer is given."""

    BLOCKING = "blocking"
    BLOCKING_THEN_REST = "blocking-then-rest"
    ALL = "all"
    REVISION = "revision"
    FOLLOW_UP = "follow-up"
    NOTHING = "nothing"
    """The session fixes by itself; only a failed validation is handed over."""


class Unchanged(Enum):
    """What a fix that changed nothing, or that brought an earlier tree back, leads to."""

    CONTINUE = "continue"
    EXHAUSTED = "exhausted"


class FixRule(Value):
    """How findings are fixed."""

    input: FixInput
    unchanged: Unchanged = Unchanged.CONTINUE
    by_round: tuple[str, ...] = ()
    """Agents of the first, second, … fix, where a stronger one is wanted later; the last one stays."""
    coverage: float | None = None
    """The test coverage in percent that fixers are told to keep, where the configuration has no floor of its own."""


class ValidateRule(Value):
    """When the project's own commands are run."""

    before_first_review: bool = True
    after_fix: bool = False
    acceptance: bool = False
    """Whether acceptance criteria that are said not to be met fail it, before any command runs."""


class OnFailure(Enum):
    """What work without a usable result leads to."""

    RETRY = "retry"
    """Try again, then the fallback agent, then did-not-run. Uses up no review."""
    ROUND = "round"
    """The round is used up; the next one begins."""
    END = "end"
    """The run ends did-not-run at once."""


class FallbackTurn(Enum):
    """When the fallback agent is called: after the last retry, or in turn with the first one."""

    LAST = "last"
    ALTERNATE = "alternate"


class FailureRule(Value):
    """What happens when an agent gives no usable result."""

    unreadable: OnFailure = OnFailure.RETRY
    crashed: OnFailure = OnFailure.RETRY
    unusable: OnFailure | None = None
    """For an agent that is not installed or not logged in, which is then not asked again in the run. None: as
    `crashed`, and asked again."""
    retries: int = 2
    fallback: FallbackTurn = FallbackTurn.LAST


class ChoiceAction(Enum):
    """What a person may decide while a run waits."""

    FIX = "fix"
    """Only for findings that ask for a person's word: have them fixed."""
    MANUAL = "manual"
    ACCEPT = "accept"
    ANOTHER_ROUND = "another-round"
    ANOTHER_AGENT = "another-agent"
    SKIP = "skip"

    @property
    def adds_a_round(self) -> bool:
        return self in (ChoiceAction.ANOTHER_ROUND, ChoiceAction.ANOTHER_AGENT)


class Choice(Value):
    """One answer that a person may give, with the key to type."""

    key: str
    action: ChoiceAction
    text: str


class Priority(Enum):
    """How loudly a person is asked."""

    NORMAL = "normal"
    CRITICAL = "critical"


class Ask(Value, tag_field="then", tag="ask"):
    """Wait for a person."""

    choices: tuple[Choice, ...]
    priority: Priority = Priority.NORMAL


class AskAtTerminal(Value, tag_field="then", tag="ask-at-terminal"):
    """Wait for a person where one sits at a terminal; fail otherwise."""

    choices: tuple[Choice, ...]
    reason: str
    priority: Priority = Priority.NORMAL


class Fail(Value, tag_field="then", tag="fail"):
    """End as failed. `{reviews}` and `{revisions}` in the reason are filled in."""

    reason: str


class Stop(Value, tag_field="then", tag="stop"):
    """End as stopped. `{reviews}` and `{revisions}` in the reason are filled in."""

    reason: str


Exhausted = Ask | AskAtTerminal | Fail | Stop


class SkipReason(Enum):
    """Why a source may leave a subject unreviewed."""

    REVIEW_DISABLED = "review-disabled"
    NO_REVIEWER_PROMPT = "no-reviewer-prompt"
    NOTHING_PICKED = "nothing-picked"
    BUILD_FAILED = "build-failed"


class RecordLayout(Enum):
    """Which records a run writes for people and other tools."""

    NONE = "none"
    EPIC = "epic"
    """A findings document for each round."""
    TICKET = "ticket"
    """The report of each review, and the ticket's fields about reviews. Needs scores."""
    PANEL = "panel"
    """A file for each reviewer, the verdict of the round, and the state of the loop."""
    DRIFT = "drift"
    """The verdict of each review, and the attempts to fix."""


class Protocol(Value):
    """One policy over the one loop."""

    name: str
    description: str
    contract: ContractName
    panel: tuple[Reviewer, ...]
    gate: Gate
    limits: RoundLimits
    fix: FixRule
    exhausted: Exhausted
    review: ReviewRule = ReviewRule()
    validate: ValidateRule = ValidateRule()
    failures: FailureRule = FailureRule()
    skip_when: tuple[SkipReason, ...] = ()
    records: RecordLayout | None = None
    """None only in the first event of an older run, whose records go by the name of its protocol."""

    @property
    def layout(self) -> RecordLayout:
        if self.records is not None:
            return self.records
        return next((layout for layout in RecordLayout if layout.value == self.name), RecordLayout.NONE)


def gate_takes(gate: Gate, contract: ContractName) -> bool:
    return isinstance(gate, SeverityGate) or (contract is ContractName.REPORT) == isinstance(gate, ScoreGate)
