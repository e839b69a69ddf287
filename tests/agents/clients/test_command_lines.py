"""What is run for each client: exactly, for a reviewer, for a fixer, and with every limit."""

import json
from typing import Any

import pytest

from burnish.agents.interface import AgentError, Role
from burnish.agents.registry import clients
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings
from burnish.system.process import Command
from tests.agents.building import request
from tests.agents.clients.live import ISSUES_SCHEMA, MODELS

USER = {"PATH": "/nowhere", "HOME": "/home/me", "SSH_AUTH_SOCK": "/agent", "GITHUB_TOKEN": "secret"}
KINDS = tuple(MODELS)
every_client = pytest.mark.parametrize("kind", KINDS, ids=[kind.value for kind in KINDS])


def command(kind: AgentKind, environment: dict[str, str] | None = None, **changes: Any) -> Command:
    asked = {"home": "/home-of-the-client", "model": "m", **changes}
    settings = AgentSettings(kind=kind, command=(f"/opt/{kind.value}",))
    return clients()[kind].command(settings, request(**asked), {**USER, **(environment or {})})


def arguments(kind: AgentKind, **changes: Any) -> list[str]:
    return list(command(kind, **changes).argv[1:])


@every_client
def test_the_prompt_is_never_on_the_command_line(kind: AgentKind) -> None:
    found = command(kind, prompt="A secret plan, é")
    assert found.stdin.endswith("A secret plan, é".encode())
    assert not any("secret plan" in word for word in found.argv)


