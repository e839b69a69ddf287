"""Runs the real client of a kind, as its driver says, on a small repository, with a scripted model at the other end."""

import asyncio
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from burnish.agents.client import Client
from burnish.agents.interface import Request
from burnish.agents.registry import clients
from burnish.contracts.schemas import schema
from burnish.core.reviews import ContractName
from burnish.core.work import ProcessMark
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings
from burnish.system import process
from burnish.system.process import Finished, ProcessLimits
from burnish.testing.model_server.server import ModelServer
from tests.agents.building import request

MODELS = {
    AgentKind.CLAUDE: "sonnet",
    AgentKind.CODEX: "gpt-5.5",
    AgentKind.GEMINI: "gemini-2.5-pro",
    AgentKind.OPENCODE: "scripted/model",
}
ISSUES_SCHEMA = json.dumps(schema(ContractName.ISSUES))
CODE = 'rows = database.execute("select * from users where name = " + name)\nx = 1\n'


class Stage:
    """A repository, a home for the client, and the way to the model."""

    def __init__(self, kind: AgentKind, folder: Path) -> None:
        self.kind = kind
        self.client: Client = clients()[kind]
        self.settings = AgentSettings(kind=kind, model=MODELS[kind])
        self.clone = folder / "clone"
        self.home = folder / "home"
        self.temporary = folder / "temporary"
        for path in (self.clone, self.home, self.temporary):
            path.mkdir(parents=True, exist_ok=True)
        (self.clone / "app.py").write_text(CODE)
        subprocess.run(["git", "init", "-q", str(self.clone)], check=True)

    def environment(self, url: str) -> dict[str, str]:
        """The environment of a user who has a key for a service at this address."""
        path = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TMPDIR": str(self.temporary)}
        return {**path, **service(self.kind, url)}

    def request(self, **changes: Any) -> Request:
        asked = {"folder": str(self.clone), "home": str(self.home), "model": MODELS[self.kind], **changes}
        return request(**asked)

    def furnish(self, asked: Request, environment: dict[str, str]) -> None:
        """Put the client's configuration into its home, as the runner does."""
        for place, data in self.client.files(self.settings, asked, environment).items():
            (self.home / place).parent.mkdir(parents=True, exist_ok=True)
            (self.home / place).write_bytes(data)

    def run(
        self, url: str, asked: Request, *, seconds: float = 120.0, started: Callable[[ProcessMark], None] | None = None
    ) -> Finished:
        environment = self.environment(url)
        self.furnish(asked, environment)
        command = self.client.command(self.settings, asked, environment)
        talk = self.client.talk(self.settings, asked, command)
        return asyncio.run(process.run(command, ProcessLimits(seconds=seconds), on_start=started, talk=talk))

    def run_until_asked(self, server: ModelServer, scenario: str, asked: Request, number: int) -> Finished:
        """Run it, and ask its whole group to end when the model has been asked so many times."""
        before = len(server.asked())

        def end(mark: ProcessMark) -> None:
            def wait() -> None:
                server.wait_for(before + number)
                os.killpg(mark.pid, signal.SIGTERM)

            threading.Thread(target=wait).start()

        return self.run(server.url(scenario), asked, started=end)


def stage(kind: AgentKind, folder: Path) -> Stage:
    """The stage for a client; a listed skip where it is not installed."""
    installed(kind)
    return Stage(kind, folder)


def installed(kind: AgentKind) -> None:
    """A listed skip where a client is not installed."""
    if clients()[kind].program(AgentSettings(kind=kind), os.environ) is None:
        pytest.skip(f"optional: {kind.value} is not installed")


def service(kind: AgentKind, url: str) -> dict[str, str]:
    """The variables that tell a client of a service at this address, and of a key for it."""
    match kind:
        case AgentKind.CLAUDE:
            return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "scripted"}
        case AgentKind.CODEX:
            return {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "scripted"}
        case AgentKind.GEMINI:
            return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "scripted"}
        case AgentKind.OPENCODE:
            return {"OPENCODE_CONFIG_CONTENT": _provider(url)}
        case _:
            return {}


def _provider(url: str) -> str:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": f"{url}/v1", "apiKey": "scripted"},
        "models": {"model": {"name": "model"}},
    }
    model = MODELS[AgentKind.OPENCODE]
    return json.dumps({"model": model, "small_model": model, "provider": {"scripted": provider}})
