"""The table of kinds that settings can name."""

from importlib.util import find_spec

from burnish.settings.agent_kinds import MODULES, AgentKind


def test_every_kind_has_a_module() -> None:
    assert list(MODULES) == [kind.value for kind in AgentKind]
    assert [module for module in MODULES.values() if find_spec(module) is None] == []
