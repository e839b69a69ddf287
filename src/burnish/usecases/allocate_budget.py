"""What a run may use up: its caps, what earlier runs of its ticket and epic left of theirs, and an estimate of a round.

The estimate is a guess that is said to be one: as the paid agents did before, or else by a rule of thumb. Nothing is
written here, and the ledger is opened only where an agent is paid or a ticket has a cap.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
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
from burnish.core.state import Run
from burnish.core.values import Value, replace
from burnish.core.work import Assignment
from burnish.runtime.context import RunContext, context_of, has_context
from burnish.runtime.journal import stream_of
from burnish.settings.documents import quoted
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
    """What the budget of a run that is about to begin depends on."""

    repository: Repository
    subject: Subject
    protocol: Protocol
    roles: Roles
    mode: Mode
    inputs: RunContext
    build: bool = False
    handed_down: Amounts | None = None
    """What the epic that it is part of leaves to it; None for a run that is part of none."""

    @property
    def is_session(self) -> bool:
        """Whether its reviewer fixes what it finds."""
        return self.protocol.review.by is ReviewBy.SESSION


def allocate_budget(planned: PlannedRun) -> tuple[Budget, tuple[str, ...]]:
    """What a run may use up, and what a person should know of it."""
    settings = planned.inputs.settings
    called = agents_called(planned.protocol, planned.roles, planned.mode, build=planned.build)
    budget = run_budget(settings, planned.protocol, called)
    if planned.handed_down is not None:
        budget = budget.within("epic", planned.handed_down, {})
    for wider in _wider(settings, planned.subject, in_epic=planned.handed_down is not None):
        # Without a paid agent, there is no money or token whose cap could be reached.
        caps = {cap: most for cap, most in wider.caps.items() if budget.paid or cap is Cap.MINUTES}
        if caps:
            budget = budget.within(wider.whose, caps, used_before(planned.repository, planned.subject, wider))
    notices = [*_unpriced_notices(settings, called), *estimate(planned, budget)] if budget.paid else []
    if settings.limits.epic.amounts and planned.handed_down is None and not epic_of(planned.subject):
        told = "[limits.epic] does not apply to this run: its --story does not start with the number of an epic, as "
        notices.insert(0, f"{told}in 1-2-login.")
    return budget, tuple(notices)


class SharedCaps(NamedTuple):
    """Caps that several runs share: those whose subjects have the same `key`."""

    whose: str
    caps: Amounts
    key: Callable[[Subject], str]


def _wider(settings: Settings, subject: Subject, *, in_epic: bool) -> Iterator[SharedCaps]:
    limits = settings.limits
    yield SharedCaps("ticket", limits.ticket.amounts, attrgetter("story" if subject.story else "branch"))
    if epic_of(subject) and not in_epic:
        yield SharedCaps("epic", limits.epic.amounts, epic_of)


def epic_of(subject: Subject) -> str:
    """The number of the epic that a story's name begins with: `1` of `1.2` and of `1-2-login`."""
    found = _OF_EPIC.match(subject.story)
    return found[1] if found else ""


def agents_called(protocol: Protocol, roles: Roles, mode: Mode, *, build: bool = False) -> tuple[str, ...]:
    """All agents that a run may call by itself: those with a role, and their fallbacks."""
    found = assignments(protocol, roles, mode, build=build)
    names = (name for each in found for name in (each.agent, each.fallback))
    return tuple(dict.fromkeys(filter(None, names)))


def assignments(protocol: Protocol, roles: Roles, mode: Mode, *, build: bool = False) -> tuple[Assignment, ...]:
    """Who does what a run may do by itself."""
    found = [roles.reviewer(seat.name) for seat in roles.panel(protocol)]
    if build and roles.build is not None:
        found.append(roles.build)
    if mode is Mode.FIX:
        found += [replace(roles.fix, agent=name) for name in protocol.fix.by_round or (roles.fix.agent,)]
    return tuple(dict.fromkeys(found))


def run_budget(settings: Settings, protocol: Protocol, called: Sequence[str]) -> Budget:
    limits = settings.limits
    # Where the protocol offers it, a person may call any agent, and every one of them must have a cap.
    possible = (*called, *settings.agent_names) if _offers_another(protocol) else called
    paid = tuple(name for name, agent in _agents(settings, possible).items() if agent.kind.is_paid)
    if not paid:
        return Budget(minutes=limits.minutes)
    tokens = limits.tokens or (DEFAULT_TOKENS if _unpriced(settings, called) else None)
    return Budget(cost_usd=limits.cost_usd or DEFAULT_COST_USD, tokens=tokens, minutes=limits.minutes, paid=paid)


