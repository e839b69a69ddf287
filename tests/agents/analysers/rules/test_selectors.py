"""What selectors mean."""

import pytest

from burnish.agents.panel.interface import ToolName
from burnish.agents.panel.selectors import plain, selects, weight


@pytest.mark.parametrize(
    ("tool", "selector", "rule", "expected"),
    [
        ("ruff", "S", "S101", True),
        ("ruff", "S", "SIM101", False),
        ("ruff", "S1", "S101", True),
        ("ruff", "S1", "S201", False),
        ("ruff", "S101", "S101", True),
        ("ruff", "F", "FAST001", False),
        ("ruff", "B", "BLE001", False),
        ("ruff", "C", "C901", True),
        ("ruff", "PL", "PLW0129", True),
        ("ruff", "PL", "PT001", False),
        ("ruff", "S", "S", True),
        ("ruff", "S", "S1", True),
        ("ruff", "invalid-syntax", "invalid-syntax", True),
        ("ruff", "I", "invalid-syntax", False),
        ("oxlint", "no-", "no-empty", True),
        ("oxlint", "no-empty", "no-eval", False),
        ("oxlint", "oxc/", "oxc/missing-throw", True),
        ("shellcheck", "SC2", "SC2164", True),
        ("zizmor", "*", "anything", True),
    ],
)
def test_a_selector_means_rules(tool: str, selector: str, rule: str, *, expected: bool) -> None:
    assert selects(ToolName(tool), selector, rule) is expected


def test_the_most_exact_selector_weighs_most() -> None:
    assert weight("*") < weight("S") < weight("S1") < weight("S101")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("eslint(no-empty)", "no-empty"),
        ("eslint/no-empty", "no-empty"),
        ("no-empty", "no-empty"),
        ("oxc(missing-throw)", "oxc/missing-throw"),
        ("@typescript-eslint/no-shadow", "@typescript-eslint/no-shadow"),
        ("S101", "S101"),
    ],
)
def test_a_rule_has_one_name(name: str, expected: str) -> None:
    assert plain(name) == expected
