"""Layers of settings: which one wins, where each value came from, and where the policy was read."""

from pathlib import Path

import pytest
from tests.settings.conftest import Load

from burnish.core.errors import ErrorKind
from burnish.core.reviews import ContractName
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.documents import DocumentError
from burnish.settings.loading import Flags, LayerName, Origin, PolicyOrigin, SettingsSources, load, user_file
from burnish.settings.types import RoleChoice, SandboxWanted, Settings, ValidationCommand

EVERYTHING = """
protocol = "epic"
sandbox = "required"
model = "small"
records = false

[agents.mine]
kind = "command"
command = ["./review.sh", "--strict"]
model = "large"
contract = "sarif"
timeout = 60
silent = 5.5
environment = ["MY_TOKEN"]

[agents.other]
kind = "command"
command = ["/usr/bin/other"]

[roles]
default = "other"
review = "mine"
fix = { agent = "mine", fallback = "other" }
build = { agent = "other", fallback = false }
by_round = ["mine", "other"]

[roles.reviewers]
security-reviewer = "other"

[roles.complexity.high]
review = { agent = "other", fallback = "none" }

[validate]
tests = "pytest -q | tail -5"
lint = ["ruff", "check", "."]
coverage_floor = 80

[limits]
cost_usd = 5
tokens = 1000000
minutes = 30.5

[workspace]
prepare = ["npm ci"]
seed = [".env.test"]

[review]
ignore = ["**/*.lock"]

[[review.rules]]
path = "src/**/*.py"
text = "No bare except."

[prompts]
reviewer = "prompts/reviewer.md"

[timeouts]
agent = 900
silent = 100
validation = 50

[context]
diff_characters = 1000
output_characters = 2000

[seal]
signing_key = "~/.ssh/id_ed25519"
"""


def test_without_any_source_the_defaults_hold(merged: Load) -> None:
    found = merged()
    assert found.settings == Settings()
    assert found.policy is PolicyOrigin.BUILT_IN
    assert found.notices == ()
    assert found.origin("protocol") == Origin(layer=LayerName.DEFAULT)
    assert found.settings.timeouts.agent == 1800
    assert found.settings.timeouts.silent == 600
    assert found.settings.timeouts.validation == 1800
    assert found.settings.context.diff_characters == 50_000


def test_every_setting_is_read(merged: Load) -> None:
    settings = merged(EVERYTHING, user='allow_environment = ["MY_TOKEN"]\n').settings
    assert settings.protocol == "epic"
    assert settings.sandbox is SandboxWanted.REQUIRED
    assert settings.records is False
    mine = settings.agents["mine"]
    assert mine.kind is AgentKind.COMMAND
    assert mine.command == ("./review.sh", "--strict")
    assert mine.contract is ContractName.SARIF
    assert (mine.timeout, mine.silent, mine.environment) == (60, 5.5, ("MY_TOKEN",))
    assert settings.roles.review == RoleChoice(agent="mine")
    assert settings.roles.fix == RoleChoice(agent="mine", fallback="other")
    assert settings.roles.build == RoleChoice(agent="other", fallback="none")
    assert settings.roles.reviewers == {"security-reviewer": RoleChoice(agent="other")}
    assert settings.roles.complexity.high == {"review": RoleChoice(agent="other", fallback="none")}
    assert settings.roles.by_round == ("mine", "other")
    assert settings.validate.coverage_floor == 80
    assert settings.limits.cost_usd == 5
    assert settings.limits.tokens == 1_000_000
    assert settings.workspace.prepare == ("npm ci",)
    assert settings.review.rules[0].path == "src/**/*.py"
    assert settings.prompts.reviewer == "prompts/reviewer.md"
    assert settings.seal.signing_key == "~/.ssh/id_ed25519"


def test_a_validation_line_meets_a_shell_and_a_list_does_not(merged: Load) -> None:
    commands = merged(EVERYTHING).settings.validate.commands
    assert list(commands) == ["tests", "lint"]
    assert commands["tests"].arguments == ("sh", "-c", "pytest -q | tail -5")
    assert commands["tests"].text == "pytest -q | tail -5"
    assert commands["lint"].arguments == ("ruff", "check", ".")
    assert commands["lint"].text == "ruff check ."


