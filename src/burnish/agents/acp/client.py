"""Any agent that speaks the Agent Client Protocol, by its command."""

from collections.abc import Mapping

from burnish.agents.acp.adapters import PLAIN, is_known, specification
from burnish.agents.clients.driver import Driver
from burnish.agents.clients.variables import VARIABLES
from burnish.agents.interface import Needs, Request
from burnish.core.values import replace
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings
from burnish.system.process import Command


class AcpClient(Driver):
    """The driver of all clients, where what a client needs depends on the command that the user wrote."""

    def __init__(self) -> None:
        super().__init__(PLAIN)

    def needs(self, settings: AgentSettings, environment: Mapping[str, str]) -> Needs:
        if is_known(settings):
            return Driver(specification(settings)).needs(settings, environment)
        names = (*VARIABLES[AgentKind.ACP].names, *settings.environment)
        hint = 'Name the variables that it needs in its table: environment = ["ITS_API_KEY"].'
        return Needs(variables=tuple(name for name in names if environment.get(name)), hint=hint)

    def files(self, settings: AgentSettings, request: Request, environment: Mapping[str, str]) -> dict[str, bytes]:
        return Driver(specification(settings)).files(settings, request, environment)

    def command(self, settings: AgentSettings, request: Request, environment: Mapping[str, str]) -> Command:
        command = Driver(specification(settings)).command(settings, request, environment)
        folder, slash, _ = "".join(settings.command[:1]).rpartition("/")
        if not slash:
            return command
        # A sandbox shows what the programs on the PATH need, and it is the bridge that it starts, not this one.
        path = f"{command.environment.get('PATH', '')}:{folder or '/'}"
        return replace(command, environment={**command.environment, "PATH": path})


ACP = AcpClient()
