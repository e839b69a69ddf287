"""The agents by their kind. A new one is an entry in `AgentKind` and a file here, named like the kind, with an `AGENT`.

A file is imported when its agent is first asked for: a command that runs no agent pays for none of them.
"""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

from burnish.agents.interface import Agent, AgentError
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings

if TYPE_CHECKING:
    from burnish.agents.client import Client


def agent_of(kind: AgentKind) -> Agent:
    """The agent of a kind."""
    return import_module(f"burnish.agents.{kind.value}").AGENT


def client_of(kind: AgentKind) -> "Client | None":
    """The client of a vendor; None for a kind that is none."""
    return cast("Client", agent_of(kind)) if kind.is_paid else None


@cache
def clients() -> "dict[AgentKind, Client]":
    """The clients of all vendors."""
    return {kind: client for kind in AgentKind if (client := client_of(kind)) is not None}


def check_command(settings: AgentSettings) -> None:
    """Raise `AgentError` where an agent that is nothing but its command has none."""
    if settings.kind.needs_command and not (settings.command and settings.command[0].strip()):
        raise AgentError(
            f"An agent of kind '{settings.kind.value}' has no command.",
            hint='Add one to its table in burnish.toml, as in command = ["./review.sh"].',
        )
