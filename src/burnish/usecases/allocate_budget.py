"""What a run may use up: its caps, what earlier runs of its ticket and epic left of theirs, and an estimate of a round.

The estimate is a guess that is said to be one: as the paid agents did before, or else by a rule of thumb. Nothing is
written here, and the ledger is opened only where an agent is paid or a ticket has a cap.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from burnish.agents.interface import Cost, Tokens
from burnish.agents.pricing import price_of
from burnish.agents.registry import client_of
from burnish.core.budget import Amounts, Budget, Cap
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
from burnish.core.protocol import Ask, AskAtTerminal, ChoiceAction, Protocol, ReviewBy
from burnish.core.reviews import Usage
from burnish.core.spending import used
from burnish.core.state import Ended, Run
from burnish.core.values import Value
from burnish.runtime.context import RunContext, context_of, has_context
from burnish.runtime.journal import stream_of
from burnish.settings.types import DEFAULT_COST_USD, DEFAULT_TOKENS, AgentSettings, Settings
from burnish.usecases.runs import NoRunsError, runs_of
from burnish.workspace.diffs import difference
from burnish.workspace.repository import Repository

_OF_EPIC = re.compile(r"(\d+)[.-]\d")
RUNS_LOOKED_AT = 20
"""What agents did long ago tells little of what they will do."""

CHARACTERS_OF_A_TOKEN = 4
OWN_TOKENS = 15_000
"""What a client tells its model before it comes to the task: instructions, and the tools that it has."""
PROMPT_CHARACTERS = 6_000
"""What every prompt holds beside the change and the user's own texts."""


class PlannedRun(Value):
    """A run that is about to begin."""

    repository: Repository
    subject: Subject
    protocol: Protocol
    roles: Roles
    mode: Mode
    inputs: RunContext
    build: bool = False

    @property
    def is_session(self) -> bool:
        """Whether its reviewer fixes what it finds."""
        return self.protocol.review.by is ReviewBy.SESSION


class BudgetAllocation(Value):
    """The budget of a run that is about to begin, and what a person should know of it."""

    budget: Budget
    notices: tuple[str, ...] = ()


def allocate_budget(planned: PlannedRun) -> BudgetAllocation:
    """Settle what a run may use up, and estimate what it will."""
    settings, protocol = planned.inputs.settings, planned.protocol
    called = agents_called(protocol, planned.roles, planned.mode, build=planned.build)
    budget = run_budget(settings, protocol, called)
    for wider in _wider(settings, planned.subject):
        # Without a paid agent, there is no money or token whose cap could be reached.
        caps = {cap: most for cap, most in wider.caps.items() if budget.paid or cap is Cap.MINUTES}
        if caps:
            budget = budget.within(wider.whose, caps, used_before(planned.repository, planned.subject, wider))
    notices = (*_unpriced_notices(settings, called), *estimate(planned, budget)) if budget.paid else ()
    return BudgetAllocation(budget=budget, notices=(*_epic_notices(settings, planned.subject), *notices))


class SharedCaps(NamedTuple):
    """Caps that several runs share, and which runs those are."""

    whose: str
    caps: Amounts
    holds: Callable[[Subject], bool]


def _wider(settings: Settings, subject: Subject) -> Iterator[SharedCaps]:
    epic = epic_of(subject.story)

    def of_ticket(other: Subject) -> bool:
        return other.story == subject.story if subject.story else other.branch == subject.branch

    def of_epic(other: Subject) -> bool:
        return epic_of(other.story) == epic

    yield SharedCaps("ticket", settings.limits.ticket.amounts, of_ticket)
    if epic:
        yield SharedCaps("epic", settings.limits.epic.amounts, of_epic)


def epic_of(story: str) -> str:
    """The number of the epic that a story's name begins with: `1` of `1.2` and of `1-2-login`."""
    found = _OF_EPIC.match(story)
    return found[1] if found else ""


def _epic_notices(settings: Settings, subject: Subject) -> Iterator[str]:
    if settings.limits.epic.amounts and not epic_of(subject.story):
        yield (
            "[limits.epic] does not apply to this run: its --story does not start with the number of an epic, as "
            "in 1-2-login."
        )


def agents_called(protocol: Protocol, roles: Roles, mode: Mode, *, build: bool = False) -> tuple[str, ...]:
    """All agents that a run may call by itself: those with a role, and their fallbacks."""
    assignments = [roles.reviewer(seat.name) for seat in protocol.panel]
    names = [name for each in assignments for name in (each.agent, each.fallback)]
    if build and roles.build is not None:
        names += [roles.build.agent, roles.build.fallback]
    if mode is Mode.FIX:
        names += [*(protocol.fix.by_round or (roles.fix.agent,)), roles.fix.fallback]
    return tuple(dict.fromkeys(name for name in names if name is not None))


