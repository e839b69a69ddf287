"""Findings that a person understands."""

import pytest

from burnish.agents.panel.findings import MAX_TITLE, findings_from
from burnish.agents.panel.interface import Hit, Remedy, TextEdit, ToolName
from burnish.core.finding_merging import merge
from burnish.core.findings import Action, Finding, Location, Severity
from burnish.core.values import replace
from tests.agents.analysers.rules.making import DEFAULTS, hit, wanting


def _finding(one: Hit, reviewer: str = "reviewer") -> Finding:
    (finding,) = findings_from(reviewer, [one], DEFAULTS)
    return finding


def test_a_finding_says_what_where_why_and_what_to_do() -> None:
    undefined = Hit(
        tool=ToolName.RUFF, rule="F821", file="src/app.py", line=3, end_line=3, message="Undefined name `total`",
        link="https://docs.example/F821", snippet="return total",
    )  # fmt: skip
    assert _finding(undefined, "bugs") == Finding(
        severity=Severity.CRITICAL,
        category="correctness",
        rule="ruff:F821",
        problem_class="undefined-name",
        location=Location(file="src/app.py", line=3, end_line=3),
        title="Undefined name `total`",
        problem="ruff reports: Undefined name `total`",
        impact="The code raises NameError or UnboundLocalError as soon as this line runs.",
        evidence="return total",
        suggestion="Import or define the name, or correct its spelling. See https://docs.example/F821",
        found_by=("bugs",),
    )


def test_the_remedy_says_best_what_to_do() -> None:
    edit = TextEdit(line=1, column=1, end_line=2, end_column=1, text="")
    unused = replace(hit("ruff:F401"), suggestion="Look at it.")
    assert _finding(hit("ruff:F401")).suggestion == "Remove it, or use it."
    assert _finding(unused).suggestion == "Look at it."
    remedy = Remedy(edits=(edit,), safe=True, title="Remove unused import: `os`")
    assert _finding(replace(unused, remedy=remedy)).suggestion == "Remove unused import: `os`"
    linked = replace(unused, remedy=remedy, link="https://docs.example/F401")
    assert _finding(linked).suggestion == "Remove unused import: `os`. See https://docs.example/F401"


@pytest.mark.parametrize(
    ("rule", "message", "title"),
    [
        ("ruff:F401", "`os` imported but unused", "`os` imported but unused"),
        ("ruff:BLE001", "Do not catch blind exception: `Exception`", "Every exception is caught here"),
        (
            "oxlint:no-unused-vars",
            "Variable 'a.b' is never used. Unused variables should …",
            "Variable `a.b` is never used",
        ),
        ("oxlint:no-const-assign", 'Unexpected re-assignment of "x".', "Unexpected re-assignment of `x`"),
        ("oxlint:no-const-assign", "don't and won't", "Don't and won't"),
        ("zizmor:template-injection", "code injection via template expansion", "Code injection via template expansion"),
        ("shellcheck:SC2164", "Use 'cd ... || exit' in case cd fails.", "Use 'cd ... || exit' in case cd fails"),
        ("ruff:F821", "First line\nsecond line", "First line"),
        ("ruff:F821", "A word " * 40, "A word " * 17 + "…"),
    ],
)
def test_a_title_is_one_short_line(rule: str, message: str, title: str) -> None:
    finding = _finding(hit(rule, message=message, level="high"))
    assert finding.title == title
    assert len(finding.title) <= MAX_TITLE + 2


def test_the_tools_confidence_is_kept() -> None:
    assert _finding(replace(hit("ruff:F821"), confidence="low")).confidence == 0.3
    assert _finding(hit("ruff:F821")).confidence is None


def test_what_is_only_information_asks_for_no_fix() -> None:
    (note,) = findings_from("reviewer", [hit("ruff:F821")], wanting(ruff__F="info"))
    assert (note.severity, note.action) == (Severity.INFO, Action.NOTE)


