"""Who plays which role: the order of choices, fallbacks, flags, and choices that cannot work."""

import pytest
from inline_snapshot import snapshot
from tests.settings.conftest import Load, wrapped

from burnish.core.errors import ErrorKind
from burnish.core.events import Roles
from burnish.core.reviews import ContractName
from burnish.core.values import replace
from burnish.core.work import Assignment
from burnish.protocols.loader import load
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.documents import DocumentError
from burnish.settings.roles import resolve, role_notices, with_fixers
from burnish.settings.types import AgentSettings, Complexity, RoleChoice, RoleSettings, Settings

DEFAULT = load("default").protocol
PANEL = load("panel").protocol
EPIC = load("epic").protocol

CHOICES = """
[agents]
a = { kind = "command", command = ["a"] }
b = { kind = "command", command = ["b"] }
c = { kind = "command", command = ["c"] }
d = { kind = "command", command = ["d"] }

[roles]
default = { agent = "a", fallback = "b" }
review = "c"

[roles.reviewers]
critic = { agent = "d", fallback = false }
witness = { fallback = "d" }

[roles.complexity.high]
review = { agent = "b" }
pedant = "d"
fix = { agent = "c", fallback = "none" }

[roles.complexity.low]
fix = { fallback = "d" }
"""


@pytest.fixture
def choices(merged: Load) -> Settings:
    return merged(CHOICES).settings


def shown(roles: Roles) -> str:
    everybody = {"review": roles.review, "fix": roles.fix, **roles.reviewers}
    if roles.build is not None:
        everybody["build"] = roles.build
    return "\n".join(f"{name}: {one.agent}, then {one.fallback}" for name, one in everybody.items())


def told(settings: Settings, *flags: str, protocol: str = "default") -> str:
    with pytest.raises(DocumentError) as caught:
        resolve(settings, load(protocol).protocol, flags=flags)
    assert caught.value.kind is ErrorKind.CONFIGURATION
    return wrapped([problem.text for problem in caught.value.problems])


def test_without_configuration_the_analysers_review_and_fix() -> None:
    analysers = Assignment(agent="analysers")
    assert resolve(Settings(), PANEL) == Roles(review=analysers, fix=analysers)
    roles = resolve(Settings(), DEFAULT)
    assert {roles.reviewer(seat.name) for seat in roles.panel(DEFAULT)} == {analysers}
    assert seats(roles) == ["bugs", "style", "tests", "security", "errors"]


def seats(roles: Roles) -> list[str]:
    return [seat.name for seat in roles.panel(DEFAULT)]


def test_an_agent_for_review_is_one_more_reviewer_beside_the_checks(choices: Settings) -> None:
    roles = resolve(choices, DEFAULT)
    assert seats(roles) == ["bugs", "style", "tests", "security", "errors", "reviewer"]
    assert {roles.reviewer(name).agent for name in seats(roles)[:5]} == {"analysers"}
    assert roles.reviewer("reviewer") == Assignment(agent="c", fallback="b")
    assert resolve(Settings(agents=choices.agents), DEFAULT, flags=("d",)).reviewer("reviewer").agent == "d"
    assert seats(resolve(choices, DEFAULT, flags=("review=analysers",)))[-1] == "errors"


def test_an_agent_for_a_check_reviews_beside_it(choices: Settings) -> None:
    alone = Settings(agents=choices.agents)
    for roles in (
        resolve(alone, DEFAULT, flags=("tests=d",)),
        resolve(replace(alone, roles=RoleSettings(reviewers={"tests": RoleChoice(agent="d")})), DEFAULT),
    ):
        assert seats(roles) == ["bugs", "style", "tests", "tests-reviewer", "security", "errors"]
        assert (roles.reviewer("tests").agent, roles.reviewer("tests-reviewer").agent) == ("analysers", "d")
        assert [seat.scratch for seat in roles.panel(DEFAULT)][2:4] == [True, True]


def test_reviewer_before_role_before_default(choices: Settings) -> None:
    assert shown(resolve(choices, PANEL)) == snapshot("""\
review: c, then b
fix: a, then b
critic: d, then None
witness: c, then d
build: a, then b\
""")


def test_complexity_before_everything_in_the_files(choices: Settings) -> None:
    assert shown(resolve(choices, PANEL, complexity=Complexity.HIGH)) == snapshot("""\
review: b, then None
fix: c, then None
pedant: d, then b
witness: b, then d
build: a, then b\
""")
    assert shown(resolve(choices, PANEL, complexity=Complexity.LOW)) == snapshot("""\
review: c, then b
fix: a, then d
critic: d, then None
witness: c, then d
build: a, then b\
""")
    assert resolve(choices, PANEL, complexity=Complexity.MEDIUM) == resolve(choices, PANEL)


def test_flags_before_everything(choices: Settings) -> None:
    flags = ("a", "fix=b", "critic=c")
    assert shown(resolve(choices, PANEL, flags=flags, complexity=Complexity.HIGH)) == snapshot("""\
review: a, then b
fix: b, then None
critic: c, then None
witness: a, then d
build: a, then b\
""")
    assert shown(resolve(choices, PANEL, flags=("review=d",))) == snapshot("""\
review: d, then b
fix: a, then b
critic: d, then None
witness: d, then None
build: a, then b\
""")


