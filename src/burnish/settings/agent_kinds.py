"""The kinds of agents that settings can name: an entry each. All else about one is in `burnish.agents`.

To add an agent, add an entry here and a module of the same name there.
"""

from enum import Enum


class AgentKind(Enum):
    """What an agent is, with what settings must know of it before its module is imported."""

    COMMAND = "command"
    ANALYSERS = "analysers"
    CLAUDE = "claude"
    CODEX = "codex"
    GEMINI = "gemini"
    OPENCODE = "opencode"
    ACP = "acp"
    SESSION = "session"
    """The client in which the user works; burnish does not start it."""

    @property
    def needs_command(self) -> bool:
        return self in (AgentKind.COMMAND, AgentKind.ACP)

    @property
    def is_paid(self) -> bool:
        """Whether its work is billed: that of a model that burnish itself calls through a client."""
        return self not in (AgentKind.COMMAND, AgentKind.ANALYSERS, AgentKind.SESSION)

    @property
    def is_by_rule(self) -> bool:
        """Whether it needs no model: it finds what rules know, and its fixes are those of its tools."""
        return self is AgentKind.ANALYSERS


DEFAULT_AGENT = AgentKind.ANALYSERS.value
"""Who reviews and fixes where no other is named."""
