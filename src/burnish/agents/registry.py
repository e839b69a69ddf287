"""The adapters by the kind of their agent. A new kind is one file beside this one and one entry here."""

from burnish.agents.clients.registry import CLIENTS
from burnish.agents.command import CommandAgent
from burnish.agents.errors import AgentError
from burnish.agents.interface import Adapter
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings

ADAPTERS: dict[AgentKind, Adapter] = {AgentKind.COMMAND: CommandAgent(), **CLIENTS}
"""Every kind that is run as a process. The analysers are run by the runner itself, all at once."""


def adapter_for(settings: AgentSettings) -> Adapter:
    """The adapter of an agent. Raises `AgentError` where it cannot be run as it is configured."""
    adapter = ADAPTERS.get(settings.kind)
    if adapter is None:
        known = ", ".join(f"'{kind.value}'" for kind in ADAPTERS)
        raise AgentError(
            f"Agents of kind '{settings.kind.value}' are not run as a process of their own.",
            hint=f"Those that are: {known}.",
        )
    if settings.kind.needs_command and not (settings.command and settings.command[0].strip()):
        raise AgentError(
            f"An agent of kind '{settings.kind.value}' has no command.",
            hint='Add one to its table in burnish.toml, as in command = ["./review.sh"].',
        )
    return adapter