def test_a_named_agent_needs_no_configuration_where_its_kind_needs_none() -> None:
    assert resolve(Settings(), DEFAULT, flags=("analysers",)).build == Assignment(agent="analysers")


def test_flags_that_cannot_be_read() -> None:
    assert told(Settings(), "=a") == snapshot(
        "--agent =a names no agent. Hint: Use --agent NAME or --agent ROLE=NAME.\n"
    )
    assert told(Settings(), "fix=") == snapshot(
        "--agent fix= names no agent. Hint: Use --agent NAME or --agent ROLE=NAME.\n"
    )
    assert told(Settings(), "fxi=analysers") == snapshot(
        "--agent fxi=analysers names an unknown role: 'fxi'. Hint: Did you mean 'fix'?\n"
    )
    assert told(Settings(), "analysers", "claude") == snapshot(
        "--agent claude contradicts another --agent. Hint: Use one agent for each role.\n"
    )
    assert told(Settings(), "fix=analysers", "fix=claude") == snapshot(
        "--agent fix=claude contradicts another --agent. Hint: Use one agent for each role.\n"
    )


def test_agents_that_nobody_knows(choices: Settings) -> None:
    assert told(choices, "fix=zzz", "review=claude") == snapshot("""\
roles.fix: there is no agent 'zzz'. Hint: Add a table [agents.zzz]. Known agents: 'a', 'b', 'c',
    'd', 'analysers', 'claude', 'codex', 'gemini', 'opencode'.
""")


def test_a_contract_that_the_gate_cannot_take() -> None:
    agent = AgentSettings(kind=AgentKind.COMMAND, command=("a",), contract=ContractName.SARIF)
    settings = Settings(agents={"a": agent}, roles=RoleSettings(review=RoleChoice(agent="a")))
    assert resolve(settings, EPIC).review.agent == "a"
    assert told(settings, protocol="ticket") == snapshot("""\
roles.review: agent 'a' answers as 'sarif', which the gate of 'ticket' cannot judge. Hint: Remove
    its contract; then it answers as 'report'.
""")


def test_a_fixer_may_have_any_contract() -> None:
    reviewer = AgentSettings(kind=AgentKind.COMMAND, command=("a",))
    fixer = replace(reviewer, contract=ContractName.SARIF)
    roles = RoleSettings(fix=RoleChoice(agent="fixer"), reviewers={"code-review": RoleChoice(agent="reviewer")})
    settings = Settings(agents={"reviewer": reviewer, "fixer": fixer}, roles=roles)
    assert resolve(settings, load("ticket").protocol).fix.agent == "fixer"


def test_the_analysers_give_no_scores_and_are_no_session() -> None:
    assert told(Settings(), protocol="ticket") == snapshot("""\
roles.review: the embedded analysers give no scores, which the gate of 'ticket' needs. Hint: Choose
    an agent that can, with --agent NAME or in [roles], or choose another protocol.
""")
    assert told(Settings(), protocol="story") == snapshot("""\
roles.review: the embedded analysers cannot be the session that 'story' needs. Hint: Choose an agent
    that can, with --agent NAME or in [roles], or choose another protocol.
""")


def test_an_agent_that_follows_itself() -> None:
    choice = RoleChoice(agent="analysers", fallback="analysers")
    assert told(Settings(roles=RoleSettings(fix=choice))) == snapshot("""\
roles.fix.fallback: 'analysers' cannot be its own fallback. Hint: Choose another agent, or set
    fallback = false.
""")


def test_fixers_by_round(choices: Settings) -> None:
    settings = replace(choices, roles=replace(choices.roles, by_round=("a", "b")))
    assert with_fixers(settings, EPIC).fix.by_round == ("a", "b")
    assert with_fixers(settings, EPIC, ["review=c"]).fix.by_round == ("a", "b")
    assert with_fixers(settings, EPIC, ["fix=c"]).fix.by_round == ()
    assert with_fixers(settings, EPIC, ["c"]).fix.by_round == ()
    assert with_fixers(choices, EPIC) is EPIC


def test_fixers_by_round_must_exist(choices: Settings) -> None:
    protocol = replace(EPIC, fix=replace(EPIC.fix, by_round=("nobody",)))
    with pytest.raises(DocumentError) as caught:
        resolve(choices, protocol)
    assert [problem.key for problem in caught.value.problems] == ["fix.by_round"]


def test_choices_without_effect_are_told(choices: Settings) -> None:
    assert role_notices(choices, PANEL) == ()
    assert wrapped(role_notices(choices, EPIC)) == snapshot("""\
[roles] names 'critic', which is not on the panel of 'epic': reviewer.
[roles] names 'witness', which is not on the panel of 'epic': reviewer.
[roles] names 'pedant', which is not on the panel of 'epic': reviewer.
""")
    unused = Settings(agents={"a": AgentSettings(kind=AgentKind.COMMAND, command=("a",))})
    assert wrapped(role_notices(unused, EPIC)) == snapshot(
        "The agent 'a' has no role: set one in [roles] or with --agent.\n"
    )
