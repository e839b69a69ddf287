"""A protocol: panel, contract, gate, limits, and what happens on failure and on exhaustion, as one typed value.

The built-in ones are TOML files in `burnish/protocols`; a user's own are read the same way. Nothing in the loop asks
which protocol it runs: it only reads these fields.
"""

from enum import Enum

from burnish.core.findings import Severity
from burnish.core.reviews import ContractName, Weight
from burnish.core.values import Value


class Reviewer(Value):
    """A seat of the panel."""

    name: str
    scratch: bool = False
    """Gets a throwaway writable copy beside its read-only clone, to run tests in."""


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


class VerdictGate(Value, tag_field="type", tag="verdict"):
    """Only `pass` passes. Typed findings pass when none is high or worse."""


Gate = SeverityGate | ScoreGate | VerdictGate


class Limits(Value):
    """Bounds that live in the state of a run, never in an agent's head."""

    reviews: int
    """Reviews at most, until a person adds one."""
    hard_cap: int
    """Reviews at most, whatever anybody decides."""
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


class ValidateRule(Value):
    """When the project's own commands are run."""

    before_first_review: bool = True
    after_fix: bool = False


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
    retries: int = 2
    fallback: FallbackTurn = FallbackTurn.LAST


class ChoiceAction(Enum):
    """What a person may decide when the limit is reached."""

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


class Protocol(Value):
    """One policy over the one loop."""

    name: str
    description: str
    contract: ContractName
    panel: tuple[Reviewer, ...]
    gate: Gate
    limits: Limits
    fix: FixRule
    exhausted: Exhausted
    review: ReviewRule = ReviewRule()
    validate: ValidateRule = ValidateRule()
    failures: FailureRule = FailureRule()
    skip_when: tuple[SkipReason, ...] = ()


class Fault(Value):
    """A rule that a protocol breaks: the key, as its path in the document, what is wrong, and what to do."""

    path: tuple[str | int, ...]
    message: str
    hint: str


def faults(protocol: Protocol) -> tuple[Fault, ...]:
    """Every rule between fields that the types alone cannot hold. A protocol with a fault is never started."""
    return (*_panel_faults(protocol), *_gate_faults(protocol), *_limit_faults(protocol), *_choice_faults(protocol))


def _panel_faults(protocol: Protocol) -> list[Fault]:
    found: list[Fault] = []
    names = [reviewer.name for reviewer in protocol.panel]
    if not names:
        found.append(Fault(path=("panel",), message="The panel is empty.", hint="Name at least one reviewer."))
    for index, name in enumerate(names):
        if name in names[:index]:
            hint = "Give each reviewer a name of its own."
            found.append(Fault(path=("panel", index, "name"), message=f"Reviewer '{name}' sits twice.", hint=hint))
    by_session = protocol.review.by is ReviewBy.SESSION
    if by_session and len(names) > 1:
        hint = "Keep one reviewer, or set review.by to 'panel'."
        found.append(Fault(path=("panel",), message="A session that fixes its own findings sits alone.", hint=hint))
    if by_session != (protocol.fix.input is FixInput.NOTHING):
        hint = "Set fix.input to 'nothing' exactly where review.by is 'session'."
        found.append(Fault(path=("fix", "input"), message="The fixer's input does not fit who reviews.", hint=hint))
    return found


def gate_takes(gate: Gate, contract: ContractName) -> bool:
    """Whether answers in this contract can be judged by this gate."""
    match gate:
        case SeverityGate():
            return True
        case ScoreGate():
            return contract is ContractName.REPORT
        case VerdictGate():
            return contract is not ContractName.REPORT


def _gate_faults(protocol: Protocol) -> list[Fault]:
    found: list[Fault] = []
    gate, contract = protocol.gate, protocol.contract
    if not gate_takes(gate, contract):
        kind = "score" if isinstance(gate, ScoreGate) else "verdict"
        hint = "The score gate takes 'report' only; the verdict gate anything but 'report'; the severity gate all."
        message = f"The {kind} gate cannot judge the contract '{contract.value}'."
        found.append(Fault(path=("gate", "type"), message=message, hint=hint))
    if isinstance(gate, ScoreGate):
        found += _score_faults(gate)
    return found


def _score_faults(gate: ScoreGate) -> list[Fault]:
    found: list[Fault] = []
    names = [dimension.name for dimension in gate.dimensions]
    if not names or len(set(names)) < len(names):
        hint = "Name at least one dimension, and each only once."
        found.append(Fault(path=("gate", "dimensions"), message="The dimensions are empty or repeated.", hint=hint))
    for key in ("overall", "critical", "important", "moderate"):
        if not 0 <= getattr(gate, key) <= 100:
            hint = "Scores go from 0 to 100."
            found.append(Fault(path=("gate", key), message="The threshold is out of range.", hint=hint))
    return found


def _limit_faults(protocol: Protocol) -> list[Fault]:
    limits = protocol.limits
    checks = (
        (limits.reviews < 1, ("limits", "reviews"), "At least one review is needed.", "Set it to 1 or more."),
        (
            limits.hard_cap < limits.reviews,
            ("limits", "hard_cap"),
            f"The hard cap {limits.hard_cap} is below the {limits.reviews} reviews.",
            "Raise limits.hard_cap or lower limits.reviews.",
        ),
        (limits.validation_fixes < 0, ("limits", "validation_fixes"), "It is negative.", "Set it to 0 or more."),
        (
            not 0 <= protocol.failures.retries <= 20,
            ("failures", "retries"),
            "Retries must stay between 0 and 20.",
            "Two is the default.",
        ),
    )
    return [Fault(path=path, message=message, hint=hint) for broken, path, message, hint in checks if broken]


def _choice_faults(protocol: Protocol) -> list[Fault]:
    exhausted = protocol.exhausted
    if not isinstance(exhausted, Ask | AskAtTerminal):
        return []
    found: list[Fault] = []
    keys = [choice.key for choice in exhausted.choices]
    if len(set(keys)) < len(keys) or not all(keys):
        hint = "Give each choice a key of its own."
        found.append(Fault(path=("exhausted", "choices"), message="Choices share a key or have none.", hint=hint))
    if all(choice.action.adds_a_round for choice in exhausted.choices):
        hint = "Add a choice that is always there, such as 'manual' or 'accept'."
        message = "At the hard cap no choice would be left."
        found.append(Fault(path=("exhausted", "choices"), message=message, hint=hint))
    return found
