"""One piece of work of an agent or a command: to be started, running, or pausing before the next attempt.

Reviews, fixes, builds, validations and seals are all work; they share these states and differ only in what a result or
a final failure leads to.
"""

from burnish.core.budget import Share
from burnish.core.reviews import Failure, FailureKind
from burnish.core.values import Value


class Assignment(Value):
    """Who does a task, and who does it when the first one cannot."""

    agent: str
    fallback: str | None = None


class ProcessMark(Value):
    """A process that cannot be mistaken for a later one with the same number."""

    pid: int
    started: float


class Ready(Value, tag_field="state", tag="ready"):
    """To be started."""

    attempt: int = 1


class Running(Value, tag_field="state", tag="running"):
    """Started, without a result so far."""

    attempt: int
    agent: str
    since: float
    process: ProcessMark | None = None
    share: Share | None = None
    """What it has reserved of the budget; None where it costs nothing."""


class Pausing(Value, tag_field="state", tag="pausing"):
    """Failed; attempt `attempt` begins when the timer fires."""

    attempt: int
    until: float


Work = Ready | Running | Pausing


def effect_id(key: str, attempt: int) -> str:
    """The deterministic name of one attempt at a piece of work, such as `review:2:critic:1`."""
    return f"{key}:{attempt}"


def timer_id(key: str, attempt: int) -> str:
    """The name of the pause before an attempt."""
    return f"pause:{key}:{attempt}"


NEVER_TWICE = frozenset(
    {FailureKind.UNAUTHORISED, FailureKind.REFUSED, FailureKind.CANNOT_RUN, FailureKind.OVER_BUDGET}
)
"""The same agent would fail in the same way: only another one can help."""


UNUSABLE = frozenset({FailureKind.UNAUTHORISED, FailureKind.CANNOT_RUN})
"""The agent is not installed or not logged in: nothing that a run does changes that."""


PASSING = frozenset({FailureKind.RATE_LIMITED, FailureKind.UNREACHABLE})
"""Nothing that the agent did: it only has to wait."""


def pause_before_retry(failure: Failure, attempt: int) -> float:
    """Seconds to wait after the given attempt failed. An unreadable answer is asked for again at once."""
    if failure.retry_after is not None:
        return max(0.0, failure.retry_after)
    match failure.kind:
        case FailureKind.UNREADABLE:
            return 0.0
        case FailureKind.RATE_LIMITED:
            return min(30.0 * 2 ** (attempt - 1), 600.0)
        case FailureKind.UNREACHABLE:
            return min(5.0 * 2 ** (attempt - 1), 120.0)
        case _:
            return 1.0
