"""The real clients, on the scripted model: what a repository holds for them. All else is in `tests.agents.contract`."""

import json
from pathlib import Path

import pytest

from burnish.agents.interface import Reply, Role
from burnish.config.settings import AgentKind
from burnish.testing.model_server.server import model_server
from tests.agents.clients.live import Stage, stage

EVERY_DAY = (AgentKind.CLAUDE, AgentKind.CODEX)
KINDS = [
    pytest.param(kind, id=kind.value, marks=() if kind in EVERY_DAY else pytest.mark.prove)
    for kind in (AgentKind.CLAUDE, AgentKind.CODEX, AgentKind.GEMINI, AgentKind.OPENCODE)
]


@pytest.mark.parametrize("kind", KINDS)
def test_the_repository_under_review_runs_no_code_and_says_nothing_to_the_model(
    kind: AgentKind, tmp_path: Path
) -> None:
    executed, sent = _with_plants(stage(kind, tmp_path), Role.REVIEW)
    assert not executed
    assert "PLANTED" not in sent


@pytest.mark.prove
@pytest.mark.parametrize("kind", [AgentKind.CLAUDE, AgentKind.CODEX, AgentKind.OPENCODE], ids=lambda kind: kind.value)
def test_a_fixer_works_by_the_rules_of_the_project(kind: AgentKind, tmp_path: Path) -> None:
    executed, sent = _with_plants(stage(kind, tmp_path), Role.FIX)
    assert executed
    assert "PLANTED" in sent


def _with_plants(at_work: Stage, role: Role) -> tuple[bool, str]:
    """Whether a client ran what a repository holds for it, and all that the model was sent."""
    proof = at_work.temporary / "executed"
    _plant(at_work.clone, proof)
    asked = at_work.request(role=role)
    with model_server() as server:
        found = at_work.client.read(at_work.run(server.url("clean"), asked), asked, None)
        sent = str([one.body for one in server.asked()])
    assert isinstance(found, Reply), found
    return proof.exists(), sent


def _plant(clone: Path, proof: Path) -> None:
    """Everything by which a repository could make one of the clients run something, or believe something."""
    touch = ["touch", str(proof)]
    hooks = {"SessionStart": [{"hooks": [{"type": "command", "command": " ".join(touch)}]}]}
    server = {"command": touch[0], "args": touch[1:]}
    planted = {
        **dict.fromkeys(("CLAUDE.md", "AGENTS.md", "GEMINI.md"), "PLANTED"),
        ".claude/settings.json": json.dumps({"hooks": hooks}),
        ".mcp.json": json.dumps({"mcpServers": {"x": server}}),
        ".gemini/settings.json": json.dumps({"hooks": hooks, "tools": {"discoveryCommand": " ".join(touch)}}),
        ".env": "GEMINI_API_KEY=PLANTED\n",
        ".codex/config.toml": f'[mcp_servers.x]\ncommand = "touch"\nargs = ["{proof}"]\n',
        "opencode.json": json.dumps({"mcp": {"x": {"type": "local", "command": touch, "enabled": True}}}),
        ".opencode/plugin/p.js": f'import {{ writeFileSync }} from "fs"; writeFileSync("{proof}", "x");\n'
        "export const P = async () => ({});\n",
    }
    for path, text in planted.items():
        (clone / path).parent.mkdir(parents=True, exist_ok=True)
        (clone / path).write_text(text)
