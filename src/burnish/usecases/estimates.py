"""What the paid agents of a round will use up, about: as they did before, or else by a rule of thumb.

A guess that is said to be one. What a run may really use up is its budget's to say.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from burnish.agents.pricing import Tokens, price_of
from burnish.core.budget import Budget, Cap
from burnish.core.errors import BurnishError
from burnish.core.events import (
    AnyEvent,
    Built,
    Fixed,
    Mode,
    Reviewed,
    Roles,
    RunStarted,
    SessionFinished,
    Subject,
    WorkStarted,
    decode,
)
from burnish.core.loop import evolve
from burnish.core.protocol import Protocol, ReviewBy
from burnish.core.reviews import Usage
from burnish.core.values import Value
from burnish.runtime.inputs import Inputs, inputs_of
from burnish.runtime.journal import stream_of
from burnish.settings.types import Settings
from burnish.usecases.runs import NoRunsError, runs_of
from burnish.workspace.diffs import difference
from burnish.workspace.repository import Repository

RUNS_LOOKED_AT = 20
"""What agents did long ago tells little of what they will do."""

CHARACTERS_OF_A_TOKEN = 4
OWN_TOKENS = 15_000
"""What a client tells its model before it comes to the task: instructions, and the tools that it has."""
PROMPT_CHARACTERS = 6_000
"""What every prompt holds beside the change and the user's own texts."""


class Conduct(Value):
    """How an agent works: how often it calls its model, and what it reads and says each time, in tokens."""

    turns: int
    read: int
    said: int


CONDUCT = {
    "review": Conduct(turns=8, read=3_000, said=500),
    "fix": Conduct(turns=15, read=3_000, said=800),
    "build": Conduct(turns=30, read=3_000, said=1_000),
}
"""The rule of thumb. docs/budgets.md tells it to users."""


class Call(Value):
    """One agent in one role."""

    role: str
    agent: str


class Prospect(Value):
    """A run that is about to begin."""

    repository: Repository
    subject: Subject
    protocol: Protocol
    roles: Roles
    mode: Mode
    inputs: Inputs
    build: bool = False

    @property
    def is_session(self) -> bool:
        """Whether its reviewer fixes what it finds."""
        return self.protocol.review.by is ReviewBy.SESSION


def estimate(prospect: Prospect, budget: Budget) -> tuple[str, ...]:
    """A sentence about a round; none where it calls nobody who is paid."""
    calls = [call for call in calls_of_a_round(prospect) if call.agent in budget.paid]
    if not calls:
        return ()
    known = remembered(prospect.repository, prospect.inputs.settings, calls)
    thumb = {} if all(call in known for call in calls) else _by_rule(prospect, calls)
    return (words(calls, known, thumb, budget),)


def calls_of_a_round(prospect: Prospect) -> list[Call]:
    """The build, where there is one, every seat of the panel once, and one fix. Nobody is asked again."""
    roles, protocol = prospect.roles, prospect.protocol
    calls = [Call(role="build", agent=roles.build.agent)] if prospect.build and roles.build is not None else []
    calls += [Call(role="review", agent=roles.reviewer(seat.name).agent) for seat in protocol.panel]
    if prospect.mode is Mode.FIX and not prospect.is_session:
        calls.append(Call(role="fix", agent=next(iter(protocol.fix.by_round), roles.fix.agent)))
    return calls


def remembered(repository: Repository, settings: Settings, calls: Iterable[Call]) -> dict[Call, Usage]:
    """What such a call used up in the newest runs, on average: of the same agent, with the same model."""
    found: dict[Call, list[Usage]] = {call: [] for call in calls}
    with suppress(NoRunsError), runs_of(repository) as runs:
        for name in runs.names()[:RUNS_LOOKED_AT]:
            with suppress(BurnishError):
                events = [decode(event.body) for event in runs.ledger.read(stream_of(name))]
                for call, usage in _calls_in(events, settings):
                    found.get(call, []).append(usage)
    return {call: _mean(usages) for call, usages in found.items() if usages}


