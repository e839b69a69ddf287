"""The real clients, on the scripted model: what a repository holds for them. All else is in `tests.agents.contract`."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from burnish.agents.interface import Reply, Role
from burnish.settings.agent_kinds import AgentKind
from burnish.testing.model_server.scenario import ModelAnswer, RunCommand
from burnish.testing.model_server.server import model_server
from tests.agents.clients.live import Stage, stage

CLEAN = '{"issues": [], "former": null, "summary": {"critical": 0, "warning": 0, "info": 0, "verdict": "clean"}}'
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


OTHER_WORK = {"Agent", "Task", "Workflow", "ScheduleWakeup", "ToolSearch", "tool_search", "spawn_agent"} | {
    "create_goal",
    "invoke_agent",
    "task",
}


@pytest.mark.parametrize("role", [Role.REVIEW, Role.FIX])
@pytest.mark.parametrize("kind", KINDS)
def test_no_tool_is_offered_that_starts_other_work(kind: AgentKind, role: Role, tmp_path: Path) -> None:
    at_work = stage(kind, tmp_path)
    with model_server() as server:
        at_work.run(server.url("clean"), at_work.request(role=role))
        offered = {name for one in server.asked() for name in _tools(one.body)}
    assert offered
    assert offered.isdisjoint(OTHER_WORK)


def _tools(body: Any) -> set[str]:
    declared = [tool for group in body.get("tools") or () for tool in group.get("functionDeclarations", [group])]
    return {str(tool.get("name") or tool.get("function", tool).get("name") or tool.get("type")) for tool in declared}


# Codex always has a shell, and leaves it to the sandbox that nothing is written: `tests.agents.clients.test_confined`.
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.id != AgentKind.CODEX.value])
def test_a_reviewer_in_the_sandbox_sees_the_whole_change_with_git_and_runs_nothing_else(
    kind: AgentKind, tmp_path: Path
) -> None:
    at_work = stage(kind, tmp_path)
    _commit_change(at_work.clone)
    where = f"git -C {at_work.clone}" if kind is AgentKind.OPENCODE else "git"
    steps = (
        ModelAnswer(turn=1, call=(RunCommand(command=f"{where} diff --no-ext-diff base...head"),)),
        ModelAnswer(turn=2, call=(RunCommand(command="touch written && echo RAN"),)),
        ModelAnswer(answer=CLEAN),
    )
    with model_server({"git": steps}) as server:
        at_work.run(server.url("git"), at_work.request(confined=True))
        heard = json.dumps(server.asked()[-1].body)
    assert "+LAST LINE OF THE CHANGE" in heard
    assert not (at_work.clone / "written").exists()


def _commit_change(clone: Path) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *identity, "commit", "-qm", "x", "--allow-empty"], cwd=clone, check=True)
    subprocess.run(["git", "branch", "base"], cwd=clone, check=True)
    (clone / "app.py").write_text("x = 1\nLAST LINE OF THE CHANGE\n")
    subprocess.run(["git", "add", "-A"], cwd=clone, check=True)
    subprocess.run(["git", *identity, "commit", "-qm", "y"], cwd=clone, check=True)
    subprocess.run(["git", "branch", "head"], cwd=clone, check=True)


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
