"""Whose a hit is and how bad, by the data and by the user's settings."""

import pytest

from burnish.agents.panel.interface import Hit
from burnish.agents.panel.rulings import rule_on
from burnish.settings.types import AnalyserSettings
from tests.agents.analysers.rules.making import DEFAULTS, hit, wanting


def _said(one: Hit, settings: AnalyserSettings = DEFAULTS) -> tuple[str, str] | None:
    ruling = rule_on(one, settings)
    return (ruling.role, ruling.severity.value) if ruling else None


@pytest.mark.parametrize(
    ("rule", "role", "severity"),
    [
        ("ruff:invalid-syntax", "critic", "critical"),
        ("ruff:F821", "critic", "critical"),
        ("ruff:PLE1142", "critic", "critical"),
        ("ruff:F632", "critic", "high"),
        ("ruff:B006", "critic", "high"),
        ("ruff:F401", "critic", "medium"),
        ("ruff:B904", "critic", "low"),
        ("ruff:ASYNC251", "critic", "high"),
        ("ruff:ASYNC230", "critic", "low"),
        ("ruff:S307", "security-reviewer", "critical"),
        ("ruff:S608", "security-reviewer", "high"),
        ("ruff:S311", "security-reviewer", "low"),
        ("ruff:BLE001", "silent-failure-hunter", "low"),
        ("ruff:B012", "silent-failure-hunter", "high"),
        ("ruff:SIM118", "pedant", "low"),
        ("ast-grep:js-empty-catch", "silent-failure-hunter", "high"),
        ("ast-grep:js-empty-catch.tsx", "silent-failure-hunter", "high"),
        ("ast-grep:js-empty-catch-explained.ts", "silent-failure-hunter", "low"),
        ("oxlint:no-const-assign", "critic", "high"),
        ("oxlint:oxc/missing-throw", "critic", "high"),
        ("oxlint:no-eval", "security-reviewer", "high"),
        ("kingfisher:kingfisher.aws.1", "security-reviewer", "critical"),
        ("kingfisher:unreadable", "security-reviewer", "high"),
        ("eslint:semi", "pedant", "low"),
    ],
)
def test_a_rule_has_a_role_and_a_severity(rule: str, role: str, severity: str) -> None:
    assert _said(hit(rule)) == (role, severity)


@pytest.mark.parametrize(
    ("rule", "level", "expected"),
    [
        ("zizmor:template-injection", "high", ("security-reviewer", "critical")),
        ("zizmor:template-injection", "low", ("security-reviewer", "low")),
        ("zizmor:template-injection", "unknown", None),
        ("zizmor:unpinned-uses", "high", ("security-reviewer", "low")),
        ("shellcheck:SC2068", "error", ("critic", "high")),
        ("shellcheck:SC2115", "warning", ("critic", "high")),
        ("shellcheck:SC2045", "error", ("critic", "medium")),
        ("shellcheck:SC2086", "info", None),
        ("shellcheck:SC1091", "info", None),
        ("shellcheck:SC2164", "warning", ("silent-failure-hunter", "medium")),
        ("hadolint:DL3020", "error", ("critic", "high")),
        ("hadolint:DL3008", "warning", None),
    ],
)
def test_the_level_of_the_tool_counts(rule: str, level: str, expected: tuple[str, str] | None) -> None:
    assert _said(hit(rule, level=level)) == expected


@pytest.mark.parametrize(
    ("rule", "file", "severity"),
    [
        ("ruff:S307", "tests/test_app.py", "low"),
        ("ruff:S307", "docs/example.py", "low"),
        ("ruff:F821", "tests/test_app.py", "critical"),
        ("ruff:F821", "tests/data/broken.py", "low"),
        ("ruff:invalid-syntax", "pkg/testdata/broken.py", "low"),
        ("ruff:B018", "tests/test_app.py", "low"),
        ("ruff:S311", "tests/test_app.py", "low"),
        ("kingfisher:x", "src/server_test.go", "high"),
        ("kingfisher:x", "tests/fixtures/a.json", "high"),
        ("kingfisher:x", "README.md", "high"),
        ("kingfisher:x", "config/app.yml", "critical"),
    ],
)
def test_what_never_runs_in_production_is_judged_more_mildly(rule: str, file: str, severity: str) -> None:
    ruling = rule_on(hit(rule, file), DEFAULTS)
    assert ruling
    assert ruling.severity.value == severity


def test_a_shell_that_runs_a_fixed_text_is_a_small_matter() -> None:
    fixed = hit("ruff:S602", message="`subprocess` call with `shell=True` seems safe, but may be changed in the future")
    assert _said(fixed) == ("security-reviewer", "low")
    assert _said(hit("ruff:S602", message="identified, security issue")) == ("security-reviewer", "critical")


def test_an_import_for_others_is_a_small_matter() -> None:
    others = "`.core.f` imported but unused; consider removing, adding to `__all__`, or using a redundant alias"
    assert _said(hit("ruff:F401", "src/__init__.py", message=others)) == ("critic", "low")


def test_the_settings_win_and_the_longest_beginning_counts() -> None:
    settings = wanting(ruff__S="medium", ruff__S3="low", ruff__S324="off")
    assert _said(hit("ruff:S608"), settings) == ("security-reviewer", "medium")
    assert _said(hit("ruff:S307"), settings) == ("security-reviewer", "low")
    assert _said(hit("ruff:S324"), settings) is None
    assert _said(hit("ruff:SIM118"), settings) == ("pedant", "low")


def test_a_severity_of_the_settings_holds_in_tests_too() -> None:
    assert _said(hit("ruff:S307", "tests/test_app.py"), wanting(ruff__S307="high")) == ("security-reviewer", "high")


def test_a_rule_that_a_role_leaves_out_comes_back_by_its_name_only() -> None:
    # From the project's own configuration, which is the only way that it gets here, it is the pedant's.
    assert _said(hit("ruff:S101")) == ("pedant", "low")
    assert _said(hit("ruff:S101"), wanting(ruff__S1="high")) == ("pedant", "high")
    assert _said(hit("ruff:S101"), wanting(ruff__S101="high")) == ("security-reviewer", "high")
    assert _said(hit("shellcheck:SC1091", level="info"), wanting(shellcheck__SC="high")) is None
    assert _said(hit("shellcheck:SC1091", level="info"), wanting(shellcheck__SC1091="low")) == ("critic", "low")


def test_a_level_that_is_not_reported_is_where_the_settings_say_so() -> None:
    assert _said(hit("shellcheck:SC2086", level="info"), wanting(shellcheck__SC2086="low")) == ("critic", "low")


def test_a_rule_of_no_role_is_the_pedants() -> None:
    assert _said(hit("ruff:D100")) == ("pedant", "low")
    assert _said(hit("ruff:D100"), wanting(ruff__D="medium")) == ("pedant", "medium")
    assert _said(hit("oxlint:max-lines"), wanting(oxlint__max="off")) is None
    assert _said(hit("ast-grep:unheard-of")) is None
