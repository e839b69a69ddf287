"""The real clients inside burnish's own sandboxes: they reach their model, and write nothing.

What they cannot do when they are told to is tried in `tests/hostile/test_clients.py`.
"""

import asyncio
from pathlib import Path

import pytest

from burnish.agents.interface import Reply
from burnish.settings.agent_kinds import AgentKind
from burnish.system import process
from burnish.system.process import ProcessLimits
from burnish.system.sandbox import Confinement, Sandbox, SandboxKind, confine, why_not
from burnish.testing.model_server.server import model_server
from tests.agents.clients.live import CODE, ISSUES_SCHEMA, Stage, stage

pytestmark = pytest.mark.prove

KINDS = (AgentKind.CLAUDE, AgentKind.CODEX, AgentKind.GEMINI, AgentKind.OPENCODE)


def review(at_work: Stage, sandbox: SandboxKind, url: str) -> Reply:
    asked = at_work.request(schema=ISSUES_SCHEMA, confined=True)
    environment = at_work.environment(url)
    at_work.furnish(asked, environment)
    command = at_work.client.command(at_work.settings, asked, environment)
    confinement = Confinement(
        readable=(str(at_work.clone),), writable=(str(at_work.home),), temporary=str(at_work.temporary)
    )
    confined = confine(Sandbox(kind=sandbox), command, confinement)
    finished = asyncio.run(process.run(confined, ProcessLimits(seconds=120)))
    found = at_work.client.read(finished, asked, None)
    assert isinstance(found, Reply), (found, finished.stderr_tail[-2_000:])
    return found


@pytest.fixture(params=KINDS, ids=[kind.value for kind in KINDS])
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Stage:
    return stage(request.param, tmp_path)


@pytest.mark.parametrize("sandbox", [SandboxKind.BUBBLEWRAP, SandboxKind.LANDLOCK], ids=lambda kind: kind.value)
def test_a_review_is_made_and_nothing_is_written(client: Stage, sandbox: SandboxKind) -> None:
    if reason := why_not(sandbox):
        pytest.skip(f"optional: {reason}")
    with model_server() as server:
        review(client, sandbox, server.url("write-attempt"))
    assert (client.clone / "app.py").read_text() == CODE
    assert [path.name for path in client.clone.iterdir() if path.name != ".git"] == ["app.py"]
