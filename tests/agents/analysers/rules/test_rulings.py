"""Whose a hit is and how bad, by the data and by the user's settings."""

import pytest

from burnish.agents.panel.interface import Hit
from burnish.agents.panel.rulings import rule_on
from burnish.settings.types import AnalyserSettings
from tests.agents.analysers.rules.making import DEFAULTS, hit, wanting


def _said(one: Hit, settings: AnalyserSettings = DEFAULTS) -> tuple[str, str] | None:
    ruling = rule_on(one, settings)
    return (ruling.check, ruling.severity.value) if ruling else None


@pytest.mark.parametrize(
    ("rule", "role", "severity"),
    [
        ("ruff:invalid-syntax", "bugs", "critical"),
        ("ruff:F821", "bugs", "critical"),
        ("ruff:PLE1142", "bugs", "critical"),
        ("ruff:F632", "bugs", "high"),
        ("ruff:B006", "bugs", "high"),
        ("ruff:F401", "bugs", "medium"),
        ("ruff:B904", "bugs", "low"),
        ("ruff:ASYNC251", "bugs", "high"),
        ("ruff:ASYNC230", "bugs", "low"),
        ("ruff:S307", "security", "critical"),
        ("ruff:S608", "security", "high"),
        ("ruff:S311", "security", "medium"),
        ("ruff:BLE001", "errors", "low"),
        ("ruff:B012", "errors", "high"),
        ("ruff:SIM118", "style", "low"),
        ("ast-grep:js-empty-catch", "errors", "medium"),
        ("ast-grep:js-empty-catch.tsx", "errors", "medium"),
        ("ast-grep:java-empty-catch", "errors", "high"),
        ("ruff:RUF027", "bugs", "medium"),
        ("ruff:DTZ005", "bugs", "medium"),
        ("ruff:PLE0704", "bugs", "medium"),
        ("ruff:B018", "bugs", "medium"),
        ("ruff:S324", "security", "medium"),
        ("oxlint:jest/no-focused-tests", "bugs", "high"),
        ("oxlint:jest/no-disabled-tests", "bugs", "medium"),
        ("ast-grep:js-assignment-in-condition", "bugs", "high"),
        ("ast-grep:js-callback-without-return.ts", "bugs", "high"),
        ("ast-grep:js-empty-catch-explained.ts", "errors", "low"),
        ("oxlint:no-const-assign", "bugs", "high"),
        ("oxlint:oxc/missing-throw", "bugs", "high"),
        ("oxlint:no-eval", "security", "high"),
        ("kingfisher:kingfisher.aws.1", "security", "critical"),
        ("kingfisher:unreadable", "security", "high"),
        ("eslint:semi", "style", "low"),
    ],
)
def test_a_rule_has_a_role_and_a_severity(rule: str, role: str, severity: str) -> None:
    assert _said(hit(rule)) == (role, severity)


@pytest.mark.parametrize(
    ("rule", "level", "expected"),
    [
        ("zizmor:template-injection", "high", ("security", "critical")),
        ("zizmor:template-injection", "low", ("security", "low")),
        ("zizmor:template-injection", "unknown", None),
        ("zizmor:unpinned-uses", "high", ("security", "low")),
        ("zizmor:dangerous-triggers", "high", ("security", "medium")),
        ("shellcheck:SC2068", "error", ("bugs", "medium")),
        ("shellcheck:SC2070", "error", ("bugs", "high")),
        ("shellcheck:SC2115", "warning", ("bugs", "high")),
        ("shellcheck:SC2045", "error", ("bugs", "medium")),
        ("shellcheck:SC2086", "info", ("bugs", "medium")),
        ("shellcheck:SC2168", "error", ("bugs", "medium")),
        ("shellcheck:SC2059", "info", None),
        ("shellcheck:SC1091", "info", None),
        ("shellcheck:SC2164", "warning", ("errors", "medium")),
        ("hadolint:DL3020", "error", ("bugs", "low")),
        ("hadolint:DL3000", "error", ("bugs", "medium")),
        ("hadolint:DL3061", "error", ("bugs", "high")),
        ("hadolint:DL3008", "warning", None),
        ("hadolint:DL3007", "warning", ("bugs", "medium")),
        ("hadolint:DL3006", "warning", ("bugs", "medium")),
        ("hadolint:DL3002", "warning", ("bugs", "medium")),
        ("burnish:moving-action", "", ("security", "medium")),
        ("burnish:write-all", "", ("security", "medium")),
        ("burnish:runs-as-root", "", ("security", "medium")),
    ],
)
def test_the_level_of_the_tool_counts(rule: str, level: str, expected: tuple[str, str] | None) -> None:
    assert _said(hit(rule, level=level)) == expected