def run_budget(settings: Settings, protocol: Protocol, called: Sequence[str]) -> Budget:
    """The run's own caps."""
    limits = settings.limits
    # Where the protocol offers it, a person may call any agent, and every one of them must have a cap.
    possible = (*called, *settings.agent_names) if _offers_another(protocol) else called
    paid = tuple(name for name in dict.fromkeys(possible) if _is_paid(settings, name))
    if not paid:
        return Budget(minutes=limits.minutes)
    tokens = limits.tokens or (DEFAULT_TOKENS if _unpriced(settings, called) else None)
    return Budget(cost_usd=limits.cost_usd or DEFAULT_COST_USD, tokens=tokens, minutes=limits.minutes, paid=paid)


def _offers_another(protocol: Protocol) -> bool:
    rule = protocol.exhausted
    choices = rule.choices if isinstance(rule, Ask | AskAtTerminal) else ()
    return any(choice.action is ChoiceAction.ANOTHER_AGENT for choice in choices)


def _is_paid(settings: Settings, name: str) -> bool:
    agent = settings.agent(name)
    return agent is not None and agent.kind.is_paid


def has_price(agent: AgentSettings) -> bool:
    """Whether what an agent costs can be counted: it says so itself, or the price of its model is known."""
    match cost_of(agent):
        case Cost.TOLD:
            return True
        case Cost.BY_MODEL:
            return price_of(agent.model) is not None
        case Cost.UNKNOWN:
            return False


def cost_of(agent: AgentSettings) -> Cost:
    """How its cost is known. What is not paid costs nothing."""
    client = client_of(agent.kind)
    return Cost.TOLD if client is None else client.card.cost


def _unpriced(settings: Settings, names: Iterable[str]) -> tuple[str, ...]:
    agents = {name: settings.agent(name) for name in names}
    return tuple(name for name, agent in agents.items() if agent is not None and not has_price(agent))


def _unpriced_notices(settings: Settings, called: Sequence[str]) -> Iterator[str]:
    names = ", ".join(f"'{name}'" for name in _unpriced(settings, called))
    if names and settings.limits.tokens is None:
        yield (
            f"The cost of {names} cannot be counted: the price is not known. The cap is "
            f"{Cap.TOKENS.words(DEFAULT_TOKENS)} instead, unless you set [limits] tokens."
        )
    if any(agent is not None and cost_of(agent) is Cost.UNKNOWN for agent in map(settings.agent, called)):
        yield "Not every ACP agent reports its usage. [limits] minutes applies in any case."


def used_before(repository: Repository, subject: Subject, wider: SharedCaps) -> dict[Cap, float]:
    """What earlier runs have used up of the same caps."""
    total = dict.fromkeys(Cap, 0.0)
    with suppress(NoRunsError), runs_of(repository) as runs:
        for run in runs.readable():
            for cap in wider.caps if wider.holds(run.subject) else ():
                total[cap] += _counted(run, cap, subject)
    return total


def _counted(run: Run, cap: Cap, subject: Subject) -> float:
    """What a run counts for. One on another branch that can still go on counts with all that it may use up."""
    may_go_on = run.subject.branch != subject.branch and not isinstance(run.phase, Ended)
    return max(used(run)[cap], run.started.budget.caps.get(cap, 0.0) if may_go_on else 0.0)


class TypicalWork(Value):
    """How an agent works: how often it calls its model, and what it reads and says each time, in tokens."""

    turns: int
    read: int
    said: int


TYPICAL_WORK = {
    "review": TypicalWork(turns=8, read=3_000, said=500),
    "fix": TypicalWork(turns=15, read=3_000, said=800),
    "build": TypicalWork(turns=30, read=3_000, said=1_000),
}
"""The rule of thumb. docs/budgets.md tells it to users."""


class AgentCall(Value):
    """One agent in one role."""

    role: str
    agent: str


def estimate(planned: PlannedRun, budget: Budget) -> tuple[str, ...]:
    """A sentence about a round; none where it calls no paid agent."""
    calls = [call for call in calls_of_a_round(planned) if call.agent in budget.paid]
    if not calls:
        return ()
    known = average_usage(planned.repository, planned.inputs.settings, calls)
    thumb = {} if all(call in known for call in calls) else _by_rule(planned, calls)
    return (estimate_words(calls, known, thumb, budget),)


def calls_of_a_round(planned: PlannedRun) -> list[AgentCall]:
    """The build, where there is one, every seat of the panel once, and one fix; no retries."""
    roles, protocol = planned.roles, planned.protocol
    calls = [AgentCall(role="build", agent=roles.build.agent)] if planned.build and roles.build is not None else []
    calls += [AgentCall(role="review", agent=roles.reviewer(seat.name).agent) for seat in protocol.panel]
    if planned.mode is Mode.FIX and not planned.is_session:
        calls.append(AgentCall(role="fix", agent=next(iter(protocol.fix.by_round), roles.fix.agent)))
    return calls


