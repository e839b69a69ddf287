"""The real clients, on the scripted model: what their drivers promise holds with the programs that users have."""

import json
from pathlib import Path
from typing import Any

import pytest

from burnish.agents.clients.registry import CLIENTS
from burnish.agents.interface import Reply, Role
from burnish.config.settings import AgentKind
from burnish.contracts.errors import UnreadableError
from burnish.contracts.registry import parse_answer
from burnish.core.reviews import ContractName, Failure, FailureKind
from burnish.testing.model_server.scenario import Run, Step, Write
from burnish.testing.model_server.server import model_server
from tests.agents.clients.live import CODE, ISSUES_SCHEMA, Stage, stage

pytestmark = pytest.mark.prove

KINDS = (AgentKind.CLAUDE, AgentKind.CODEX, AgentKind.GEMINI, AgentKind.OPENCODE)
SCENARIOS = {
    "fix": (
        Step(turn=1, call=(Write(file="app.py", text="x = 1\n"),)),
        Step(turn=2, call=(Run(command="echo done > made-by-the-shell.txt"),)),
        Step(say="I have put it right."),
    ),
    "limited": (Step(status=429, retry_after=2),),
}


@pytest.fixture(params=KINDS, ids=[kind.value for kind in KINDS])
def client_at_work(request: pytest.FixtureRequest, tmp_path: Path) -> Stage:
    return stage(request.param, tmp_path)


def ask(at_work: Stage, scenario: str, **changes: Any) -> Reply | Failure:
    asked = at_work.request(**{"schema": ISSUES_SCHEMA, **changes})
    with model_server(SCENARIOS) as server:
        finished = at_work.run(server.url(scenario), asked)
    return at_work.client.read(finished, asked, None)


def test_a_review_is_read(client_at_work: Stage) -> None:
    found = ask(client_at_work, "findings")
    assert isinstance(found, Reply), found
    assert len(parse_answer(ContractName.ISSUES, found.text).findings) == 2
    assert found.usage.tokens == 120


def test_a_reviewer_that_tries_to_write_changes_nothing(client_at_work: Stage) -> None:
    found = ask(client_at_work, "write-attempt")
    assert isinstance(found, Reply), found
    assert (client_at_work.clone / "app.py").read_text() == CODE
    assert [path.name for path in client_at_work.clone.iterdir() if path.name != ".git"] == ["app.py"]


def test_a_fixer_edits_files_and_runs_commands(client_at_work: Stage) -> None:
    found = ask(client_at_work, "fix", role=Role.FIX, reviewer="", schema="")
    assert isinstance(found, Reply), found
    assert (client_at_work.clone / "app.py").read_text().strip() == "x = 1"
    assert (client_at_work.clone / "made-by-the-shell.txt").read_text() == "done\n"


@pytest.mark.parametrize(
    ("scenario", "kind"),
    [("unauthorised", FailureKind.UNAUTHORISED), ("limited", FailureKind.RATE_LIMITED)],
)
def test_what_the_service_refuses_has_its_kind(client_at_work: Stage, scenario: str, kind: FailureKind) -> None:
    found = ask(client_at_work, scenario)
    assert isinstance(found, Failure), found
    assert found.kind is kind, found.message


def test_the_repository_under_review_runs_no_code_and_says_nothing_to_the_model(client_at_work: Stage) -> None:
    executed, sent = _with_plants(client_at_work, Role.REVIEW)
    assert not executed
    assert "PLANTED" not in sent


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


@pytest.mark.parametrize("kind", [kind for kind in KINDS if CLIENTS[kind].can_resume], ids=lambda kind: kind.value)
def test_an_answer_that_cannot_be_read_is_asked_for_again_in_the_same_session(kind: AgentKind, tmp_path: Path) -> None:
    at_work = stage(kind, tmp_path)
    # Without a schema, as with one the client itself would have it repaired.
    first = ask(at_work, "repaired", schema="")
    assert isinstance(first, Reply), first
    with pytest.raises(UnreadableError):
        parse_answer(ContractName.ISSUES, first.text)
    again = ask(at_work, "repaired", schema="", session=first.session, prompt="Answer again, with whole JSON.")
    assert isinstance(again, Reply), again
    assert parse_answer(ContractName.ISSUES, again.text).clean


def test_claude_stops_at_its_limits(tmp_path: Path) -> None:
    at_work = stage(AgentKind.CLAUDE, tmp_path)
    for limit in ({"max_turns": 2}, {"budget_usd": 0.01}):
        found = ask(at_work, "endless", **limit)
        assert isinstance(found, Failure), found
        assert found.kind is FailureKind.REFUSED
        assert "maximum" in found.message


def test_a_client_that_is_terminated_has_no_answer(client_at_work: Stage) -> None:
    asked = client_at_work.request(schema=ISSUES_SCHEMA)
    with model_server() as server:
        finished = client_at_work.run_until_asked(server, "hang", asked, 1)
    found = client_at_work.client.read(finished, asked, None)
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.CRASHED, found.message


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
