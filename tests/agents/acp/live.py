"""Runs real ACP agents as their driver says, with a scripted model at the other end."""

import asyncio
import os
from pathlib import Path

import pytest

from burnish.agents.acp import AGENT as ACP
from burnish.agents.interface import Request
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings
from burnish.system import process
from burnish.system.process import Finished, ProcessLimits
from burnish.system.sandbox import Confinement, Sandbox, SandboxKind, confine
from tests.agents.clients.live import Stage

AGENTS = {
    "claude-agent-acp": (AgentKind.CLAUDE, ()),
    "codex-acp": (AgentKind.CODEX, ()),
    "gemini": (AgentKind.GEMINI, ("--acp",)),
    "opencode": (AgentKind.OPENCODE, ("acp",)),
}
"""By their program: the client that each is made of, and what puts it into this mode."""


class AcpStage(Stage):
    """The stage of a client, with the same client spoken to in another way."""

    def __init__(self, program: str, folder: Path) -> None:
        kind, arguments = AGENTS[program]
        super().__init__(kind, folder)
        self.client = ACP
        self.settings = AgentSettings(kind=AgentKind.ACP, command=(program, *arguments))

    def run_confined(self, url: str, asked: Request) -> Finished:
        """Run it in burnish's own sandbox."""
        environment = self.environment(url)
        self.furnish(asked, environment)
        command = self.client.command(self.settings, asked, environment)
        clone, home = str(self.clone), str(self.home)
        confinement = Confinement(
            readable=(clone, *(word for word in command.argv if word.startswith("/"))),
            writable=(home,) if asked.reads_only else (home, clone),
            temporary=str(self.temporary),
        )
        confined = confine(Sandbox(kind=SandboxKind.BUBBLEWRAP), command, confinement)
        talk = self.client.talk(self.settings, asked, command)
        return asyncio.run(process.run(confined, ProcessLimits(seconds=120), talk=talk))


def stage(program: str, folder: Path) -> AcpStage:
    """The stage for an agent; a listed skip where it is not installed."""
    found = AcpStage(program, folder)
    if found.client.program(found.settings, os.environ) is None:
        pytest.skip(f"optional: {program} is not installed")
    return found
