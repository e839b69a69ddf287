"""What a base asks for, by value: another program under the same name does not meet it."""

from burnish.protocols.loader import load as load_protocol
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.loading import load_alone
from burnish.settings.requirements import AgentValue, Requirements, agent_value, gate_digest, requirements
from burnish.settings.types import Settings

PANEL = 'protocol = "panel"\n'
MINE = PANEL + '[agents.mine]\nkind = "command"\ncommand = ["./review.sh"]\n[roles]\nreview = "mine"\n'
SEATS = tuple(seat.name for seat in load_protocol("panel").protocol.panel)


def asked_for(text: str) -> Requirements:
    settings = load_alone(text.encode(), "burnish.toml")
    return requirements(settings, load_protocol(settings.protocol).protocol, has_policy=True)


def everywhere(agent: AgentValue) -> dict[str, AgentValue]:
    return dict.fromkeys(SEATS, agent)


def value(text: str, name: str) -> AgentValue:
    return agent_value(load_alone(text.encode(), "config.toml"), name)


def test_a_reviewer_of_the_same_name_is_not_the_one_that_the_base_names() -> None:
    required = asked_for(MINE)
    yes = value('[agents.mine]\nkind = "command"\ncommand = ["yes"]\n', "mine")
    assert required.unmet(everywhere(yes)) == SEATS
    assert required.unmet(everywhere(value("", "analysers"))) == SEATS
    assert required.unmet({}) == SEATS


def test_the_named_agent_meets_it_whatever_it_is_called_and_others_may_answer_too() -> None:
    required = asked_for(MINE)
    same = value('[agents.other]\nkind = "command"\ncommand = ["./review.sh"]\n', "other")
    assert required.unmet({**everywhere(same), "one-more": value("", "claude")}) == ()


def test_a_fallback_and_the_agents_of_a_complexity_are_named_by_the_base_too() -> None:
    text = (
        PANEL
        + '[roles]\nreview = { agent = "claude", fallback = "codex" }\n[roles.complexity.high]\nreview = "gemini"\n'
    )
    required = asked_for(text)
    for name in ("claude", "codex", "gemini"):
        assert required.unmet(everywhere(value("", name))) == ()
    assert required.unmet(everywhere(value("", "opencode"))) == SEATS


def test_without_a_word_of_the_base_the_checks_that_come_with_burnish_are_asked_for() -> None:
    required = requirements(Settings(), load_protocol("panel").protocol, has_policy=False)
    assert required.unmet(everywhere(value("", "analysers"))) == ()
    assert required.unmet(everywhere(value("", "claude"))) == SEATS


def test_a_model_is_compared_where_the_base_names_one() -> None:
    named = asked_for(PANEL + '[agents.c]\nkind = "claude"\nmodel = "large"\n[roles]\nreview = "c"\n')
    small, large = (value(f'model = "{model}"\n', "claude") for model in ("small", "large"))
    assert (named.unmet(everywhere(small)), named.unmet(everywhere(large))) == (SEATS, ())
    assert asked_for(PANEL + '[roles]\nreview = "claude"\n').unmet(everywhere(small)) == ()


def test_an_agent_that_the_base_leaves_to_its_users_goes_by_its_name() -> None:
    required = asked_for(PANEL + '[roles]\nreview = "house"\n[agents.house]\ntimeout = 5\n')
    assert required.unmet(everywhere(AgentValue(name="house", kind=AgentKind.CLAUDE))) == ()
    assert required.unmet(everywhere(AgentValue(name="mine", kind=AgentKind.CLAUDE))) == SEATS


def test_under_the_default_the_checks_and_the_named_reviewer_are_asked_for() -> None:
    required = asked_for(MINE.removeprefix(PANEL))
    names = ("bugs", "style", "tests", "security", "errors")
    checks: dict[str, AgentValue] = dict.fromkeys(names, value("", "analysers"))
    assert required.unmet(checks) == ("reviewer",)
    assert required.unmet({**checks, "reviewer": value("", "claude")}) == ("reviewer",)
    assert required.unmet({**checks, "reviewer": value(MINE, "mine")}) == ()
    assert required.unmet({"reviewer": value(MINE, "mine")}) == tuple(checks)


def test_the_digest_of_the_gate_is_about_the_gate_alone() -> None:
    same = load_alone(b'model = "x"\n[timeouts]\nagent = 5\n[limits]\ncost_usd = 1\n', "t")
    assert gate_digest(same) == gate_digest(Settings())
    assert gate_digest(load_alone(b'[review]\nignore = ["docs"]\n', "t")) != gate_digest(Settings())
