"""What the base of a change asks for, by value, and what a run had instead.

The person who starts a review can choose its agents and settings. A seal says what was chosen; `verify` compares that
with what the base asks for. Names prove nothing, for a user can give any name to any program: agents are compared by
what they are.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from burnish.core.errors import KeyPath
from burnish.core.protocol import Protocol
from burnish.core.reviews import ContractName
from burnish.core.values import Value
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.documents import key_text
from burnish.settings.permissions import leaves, row_of, value_at
from burnish.settings.roles import assigned
from burnish.settings.shorthand import as_written
from burnish.settings.types import Complexity, Settings


class AgentValue(Value):
    """What an agent is, whatever it is called: enough to tell it from another, without what may be private."""

    name: str
    kind: AgentKind | None = None
    """None for an agent that a policy names and leaves its users to define."""
    command: str = ""
    """The digest of the program and its arguments; empty for a client's own program."""
    model: str = ""
    contract: ContractName | None = None

    def meets(self, required: "AgentValue") -> bool:
        """Whether this agent is the one that is asked for. Without a required model, any will do."""
        if required.kind is None:
            return self.name == required.name
        return (self.kind, self.command, self.contract) == (
            required.kind,
            required.command,
            required.contract,
        ) and required.model in ("", self.model)


def agent_value(settings: Settings, name: str) -> AgentValue:
    agent = settings.agent(name)
    if agent is None:
        return AgentValue(name=name)
    command = hashlib.sha256(msgspec.json.encode(agent.command)).hexdigest() if agent.command else ""
    return AgentValue(name=name, kind=agent.kind, command=command, model=agent.model, contract=agent.contract)


class Requirements(Value):
    """What the base alone asks for: its own file over the defaults, without the user's settings and flags."""

    has_policy: bool
    """Whether the base has a burnish.toml."""
    protocol: str
    reviewers: dict[str, tuple[AgentValue, ...]]
    """By the seats of that protocol's panel: the agent that the base names, its fallback, those of a complexity."""
    gate: str
    """The digest of every setting that shapes what a review sees and counts."""

    def unmet(self, answered: Mapping[str, AgentValue]) -> tuple[str, ...]:
        """The seats in which no agent answered that the base asks for. Further seats and agents are allowed."""
        return tuple(
            seat
            for seat, wanted in self.reviewers.items()
            if seat not in answered or not any(answered[seat].meets(each) for each in wanted)
        )


def requirements(settings: Settings, protocol: Protocol, *, has_policy: bool) -> Requirements:
    """The requirements of the settings that a base makes by itself, under the protocol that it names."""
    levels = [assigned(settings, protocol, level) for level in (None, *Complexity)]
    reviewers: dict[str, tuple[AgentValue, ...]] = {}
    for seat in levels[0].panel(protocol):
        chosen = [roles.reviewer(seat.name) for roles in levels if seat in roles.panel(protocol)]
        names = dict.fromkeys(name for each in chosen for name in (each.agent, each.fallback) if name is not None)
        reviewers[seat.name] = tuple(agent_value(settings, name) for name in names)
    return Requirements(has_policy=has_policy, protocol=protocol.name, reviewers=reviewers, gate=gate_digest(settings))


def gate_values(settings: Settings) -> dict[KeyPath, Any]:
    """What settings say about what a review sees and counts, by key, without what is left at its default."""
    values = cast("dict[str, Any]", msgspec.to_builtins(settings))
    return {path: value for path, value, row in leaves(values) if row is not None and row.gate is not None}


def deviations(settings: Settings, required: Settings) -> tuple[str, ...]:
    """The keys in which a gate differs from the required one and is not certainly stricter."""
    found: list[str] = []
    for path in {**gate_values(required), **gate_values(settings)}:
        row, value, asked = row_of(path), value_at(settings, path), value_at(required, path)
        if value != asked and not (row is not None and row.gate is not None and row.gate(value, asked)):
            found.append(key_text(as_written(path)))
    return tuple(sorted(found))


def gate_digest(settings: Settings) -> str:
    """The name of everything that settings say about what a review sees and counts."""
    values = {key_text(path): value for path, value in gate_values(settings).items()}
    return hashlib.sha256(msgspec.json.encode(values, order="deterministic")).hexdigest()
