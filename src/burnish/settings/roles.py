"""Who plays which role, from the settings, the protocol and the flags.

The more specific choice wins, and an agent and its fallback are looked for separately:

    flag for the reviewer or role > flag for all > source > complexity > reviewer > role > default > the analysers
"""

from collections.abc import Iterator, Mapping, Sequence

from burnish.core.events import Roles
from burnish.core.protocol import Protocol, ReviewBy, SeatKind, gate_takes
from burnish.core.reviews import ContractName
from burnish.core.values import replace
from burnish.core.work import Assignment
from burnish.settings.agent_kinds import DEFAULT_AGENT
from burnish.settings.documents import DocumentError, Problem, did_you_mean, key_text, quoted
from burnish.settings.rules import own_fallbacks, unknown_agent
from burnish.settings.types import NO_FALLBACK, Complexity, RoleChoice, Settings

_ROLES = ("review", "fix", "build")
_EVERY_ROLE = ""
"""Stands for the role in a flag that names an agent for all of them."""


def resolve(
    settings: Settings,
    protocol: Protocol,
    *,
    flags: Sequence[str] = (),
    chosen: Mapping[str, Assignment] | None = None,
    complexity: Complexity | None = None,
) -> Roles:
    """The agents of a run. `flags` are the values of `--agent`: NAME, or ROLE=NAME with a role or a reviewer.

    `chosen` are agents that the source of the work names, with their fallbacks, by role.

    Raises `DocumentError` with every choice that cannot work.
    """
    by_source = {
        role: RoleChoice(agent=each.agent, fallback=each.fallback or NO_FALLBACK)
        for role, each in (chosen or {}).items()
    }
    found = _assignments(settings, protocol, _read_flags(flags, protocol), complexity, by_source)
    in_use = dict(found)
    if found["review"] not in [each for key, each in found.items() if key not in _ROLES]:
        del in_use["review"]  # every reviewer of the panel has another agent
    problems = [
        *(Problem(file="", key=key_text(v.path), message=v.message, hint=v.hint) for v in own_fallbacks(settings)),
        *_choice_problems(settings, protocol, in_use),
        *_fixer_problems(settings, protocol),
    ]
    if problems:
        raise DocumentError(problems)
    return _roles(found, protocol)


def assigned(settings: Settings, protocol: Protocol, complexity: Complexity | None = None) -> Roles:
    """Which agents settings name for each role, even if an agent is defined elsewhere or could not play the role."""
    return _roles(_assignments(settings, protocol, {}, complexity), protocol)


def _assignments(
    settings: Settings,
    protocol: Protocol,
    flags: Mapping[str, str],
    complexity: Complexity | None,
    by_source: Mapping[str, RoleChoice] | None = None,
) -> dict[str, Assignment]:
    """The agent of each role and of each reviewer, by its key in `[roles]`."""
    roles = settings.roles
    level = roles.for_complexity(complexity)
    source = by_source or {}

    def assignment(names: Sequence[str], *general: RoleChoice) -> Assignment | None:
        choices = [
            *(RoleChoice(agent=flags[name]) for name in names if name in flags),
            *(source[name] for name in names if name in source),
            *(level[name] for name in names if name in level),
            *general,
        ]
        agent = next((choice.agent for choice in choices if choice.agent), None)
        if agent is None:
            return None
        fallback = next((choice.fallback for choice in choices if choice.fallback is not None), NO_FALLBACK)
        # A fallback that was meant for another agent may turn out to be this very one.
        return Assignment(agent=agent, fallback=None if fallback in (NO_FALLBACK, agent) else fallback)

    def not_by_rule(chosen: Assignment | None) -> Assignment | None:
        """What the analysers find is found once, by the checks."""
        agent = settings.agent(chosen.agent) if chosen else None
        return None if agent is not None and agent.kind.is_by_rule else chosen

    analysers = RoleChoice(agent=DEFAULT_AGENT)
    review = ("review", _EVERY_ROLE)
    found: dict[str, Assignment | None] = {
        "review": assignment(review, roles.review, roles.default, analysers),
        "fix": assignment(("fix", _EVERY_ROLE), roles.fix, roles.default, analysers),
        # There is no builder without a model, so this one is not chosen by itself.
        "build": assignment(("build", _EVERY_ROLE), roles.build, roles.default),
    }
    for seat in protocol.panel:
        key, own = f"reviewers.{seat.name}", roles.reviewers.get(seat.name, RoleChoice())
        match seat.kind:
            case SeatKind.REVIEWER:
                found[key] = assignment((seat.name, *review), own, roles.review, roles.default, analysers)
            case SeatKind.CHECK:
                found[key] = Assignment(agent=DEFAULT_AGENT)
                found[f"reviewers.{seat.beside.name}"] = not_by_rule(assignment((seat.name,), own))
            case SeatKind.EXTRA:
                found[key] = not_by_rule(assignment((seat.name, *review), own, roles.review, roles.default))
    return {key: chosen for key, chosen in found.items() if chosen is not None}


