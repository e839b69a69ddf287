"""Effects: what the loop wants done now. They are values with deterministic ids; drivers carry them out."""

from burnish.core.budget import Share
from burnish.core.findings import Finding
from burnish.core.protocol import Choice, Priority
from burnish.core.state import FixerAnswer, FixOrder, Scope, SealKind, Validation
from burnish.core.values import Value


class StartBuild(Value):
    """Have the change made."""

    id: str
    agent: str
    attempt: int
    share: Share = Share()
    """What it may use up."""


class StartValidation(Value):
    """Run the project's own commands on the tree."""

    id: str
    commit: str


class Previous(Value):
    """What a reviewer is told of the round before, where the protocol says so."""

    attempt: int
    feedback: str


class StartReview(Value):
    """Have one reviewer look at the tree, in a fresh context. A session may write; a reviewer never can."""

    id: str
    round: int
    reviewer: str
    agent: str
    attempt: int
    scope: Scope
    session: bool = False
    scratch: bool = False
    former: tuple[Finding, ...] = ()
    """The open findings, for a ratchet round."""
    answers: tuple[FixerAnswer, ...] = ()
    """What the fixer says of the findings of the round before, where the protocol tells of that round."""
    previous: Previous | None = None
    validation: Validation | None = None
    share: Share = Share()


class StartFix(Value):
    """Have findings fixed."""

    id: str
    agent: str
    attempt: int
    order: FixOrder
    share: Share = Share()


class StartTimer(Value):
    """Say when the time has come."""

    id: str
    until: float


class ReachBudget(Value):
    """End the run when so many more seconds of work have passed: then a cap is used up."""

    id: str
    limit: str
    seconds: float = 0.0


class AskPerson(Value):
    """Put the choices to a person."""

    id: str
    reason: str
    choices: tuple[Choice, ...]
    priority: Priority


class MakeSeal(Value):
    """Bind the approval to the tree."""

    id: str
    kinds: tuple[SealKind, ...]
    tree: str


class StopWork(Value):
    """End running work, the whole process group."""

    id: str
    effect: str


Effect = (
    StartBuild | StartValidation | StartReview | StartFix | StartTimer | ReachBudget | AskPerson | MakeSeal | StopWork
)
