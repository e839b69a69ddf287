"""What a run may use up: its caps from the settings, and what earlier runs of its ticket and epic have left of theirs.

Nothing is written here, and the ledger is opened only where somebody is paid or a ticket has a cap.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from burnish.agents.pricing import price_of
from burnish.core.budget import Amounts, Budget, Cap
from burnish.core.events import Mode, Roles, Subject
from burnish.core.protocol import Ask, AskAtTerminal, ChoiceAction, Protocol
from burnish.core.spending import used
from burnish.core.state import Ended, Run
from burnish.core.values import Value
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import DEFAULT_COST_USD, DEFAULT_TOKENS, AgentSettings, Settings
from burnish.usecases.estimates import Prospect, estimate
from burnish.usecases.runs import NoRunsError, runs_of
from burnish.workspace.repository import Repository

_OF_EPIC = re.compile(r"(\d+)[.-]\d")


class Allotment(Value):
    """The budget of a run that is about to begin, and what a person should know of it."""

    budget: Budget
    notices: tuple[str, ...] = ()


def allot(prospect: Prospect) -> Allotment:
    """Settle what a run may use up, and estimate what it will."""
    settings, protocol = prospect.inputs.settings, prospect.protocol
    called = agents_called(protocol, prospect.roles, prospect.mode, build=prospect.build)
    budget = run_budget(settings, protocol, called)
    for wider in _wider(settings, prospect.subject):
        # Without anybody who is paid, there is no money or token whose cap could be reached.
        caps = {cap: most for cap, most in wider.caps.items() if budget.paid or cap is Cap.MINUTES}
        if caps:
            budget = budget.within(wider.whose, caps, used_before(prospect.repository, prospect.subject, wider))
    notices = (*_unpriced_notices(settings, called), *estimate(prospect, budget)) if budget.paid else ()
    return Allotment(budget=budget, notices=(*_epic_notices(settings, prospect.subject), *notices))


class Wider(NamedTuple):
    """Caps that several runs share, and which runs those are."""

    whose: str
    caps: Amounts
    holds: Callable[[Subject], bool]


def _wider(settings: Settings, subject: Subject) -> Iterator[Wider]:
    epic = epic_of(subject.story)

    def of_ticket(other: Subject) -> bool:
        return other.story == subject.story if subject.story else other.branch == subject.branch

    def of_epic(other: Subject) -> bool:
        return epic_of(other.story) == epic

    yield Wider("ticket", settings.limits.ticket.amounts, of_ticket)
    if epic:
        yield Wider("epic", settings.limits.epic.amounts, of_epic)


def epic_of(story: str) -> str:
    """The number of the epic that a story's name begins with: `1` of `1.2` and of `1-2-login`."""
    found = _OF_EPIC.match(story)
    return found[1] if found else ""


def _epic_notices(settings: Settings, subject: Subject) -> Iterator[str]:
    if settings.limits.epic.amounts and not epic_of(subject.story):
        yield (
            "[limits.epic] does not hold for this run: its --story does not begin with the number of an epic, "
            "as 1-2-login does."
        )


def agents_called(protocol: Protocol, roles: Roles, mode: Mode, *, build: bool = False) -> tuple[str, ...]:
    """Everybody whom a run may call without being told to: who plays a role, and who follows where they fail."""
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
    # A person may call anybody where the protocol offers that, and whoever it is must find a cap.
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
    match agent.kind:
        case AgentKind.COMMAND | AgentKind.ANALYSERS | AgentKind.CLAUDE:
            return True
        case AgentKind.CODEX | AgentKind.GEMINI | AgentKind.OPENCODE:
            return price_of(agent.model) is not None
        case AgentKind.ACP:
            return False


def _unpriced(settings: Settings, names: Iterable[str]) -> tuple[str, ...]:
    agents = {name: settings.agent(name) for name in names}
    return tuple(name for name, agent in agents.items() if agent is not None and not has_price(agent))


def _unpriced_notices(settings: Settings, called: Sequence[str]) -> Iterator[str]:
    names = ", ".join(f"'{name}'" for name in _unpriced(settings, called))
    if names and settings.limits.tokens is None:
        yield (
            f"What {names} costs cannot be counted, for the price is not known: "
            f"{Cap.TOKENS.words(DEFAULT_TOKENS)} are the cap instead, unless [limits] tokens names another."
        )
    if any(agent is not None and agent.kind is AgentKind.ACP for agent in map(settings.agent, called)):
        yield "Not every ACP agent says what it uses up. [limits] minutes holds in any case."


def used_before(repository: Repository, subject: Subject, wider: Wider) -> dict[Cap, float]:
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
