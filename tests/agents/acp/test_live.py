"""Real ACP agents, on the scripted model: any client that speaks the protocol is a reviewer and a fixer."""

import json
from pathlib import Path
from typing import Any

import pytest

from burnish.agents.interface import Reply, Role
from burnish.agents.streams import read_answer
from burnish.core.reviews import ContractName, Failure, FailureKind
from burnish.system.sandbox import SandboxKind, why_not
from burnish.testing.model_server.scenario import ModelAnswer, Read, RunCommand, Write
from burnish.testing.model_server.server import model_server
from tests.agents.acp.live import AGENTS, AcpStage, stage
from tests.agents.clients.live import CODE

pytestmark = pytest.mark.prove

FIX = (
    ModelAnswer(turn=1, call=(Write(file="app.py", text="x = 1\n"),)),
    ModelAnswer(turn=2, call=(RunCommand(command="echo done > made-by-the-shell.txt"),)),
    ModelAnswer(say="I have put it right."),
)
SCENARIOS = {"fix": FIX, "limited": (ModelAnswer(status=429, retry_after=2),)}


@pytest.fixture(params=AGENTS)
def agent_at_work(request: pytest.FixtureRequest, tmp_path: Path) -> AcpStage:
    return stage(request.param, tmp_path)


def ask(at_work: AcpStage, scenario: str, *, confined: bool = False, **changes: Any) -> Reply | Failure:
    asked = at_work.request(confined=confined, **changes)
    with model_server(SCENARIOS) as server:
        run = at_work.run_confined if confined else at_work.run
        finished = run(server.url(scenario), asked)
    return at_work.client.read(finished, asked, None)


def untouched(at_work: AcpStage) -> bool:
    files = [path.name for path in at_work.clone.iterdir() if path.name != ".git"]
    return files == ["app.py"] and (at_work.clone / "app.py").read_text() == CODE


def test_a_clean_review_is_read(agent_at_work: AcpStage) -> None:
    found = ask(agent_at_work, "clean")
    assert isinstance(found, Reply), found
    assert read_answer(ContractName.ISSUES, found.text).clean


def test_a_review_with_findings_is_read_and_counted(agent_at_work: AcpStage) -> None:
    found = ask(agent_at_work, "findings")
    assert isinstance(found, Reply), found
    assert len(read_answer(ContractName.ISSUES, found.text).findings) == 2
    assert found.usage.tokens == 120


def test_a_reviewer_that_tries_to_write_changes_nothing(agent_at_work: AcpStage) -> None:
    found = ask(agent_at_work, "write-attempt")
    if isinstance(found, Failure):  # codex ends its turn when it is denied a change
        assert found.kind is FailureKind.CRASHED
        assert "denied" in found.message
    else:
        assert read_answer(ContractName.ISSUES, found.text).clean
    assert untouched(agent_at_work)


def test_the_repository_under_review_runs_no_code_and_says_nothing_to_the_model(agent_at_work: AcpStage) -> None:
    proof = agent_at_work.temporary / "executed"
    plant(agent_at_work.clone, f"touch {proof}")
    asked = agent_at_work.request()
    with model_server() as server:
        found = agent_at_work.client.read(agent_at_work.run(server.url("clean"), asked), asked, None)
        sent = str([one.body for one in server.asked()])
    assert isinstance(found, Reply), found
    assert not proof.exists()
    assert "PLANTED" not in sent


def plant(clone: Path, line: str) -> None:
    """Ways by which a repository could make one of the clients run something, or believe something."""
    program, argument = line.split()
    hooks = {"SessionStart": [{"hooks": [{"type": "command", "command": line}]}]}
    server = {"type": "local", "command": [program, argument], "enabled": True}
    planted = {
        **dict.fromkeys(("CLAUDE.md", "AGENTS.md", "GEMINI.md"), "PLANTED"),
        ".claude/settings.json": json.dumps({"hooks": hooks}),
        ".mcp.json": json.dumps({"mcpServers": {"x": {"command": program, "args": [argument]}}}),
        ".gemini/settings.json": json.dumps({"hooks": hooks, "tools": {"discoveryCommand": line}}),
        ".codex/config.toml": f'[mcp_servers.x]\ncommand = "{program}"\nargs = ["{argument}"]\n',
        "opencode.json": json.dumps({"mcp": {"x": server}}),
    }
    for path, text in planted.items():
        (clone / path).parent.mkdir(parents=True, exist_ok=True)
        (clone / path).write_text(text)


def test_a_fixer_edits_files_and_runs_commands(agent_at_work: AcpStage) -> None:
    found = ask(agent_at_work, "fix", role=Role.FIX, reviewer="")
    assert isinstance(found, Reply), found
    assert found.text == b"I have put it right."
    assert (agent_at_work.clone / "app.py").read_text().strip() == "x = 1"
    assert (agent_at_work.clone / "made-by-the-shell.txt").read_text() == "done\n"


@pytest.mark.parametrize(
    ("scenario", "kind"), [("unauthorised", FailureKind.UNAUTHORISED), ("limited", FailureKind.RATE_LIMITED)]
)
def test_what_the_service_refuses_has_its_kind(agent_at_work: AcpStage, scenario: str, kind: FailureKind) -> None:
    found = ask(agent_at_work, scenario)
    assert isinstance(found, Failure), found
    # OpenCode hands on the words of the service only, and those of the script say nothing.
    nameless = agent_at_work.settings.command[0] == "opencode"
    assert found.kind is (FailureKind.CRASHED if nameless else kind), found.message


def test_an_agent_that_is_terminated_has_no_answer(agent_at_work: AcpStage) -> None:
    asked = agent_at_work.request()
    with model_server() as server:
        finished = agent_at_work.run_until_asked(server, "hang", asked, 1)
    found = agent_at_work.client.read(finished, asked, None)
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.CRASHED, found.message


@pytest.fixture(params=AGENTS)
def agent_in_the_sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> AcpStage:
    if why_not(SandboxKind.BUBBLEWRAP):
        pytest.skip(f"bubblewrap: {why_not(SandboxKind.BUBBLEWRAP)}")
    return stage(request.param, tmp_path)


def test_in_the_sandbox_a_reviewer_reads_and_cannot_write(agent_in_the_sandbox: AcpStage) -> None:
    asked = agent_in_the_sandbox.request(confined=True)
    file = str(agent_in_the_sandbox.clone / "app.py")
    with model_server({"read": (ModelAnswer(turn=1, call=(Read(file=file),)), ModelAnswer(say="Read."))}) as server:
        agent_in_the_sandbox.run_confined(server.url("read"), asked)
        told = server.asked("read")[-1].text
    assert "select * from users" in told
    found = ask(agent_in_the_sandbox, "write-attempt", confined=True)
    assert isinstance(found, Reply), found
    assert untouched(agent_in_the_sandbox)


def test_in_the_sandbox_a_fixer_works(agent_in_the_sandbox: AcpStage) -> None:
    found = ask(agent_in_the_sandbox, "fix", confined=True, role=Role.FIX, reviewer="")
    assert isinstance(found, Reply), found
    assert (agent_in_the_sandbox.clone / "made-by-the-shell.txt").read_text() == "done\n"