def test_each_layer_beats_the_one_below(merged: Load) -> None:
    layers = ("user", "repository", "environment", "flag")
    for upto in range(len(layers)):
        found = merged(
            'protocol = "panel"' if upto >= 1 else None,
            user='protocol = "story"',
            environment={"BURNISH_PROTOCOL": "ticket"} if upto >= 2 else {},
            flags=Flags(protocol="drift") if upto >= 3 else None,
        )
        assert found.settings.protocol == ("story", "panel", "ticket", "drift")[upto]
        assert found.origin("protocol").layer.value == layers[upto]


def test_each_value_knows_its_file_and_line(merged: Load, tmp_path: Path) -> None:
    found = merged(EVERYTHING, user="\n[timeouts]\nagent = 5\n", environment={"BURNISH_COST_USD": "2.5"})
    assert found.origin("protocol").text == "main:burnish.toml:2"
    assert found.origin("roles", "review", "agent").text == "main:burnish.toml:22"
    assert found.origin("validate", "tests").text == "main:burnish.toml:34"
    assert found.origin("validate", "lint", 1).text == "main:burnish.toml:35"
    assert found.origin("limits", "cost_usd").text == "BURNISH_COST_USD"
    assert found.origin("limits", "cost_usd").layer is LayerName.ENVIRONMENT
    assert found.settings.limits.cost_usd == 2.5
    only_user = merged(user="\n[timeouts]\nagent = 5\n")
    assert only_user.origin("timeouts", "agent").text == f"{tmp_path}/config.toml:3"
    assert only_user.origin("timeouts", "silent").text == "default"


def test_a_role_that_is_completed_in_two_files_keeps_both_origins(merged: Load, tmp_path: Path) -> None:
    user = '[agents.b]\nkind = "command"\ncommand = ["b"]\n[roles]\nreview = "analysers"\n'
    found = merged('[roles.review]\nfallback = "b"\n', user=user)
    assert found.settings.roles.review == RoleChoice(agent="analysers", fallback="b")
    assert found.origin("roles", "review", "agent").text == f"{tmp_path}/config.toml:5"
    assert found.origin("roles", "review", "fallback").text == "main:burnish.toml:2"


def test_another_agent_for_a_role_drops_the_fallback_below(merged: Load) -> None:
    user = '[agents.b]\nkind = "command"\ncommand = ["b"]\n[roles]\nreview = { agent = "analysers", fallback = "b" }\n'
    assert merged('[roles]\nreview = "b"\n', user=user).settings.roles.review == RoleChoice(agent="b")


def test_an_agent_of_another_kind_replaces_the_one_below(merged: Load) -> None:
    user = '[agents.a]\nkind = "claude"\nmodel = "large"\n'
    found = merged('[agents.a]\nkind = "command"\ncommand = ["a"]\n', user=user).settings.agents["a"]
    assert found.model == ""
    completed = merged("[agents.a]\ntimeout = 3\n", user=user).settings.agents["a"]
    assert (completed.kind, completed.model, completed.timeout) == (AgentKind.CLAUDE, "large", 3)


def test_a_validation_command_replaces_the_one_below_whatever_its_form(merged: Load) -> None:
    line, words = '[validate]\ntests = "make test"\n', '[validate]\ntests = ["make", "test"]\n'
    as_words = ValidationCommand(argv=("make", "test"))
    assert merged(words, user=line).settings.validate.commands == {"tests": as_words}
    assert merged(line, user=words).settings.validate.commands == {"tests": ValidationCommand(line="make test")}


def test_the_policy_is_read_from_the_base_and_the_change_is_told(merged: Load) -> None:
    found = merged('protocol = "epic"', working='protocol = "drift"')
    assert found.settings.protocol == "epic"
    assert found.policy is PolicyOrigin.BASE
    assert found.notices == ("burnish reads burnish.toml from main; the change's edits of it do not apply yet.",)
    assert merged("", working="").notices == ()


def test_a_file_in_the_working_tree_alone_is_used_if_it_is_trusted(merged: Load) -> None:
    found = merged(working='protocol = "drift"', trusted=True)
    assert found.settings.protocol == "drift"
    assert found.policy is PolicyOrigin.WORKING_TREE
    assert found.origin("protocol").text == "burnish.toml:1"
    untrusted = merged(working='protocol = "drift"')
    assert (untrusted.settings.protocol, untrusted.policy) == ("default", PolicyOrigin.BUILT_IN)
    assert [each.key for each in untrusted.sensitive] == ["protocol"]


