"""Runs an ACP agent as burnish does: through its client, and in a conversation through the one door for processes."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from burnish.agents.acp import AGENT as ACP
from burnish.agents.acp_session import AcpSession, SessionOptions
from burnish.agents.interface import Reply, Request
from burnish.core.reviews import Failure
from burnish.core.values import replace
from burnish.core.work import ProcessMark
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings
from burnish.system import process
from burnish.system.process import Command, Finished, ProcessLimits
from burnish.system.process_conversation import Conversation, Talk
from burnish.testing.acp_agent import AcpScript, acp_agent, heard
from tests.agents.building import request


class Stage:
    """A clone and a home, and an agent that is asked once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clone = folder / "clone"
        self.home = folder / "home"
        self.log = folder / "heard.jsonl"
        for path in (self.clone, self.home):
            path.mkdir()
        (self.clone / "app.py").write_text("x = 1\ny = 2\nz = 3\n")
        self.finished: Finished | None = None

    def request(self, **changes: Any) -> Request:
        return request(**{"folder": str(self.clone), "home": str(self.home), **changes})

    def settings(self, script: AcpScript) -> AgentSettings:
        logged = replace(script, log=str(self.log))
        return AgentSettings(kind=AgentKind.ACP, command=acp_agent(self.folder, logged))

    def play(self, script: AcpScript, **changes: Any) -> Reply | Failure:
        """What burnish makes of an agent that does what the script says."""
        return self.run(self.settings(script), self.request(**changes))

    def run(
        self,
        settings: AgentSettings,
        asked: Request,
        *,
        limits: ProcessLimits | None = None,
        started: Callable[[ProcessMark], None] | None = None,
        lines: Callable[[bytes], None] | None = None,
        stop: asyncio.Event | None = None,
    ) -> Reply | Failure:
        command = ACP.command(settings, asked, os.environ)
        talk = ACP.talk(settings, asked, command)
        return self.finish(command, asked, talk, limits=limits, started=started, lines=lines, stop=stop)

    def converse(self, command: Command, options: SessionOptions, **more: Any) -> Reply | Failure:
        """What comes of a session with a command that need not be an agent."""

        async def talk(conversation: Conversation) -> None:
            await AcpSession(conversation, options).run("Look at this.")

        return self.finish(command, self.request(), talk, **more)

    def finish(
        self,
        command: Command,
        asked: Request,
        talk: Talk,
        *,
        limits: ProcessLimits | None = None,
        started: Callable[[ProcessMark], None] | None = None,
        lines: Callable[[bytes], None] | None = None,
        stop: asyncio.Event | None = None,
    ) -> Reply | Failure:
        """What comes of a command."""
        running = process.run(
            command,
            limits or ProcessLimits(seconds=30, grace_seconds=0.5),
            on_start=started,
            on_line=lines,
            stop=stop,
            talk=talk,
        )
        self.finished = asyncio.run(running)
        return ACP.read(self.finished, asked, None)

    def run_until(self, settings: AgentSettings, asked: Request, seen: bytes) -> Reply | Failure:
        """Run it, and ask its whole group to end when a line of its output holds this text."""
        marks: list[ProcessMark] = []

        def end(line: bytes) -> None:
            if seen in line:
                os.killpg(marks[0].pid, signal.SIGTERM)

        return self.run(settings, asked, started=marks.append, lines=end)

    def stop_when(self, settings: AgentSettings, asked: Request, seen: bytes) -> Reply | Failure:
        """Run it, and stop it when a line of its output holds this text."""
        stop = asyncio.Event()
        return self.run(settings, asked, lines=lambda line: stop.set() if seen in line else None, stop=stop)

    def told(self, method: str) -> list[dict[str, Any]]:
        """The parameters of all messages of a kind that the agent got."""
        return [message["params"] for message in heard(self.log) if message.get("method") == method]

    def answers(self) -> list[dict[str, Any]]:
        """What the agent was answered to its own requests."""
        return [message for message in heard(self.log) if "method" not in message]
