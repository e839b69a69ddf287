"""What is known of an agent by its command, and what it therefore gets."""

import json
from typing import Any

import pytest

from burnish.agents.acp import AGENT as ACP
from burnish.agents.acp import session_options
from burnish.agents.acp_session import Access, SessionOptions
from burnish.agents.interface import AgentError, Request, Role
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings
from tests.agents.building import request

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/home/me", "MY_KEY": "k", "OPENAI_API_KEY": "o", "HTTPS_PROXY": "p"}
REVIEW = request(home="/h", folder="/clone")
FIX = request(home="/h", folder="/clone", role=Role.FIX, reviewer="")


def agent(*command: str, **more: Any) -> AgentSettings:
    return AgentSettings(kind=AgentKind.ACP, command=command, **more)


def options(settings: AgentSettings, asked: Any = REVIEW) -> SessionOptions:
    return session_options(settings, asked, ACP.command(settings, asked, ENVIRONMENT))


def test_the_agent_itself_is_started() -> None:
    command = ACP.command(agent("sh", "-x", "--", "y"), REVIEW, ENVIRONMENT)
    found = options(agent("sh", "-x", "--", "y"))
    assert command.argv == ("/usr/bin/sh", "-x", "--", "y")
    assert (found.access, found.roots, found.folder, command.folder) == (Access.READ, ("/clone",), "/clone", "/clone")
    assert command.stdin == REVIEW.prompt.encode()


def test_what_it_may_depends_on_what_it_is_asked_to_do() -> None:
    scratch = request(home="/h", folder="/clone", scratch="/scratch")
    session = request(home="/h", folder="/clone", may_write=True)
    assert options(agent("sh"), FIX).access is Access.WRITE
    assert options(agent("sh"), session).access is Access.WRITE
    found = options(agent("sh"), scratch)
    assert (found.access, found.roots) == (Access.RUN, ("/clone", "/scratch"))


def test_an_unknown_agent_sees_what_its_settings_name_and_a_home_of_its_own() -> None:
    settings = agent("sh", environment=("MY_KEY",))
    for asked in (REVIEW, FIX):
        seen = ACP.command(settings, asked, ENVIRONMENT).environment
        assert (seen["MY_KEY"], seen["HTTPS_PROXY"], seen["HOME"]) == ("k", "p", "/h")
        assert "OPENAI_API_KEY" not in seen
    assert ACP.files(settings, REVIEW, ENVIRONMENT) == {}
    needs = ACP.needs(settings, ENVIRONMENT)
    assert (needs.variables, needs.logged_in) == (("HTTPS_PROXY", "MY_KEY"), None)


def test_an_agent_that_is_made_of_a_known_client_gets_what_the_client_gets() -> None:
    settings = agent("/opt/bin/codex-acp")
    seen = ACP.command(settings, REVIEW, ENVIRONMENT).environment
    assert (seen["OPENAI_API_KEY"], seen["CODEX_HOME"]) == ("o", "/h/codex")
    assert json.loads(seen["CODEX_CONFIG"]) == {"project_doc_max_bytes": 0}
    assert "CODEX_CONFIG" not in ACP.command(settings, FIX, ENVIRONMENT).environment
    assert b"OPENAI_API_KEY" in ACP.files(settings, REVIEW, ENVIRONMENT)["codex/config.toml"]
    assert ACP.needs(settings, ENVIRONMENT).logged_in is True


def test_a_client_whose_own_sandbox_cannot_be_built_in_ours_is_told_to_leave_it() -> None:
    confined = request(home="/h", folder="/clone", confined=True)
    assert options(agent("codex-acp"), confined).mode == "agent-full-access"
    assert options(agent("codex-acp")).mode == ""
    assert options(agent("sh"), confined).mode == ""


def test_a_reviewer_made_of_claude_takes_nothing_from_the_repository_and_keeps_to_its_limits() -> None:
    asked = request(home="/h", folder="/clone", max_turns=4, budget_usd=0.5)
    told = claude_options(asked)
    assert (told["settingSources"], told["strictMcpConfig"], told["tools"]) == (
        ["user"],
        True,
        ["Read", "Grep", "Glob"],
    )
    assert (told["maxTurns"], told["maxBudgetUsd"]) == (4, 0.5)
    assert "settingSources" not in claude_options(FIX)


def claude_options(asked: Request) -> dict[str, Any]:
    meta = options(agent("claude-agent-acp"), asked).meta
    assert meta is not None
    return meta["claudeCode"]["options"]


@pytest.mark.parametrize("command", [("opencode", "acp"), ("codex-acp",)], ids=["opencode", "codex"])
def test_one_that_runs_what_it_finds_in_a_repository_reviews_from_outside(command: tuple[str, ...]) -> None:
    review = ACP.command(agent(*command), REVIEW, ENVIRONMENT)
    assert review.folder == "/h"
    assert review.stdin.startswith(b"The repository is the folder /clone\n")
    assert (options(agent(*command)).roots, options(agent(*command)).folder) == (("/clone",), "/h")
    assert ACP.command(agent(*command), FIX, ENVIRONMENT).folder == "/clone"


def test_a_sandbox_sees_where_the_agent_is_by_its_command() -> None:
    command = ACP.command(agent("/home/me/agents/mine"), REVIEW, ENVIRONMENT)
    assert (command.argv[0], command.environment["PATH"]) == ("/home/me/agents/mine", "/usr/bin:/bin")


def test_a_session_cannot_go_on() -> None:
    assert not ACP.card.can_resume
    with pytest.raises(AgentError):
        ACP.command(agent("sh"), request(home="/h", session="1"), ENVIRONMENT)


def test_a_change_cannot_bring_its_own_agent() -> None:
    with pytest.raises(AgentError):
        ACP.command(agent("./agent.sh"), REVIEW, ENVIRONMENT)
