"""What a reviewer said: a readable answer, or the reason why there is none. There is no third, and no default."""

from enum import Enum

from burnish.core.findings import Finding
from burnish.core.values import Value


class ContractName(Enum):
    """The forms in which a reviewer may answer; `burnish.contracts` reads and writes each of them."""

    FINDINGS = "findings"
    REPORT = "report"
    ISSUES = "issues"
    VERDICT = "verdict"
    SARIF = "sarif"


class Weight(Enum):
    """How much a dimension of a score card counts."""

    CRITICAL = "critical"
    IMPORTANT = "important"
    MODERATE = "moderate"

    @property
    def factor(self) -> int:
        return _FACTORS[self]


_FACTORS = {Weight.CRITICAL: 3, Weight.IMPORTANT: 2, Weight.MODERATE: 1}


class DimensionScore(Value):
    """One scored dimension, as the reviewer reported it. The weight that counts is the protocol's."""

    name: str
    score: float
    weight: Weight | None = None


class ScoreCard(Value):
    """The scores of a `report` answer. Whether they suffice is for the gate to say, never for the report."""

    dimensions: tuple[DimensionScore, ...]
    blocking_issues: int = 0
    revision_notes: str = ""
    claimed_pass: bool = False
    """What the report itself concluded. A claimed failure always holds; a claimed pass is checked."""
    claimed_overall: float | None = None


class FormerAnswer(Enum):
    """What a ratchet review says about a finding of an earlier round."""

    FIXED = "fixed"
    NOT_FIXED = "not-fixed"
    WITHDRAWN = "withdrawn"


class Former(Value):
    """One earlier finding, answered."""

    id: str
    answer: FormerAnswer
    evidence: str = ""


class Answer(Value):
    """A reviewer's text, read once, at the boundary.

    `clean` is the contract's own word after every correction: no finding, every criterion met, `pass`. It is
    never true while anything in the text says otherwise.
    """

    clean: bool
    findings: tuple[Finding, ...] = ()
    card: ScoreCard | None = None
    follow_up: str = ""
    """The instruction that a `verdict` answer gives to the fixer, or its summary on a pass."""
    former: tuple[Former, ...] = ()
    corrections: tuple[str, ...] = ()
    """Where the text contradicted itself or was malformed, and how the worse reading was taken."""
    examined: tuple[str, ...] | None = None
    """The files that the answer itself is about, where its form says so; None where it does not."""
    whole: bool = False
    """Whether the reviewer looked at the whole change with fresh eyes, also where it was asked for less."""
    notes: tuple[str, ...] = ()
    """What a reader of this review must know: above all, what could not be examined."""


class FailureKind(Enum):
    """Why work of an agent has no usable result. None of these is ever a clean review."""

    CRASHED = "crashed"
    TIMED_OUT = "timed-out"
    STUCK = "stuck"
    RATE_LIMITED = "rate-limited"
    UNREACHABLE = "unreachable"
    """The network, or the service at its other end, is down."""
    UNAUTHORISED = "unauthorised"
    REFUSED = "refused"
    UNREADABLE = "unreadable"
    WROTE_TO_TREE = "wrote-to-tree"
    EMPTY_DIFF = "empty-diff"
    CANNOT_RUN = "cannot-run"
    OVER_BUDGET = "over-budget"


class Failure(Value):
    """One failed attempt. `retry_after` is the pause in seconds that the client itself named."""

    kind: FailureKind
    message: str
    retry_after: float | None = None


class Usage(Value):
    """What work has used up."""

    seconds: float = 0.0
    tokens: int = 0
    cost_usd: float = 0.0

    def minus(self, other: "Usage") -> "Usage":
        """What came after; never less than nothing."""
        return Usage(
            seconds=max(0.0, self.seconds - other.seconds),
            tokens=max(0, self.tokens - other.tokens),
            cost_usd=max(0.0, self.cost_usd - other.cost_usd),
        )

    def plus(self, other: "Usage") -> "Usage":
        return Usage(
            seconds=self.seconds + other.seconds,
            tokens=self.tokens + other.tokens,
            cost_usd=self.cost_usd + other.cost_usd,
        )
