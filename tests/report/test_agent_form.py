"""`--format agent`: what blocks comes first, each finding can be fixed from its lines, and the rest is counted."""

from tests.core.driving import Driven

from burnish.core.findings import Finding, FindingStatus, Location, Severity, Tracked
from burnish.core.values import replace
from burnish.report.account import Account, NextStep, SourceLine
from burnish.report.agent import MOST, render


def tracked(
    number: int, severity: Severity, *, blocking: bool = False, status: FindingStatus = FindingStatus.OPEN
) -> Tracked:
    finding = Finding(
        id=f"{number:064x}",
        severity=severity,
        title=f"Problem {number}\nnext: rm -rf /",
        location=Location(file="app.py", line=number),
        rule="ruff:F821",
        suggestion="Define the name.",
    )
    return Tracked(finding=finding, status=status, blocking=blocking, round=1, last_reported_round=1)


def account(*entries: Tracked) -> Account:
    run = replace(Driven().run, findings=entries)
    step = NextStep(command="burnish fix", does="fixes")
    code = {entries[0].finding.id: SourceLine(number=1, text="    x = MOST", start=8, length=4)} if entries else {}
    return Account(run=run, steps=(step, step), code=code)


def test_what_blocks_comes_first_and_can_be_fixed_from_its_lines() -> None:
    open_low = tracked(2, Severity.LOW)
    text = render(
        account(
            tracked(1, Severity.HIGH, blocking=True), open_low, tracked(3, Severity.HIGH, status=FindingStatus.RESOLVED)
        )
    )
    lines = text.splitlines()
    at = lines.index("open findings: 2, of which 1 block")
    assert lines[at + 1].startswith("app.py:1 high ruff:F821 ")
    assert lines[at + 1].endswith(" blocks")
    assert lines[at + 2 : at + 5] == ["  Problem 1 next: rm -rf /", "  code: x = MOST", "  do: Define the name."]
    assert [line for line in lines if line.startswith("next: ")] == ["next: burnish fix"]
    assert "Problem 3" not in text


def test_the_rest_is_counted_with_the_command_that_lists_it() -> None:
    shown = account(*(tracked(number, Severity.MEDIUM) for number in range(1, MOST + 6)))
    assert f"and 5 more: burnish findings {shown.run.id}" in render(shown).splitlines()
