"""What the base of a change asks for, by value, and what a run had instead.

The person who starts a review can choose its agents and settings. A seal says what was chosen; `verify` compares that
with what the base asks for. Names prove nothing, for a user can give any name to any program: agents are compared by
what they are.
"""

import hashlib
from collections.abc import Iterator, Mapping

import msgspec

from burnish.config.permissions import gate_values
from burnish.config.roles import assigned
from burnish.config.settings import AgentKind, Complexity, Settings
from burnish.core.protocol import Protocol
from burnish.core.reviews import ContractName
from burnish.core.values import Value
from burnish.protocols.documents import key_text


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
        """Whether this agent is the one that is asked for. A model that nobody asks for may be any."""
        if required.kind is None:
            return self.name == required.name
        return (self.kind, self.command, self.contract) == (
            required.kind,
            required.command,
            required.contract,
        ) and required.model in ("", self.model)


def agent_value(settings: Settings, name: str) -> AgentValue:
    """An agent of these settings by its value."""
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
        seats = self.reviewers.items()
        return tuple(seat for seat, wanted in seats if not any(_meets(answered.get(seat), each) for each in wanted))


def _meets(agent: AgentValue | None, required: AgentValue) -> bool:
    return agent is not None and agent.meets(required)


def requirements(settings: Settings, protocol: Protocol, *, has_policy: bool) -> Requirements:
    """The requirements of the settings that a base makes by itself, under the protocol that it names."""
    return Requirements(
        has_policy=has_policy,
        protocol=protocol.name,
        reviewers=dict(_reviewers(settings, protocol)),
        gate=gate_digest(settings),
    )


def _reviewers(settings: Settings, protocol: Protocol) -> Iterator[tuple[str, tuple[AgentValue, ...]]]:
    levels = [assigned(settings, protocol, level) for level in (None, *Complexity)]
    for seat in protocol.panel:
        chosen = [roles.reviewer(seat.name) for roles in levels]
        names = dict.fromkeys(name for each in chosen for name in (each.agent, each.fallback) if name is not None)
        yield seat.name, tuple(agent_value(settings, name) for name in names)


def gate_digest(settings: Settings) -> str:
    """The name of everything that settings say about what a review sees and counts."""
    values = {key_text(path): value for path, value in gate_values(settings).items()}
    return hashlib.sha256(msgspec.json.encode(values, order="deterministic")).hexdigest()
