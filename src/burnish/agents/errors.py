"""The one error of all agents: what is configured cannot be run at all."""

from burnish.core.errors import BurnishError, ErrorKind


class AgentError(BurnishError):
    """An agent that cannot be used as it is configured. It is found before anything starts."""

    kind = ErrorKind.CONFIGURATION
