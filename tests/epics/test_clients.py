"""An epic that the real clients build, review and revise; a scripted model answers them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from burnish.settings.agent_kinds import AgentKind
from burnish.testing.model_server.server import ModelServer, model_server
from tests.agents.clients.live import service
from tests.end_to_end.test_building import ROLES
from tests.end_to_end.test_clients import FIXED, SCRIPT, agents, furnished, scenario
from tests.end_to_end.world import sealed_kinds
from tests.epics.project import NO_SCAN

EPIC = {"epic": "halves", "description": "Halve.", "tickets": [{"id": "divide", "description": "Halve by dividing."}]}


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with model_server({"drift": (*SCRIPT["builder"], *scenario("drift"))}) as server:
        yield server


@pytest.mark.prove
def test_claude_builds_an_epic_that_codex_reviews(tmp_path: Path, model: ModelServer) -> None:
    machine = furnished(tmp_path, ROLES)
    machine.git("checkout", "-q", "main")
    machine.repository.commit({"epic.yaml": json.dumps(EPIC)}, "Plan")
    variables: dict[str, Any] = {
        **service(AgentKind.CLAUDE, model.url("drift")),
        **service(AgentKind.CODEX, model.url("drift")),
    }
    done = machine.burnish("run", "epic.yaml", "--protocol", "drift", **variables)
    assert done.code == 0, done.err
    assert machine.git("show", "epic/halves:app.py") == FIXED.rstrip("\n")
    assert set(sealed_kinds(machine, machine.git("rev-parse", "epic/halves^{tree}"))) == {"approved"}
    called = [[name for name, _ in agents(machine, run)] for run in sorted(machine.runs())]
    assert called == [["claude", "codex", "claude", "codex"], ["codex"]]


@pytest.mark.prove
def test_claude_builds_a_bead_that_codex_reviews(tmp_path: Path, model: ModelServer) -> None:
    machine = furnished(tmp_path, f"{ROLES}{NO_SCAN}")
    machine.git("checkout", "-q", "main")
    listed = json.dumps({"id": "bd-1", "title": "Halve", "description": "Halve by dividing.", "status": "open"})
    machine.repository.commit({".beads/issues.jsonl": f"{listed}\n"}, "List")
    variables: dict[str, Any] = {
        **service(AgentKind.CLAUDE, model.url("drift")),
        **service(AgentKind.CODEX, model.url("drift")),
    }
    done = machine.burnish("run", ".beads", **variables)
    assert done.code == 0, done.err
    assert machine.git("show", "epic/beads:app.py") == FIXED.rstrip("\n")
    assert set(sealed_kinds(machine, machine.git("rev-parse", "bead/bd-1^{tree}"))) == {"approved"}
    assert [[name for name, _ in agents(machine, run)] for run in sorted(machine.runs())] == [
        ["claude", "codex", "claude", "codex"]
    ]
    assert '"status":"closed"' in (machine.root / ".beads" / "issues.jsonl").read_text().replace('": "', '":"')
