"""The agents that the contract suite is played with: the scripted one, and the real clients of the vendors.

To add one, add a `Player`. An agent of kind `acp` has a command, and `speaks` says whose service and model it needs.
"""

import os
from collections.abc import Callable
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from burnish.agents.client import Client
from burnish.agents.registry import client_of
from burnish.core.values import Value, replace
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings
from tests.agents.clients.live import MODELS, service


class Player(Value):
    """One agent."""

    name: str
    kind: AgentKind
    speaks: AgentKind | None = None
    """The client whose service it asks, where it is not the client itself."""
    command: tuple[str, ...] = ()
    everyday: bool = False
    """Whether `make test` plays it."""
    names_pause: bool = True
    """Whether it says how long a service asked to wait."""
    bills_steps: bool = False
    """Whether it says while it works what it used up; others say so at their end only."""
    counts_failures: bool = True
    """Whether it says also where it failed what it used up."""
    has_turn_limit: bool = False
    starts_outside: bool = False
    """Whether a reviewer is not started in the clone, and told where it is."""
    gives_up_when_denied: bool = False
    """Whether it ends without an answer where it itself refuses its model something."""
    silent: float = 5.0
    """Seconds after which it is taken for stuck where it is; it needs as long to start."""

    @property
    def client(self) -> Client | None:
        return client_of(self.kind)

    @property
    def can_resume(self) -> bool:
        return self.client is not None and self.client.card.can_resume

    def settings(self, **more: Any) -> AgentSettings:
        """As burnish.toml would have them."""
        model = MODELS.get(self.speaks or self.kind, "")
        return replace(AgentSettings(kind=self.kind, command=self.command, model=model), **more)

    def service(self, url: str) -> dict[str, str]:
        return service(self.speaks or self.kind, url)

    def skip_if_missing(self) -> None:
        if self.client is not None and self.client.program(self.settings(), os.environ) is None:
            pytest.skip(f"optional: {self.name} is not installed")


SCRIPTED = Player(name="scripted", kind=AgentKind.COMMAND, everyday=True, silent=1.0)
CLAUDE = Player(name="claude", kind=AgentKind.CLAUDE, everyday=True, bills_steps=True, has_turn_limit=True, silent=4.0)
CODEX = Player(name="codex", kind=AgentKind.CODEX, everyday=True, names_pause=False, counts_failures=False, silent=3.0)
GEMINI = Player(name="gemini", kind=AgentKind.GEMINI, has_turn_limit=True, silent=30.0)
OPENCODE = Player(
    name="opencode", kind=AgentKind.OPENCODE, bills_steps=True, has_turn_limit=True, starts_outside=True, silent=60.0
)
CLAUDE_ACP = Player(
    name="claude-agent-acp",
    kind=AgentKind.ACP,
    speaks=AgentKind.CLAUDE,
    command=("claude-agent-acp",),
    names_pause=False,
    counts_failures=False,
    silent=20.0,
)
CODEX_ACP = Player(
    name="codex-acp",
    kind=AgentKind.ACP,
    speaks=AgentKind.CODEX,
    command=("codex-acp",),
    names_pause=False,
    counts_failures=False,
    starts_outside=True,
    gives_up_when_denied=True,
    silent=20.0,
)
PLAYERS = (SCRIPTED, CLAUDE, CODEX, GEMINI, OPENCODE, CLAUDE_ACP, CODEX_ACP)


def players(fitting: Callable[[Player], bool] = lambda _: True) -> list[ParameterSet]:
    """Those of whom something can be asked, as parameters of a test."""
    return [
        pytest.param(player, id=player.name, marks=() if player.everyday else pytest.mark.prove)
        for player in PLAYERS
        if fitting(player)
    ]


def clients(fitting: Callable[[Player], bool] = lambda _: True) -> list[ParameterSet]:
    """The real clients among them."""
    return players(lambda player: player.client is not None and fitting(player))