@pytest.mark.parametrize(
    ("rule", "file", "severity"),
    [
        ("ruff:S307", "tests/test_app.py", "low"),
        ("ruff:S307", "docs/example.py", "low"),
        ("ruff:F821", "src/app.py", "critical"),
        ("ruff:F821", "tests/test_app.py", "medium"),
        ("ruff:S102", "setup.py", "low"),
        ("ruff:S102", "src/app.py", "critical"),
        ("ruff:F821", "tests/data/broken.py", "low"),
        ("ruff:invalid-syntax", "pkg/testdata/broken.py", "low"),
        ("ruff:B018", "tests/test_app.py", "low"),
        ("ruff:S311", "tests/test_app.py", "low"),
        ("oxlint:jest/no-focused-tests", "src/app.test.ts", "high"),
        ("kingfisher:x", "examples/upload.py", "high"),
        ("kingfisher:x", "src/server_test.go", "high"),
        ("kingfisher:x", "tests/fixtures/a.json", "high"),
        ("kingfisher:x", "README.md", "high"),
        ("kingfisher:betterleaks.private-key", "tests/certs/server.key", "medium"),
        ("kingfisher:betterleaks.private-key", "certs/server.key", "critical"),
        ("burnish:password-in-configuration", "tests/urls.json", "medium"),
        ("kingfisher:betterleaks.hashicorp-tf-password", "tests/shop.tf", "medium"),
        ("kingfisher:betterleaks.hashicorp-tf-password", "shop.tf", "critical"),
        ("ast-grep:js-not-verified.ts", "tests/server.ts", "medium"),
        ("ast-grep:js-not-verified.ts", "src/server.ts", "high"),
        ("ast-grep:go-not-verified", "shop/server_test.go", "medium"),
        ("ast-grep:go-not-verified", "shop/server.go", "high"),
        ("burnish:not-verified", "tests/run.sh", "medium"),
        ("burnish:not-verified", "deploy.sh", "high"),
        ("kingfisher:x", "config/app.yml", "critical"),
    ],
)
def test_what_never_runs_in_production_is_judged_more_mildly(rule: str, file: str, severity: str) -> None:
    ruling = rule_on(hit(rule, file), DEFAULTS)
    assert ruling
    assert ruling.severity.value == severity


def test_a_shell_that_runs_a_fixed_text_is_a_small_matter() -> None:
    fixed = hit("ruff:S602", message="`subprocess` call with `shell=True` seems safe, but may be changed in the future")
    assert _said(fixed) == ("security", "low")
    assert _said(hit("ruff:S602", message="identified, security issue")) == ("security", "critical")


def test_a_variable_that_was_misspelt_is_more_than_one_from_elsewhere() -> None:
    misspelt = hit("shellcheck:SC2154", level="warning", message="nmae is referenced (did you mean 'name'?)")
    assert _said(misspelt) == ("bugs", "medium")
    assert _said(hit("shellcheck:SC2154", level="warning", message="name is referenced")) == ("bugs", "low")


def test_an_import_for_others_is_a_small_matter() -> None:
    others = "`.core.f` imported but unused; consider removing, adding to `__all__`, or using a redundant alias"
    assert _said(hit("ruff:F401", "src/__init__.py", message=others)) == ("bugs", "low")


