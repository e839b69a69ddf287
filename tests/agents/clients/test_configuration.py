"""The files that a client finds in its home, its program, and its login."""

import json
import sys
import tomllib
from pathlib import Path

import pytest

from burnish.agents.interface import AgentError, Role
from burnish.agents.registry import clients
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings
from tests.agents.building import request
from tests.agents.clients.live import ISSUES_SCHEMA, MODELS

KINDS = tuple(MODELS)
every_client = pytest.mark.parametrize("kind", KINDS, ids=[kind.value for kind in KINDS])


def files(kind: AgentKind, environment: dict[str, str] | None = None, **changes: object) -> dict[str, bytes]:
    return clients()[kind].files(AgentSettings(kind=kind), request(home="/h", **changes), environment or {})


def program(kind: AgentKind, environment: dict[str, str], *command: str) -> str | None:
    return clients()[kind].program(AgentSettings(kind=kind, command=command), environment)


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_codex_finds_its_service_and_its_schema() -> None:
    found = files(AgentKind.CODEX, {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": 'http://a/"b"'}, schema=ISSUES_SCHEMA)
    settings = tomllib.loads(found["codex/config.toml"].decode())
    provider = settings["model_providers"][settings["model_provider"]]
    assert provider["base_url"] == 'http://a/"b"'
    assert provider["env_key"] == "OPENAI_API_KEY"
    assert json.loads(found["codex/schema.json"])["required"] == json.loads(ISSUES_SCHEMA)["required"]


def test_codex_with_a_login_uses_its_own_service() -> None:
    assert tomllib.loads(files(AgentKind.CODEX)["codex/config.toml"].decode()) == {"check_for_update_on_startup": False}


@pytest.mark.parametrize(
    ("variable", "login"),
    [("GEMINI_API_KEY", "gemini-api-key"), ("GOOGLE_API_KEY", "vertex-ai"), ("PATH", "oauth-personal")],
)
def test_gemini_is_told_how_to_log_in(variable: str, login: str) -> None:
    settings = json.loads(files(AgentKind.GEMINI, {variable: "x"})[".gemini/settings.json"])
    assert settings["security"]["auth"]["selectedType"] == login


def test_gemini_reviews_with_tools_that_only_read() -> None:
    reviewing = json.loads(files(AgentKind.GEMINI, max_turns=7)[".gemini/settings.json"])
    assert "read_file" in reviewing["tools"]["core"]
    assert not {"write_file", "replace", "run_shell_command"} & set(reviewing["tools"]["core"])
    assert reviewing["model"] == {"maxSessionTurns": 7}
    fixing = json.loads(files(AgentKind.GEMINI, role=Role.FIX)[".gemini/settings.json"])
    assert "core" not in fixing["tools"]


@every_client
def test_a_program_is_looked_for_on_the_path_but_never_in_the_change(
    kind: AgentKind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    executable(tmp_path / "of-the-change" / kind.value)
    there = executable(tmp_path / "bin" / kind.value)
    assert program(kind, {"PATH": f".:of-the-change:{there.parent}"}) == str(there)
    elsewhere = executable(tmp_path / "elsewhere" / "my-client")
    assert program(kind, {"PATH": str(there.parent)}, str(elsewhere)) == str(elsewhere)
    assert program(kind, {"PATH": str(there.parent)}, "my-client") is None


@every_client
def test_a_program_of_the_repository_is_refused(kind: AgentKind) -> None:
    with pytest.raises(AgentError, match="names a file of the repository"):
        program(kind, {}, f"./node_modules/.bin/{kind.value}")


def test_a_program_inside_a_package_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "claude_agent_sdk").mkdir()
    (tmp_path / "claude_agent_sdk/__init__.py").write_text("raise RuntimeError('must not be imported')")
    bundled = executable(tmp_path / "claude_agent_sdk/_bundled/claude")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert program(AgentKind.CLAUDE, {"PATH": "/nowhere"}) == str(bundled)
    assert program(AgentKind.CLAUDE, {"PATH": "/nowhere"}, "my-claude") is None


@pytest.mark.parametrize(
    ("kind", "variable"),
    [
        (AgentKind.CLAUDE, "ANTHROPIC_API_KEY"),
        (AgentKind.CLAUDE, "CLAUDE_CODE_OAUTH_TOKEN"),
        (AgentKind.CODEX, "OPENAI_API_KEY"),
        (AgentKind.GEMINI, "GEMINI_API_KEY"),
        (AgentKind.OPENCODE, "OPENROUTER_API_KEY"),
    ],
)
def test_a_key_is_a_login(kind: AgentKind, variable: str, tmp_path: Path) -> None:
    needs = clients()[kind].needs(AgentSettings(kind=kind), {variable: "x", "HOME": str(tmp_path), "OTHER": "y"})
    assert needs.logged_in
    assert needs.variables == (variable,)
    assert not needs.files


@pytest.mark.parametrize(
    ("kind", "file", "place"),
    [
        (AgentKind.CLAUDE, ".claude/.credentials.json", ".credentials.json"),
        (AgentKind.CODEX, ".codex/auth.json", "codex/auth.json"),
        (AgentKind.GEMINI, ".gemini/oauth_creds.json", ".gemini/oauth_creds.json"),
        (AgentKind.OPENCODE, ".local/share/opencode/auth.json", "data/opencode/auth.json"),
    ],
)
def test_the_file_of_a_login_is_named(kind: AgentKind, file: str, place: str, tmp_path: Path) -> None:
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text("{}")
    needs = clients()[kind].needs(AgentSettings(kind=kind), {"HOME": str(tmp_path)})
    assert needs.logged_in
    assert needs.files == ((str(tmp_path / file), place),)


@every_client
def test_without_a_login_there_is_a_hint(kind: AgentKind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    needs = clients()[kind].needs(AgentSettings(kind=kind), {"HOME": str(tmp_path)})
    assert needs.logged_in is False
    assert "_KEY" in needs.hint
    monkeypatch.setattr(sys, "platform", "darwin")
    assert clients()[kind].needs(AgentSettings(kind=kind), {"HOME": str(tmp_path)}).logged_in is None
