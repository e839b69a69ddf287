"""The `session` agent: the client in which the user works reviews and fixes with its own subagents.

burnish does not start it. The plugin's hooks and the MCP server hand its work out and take its answers in
(`burnish.usecases.session_review`).
"""

from typing import Any

from burnish.agents.interface import AgentError, Card, Changed, Cost, Failed, Rejection, Review
from burnish.agents.services import Job, Services
from burnish.core.effects import StartReview
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings
from burnish.workspace.clones import Clone


class SessionAgent:
    """An agent without state, which cannot be run."""

    card = Card(kind=AgentKind.SESSION, cost=Cost.TOLD)

    def check(self, settings: AgentSettings) -> None:
        del settings

    async def review(self, job: Job[StartReview], services: Services) -> Review | Failed:
        del services
        raise _not_run(job.run.id)

    async def change(
        self, job: Job[Any], services: Services, clone: Clone, rejection: Rejection | None
    ) -> Changed | Failed:
        del services, clone, rejection
        raise _not_run(job.run.id)


def _not_run(run: str) -> AgentError:
    return AgentError(
        f"{run} is the work of a session of your client.",
        hint="Go on with it there: type /burnish:fix in Claude Code.",
    )


AGENT = SessionAgent()
