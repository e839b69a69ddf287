"""A story that the real clients build, review and fix; a scripted model answers them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from burnish.settings.agent_kinds import AgentKind
from burnish.testing.model_server.server import ModelServer, model_server
from tests.agents.clients.live import service
from tests.end_to_end.test_building import ROLES
from tests.end_to_end.test_clients import FIXED, SCRIPT, agents, furnished, scenario

SPRINT = "development_status:\n  epic-1: in-progress\n  1-1-halve: ready-for-dev  # by dividing\n"
STORY = "# Story 1.1: Halve by dividing\n\nStatus: ready-for-dev\n"


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with model_server({"drift": (*SCRIPT["builder"], *scenario("drift"))}) as server:
        yield server


@pytest.mark.prove
def test_claude_builds_a_story_that_codex_reviews(tmp_path: Path, model: ModelServer) -> None:
    machine = furnished(tmp_path, ROLES)
    machine.git("checkout", "-q", "main")
    machine.repository.commit({"sprint-status.yaml": SPRINT, "1-1-halve.md": STORY}, "Plan")
    variables: dict[str, Any] = {
        **service(AgentKind.CLAUDE, model.url("drift")),
        **service(AgentKind.CODEX, model.url("drift")),
    }
    done = machine.burnish("run", "sprint-status.yaml", "--protocol", "drift", **variables)
    assert done.code == 0, done.err
    assert machine.git("show", "epic/1:app.py") == FIXED.rstrip("\n")
    assert "1-1-halve: done  # by dividing" in machine.git("show", "epic/1:sprint-status.yaml")
    assert (machine.root / "1-1-halve.md").read_text() == STORY.replace("ready-for-dev", "done")
    called = [[name for name, _ in agents(machine, run)] for run in sorted(machine.runs())]
    assert called == [["claude", "codex", "claude", "codex"]]