def _offers_another(protocol: Protocol) -> bool:
    rule = protocol.exhausted
    choices = rule.choices if isinstance(rule, Ask | AskAtTerminal) else ()
    return any(choice.action is ChoiceAction.ANOTHER_AGENT for choice in choices)


def _agents(settings: Settings, names: Iterable[str]) -> dict[str, AgentSettings]:
    return {name: agent for name in names if (agent := settings.agent(name))}


def has_price(agent: AgentSettings) -> bool:
    """Whether what an agent costs can be counted: it says so itself, or the price of its model is known."""
    cost = cost_of(agent)
    return cost is Cost.TOLD or (cost is Cost.BY_MODEL and price_of(agent.model) is not None)


def cost_of(agent: AgentSettings) -> Cost:
    """How its cost is known. What is not paid costs nothing."""
    client = client_of(agent.kind)
    return Cost.TOLD if client is None else client.card.cost


def _unpriced(settings: Settings, names: Iterable[str]) -> list[str]:
    return [name for name, agent in _agents(settings, names).items() if not has_price(agent)]


def _unpriced_notices(settings: Settings, called: Sequence[str]) -> Iterator[str]:
    names = _unpriced(settings, called)
    if names and settings.limits.tokens is None:
        yield (
            f"The cost of {quoted(names)} cannot be counted: the price is not known. The cap is "
            f"{Cap.TOKENS.words(DEFAULT_TOKENS)} instead, unless you set [limits] tokens."
        )
    if any(cost_of(agent) is Cost.UNKNOWN for agent in _agents(settings, called).values()):
        yield "Not every ACP agent reports its usage. [limits] minutes applies in any case."


def used_before(repository: Repository, subject: Subject, wider: SharedCaps) -> dict[Cap, float]:
    total = dict.fromkeys(Cap, 0.0)
    with suppress(NoRunsError), runs_of(repository) as runs:
        for run in runs.readable():
            for cap in wider.caps if wider.key(run.subject) == wider.key(subject) else ():
                total[cap] += _counted(run, cap, subject)
    return total


def _counted(run: Run, cap: Cap, subject: Subject) -> float:
    """What a run counts for. One on another branch that can still go on counts with all that it may use up."""
    if run.subject.branch == subject.branch or run.outcome is not None:
        return used(run)[cap]
    return max(used(run)[cap], run.started.budget.caps.get(cap, 0.0))


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


class AgentCall(NamedTuple):
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
    calls = [AgentCall("build", roles.build.agent)] if planned.build and roles.build is not None else []
    calls += [AgentCall("review", roles.reviewer(seat.name).agent) for seat in roles.panel(protocol)]
    if planned.mode is Mode.FIX and not planned.is_session:
        calls.append(AgentCall("fix", (*protocol.fix.by_round, roles.fix.agent)[0]))
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
                    yield AgentCall(event.effect.partition(":")[0], agent), event.usage
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
    patch = len(difference(planned.repository, subject.base_commit, subject.head, subject.paths).patch)
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
    usages = [known.get(call) or thumb[call] for call in calls]
    dear = sum(usage.cost_usd for usage in usages)
    free = sorted({call.agent for call, usage in zip(calls, usages, strict=True) if not usage.cost_usd})
    price = "" if free else f", about {Cap.COST.words(_rounded(dear))}"
    unknown = f" The cost of {quoted(free)} cannot be estimated." if free else ""
    most = " and ".join(map(budget.words, budget.caps))
    times = "once" if len(calls) == 1 else f"{len(calls)} times"
    return (
        f"A round calls paid agents about {times} ({_roles(calls)}) and uses about "
        f"{_rounded(sum(usage.tokens for usage in usages)):,.0f} tokens{price}, {_basis(known, thumb)}.{unknown} "
        f"The run may use at most {most}."
    )


def _roles(calls: list[AgentCall]) -> str:
    counts = Counter(call.role for call in calls)
    plurals = {"build": "builds", "review": "reviews", "fix": "fixes"}
    return ", ".join(f"{number} {role if number == 1 else plurals[role]}" for role, number in counts.items())


def _basis(known: Mapping[AgentCall, Usage], thumb: Mapping[AgentCall, Usage]) -> str:
    if not thumb:
        return "as in earlier runs here"
    partly = "partly as in earlier runs here, partly " if known else ""
    return f"{partly}estimated from the size of the change"


def _rounded(number: float) -> float:
    """To two digits, which is more than a guess is worth."""
    return float(f"{number:.2g}")
