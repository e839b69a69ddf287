"""The open findings of a run, as text: one mistake that makes many tests fail is told once."""

from tests.core.driving import Driven

from burnish.core.findings import Finding, FindingStatus, Location, Severity, Tracked
from burnish.core.values import replace
from burnish.report.account import Account
from burnish.report.text import open_findings


def failing(number: int, says: str) -> Finding:
    return Finding(
        id=f"{number:064x}",
        severity=Severity.CRITICAL,
        title=f"`test_{number}` fails",
        location=Location(file="test_app.py", line=number),
        rule=f"test:test_{number}",
        impact=says,
    )


def lines_of(*findings: Finding) -> list[str]:
    entries = [
        Tracked(finding=one, status=FindingStatus.OPEN, blocking=True, round=1, last_reported_round=1)
        for one in findings
    ]
    account = Account(run=replace(Driven().run, findings=tuple(entries)), steps=(), code={})
    return ["".join(str(getattr(part, "text", part)) for part in line).strip() for line in open_findings(account)]


def test_what_tests_say_is_told_once_and_each_of_them_is_named() -> None:
    lines = lines_of(*(failing(number, "The test says: NameError") for number in range(1, 5)))
    assert [line for line in lines if "NameError" in line] == ["The test says: NameError"]
    assert sum("` fails" in line for line in lines) == 4


def test_of_many_failing_tests_only_the_first_ones_are_told_in_full() -> None:
    lines = lines_of(*(failing(number, f"The test says: {number} == 0") for number in range(1, 9)))
    assert [line for line in lines if "The test says" in line] == [f"The test says: {n} == 0" for n in range(1, 6)]
    assert sum("` fails" in line for line in lines) == 8


def test_what_has_no_place_comes_after_what_has_one() -> None:
    further = replace(failing(9, ""), title="25 more tests fail", location=None, rule="tests:further-failures")
    lines = lines_of(further, failing(1, "The test says: NameError"))
    assert [line for line in lines if "fail" in line][-1].startswith("critical 25 more tests fail")
