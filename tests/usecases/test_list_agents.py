"""Which agents a place has: whose settings hold there, who is used for what, who is installed and logged in."""

from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.agents.interface import AgentError
from burnish.settings.agent_kinds import AgentKind
from burnish.testing.repositories import RepositoryBuilder
from burnish.usecases.list_agents import LocalSettings, Readiness, list_agents, look_at, resolve_local_settings
from burnish.usecases.trust_settings import base_of, trust, trustable
from burnish.workspace.repository import Repository

POLICY = """
[agents.mine]
kind = "command"
command = ["./review.sh"]

[agents.strong]
kind = "claude"
model = "claude-opus-4-5"

[roles]
review = { agent = "mine", fallback = "strong" }
by_round = ["mine", "strong"]

[roles.reviewers]
critic = "strong"
"""

Environment = Callable[..., dict[str, str]]


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """A user with a home, an empty PATH of programs, and the clients that are named, installed."""

    def make(*installed: str, **variables: str) -> dict[str, str]:
        programs = tmp_path / "bin"
        programs.mkdir(exist_ok=True)
        for name in installed:
            (programs / name).write_text("#!/bin/sh\n")
            (programs / name).chmod(0o755)
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        return {"PATH": str(programs), "HOME": str(home), **variables}

    return make


@pytest.fixture
def change_on_a_policy(tmp_path: Path) -> RepositoryBuilder:
    files = {"burnish.toml": POLICY, "review.sh": "#!/bin/sh\n"}
    return RepositoryBuilder(tmp_path / "repository").commit(files).branch("change").commit({"app.py": "x = 1\n"})


def roles(place: LocalSettings, environment: dict[str, str]) -> dict[str, tuple[str, ...]]:
    return {row.name: row.roles for row in list_agents(place, environment) if row.roles}


def test_outside_of_a_repository_only_the_users_own_settings_hold(tmp_path: Path, environment: Environment) -> None:
    user = environment()
    own = Path(user["HOME"]) / ".config" / "burnish" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[agents.house]\nkind = "gemini"\n[roles]\nreview = "house"\n')
    place = resolve_local_settings(tmp_path, user)
    assert place.repository is None
    assert [row.name for row in list_agents(place, user)] == ["house", "analysers", *clients()]
    assert roles(place, user) == {"house": ("review",), "analysers": ("fix",)}


def clients() -> list[str]:
    return [kind.value for kind in AgentKind if kind.is_paid and not kind.needs_command]


def test_the_policy_of_the_base_says_who_does_what(
    change_on_a_policy: RepositoryBuilder, environment: Environment
) -> None:
    change_on_a_policy.write({"burnish.toml": '[roles]\nreview = "gemini"\n'})
    place = resolve_local_settings(change_on_a_policy.path, environment())
    assert roles(place, environment()) == {
        "mine": ("review", "by_round"),
        "strong": ("review (fallback)", "reviewers.critic", "by_round"),
        "analysers": ("fix",),
    }
    (notice,) = place.notices
    assert "burnish.toml from main" in notice


def test_before_the_first_commit_the_working_tree_speaks_if_it_is_trusted(
    tmp_path: Path, environment: Environment
) -> None:
    builder = RepositoryBuilder(tmp_path / "repository").write({"burnish.toml": POLICY, "review.sh": "#!/bin/sh\n"})
    place = resolve_local_settings(builder.path, environment())
    assert (place.base, roles(place, environment())) == ("", {"analysers": ("review", "fix")})
    (notice,) = place.notices
    assert "agents.mine.command" in notice
    repository = Repository.discover(builder.path)
    trust(repository, trustable(repository, base_of(repository), environment()), environment())
    place = resolve_local_settings(builder.path, environment())
    assert (place.base, roles(place, environment())["mine"]) == ("", ("review", "by_round"))
    assert look_at(place, "mine", environment()).program == "./review.sh"


def test_a_command_of_the_repository_is_looked_for_there(
    change_on_a_policy: RepositoryBuilder, environment: Environment
) -> None:
    place = resolve_local_settings(change_on_a_policy.path, environment())
    row = look_at(place, "mine", environment())
    assert (row.readiness, row.program, row.paid) == (Readiness.USABLE, "./review.sh", None)
    change_on_a_policy.git.run("branch", "--force", "main", "change")
    change_on_a_policy.commit({"review.sh": None})
    change_on_a_policy.git.run("branch", "--force", "main", "change")
    row = look_at(resolve_local_settings(change_on_a_policy.path, environment()), "mine", environment())
    assert row.readiness is Readiness.NOT_INSTALLED
    assert "'./review.sh' was not found" in row.remedy


def test_installed_and_logged_in_are_seen_without_asking(
    change_on_a_policy: RepositoryBuilder, environment: Environment
) -> None:
    place = resolve_local_settings(change_on_a_policy.path, environment())
    assert look_at(place, "gemini", environment()).readiness is Readiness.NOT_INSTALLED
    assert "npm install" in look_at(place, "gemini", environment()).remedy
    user = environment("claude")
    row = look_at(place, "strong", user)
    assert (row.program, row.model) == (f"{user['PATH']}/claude", "claude-opus-4-5")
    assert row.readiness in (Readiness.NOT_LOGGED_IN, Readiness.LOGIN_UNKNOWN)
    assert "claude auth login" in row.remedy
    row = look_at(place, "strong", {**user, "ANTHROPIC_API_KEY": "key"})
    assert (row.readiness, row.remedy) == (Readiness.USABLE, "")


def test_the_price_is_known_told_or_unknown(tmp_path: Path, environment: Environment) -> None:
    user = environment(BURNISH_MODEL="gpt-5.5")
    place = resolve_local_settings(tmp_path, user)
    price = look_at(place, "codex", user).price
    assert price is not None
    assert price.output > price.input
    plain = resolve_local_settings(tmp_path, environment())
    rows = {row.name: row for row in list_agents(plain, environment())}
    assert {name: (row.paid, row.price, row.names_cost) for name, row in rows.items()} == {
        "analysers": (False, None, False),
        "claude": (True, None, True),
        "codex": (True, None, False),
        "gemini": (True, None, False),
        "opencode": (True, None, False),
    }


def test_a_client_that_the_change_would_bring_itself_is_refused(tmp_path: Path, environment: Environment) -> None:
    user = environment()
    own = Path(user["HOME"]) / ".config" / "burnish" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[agents.mine]\nkind = "codex"\ncommand = ["./codex"]\n')
    repository = RepositoryBuilder(tmp_path / "repository").commit({"codex": "#!/bin/sh\n"})
    row = look_at(resolve_local_settings(repository.path, user), "mine", user)
    assert row.readiness is Readiness.BROKEN
    assert "names a file of the repository" in row.remedy


def test_a_repository_does_not_choose_the_program_that_gets_a_login(tmp_path: Path, environment: Environment) -> None:
    policy = '[agents.mine]\nkind = "codex"\ncommand = ["/tmp/steals-the-login"]\n'
    repository = RepositoryBuilder(tmp_path / "repository").commit({"burnish.toml": policy})
    user = environment("codex")
    place = resolve_local_settings(repository.path, user)
    assert look_at(place, "mine", user).program == f"{user['PATH']}/codex"
    assert "agents.mine.command does not apply" in " ".join(place.notices)


def test_nobody_knows_the_name(tmp_path: Path, environment: Environment) -> None:
    with pytest.raises(AgentError) as caught:
        look_at(resolve_local_settings(tmp_path, environment()), "clade", environment())
    assert caught.value.hint == "Did you mean 'claude'?"