def test_an_empty_file_in_the_base_is_a_policy(merged: Load) -> None:
    found = merged("", working='protocol = "drift"')
    assert found.settings.protocol == "default"
    assert found.policy is PolicyOrigin.BASE


def test_a_model_and_a_time_limit_from_outside_hold_for_every_agent(merged: Load) -> None:
    for options in (
        {"environment": {"BURNISH_MODEL": "tiny", "BURNISH_TIMEOUT": "7"}},
        {"flags": Flags(model="tiny", timeout=7.0)},
    ):
        found = merged(EVERYTHING, **options)
        for name in ("mine", "other", "claude"):
            agent = found.settings.agent(name)
            assert agent is not None
            assert (agent.model, agent.timeout) == ("tiny", 7.0)
        assert found.origin("agents", "mine", "model").layer in (LayerName.ENVIRONMENT, LayerName.FLAG)


def test_an_agent_is_completed_from_the_general_settings(merged: Load) -> None:
    settings = merged(EVERYTHING).settings
    other, mine = settings.agent("other"), settings.agent("mine")
    assert other is not None
    assert mine is not None
    assert (other.model, other.timeout, other.silent) == ("small", 900, 100)
    assert (mine.model, mine.timeout, mine.silent) == ("large", 60, 5.5)
    assert settings.agent("nobody") is None


def test_a_kind_without_a_command_is_an_agent_by_its_name() -> None:
    found = Settings().agent("analysers")
    assert found is not None
    assert found.kind is AgentKind.ANALYSERS
    assert Settings().agent("command") is None


def test_files_of_the_repository_in_a_command_are_marked(merged: Load) -> None:
    text = '[agents.a]\nkind = "command"\ncommand = {}\n'
    for command, marked in (
        ('["./review.sh", "a/b"]', (0,)),
        ('["tools/review.sh"]', (0,)),
        ('["python3", "./review.py", "-"]', (1,)),
        ('["/usr/bin/review", "x"]', ()),
        ('["review"]', ()),
    ):
        assert merged(text.format(command)).settings.agents["a"].relative_parts == marked


def test_variables_for_agents_are_no_settings_and_misspelt_ones_are_told(merged: Load) -> None:
    found = merged(
        environment={"BURNISH_RUN": "1", "BURNISH_REVIEWER": "x", "BURNISH_PROTOCL": "epic", "BURNISH_X": ""}
    )
    assert found.settings == Settings()
    assert found.notices == ("BURNISH_PROTOCL is not a setting. Did you mean 'BURNISH_PROTOCOL'?",)


def test_empty_variables_count_as_not_set(merged: Load) -> None:
    assert merged(environment={"BURNISH_PROTOCOL": "", "BURNISH_SANDBOX": ""}).settings == Settings()


def test_typed_variables(merged: Load) -> None:
    settings = merged(
        environment={"BURNISH_TOKENS": "50", "BURNISH_MINUTES": "1.5", "BURNISH_RECORDS": "true"}
    ).settings
    assert (settings.limits.tokens, settings.limits.minutes, settings.records) == (50, 1.5, True)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"XDG_CONFIG_HOME": "/x", "HOME": "/h"}, Path("/x/burnish/config.toml")),
        ({"HOME": "/h"}, Path("/h/.config/burnish/config.toml")),
        ({"XDG_CONFIG_HOME": "relative", "HOME": "/h"}, Path("/h/.config/burnish/config.toml")),
        ({}, None),
    ],
)
def test_the_place_of_the_users_own_file(environment: dict[str, str], expected: Path | None) -> None:
    assert user_file(environment) == expected


def test_a_users_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    sources = SettingsSources(base_file=lambda _: None, working_file=lambda _: None, user_file=tmp_path / "config.toml")
    with pytest.raises(DocumentError) as caught:
        load(sources)
    assert caught.value.kind is ErrorKind.CONFIGURATION
    assert "cannot be read" in caught.value.message


def test_origins_as_text(merged: Load) -> None:
    found = merged('[validate]\nlint = ["a", "b"]\n[roles]\nreview = "analysers"\n', flags=Flags(sandbox="off"))
    assert found.origin_texts == {
        "validate.lint": "main:burnish.toml:2",
        "roles.review.agent": "main:burnish.toml:4",
        "sandbox": "--sandbox",
    }


def test_a_file_that_is_far_too_long_is_refused(merged: Load) -> None:
    with pytest.raises(DocumentError, match="longer than"):
        merged(user="#" * 2_000_000)
