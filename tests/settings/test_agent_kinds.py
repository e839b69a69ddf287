"""The kinds that settings can name."""

from importlib.util import find_spec

from burnish.settings.agent_kinds import AgentKind


def test_every_kind_has_a_module() -> None:
    assert [kind for kind in AgentKind if find_spec(f"burnish.agents.{kind.value}") is None] == []