def average_usage(repository: Repository, settings: Settings, calls: Iterable[AgentCall]) -> dict[AgentCall, Usage]:
    """What such a call used up in the newest runs, on average: of the same agent, with the same model."""
    found: dict[AgentCall, list[Usage]] = {call: [] for call in calls}
    with suppress(NoRunsError), runs_of(repository) as runs:
        for name in runs.names()[:RUNS_LOOKED_AT]:
            with suppress(BurnishError):
                events = [decode(event.body) for event in runs.ledger.read(stream_of(name))]
                for call, usage in _calls_in(events, settings):
                    found.get(call, []).append(usage)
    return {call: _mean(usages) for call, usages in found.items() if usages}


def _calls_in(events: list[AnyEvent], settings: Settings) -> Iterator[tuple[AgentCall, Usage]]:
    agents: dict[str, str] = {}
    former: Settings | None = None
    for event in events:
        match event:
            case RunStarted() if has_context(event):
                former = context_of(evolve(None, event)).settings
            case WorkStarted():
                agents[event.effect] = event.agent
            case Reviewed() | SessionFinished() | Fixed() | Built() if event.usage.tokens:
                agent = agents.get(event.effect, "")
                if former is not None and _kin(former, agent) == _kin(settings, agent):
                    yield AgentCall(role=event.effect.partition(":")[0], agent=agent), event.usage
            case _:
                pass


def _kin(settings: Settings, name: str) -> tuple[object, ...]:
    """What must be the same for two agents of one name to cost the same."""
    agent = settings.agent(name)
    return () if agent is None else (agent.kind, agent.model, agent.command)


def _mean(usages: list[Usage]) -> Usage:
    tokens, cost = sum(usage.tokens for usage in usages), sum(usage.cost_usd for usage in usages)
    return Usage(tokens=tokens // len(usages), cost_usd=cost / len(usages))


def _by_rule(planned: PlannedRun, calls: Iterable[AgentCall]) -> dict[AgentCall, Usage]:
    """What the size of the prompt makes likely. Where the price is not known, the cost is 0."""
    prompt = _prompt_tokens(planned)
    found: dict[AgentCall, Usage] = {}
    for call in calls:
        tokens = likely(TYPICAL_WORK["fix" if planned.is_session else call.role], prompt)
        agent = planned.inputs.settings.agent(call.agent)
        price = None if agent is None else price_of(agent.model)
        found[call] = Usage(tokens=tokens.total, cost_usd=0.0 if price is None else price.of(tokens))
    return found


def _prompt_tokens(planned: PlannedRun) -> int:
    subject, inputs = planned.subject, planned.inputs
    patch = len(difference(planned.repository, subject.base_commit, subject.head).patch)
    texts = (inputs.brief, inputs.intent, *inputs.acceptance, *(page.text for page in inputs.guidance))
    shown = min(patch, inputs.settings.context.diff_characters) + sum(map(len, texts))
    return (shown + PROMPT_CHARACTERS) // CHARACTERS_OF_A_TOKEN


def likely(work: TypicalWork, prompt: int) -> Tokens:
    """Each turn repeats what was there before, which the service has kept, and adds what was read and said."""
    first = OWN_TOKENS + prompt
    again = work.turns - 1
    grown = work.read + work.said
    return Tokens(
        input=first + again * work.read,
        cached=again * first + grown * again * (again - 1) // 2,
        output=work.turns * work.said,
    )


def estimate_words(
    calls: list[AgentCall], known: Mapping[AgentCall, Usage], thumb: Mapping[AgentCall, Usage], budget: Budget
) -> str:
    """The whole sentence, with what it rests on."""
    usages = [known.get(call) or thumb[call] for call in calls]
    dear = sum(usage.cost_usd for usage in usages)
    free = sorted({call.agent for call, usage in zip(calls, usages, strict=True) if not usage.cost_usd})
    price = f", about {Cap.COST.words(_rounded(dear))}" if not free else ""
    unknown = f" The cost of {_quoted(free)} cannot be estimated." if free else ""
    most = " and ".join(budget.words(cap) for cap in budget.caps)
    return (
        f"A round calls paid agents about {_times(len(calls))} ({_roles(calls)}) and uses about "
        f"{_rounded(sum(usage.tokens for usage in usages)):,.0f} tokens{price}, {_basis(calls, known)}.{unknown} "
        f"The run may use at most {most}."
    )


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _roles(calls: list[AgentCall]) -> str:
    counts = Counter(call.role for call in calls)
    plurals = {"build": "builds", "review": "reviews", "fix": "fixes"}
    return ", ".join(f"{number} {role if number == 1 else plurals[role]}" for role, number in counts.items())


def _basis(calls: list[AgentCall], known: Mapping[AgentCall, Usage]) -> str:
    if all(call in known for call in calls):
        return "as in earlier runs here"
    partly = "partly as in earlier runs here, partly " if known else ""
    return f"{partly}estimated from the size of the change"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _rounded(number: float) -> float:
    """To two digits, which is more than a guess is worth."""
    return float(f"{number:.2g}")