def _roles(chosen: Mapping[str, Assignment], protocol: Protocol) -> Roles:
    reviewers = {key.removeprefix("reviewers."): each for key, each in chosen.items() if key not in _ROLES}
    for seat in protocol.panel:
        if seat.kind is SeatKind.REVIEWER and reviewers[seat.name] == chosen["review"]:
            del reviewers[seat.name]
    return Roles(review=chosen["review"], fix=chosen["fix"], build=chosen.get("build"), reviewers=reviewers)


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
        f"[roles] names '{name}', which is not on the panel of '{protocol.name}': {', '.join(panel)}."
        for name in dict.fromkeys(named)
        if name not in panel
    ]
    no_roles = not any(choice.agent for choice in (roles.default, roles.review, roles.fix, roles.build))
    if settings.agents and no_roles and not roles.reviewers and not flags:
        who = "agent" if len(settings.agents) == 1 else "agents"
        has = "has" if len(settings.agents) == 1 else "have"
        notices.append(f"The {who} {quoted(settings.agents)} {has} no role: set one in [roles] or with --agent.")
    return tuple(notices)


def _read_flags(flags: Sequence[str], protocol: Protocol) -> dict[str, str]:
    roles = (*_ROLES, *(seat.name for seat in protocol.panel))
    named: dict[str, str] = {}
    for flag in flags:
        role, separator, name = flag.rpartition("=")
        if not name or (separator and not role):
            raise _flag_error(flag, "names no agent.", "Use --agent NAME or --agent ROLE=NAME.")
        if separator and role not in roles:
            hint = did_you_mean(role, roles) or f"The roles are {quoted(roles)}."
            raise _flag_error(flag, f"names an unknown role: '{role}'.", hint)
        if named.setdefault(role, name) != name:
            raise _flag_error(flag, "contradicts another --agent.", "Use one agent for each role.")
    return named


def _flag_error(flag: str, message: str, hint: str) -> DocumentError:
    return DocumentError([Problem(file="", message=f"--agent {flag} {message}", hint=hint)])


def _choice_problems(settings: Settings, protocol: Protocol, chosen: Mapping[str, Assignment]) -> Iterator[Problem]:
    seen: set[tuple[str, bool]] = set()
    for key, assignment in chosen.items():
        reviews = key not in ("fix", "build")
        for name in (assignment.agent, assignment.fallback):
            if name is None or (name, reviews) in seen:
                continue
            seen.add((name, reviews))
            found = _fault(settings, protocol, name, reviews=reviews)
            if found is not None:
                yield Problem(file="", key=f"roles.{key}", message=found[0], hint=found[1])


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
    if reviews and agent.kind.is_by_rule:
        return _analysers_fault(protocol)
    contract = agent.contract or protocol.contract
    if reviews and not gate_takes(protocol.gate, contract):
        message = f"agent '{name}' answers as '{contract.value}', which the gate of '{protocol.name}' cannot judge."
        return message, f"Remove its contract; then it answers as '{protocol.contract.value}'."
    return None


def _analysers_fault(protocol: Protocol) -> tuple[str, str] | None:
    """Analysers list findings: they give no scores, and they are no session that reviews and fixes by itself."""
    hint = "Choose an agent that can, with --agent NAME or in [roles], or choose another protocol."
    if protocol.review.by is ReviewBy.SESSION:
        return f"the embedded analysers cannot be the session that '{protocol.name}' needs.", hint
    if not gate_takes(protocol.gate, ContractName.SARIF):
        return f"the embedded analysers give no scores, which the gate of '{protocol.name}' needs.", hint
    return None