@every_client
def test_only_keys_of_the_client_itself_reach_it(kind: AgentKind) -> None:
    keys = {"ANTHROPIC_API_KEY": "1", "OPENAI_API_KEY": "2", "GEMINI_API_KEY": "3", "HTTPS_PROXY": "http://p"}
    seen = command(kind, keys).environment
    assert "GITHUB_TOKEN" not in seen
    assert "SSH_AUTH_SOCK" not in seen
    assert seen["HTTPS_PROXY"] == "http://p"
    assert seen["BURNISH_ROLE"] == "review"
    own = {name for name in keys if name in seen and name.endswith("_KEY")}
    expected = {
        AgentKind.CLAUDE: {"ANTHROPIC_API_KEY"},
        AgentKind.CODEX: {"OPENAI_API_KEY"},
        AgentKind.GEMINI: {"GEMINI_API_KEY"},
        AgentKind.OPENCODE: {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"},
    }
    assert own == expected[kind]


@every_client
def test_a_reviewer_sees_nothing_of_the_users_home_and_a_fixer_keeps_it(kind: AgentKind) -> None:
    assert command(kind).environment["HOME"] == "/home-of-the-client"
    assert command(kind, role=Role.FIX).environment["HOME"] == "/home/me"


@every_client
def test_nothing_is_started_without_a_home_of_its_own(kind: AgentKind) -> None:
    with pytest.raises(AgentError):
        command(kind, home="")


@every_client
def test_further_words_of_the_users_command_come_before_ours(kind: AgentKind) -> None:
    settings = AgentSettings(kind=kind, command=("/opt/wrapper", "--", kind.value))
    argv = clients()[kind].command(settings, request(home="/home-of-the-client"), USER).argv
    assert argv[:3] == ("/opt/wrapper", "--", kind.value)


def test_claude_reviews_with_tools_that_only_read() -> None:
    assert arguments(AgentKind.CLAUDE) == [
        *("-p", "--output-format", "stream-json", "--verbose"),
        *("--setting-sources", "user", "--strict-mcp-config", "--tools", "Read,Grep,Glob", "--model=m"),
    ]


def test_claude_may_look_at_the_whole_change_with_git_inside_the_sandbox() -> None:
    words = arguments(AgentKind.CLAUDE, confined=True)
    assert words[words.index("--tools") + 1] == "Read,Grep,Glob,Bash"
    allowed = words[words.index("--allowedTools") + 1]
    assert allowed == "Bash(git diff:*),Bash(git show:*),Bash(git log:*),Bash(git blame:*)"


def test_claude_may_run_commands_where_a_reviewer_has_a_scratch_copy() -> None:
    words = arguments(AgentKind.CLAUDE, scratch="/scratch")
    assert words[words.index("--tools") + 1] == "Read,Grep,Glob,Bash"
    assert words[words.index("--add-dir") + 1] == "/scratch"


def test_claude_fixes_with_the_projects_settings_also_as_root() -> None:
    assert arguments(AgentKind.CLAUDE, role=Role.FIX) == [
        *("-p", "--output-format", "stream-json", "--verbose"),
        *("--permission-mode", "acceptEdits", "--tools", "Read,Grep,Glob,Bash,Edit,Write,NotebookEdit"),
        *("--allowedTools", "Bash", "--model=m"),
    ]


def test_claude_is_given_schema_limits_and_session() -> None:
    words = arguments(AgentKind.CLAUDE, schema=ISSUES_SCHEMA, max_turns=3, budget_usd=0.5, session="id")
    [schema] = [word for word in words if word.startswith("--json-schema=")]
    assert "$schema" not in json.loads(schema.partition("=")[2])
    assert words[-3:] == ["--max-turns=3", "--max-budget-usd=0.5", "--resume=id"]


def test_codex_reviews_in_its_read_only_sandbox_without_the_projects_documents() -> None:
    assert arguments(AgentKind.CODEX, schema=ISSUES_SCHEMA) == [
        *("exec", "--json", "--color", "never", "--skip-git-repo-check", "--sandbox", "read-only"),
        *("-c", "features.multi_agent=false", "-c", "features.goals=false"),
        *("--ignore-rules", "-c", "project_doc_max_bytes=0", "--model=m"),
        *("--output-schema=/home-of-the-client/codex/schema.json", "-"),
    ]


@pytest.mark.parametrize(
    ("role", "confined", "mode"),
    [
        (Role.REVIEW, True, "danger-full-access"),
        (Role.FIX, False, "workspace-write"),
        (Role.BUILD, False, "workspace-write"),
        (Role.FIX, True, "danger-full-access"),
    ],
)
def test_codex_gives_up_its_own_sandbox_only_inside_ours(role: Role, confined: bool, mode: str) -> None:
    words = arguments(AgentKind.CODEX, role=role, confined=confined)
    assert words[words.index("--sandbox") + 1] == mode


def test_codex_trusts_the_project_that_it_fixes() -> None:
    words = arguments(AgentKind.CODEX, role=Role.FIX, folder='/a "b"')
    assert r'projects={"/a \"b\""={trust_level="trusted"}}' in words


def test_codex_resumes_a_session() -> None:
    assert arguments(AgentKind.CODEX, session="id")[-3:] == ["resume", "id", "-"]


def test_gemini_reviews_a_folder_that_it_does_not_trust() -> None:
    found = command(AgentKind.GEMINI)
    assert list(found.argv[1:]) == ["--output-format", "stream-json", "--approval-mode", "default", "--model=m"]
    assert found.environment["GEMINI_CLI_TRUST_WORKSPACE"] == "false"
    assert command(AgentKind.GEMINI, role=Role.FIX).environment["GEMINI_CLI_TRUST_WORKSPACE"] == "true"
    assert arguments(AgentKind.GEMINI, role=Role.FIX)[3] == "yolo"


def test_gemini_cannot_resume() -> None:
    with pytest.raises(AgentError):
        command(AgentKind.GEMINI, session="id")


def test_opencode_reviews_from_a_folder_of_its_own() -> None:
    found = command(AgentKind.OPENCODE, prompt="Look.")
    assert list(found.argv[1:]) == ["run", "--format", "json", "--model=m"]
    assert found.folder == "/home-of-the-client"
    assert found.stdin == b"The repository is the folder /clone\nRun git as: git -C /clone\n\nLook."
    allowed = json.loads(found.environment["OPENCODE_PERMISSION"])
    assert allowed["*"] == "deny"
    assert not {"bash", "edit", "task"} & set(allowed)
    fixing = command(AgentKind.OPENCODE, role=Role.FIX, session="id")
    assert fixing.folder == "/clone"
    assert fixing.argv[-1] == "--session=id"
    assert json.loads(fixing.environment["OPENCODE_PERMISSION"]) == {"*": "allow", "task": "deny"}


def test_opencode_may_look_at_the_whole_change_with_git_inside_the_sandbox() -> None:
    allowed = json.loads(command(AgentKind.OPENCODE, confined=True).environment["OPENCODE_PERMISSION"])["bash"]
    assert allowed["*"] == "deny"
    assert (allowed["git diff*"], allowed["git -C /clone diff*"]) == ("allow", "allow")


def test_gemini_may_look_at_the_whole_change_with_git_inside_the_sandbox() -> None:
    assert "run_shell_command(git diff)" not in gemini_tools()["core"]
    assert "run_shell_command(git diff)" in gemini_tools(confined=True)["core"]
    assert "run_shell_command(git diff)" in gemini_tools(confined=True)["allowed"]
    assert "invoke_agent" in gemini_tools(role=Role.FIX)["exclude"]


def gemini_tools(**changes: Any) -> dict[str, list[str]]:
    asked = request(home="/home-of-the-client", **changes)
    files = clients()[AgentKind.GEMINI].files(AgentSettings(kind=AgentKind.GEMINI), asked, USER)
    return json.loads(files[".gemini/settings.json"])["tools"]