def _calls_in(events: list[AnyEvent], settings: Settings) -> Iterator[tuple[Call, Usage]]:
    agents: dict[str, str] = {}
    former: Settings | None = None
    for event in events:
        match event:
            case RunStarted() if event.inputs:
                former = inputs_of(evolve(None, event)).settings
            case WorkStarted():
                agents[event.effect] = event.agent
            case Reviewed() | SessionFinished() | Fixed() | Built() if event.usage.tokens:
                agent = agents.get(event.effect, "")
                if former is not None and _kin(former, agent) == _kin(settings, agent):
                    yield Call(role=event.effect.partition(":")[0], agent=agent), event.usage
            case _:
                pass


def _kin(settings: Settings, name: str) -> tuple[object, ...]:
    """What must be the same for two agents of one name to cost the same."""
    agent = settings.agent(name)
    return () if agent is None else (agent.kind, agent.model, agent.command)


def _mean(usages: list[Usage]) -> Usage:
    tokens, cost = sum(usage.tokens for usage in usages), sum(usage.cost_usd for usage in usages)
    return Usage(tokens=tokens // len(usages), cost_usd=cost / len(usages))


def _by_rule(prospect: Prospect, calls: Iterable[Call]) -> dict[Call, Usage]:
    """What the size of the prompt makes likely. Where the price is not known, the cost is 0."""
    prompt = _prompt_tokens(prospect)
    found: dict[Call, Usage] = {}
    for call in calls:
        tokens = likely(CONDUCT["fix" if prospect.is_session else call.role], prompt)
        agent = prospect.inputs.settings.agent(call.agent)
        price = None if agent is None else price_of(agent.model)
        found[call] = Usage(tokens=tokens.total, cost_usd=0.0 if price is None else price.of(tokens))
    return found


def _prompt_tokens(prospect: Prospect) -> int:
    subject, inputs = prospect.subject, prospect.inputs
    patch = len(difference(prospect.repository, subject.base_commit, subject.head).patch)
    texts = (inputs.brief, inputs.intent, *inputs.acceptance, *(page.text for page in inputs.guidance))
    shown = min(patch, inputs.settings.context.diff_characters) + sum(map(len, texts))
    return (shown + PROMPT_CHARACTERS) // CHARACTERS_OF_A_TOKEN


def likely(conduct: Conduct, prompt: int) -> Tokens:
    """Each turn repeats what was there before, which the service has kept, and adds what was read and said."""
    first = OWN_TOKENS + prompt
    again = conduct.turns - 1
    grown = conduct.read + conduct.said
    return Tokens(
        input=first + again * conduct.read,
        cached=again * first + grown * again * (again - 1) // 2,
        output=conduct.turns * conduct.said,
    )


def words(calls: list[Call], known: Mapping[Call, Usage], thumb: Mapping[Call, Usage], budget: Budget) -> str:
    """The whole sentence, with what it rests on."""
    usages = [known.get(call) or thumb[call] for call in calls]
    dear = sum(usage.cost_usd for usage in usages)
    free = sorted({call.agent for call, usage in zip(calls, usages, strict=True) if not usage.cost_usd})
    price = f", about {Cap.COST.words(_rounded(dear))}" if not free else ""
    unknown = f" What {_quoted(free)} will cost cannot be told before." if free else ""
    most = " and ".join(budget.words(cap) for cap in budget.caps)
    return (
        f"A round calls paid agents about {_times(len(calls))} ({_roles(calls)}) and uses about "
        f"{_rounded(sum(usage.tokens for usage in usages)):,.0f} tokens{price}: {_basis(calls, known)}.{unknown} "
        f"The run may use at most {most}."
    )


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _roles(calls: list[Call]) -> str:
    counts = Counter(call.role for call in calls)
    plurals = {"build": "builds", "review": "reviews", "fix": "fixes"}
    return ", ".join(f"{number} {role if number == 1 else plurals[role]}" for role, number in counts.items())


def _basis(calls: list[Call], known: Mapping[Call, Usage]) -> str:
    if all(call in known for call in calls):
        return "as much as in earlier runs here"
    partly = "partly as much as in earlier runs here, partly " if known else ""
    return f"{partly}a rule of thumb from the size of the change"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _rounded(number: float) -> float:
    """To two digits, which is more than a guess is worth."""
    return float(f"{number:.2g}")
