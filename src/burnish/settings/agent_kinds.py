"""The kinds of agents that settings can name. To add an agent, write its module and add one entry here."""

from collections.abc import Mapping
from enum import Enum

MODULES: Mapping[str, str] = {
    "command": "burnish.agents.command",
    "analysers": "burnish.agents.analysers",
    "claude": "burnish.agents.clients.claude",
    "codex": "burnish.agents.clients.codex",
    "gemini": "burnish.agents.clients.gemini",
    "opencode": "burnish.agents.clients.opencode",
    "acp": "burnish.agents.acp.client",
}
"""By the kind's name, the module that implements it. Settings only need the names and import none of them."""


class AgentKind(Enum):
    """What an agent is. The clients of vendors are known words already, so that a configuration can name them."""

    COMMAND = "command"
    ANALYSERS = "analysers"
    CLAUDE = "claude"
    CODEX = "codex"
    GEMINI = "gemini"
    OPENCODE = "opencode"
    ACP = "acp"

    @property
    def needs_command(self) -> bool:
        return self in (AgentKind.COMMAND, AgentKind.ACP)

    @property
    def is_paid(self) -> bool:
        """Whether its work is billed: that of a model that burnish itself calls through a client."""
        return self not in (AgentKind.COMMAND, AgentKind.ANALYSERS)