@pytest.mark.parametrize(
    ("rule", "file", "message", "severity"),
    [
        ("ruff:S103", "a.py", "`os.chmod` setting a permissive mask `0o755` on file or directory", "medium"),
        ("ruff:S103", "a.py", "`os.chmod` setting a permissive mask `0o777` on file or directory", "high"),
        ("ruff:F401", "a.py", "`os` imported but unused", "medium"),
        ("oxlint:no-unused-vars", "a.js", "Identifier 'x' is imported but never used.", "medium"),
        ("oxlint:no-unused-vars", "a.js", "Variable 'x' is declared but never used.", "medium"),
        ("oxlint:no-unused-vars", "a.js", "Parameter 'x' is declared but never used.", "low"),
        ("ruff:T100", "a.py", "Import for `pdb` found", "medium"),
        ("ruff:T100", "a.py", "Trace found: `breakpoint` used", "high"),
        ("ty:not-iterable", "a.py", "Object of type `None` is not iterable", "medium"),
        ("ty:not-iterable", "a.py", "Object of type `int` is not iterable", "medium"),
        ("ty:not-iterable", "a.py", "Object of type `Stream` is not iterable", "medium"),
        ("ty:call-non-callable", "a.py", "Object of type `None` is not callable", "medium"),
        ("ty:call-non-callable", "a.py", "Object of type `str` is not callable", "high"),
        ("ty:invalid-context-manager", "a.py", "… because it does not correctly implement `__exit__`", "medium"),
        ("ty:invalid-context-manager", "a.py", "… because it does not implement `__enter__`", "medium"),
        ("ty:unknown-argument", "a.py", "Argument `a` does not match any known parameter", "medium"),
        ("ty:unknown-argument", "a.py", "Argument `a` does not match any known parameter of function `f`", "high"),
        ("ty:missing-argument", "a.py", "No arguments provided for required parameters 1, 2", "medium"),
        ("ty:unsupported-operator", "a.py", "… objects of type `list[str]` and `str`", "medium"),
        ("ty:unsupported-operator", "a.py", '… objects of type `Literal[1]` and `Literal["a"]`', "high"),
        ("ruff:F821", "a.py", "Undefined name `pgettext`", "medium"),
        ("mypy:import-not-found", "a.py", "Cannot find implementation for module named 'a'", "medium"),
        ("pyright:reportMissingImports", "a.py", "Import 'a' could not be resolved", "medium"),
        ("ruff:F811", "tests/test_a.py", "Redefinition of unused `Cart` from line 1", "medium"),
        ("ruff:F811", "tests/test_a.py", "Redefinition of unused `test_cart` from line 1", "high"),
        ("ruff:F811", "a.py", "Redefinition of unused `cart` from line 1", "high"),
        ("ty:missing-attribute", "a.py", "Module `json` has no member `parse`", "high"),
        ("ty:missing-attribute", "a.py", "Object of type `Order` has no attribute `sum`", "medium"),
        ("oxlint:getter-return", "a.js", "Expected to always return a value in getter", "medium"),
        ("oxlint:no-unsafe-finally", "a.js", "Unsafe `finally` block", "medium"),
        ("oxlint:no-undef", "a.js", "'x' is not defined.", "high"),
        ("oxlint:no-undef", "a.js", "'EVALEX' is not defined.", "medium"),
        ("oxlint:no-undef", "a.ts", "'x' is not defined.", "medium"),
    ],
)
def test_the_message_and_the_kind_of_file_count(rule: str, file: str, message: str, severity: str) -> None:
    ruling = rule_on(hit(rule, file, message=message), DEFAULTS)
    assert ruling
    assert ruling.severity.value == severity


@pytest.mark.parametrize(
    ("rule", "file", "message"),
    [
        ("ruff:F821", "a.py", "Undefined name `get_ipython`"),
        ("ty:call-non-callable", "a.py", "Object of type `object` is not callable"),
        ("ty:too-many-positional-arguments", "a.py", "Too many positional arguments to `type[T]`: expected 0, got 1"),
        ("ty:missing-attribute", "a.py", "Class `Book` has no attribute `objects`"),
        ("mypy:misc", "a.py", 'Class cannot subclass "Client" (has type "Any")'),
        ("oxlint:no-undef", "a.js", "'__DEV__' is not defined."),
        ("oxlint:no-undef", "a.ts", "'__DEV__' is not defined."),
        ("oxlint:jest/valid-expect", "a.test.ts", "Expect takes at most 1 argument"),
        ("oxlint:typescript/ban-ts-comment", "a.ts", "Include a description after the @ts-expect-error directive"),
    ],
)
def test_what_is_left_out_by_its_message_is_not_reported(rule: str, file: str, message: str) -> None:
    assert _said(hit(rule, file, message=message)) is None


def test_the_settings_win_and_the_longest_beginning_counts() -> None:
    settings = wanting(ruff__S="medium", ruff__S3="low", ruff__S324="off")
    assert _said(hit("ruff:S608"), settings) == ("security", "medium")
    assert _said(hit("ruff:S307"), settings) == ("security", "low")
    assert _said(hit("ruff:S324"), settings) is None
    assert _said(hit("ruff:SIM118"), settings) == ("style", "low")


def test_a_severity_of_the_settings_holds_in_tests_too() -> None:
    assert _said(hit("ruff:S307", "tests/test_app.py"), wanting(ruff__S307="high")) == ("security", "high")


def test_a_rule_that_a_role_leaves_out_comes_back_by_its_name_only() -> None:
    # From the project's own configuration, which is the only way that it gets here, it is the style's.
    assert _said(hit("ruff:S101")) == ("style", "low")
    assert _said(hit("ruff:S101"), wanting(ruff__S1="high")) == ("style", "high")
    assert _said(hit("ruff:S101"), wanting(ruff__S101="high")) == ("security", "high")
    assert _said(hit("shellcheck:SC1091", level="info"), wanting(shellcheck__SC="high")) is None
    assert _said(hit("shellcheck:SC1091", level="info"), wanting(shellcheck__SC1091="low")) == ("bugs", "low")


def test_a_level_that_is_not_reported_is_where_the_settings_say_so() -> None:
    assert _said(hit("shellcheck:SC2059", level="info"), wanting(shellcheck__SC2059="low")) == ("bugs", "low")


def test_a_rule_of_no_role_is_the_pedants() -> None:
    assert _said(hit("ruff:D100")) == ("style", "low")
    assert _said(hit("ruff:D100"), wanting(ruff__D="medium")) == ("style", "medium")
    assert _said(hit("oxlint:max-lines"), wanting(oxlint__max="off")) is None
    assert _said(hit("ast-grep:unheard-of")) is None