def test_only_what_is_the_reviewers_own_is_reported() -> None:
    hits = [hit("ruff:F821"), hit("ruff:S307"), hit("ruff:S324")]
    assert [one.rule for one in findings_from("security", hits, wanting(ruff__S324="off"))] == ["ruff:S307"]


def test_several_rules_for_one_swallowed_error_become_one_finding() -> None:
    swallowed = replace(hit("ast-grep:py-broad-handler-does-nothing", line=6), end_line=7)
    hits = [hit("ruff:BLE001", line=6), hit("ruff:E722", line=6), swallowed, hit("ruff:F821", line=6)]
    one, other = merge(findings_from("reviewer", hits, DEFAULTS))
    assert one.rule == "ruff:F821"
    assert set(other.rule.split(", ")) == {"ruff:BLE001", "ruff:E722", "ast-grep:py-broad-handler-does-nothing"}
    assert other.severity is Severity.HIGH


def test_secrets_of_all_kinds_are_of_one_kind() -> None:
    kinds = ("github-pat", "gitlab-pat", "gitlab-rrt", "openai-api-key", "stripe-access-token")
    hits = [hit(f"kingfisher:betterleaks.{kind}", line=line) for line, kind in enumerate(kinds, start=1)]
    (found,) = findings_from("security", hits, DEFAULTS)
    assert [one.line for one in found.also_at] == [2, 3, 4, 5]
    assert len(findings_from("security", hits[1:], DEFAULTS)) == 4


def test_code_that_does_not_compile_is_one_problem() -> None:
    errors = [hit(f"cargo:E{number:04}", file=f"src/{number}.rs", level="error") for number in range(10)]
    (found,) = findings_from("bugs", errors, DEFAULTS)
    assert len(found.also_at) == 9
    others = [hit(f"cargo:{name}", file=f"src/{name}.rs", level="error") for name in ("eq_op", "E0382", "syntax")]
    assert len(findings_from("bugs", others, DEFAULTS)) == 3


def test_secrets_in_one_archive_are_one_finding() -> None:
    inside = [replace(hit("kingfisher:betterleaks.jwt", file="a.zip"), line=None, message=text) for text in "ab"]
    (found,) = findings_from("security", inside, DEFAULTS)
    assert "and 1 more" in found.title
    assert len(findings_from("security", [replace(one, line=1) for one in inside], DEFAULTS)) == 2


def test_a_name_that_is_missing_is_one_finding_for_a_file() -> None:
    names = [hit("ruff:F821", line=line, message=f"Undefined name `{name}`") for line, name in enumerate("aabac", 1)]
    found = findings_from("bugs", [*names[:4], replace(names[0], file="b.py")], DEFAULTS)
    places = [[other.line for other in one.also_at] for one in found]
    assert places == [[2, 4], [], []]


@pytest.mark.parametrize(
    ("rule", "files", "each", "findings"),
    [
        ("ruff:B006", 1, 4, 4),
        ("ruff:B006", 1, 5, 1),
        ("ruff:B006", 9, 1, 9),
        ("ruff:B006", 10, 1, 1),
        ("ruff:B006", 2, 4, 8),
        ("ruff:F821", 1, 2, 1),
        ("ruff:F821", 19, 1, 19),
        ("ruff:F821", 20, 1, 1),
        ("ruff:invalid-syntax", 19, 2, 19),
        ("ruff:invalid-syntax", 30, 2, 1),
        ("burnish:invalid-data", 9, 2, 9),
        ("burnish:invalid-data", 10, 1, 1),
    ],
)
def test_many_of_one_rule_are_one_finding_with_all_places(rule: str, files: int, each: int, findings: int) -> None:
    hits = [hit(rule, file=f"{number}.py", line=line) for number in range(files) for line in range(1, each + 1)]
    found = findings_from("bugs", hits, DEFAULTS)
    assert len(found) == findings
    assert sum(1 + len(one.also_at) for one in found) == files * each
    assert all(("more of the same kind" in one.title) is bool(one.also_at) for one in found)
