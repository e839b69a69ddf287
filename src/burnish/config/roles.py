"""Who plays which role, from the settings, the protocol and the flags.

The more specific choice wins, and an agent and its fallback are looked for separately:

    flag for the reviewer or role > flag for everything > complexity > reviewer > role > default > the analysers
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from burnish.config.errors import ConfigError
from burnish.config.rules import choices, own_fallback, unknown_agent
from burnish.config.settings import NO_FALLBACK, AgentKind, Complexity, RoleChoice, Settings
from burnish.core.events import Roles
from burnish.core.protocol import Protocol, ReviewBy, gate_takes
from burnish.core.reviews import ContractName
from burnish.core.values import Value, replace
from burnish.core.work import Assignment
from burnish.protocols.checking import did_you_mean, quoted
from burnish.protocols.documents import key_text
from burnish.protocols.errors import Problem

_WITHOUT_CONFIGURATION = RoleChoice(agent=AgentKind.ANALYSERS.value)
_ROLES = ("review", "fix", "build")


class _Chosen(Value):
    """One role after resolution, and the key that messages call it by."""

    key: str
    assignment: Assignment
    reviews: bool = False


def resolve(
    settings: Settings, protocol: Protocol, *, flags: Sequence[str] = (), complexity: Complexity | None = None
) -> Roles:
    """The agents of a run. `flags` are the values of `--agent`: NAME, or ROLE=NAME with a role or a reviewer.

    Raises `ConfigError` with every choice that cannot work.
    """
    resolver = _Resolver(settings, _read_flags(flags, protocol), complexity)
    review, fix, build = resolver.role("review"), resolver.role("fix"), resolver.builder()
    reviewers = {seat.name: resolver.reviewer(seat.name) for seat in protocol.panel}
    # A general reviewer whom every seat replaces by its own reviews nothing.
    general = [review] if review.assignment in [each.assignment for each in reviewers.values()] else []
    everybody = [*general, fix, *([build] if build else []), *reviewers.values()]
    problems = [
        *_own_fallbacks(settings),
        *_choice_problems(settings, protocol, everybody),
        *_fixer_problems(settings, protocol),
    ]
    if problems:
        raise ConfigError(problems)
    return _roles(resolver, protocol)


def assigned(settings: Settings, protocol: Protocol, complexity: Complexity | None = None) -> Roles:
    """Whom settings name for each role, also where that agent is defined elsewhere or could not play it."""
    return _roles(_Resolver(settings, _Flags(named={}), complexity), protocol)


def _roles(resolver: "_Resolver", protocol: Protocol) -> Roles:
    review, build = resolver.role("review").assignment, resolver.builder()
    reviewers = {seat.name: resolver.reviewer(seat.name).assignment for seat in protocol.panel}
    return Roles(
        review=review,
        fix=resolver.role("fix").assignment,
        build=build.assignment if build else None,
        reviewers={name: each for name, each in reviewers.items() if each != review},
    )


def with_fixers(settings: Settings, protocol: Protocol, flags: Sequence[str] = ()) -> Protocol:
    """The protocol with the fixers by round that the settings name. A fixer that a flag names plays every round."""
    if any(flag.partition("=")[0] == "fix" or "=" not in flag for flag in flags):
        return replace(protocol, fix=replace(protocol.fix, by_round=()))
    if not settings.roles.by_round:
        return protocol
    return replace(protocol, fix=replace(protocol.fix, by_round=settings.roles.by_round))


def role_notices(settings: Settings, protocol: Protocol, flags: Sequence[str] = ()) -> tuple[str, ...]:
    """Choices that have no effect and may be mistakes."""
    panel = [seat.name for seat in protocol.panel]
    roles = settings.roles
    levels = (roles.complexity.low, roles.complexity.medium, roles.complexity.high)
    named = [*roles.reviewers, *(name for level in levels for name in level if name not in _ROLES)]
    notices = [
        f"[roles] names '{name}', who is not on the panel of '{protocol.name}': {', '.join(panel)}."
        for name in dict.fromkeys(named)
        if name not in panel
    ]
    nobody = not any(choice.agent for choice in (roles.default, roles.review, roles.fix, roles.build))
    if settings.agents and nobody and not roles.reviewers and not flags:
        who = "agent" if len(settings.agents) == 1 else "agents"
        has = "has" if len(settings.agents) == 1 else "have"
        notices.append(f"The {who} {quoted(settings.agents)} {has} no role: name one in [roles] or with --agent.")
    return tuple(notices)


class _Flags(Value):
    """The values of `--agent`, sorted out."""

    everything: str = ""
    named: dict[str, str]


def _read_flags(flags: Sequence[str], protocol: Protocol) -> _Flags:
    places = (*_ROLES, *(seat.name for seat in protocol.panel))
    everything, named = "", dict[str, str]()
    for flag in flags:
        place, separator, name = flag.rpartition("=")
        if not name or (separator and not place):
            raise _flag_error(flag, "names no agent.", "Write --agent NAME or --agent ROLE=NAME.")
        if separator and place not in places:
            hint = did_you_mean(place, places) or f"The roles are {quoted(places)}."
            raise _flag_error(flag, f"names no role: '{place}'.", hint)
        if (named.get(place, name) if separator else everything or name) != name:
            raise _flag_error(flag, "contradicts another --agent.", "Give each role one agent.")
        if separator:
            named[place] = name
        else:
            everything = name
    return _Flags(everything=everything, named=named)


def _flag_error(flag: str, message: str, hint: str) -> ConfigError:
    return ConfigError([Problem(file="", message=f"--agent {flag} {message}", hint=hint)])


class _Resolver:
    """Looks a role up, from the most specific choice to the least."""

    def __init__(self, settings: Settings, flags: _Flags, complexity: Complexity | None) -> None:
        self._roles = settings.roles
        self._flags = flags
        self._level = self._roles.for_complexity(complexity)

    def role(self, role: Literal["review", "fix"]) -> _Chosen:
        own = self._roles.review if role == "review" else self._roles.fix
        choices = [*self._flagged(role), *self._of_level(role), own, self._roles.default, _WITHOUT_CONFIGURATION]
        return _chosen(f"roles.{role}", choices, reviews=role == "review")

    def builder(self) -> _Chosen | None:
        """Nobody builds unless somebody was named: there is no builder without a model."""
        choices = [*self._flagged("build"), *self._of_level("build"), self._roles.build, self._roles.default]
        return _chosen("roles.build", choices) if any(choice.agent for choice in choices) else None

    def reviewer(self, name: str) -> _Chosen:
        own = self._roles.reviewers.get(name, RoleChoice())
        general = [own, self._roles.review, self._roles.default, _WITHOUT_CONFIGURATION]
        choices = [*self._flagged(name, "review"), *self._of_level(name, "review"), *general]
        return _chosen(f"roles.reviewers.{name}", choices, reviews=True)

    def _flagged(self, *places: str) -> Iterator[RoleChoice]:
        yield from (RoleChoice(agent=self._flags.named[place]) for place in places if place in self._flags.named)
        yield RoleChoice(agent=self._flags.everything)

    def _of_level(self, *places: str) -> Iterator[RoleChoice]:
        yield from (self._level[place] for place in places if place in self._level)


def _chosen(key: str, choices: Sequence[RoleChoice], *, reviews: bool = False) -> _Chosen:
    agent = next(choice.agent for choice in choices if choice.agent)
    fallback = next((choice.fallback for choice in choices if choice.fallback is not None), NO_FALLBACK)
    # A fallback that was meant for another agent may turn out to be this very one; then nobody follows.
    nobody = fallback in (NO_FALLBACK, agent)
    return _Chosen(key=key, assignment=Assignment(agent=agent, fallback=None if nobody else fallback), reviews=reviews)


def _own_fallbacks(settings: Settings) -> Iterator[Problem]:
    for path, choice in choices(settings):
        if choice.agent and choice.agent == choice.fallback:
            message, hint = own_fallback(choice.agent)
            yield Problem(file="", key=key_text((*path, "fallback")), message=message, hint=hint)


def _choice_problems(settings: Settings, protocol: Protocol, chosen: Sequence[_Chosen]) -> Iterator[Problem]:
    seen: set[tuple[str, bool]] = set()
    for each in chosen:
        for name in (each.assignment.agent, each.assignment.fallback):
            if name is None or (name, each.reviews) in seen:
                continue
            seen.add((name, each.reviews))
            found = _fault(settings, protocol, name, reviews=each.reviews)
            if found is not None:
                yield Problem(file="", key=each.key, message=found[0], hint=found[1])


def _fixer_problems(settings: Settings, protocol: Protocol) -> Iterator[Problem]:
    for key, names in (("roles.by_round", settings.roles.by_round), ("fix.by_round", protocol.fix.by_round)):
        for name in dict.fromkeys(names):
            found = _fault(settings, protocol, name, reviews=False)
            if found is not None:
                yield Problem(file="", key=key, message=found[0], hint=found[1])


def _fault(settings: Settings, protocol: Protocol, name: str, *, reviews: bool) -> tuple[str, str] | None:
    """Why an agent cannot play a role, and what to do."""
    agent = settings.agent(name)
    if agent is None:
        return unknown_agent(settings, name)
    if reviews and agent.kind is AgentKind.ANALYSERS:
        return _analysers_fault(protocol)
    contract = agent.contract or protocol.contract
    if reviews and not gate_takes(protocol.gate, contract):
        message = f"agent '{name}' answers as '{contract.value}', which the gate of '{protocol.name}' cannot judge."
        return message, f"Remove its contract: then it is asked for '{protocol.contract.value}'."
    return None


def _analysers_fault(protocol: Protocol) -> tuple[str, str] | None:
    """Analysers list findings: they give no scores, and they are no session that reviews and fixes by itself."""
    hint = "Name an agent that can, with --agent NAME or in [roles], or choose another protocol."
    if protocol.review.by is ReviewBy.SESSION:
        return f"the embedded analysers cannot be the session that '{protocol.name}' asks for.", hint
    if not gate_takes(protocol.gate, ContractName.SARIF):
        return f"the embedded analysers give no scores, which the gate of '{protocol.name}' asks for.", hint
    return None
