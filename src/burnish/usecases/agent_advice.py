"""What a failed call of an agent means, in plain words, and what its user can do about it."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from burnish.agents.clients.registry import CLIENTS
from burnish.agents.clients.variables import VARIABLES
from burnish.core.reviews import Failure, FailureKind
from burnish.core.values import Value
from burnish.settings.types import AgentSettings
from burnish.system import clock
from burnish.usecases.agent_checks import Checked
from burnish.usecases.agents import Place, agent_named

_TOO_OLD = re.compile(r"\b(?:unknown|unexpected|unrecogni[sz]ed) (?:option|argument|flag)", re.IGNORECASE)

_PROBLEMS = {
    FailureKind.CRASHED: "It did not come to its end",
    FailureKind.TIMED_OUT: "It did not answer in time",
    FailureKind.STUCK: "It said nothing for too long",
    FailureKind.RATE_LIMITED: "The service takes no more requests for now",
    FailureKind.UNAUTHORISED: "The service does not accept the login",
    FailureKind.REFUSED: "The service, or the model, will not do it",
    FailureKind.UNREADABLE: "It answered, but not in the form that it was asked for",
    FailureKind.WROTE_TO_TREE: "It wrote to the tree that it was only to look at",
    FailureKind.CANNOT_RUN: "It cannot be run",
    FailureKind.OVER_BUDGET: "The call would have cost more than it may",
}
_HINTS = {
    FailureKind.CRASHED: "Run the program by hand, and look at the lines above.",
    FailureKind.TIMED_OUT: "Look at the network, a proxy, and the address of the service.",
    FailureKind.STUCK: "Look at the network, a proxy, and the address of the service.",
    FailureKind.RATE_LIMITED: 'Wait, or name a fallback: review = { agent = "NAME", fallback = "ANOTHER" }.',
    FailureKind.UNREADABLE: "Another model may keep to the form; 'burnish parse --help' describes the forms.",
    FailureKind.WROTE_TO_TREE: "A review by somebody who writes does not count. Set its client to read only.",
    FailureKind.CANNOT_RUN: "Look at its command, and at what it needs.",
    FailureKind.OVER_BUDGET: "Choose a model that costs less for small work.",
}


class Advice(Value):
    """What is wrong, and what to do."""

    problem: str
    hint: str


def advice(place: Place, checked: Checked, environment: Mapping[str, str]) -> Advice | None:
    """What is to be said of a call; None where it went well."""
    failure = checked.failure
    if failure is None:
        return None
    problem = f"{_PROBLEMS.get(failure.kind, failure.kind.value)}{_until(failure)}: {failure.message}"
    if any(_TOO_OLD.search(line) for line in (failure.message, *checked.log)):
        return Advice(problem=problem, hint="It does not know what burnish asks of it: bring it up to date.")
    return Advice(
        problem=problem, hint=_hint(failure, checked.name, agent_named(place.settings, checked.name), environment)
    )


def _until(failure: Failure) -> str:
    if failure.retry_after is None:
        return ""
    until = datetime.fromtimestamp(clock.now() + failure.retry_after, UTC).astimezone()
    return f", until {until:%H:%M:%S}"


def _hint(failure: Failure, name: str, agent: AgentSettings, environment: Mapping[str, str]) -> str:
    client = CLIENTS.get(agent.kind)
    match failure.kind:
        case FailureKind.UNAUTHORISED if client is not None:
            # Without an environment there is no login, so that the client says how one is made.
            made = client.needs(agent, {}).hint
            known = VARIABLES.get(agent.kind)
            keys = [key for key in known.keys if environment.get(key)] if known else []
            return f"{made} {', '.join(keys)} is set now, and does not open it." if keys else made
        case FailureKind.UNAUTHORISED:
            return f'Log in, or let its key through: [agents.{name}] environment = ["…"].'
        case FailureKind.REFUSED:
            model = f"'{agent.model}'" if agent.model else "the client's own choice"
            return f'Is the model right? It is {model}; set it with [agents.{name}] model = "…".'
        case kind:
            return _HINTS.get(kind, "Look at the lines above.")
