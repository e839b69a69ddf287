"""The clients by their kind. A new one is a file beside this one and an entry here."""

from burnish.agents.acp.client import ACP
from burnish.agents.clients.claude import CLAUDE
from burnish.agents.clients.codex import CODEX
from burnish.agents.clients.gemini import GEMINI
from burnish.agents.clients.opencode import OPENCODE
from burnish.agents.interface import Client
from burnish.settings.agent_kinds import AgentKind

CLIENTS: dict[AgentKind, Client] = {
    AgentKind.CLAUDE: CLAUDE,
    AgentKind.CODEX: CODEX,
    AgentKind.GEMINI: GEMINI,
    AgentKind.OPENCODE: OPENCODE,
    AgentKind.ACP: ACP,
}


def progress_of(kind: AgentKind) -> str:
    """The name by which another process finds the function that makes a client's stream readable."""
    module = "acp.client" if kind is AgentKind.ACP else f"clients.{kind.value}"
    return f"burnish.agents.{module}:{kind.name}.progress"
