"""Code that has long run is judged by what was measured about such code."""

import pytest

from burnish.agents.panel.interface import Hidden, ToolName
from burnish.agents.panel.rulebook import claims, standing
from burnish.agents.panel.rulings import rule_on
from burnish.agents.panel.standing import in_imported_code, in_standing_code
from burnish.core.values import replace
from burnish.settings.types import AnalyserSettings
from tests.agents.analysers.rules.making import DEFAULTS, hit, wanting


def _lines(path: str) -> list[str]:
    return ["print 'of another Python'"] if path == "two.py" else []


def _severity(rule: str, hidden: Hidden = Hidden.NOT, settings: AnalyserSettings = DEFAULTS) -> str:
    (one,) = in_standing_code([replace(hit(rule), hidden=hidden)], _lines)
    ruling = rule_on(one, settings)
    return ruling.severity.value if ruling else ""


@pytest.mark.parametrize(
    ("rule", "severity"),
    [
        ("ruff:F811", "high"),
        ("ruff:F821", "critical"),
        ("ast-grep:py-dict-changed", "high"),
        ("oxlint:oxc(const-comparisons)", "high"),
        ("ruff:S307", "medium"),  # a third of its findings were wrong
        ("ruff:B039", "medium"),  # hardly any of its findings was serious
        ("ast-grep:js-sql-from-text.ts", "medium"),
        ("burnish:missing-module", "medium"),
        ("ruff:F632", "medium"),  # too few findings to know
        ("ruff:F401", "medium"),
        ("ruff:SIM118", "low"),
    ],
)
def test_only_what_proved_right_about_such_code_blocks(rule: str, severity: str) -> None:
    assert _severity(rule) == severity


@pytest.mark.parametrize("hidden", [Hidden.NAMED, Hidden.BLANKET, Hidden.BEFORE])
def test_a_comment_that_silences_a_tool_is_the_projects_decision(hidden: Hidden) -> None:
    assert _severity("ruff:F811", hidden) == ""
    assert _severity("ruff:F821", hidden) == "medium"  # in a change no comment makes it milder
    assert _severity("kingfisher:kingfisher.aws.1", hidden) == "medium"  # a secret is one whatever a comment says


def test_what_is_said_of_a_file_that_cannot_be_parsed_is_a_guess() -> None:
    found = [hit("ruff:F811", "a.py"), hit("ruff:invalid-syntax", "a.py"), hit("ruff:F811", "b.py")]
    hits = in_standing_code([*found, hit("ruff:F811", "two.py"), hit("oxlint:oxc(const-comparisons)", "a.js")], _lines)
    severities = [(one.file, ruling.severity.value) for one in hits if (ruling := rule_on(one, DEFAULTS))]
    expected = [("a.py", "medium"), ("a.py", "medium"), ("b.py", "high"), ("two.py", "medium"), ("a.js", "high")]
    assert severities == expected


@pytest.mark.parametrize("names", [9, 10])
def test_so_many_names_are_given_by_what_a_tool_cannot_see(names: int) -> None:
    unknown = [replace(hit("ruff:F821", "a.py"), line=line) for line in range(1, names + 1)]
    (severity,) = {
        ruling.severity.value for one in in_standing_code(unknown, _lines) if (ruling := rule_on(one, DEFAULTS))
    }
    assert severity == ("medium" if names == 10 else "critical")


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        ("run(name)  # pylint: disable=undefined-variable", "medium"),
        ("run(name)  # noqa", "medium"),
        ("run(name)  # what pylint says", "critical"),
    ],
)
def test_somebody_has_looked_at_a_line_that_silences_another_tool(line: str, severity: str) -> None:
    (one,) = in_standing_code([hit("ruff:F821", "a.py")], lambda _: [line])
    ruling = rule_on(one, DEFAULTS)
    assert ruling is not None
    assert ruling.severity.value == severity


def test_a_submodule_is_not_examined_and_no_finding() -> None:
    assert in_standing_code([hit("burnish:submodule")], _lines) == ()
    assert len(in_imported_code([hit("burnish:submodule")], _lines)) == 1


@pytest.mark.parametrize(
    ("rule", "hidden", "severity"),
    [
        ("ruff:F821", Hidden.NOT, "critical"),
        ("ruff:F821", Hidden.NAMED, "critical"),
        ("ruff:F811", Hidden.BLANKET, "high"),
        ("ruff:F811", Hidden.NAMED, "low"),
        ("ruff:S307", Hidden.NOT, "medium"),
        ("kingfisher:kingfisher.aws.1", Hidden.BLANKET, "medium"),
    ],
)
def test_a_comment_counts_as_in_any_change_in_a_program_that_one_adds(rule: str, hidden: Hidden, severity: str) -> None:
    (one,) = in_imported_code([replace(hit(rule), hidden=hidden)], _lines)
    ruling = rule_on(one, DEFAULTS)
    assert ruling is not None
    assert ruling.severity.value == severity


def test_the_user_decides_all_the_same() -> None:
    assert _severity("ruff:S307", settings=wanting(ruff__S307="critical")) == "critical"


def test_what_was_measured_are_rules_that_a_check_looks_for() -> None:
    measured = [(tool, rule) for tool, rules in standing().items() for rule in rules]
    unknown = [f"{tool}:{rule}" for tool, rule in measured if not claims(ToolName(tool), rule)]
    assert len(measured) > 50
    assert unknown == []
