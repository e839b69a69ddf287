"""The real clients inside burnish's own sandbox: they reach their model, and nothing that they may not."""

import asyncio
from pathlib import Path

import pytest

from burnish.agents.interface import Reply
from burnish.config.settings import AgentKind
from burnish.system import process
from burnish.system.process import Limits
from burnish.system.sandbox import Confinement, Sandbox, SandboxKind, confine, why_not
from burnish.testing.model_server.scenario import Run, Step
from burnish.testing.model_server.server import ModelServer, model_server
from tests.agents.clients.live import CODE, ISSUES_SCHEMA, Stage, stage

pytestmark = pytest.mark.prove

KINDS = (AgentKind.CLAUDE, AgentKind.CODEX, AgentKind.GEMINI, AgentKind.OPENCODE)
CLEAN = '{"issues": [], "former": null, "summary": {"critical": 0, "warning": 0, "info": 0, "verdict": "clean"}}'


def review(at_work: Stage, server: ModelServer, scenario: str, scratch: str = "") -> Reply:
    asked = at_work.request(schema=ISSUES_SCHEMA, confined=True, scratch=scratch)
    environment = at_work.environment(server.url(scenario))
    at_work.furnish(asked, environment)
    command = at_work.client.command(at_work.settings, asked, environment)
    confinement = Confinement(
        readable=(str(at_work.clone),), writable=(str(at_work.home),), temporary=str(at_work.temporary)
    )
    confined = confine(Sandbox(kind=SandboxKind.BUBBLEWRAP), command, confinement)
    finished = asyncio.run(process.run(confined, Limits(seconds=120)))
    found = at_work.client.read(finished, asked, None)
    assert isinstance(found, Reply), (found, finished.stderr_tail[-2_000:])
    return found


@pytest.fixture(params=KINDS, ids=[kind.value for kind in KINDS])
def client_in_the_sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Stage:
    if why_not(SandboxKind.BUBBLEWRAP):
        pytest.skip(f"bubblewrap: {why_not(SandboxKind.BUBBLEWRAP)}")
    return stage(request.param, tmp_path)


def test_a_review_is_made_and_nothing_is_written(client_in_the_sandbox: Stage) -> None:
    with model_server() as server:
        review(client_in_the_sandbox, server, "write-attempt")
    assert (client_in_the_sandbox.clone / "app.py").read_text() == CODE
    assert [path.name for path in client_in_the_sandbox.clone.iterdir() if path.name != ".git"] == ["app.py"]


@pytest.mark.parametrize("kind", [AgentKind.CLAUDE, AgentKind.CODEX], ids=lambda kind: kind.value)
def test_commands_run_inside_and_reach_no_other_file(kind: AgentKind, tmp_path: Path) -> None:
    at_work = stage(kind, tmp_path / "work")
    secret = tmp_path / "secret"
    secret.write_text("HIDDEN")
    line = f"echo ran-$((40+2)); cat {secret}; echo x > app.py; echo x > {at_work.clone}/new"
    steps = (Step(turn=1, call=(Run(command=line),)), Step(answer=CLEAN))
    with model_server({"commands": steps}) as server:
        review(at_work, server, "commands", scratch=str(at_work.temporary))
        told = server.asked("commands")[-1].text
    assert "ran-42" in told
    assert "HIDDEN" not in told.replace(line, "")
    assert (at_work.clone / "app.py").read_text() == CODE
    assert not (at_work.clone / "new").exists()
