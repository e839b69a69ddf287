"""A reviewer with fresh eyes sees the current code and no word of those who fixed it, wherever it looks."""

from pathlib import Path

from burnish.core.findings import Finding, Location, Severity
from tests.end_to_end.answers import findings
from tests.end_to_end.machine import Machine, says, writes
from tests.end_to_end.plots import content, furnished
from tests.end_to_end.simple import policy

SUMMARY = "moved the check into the parser"
FOUND = findings((Finding(severity=Severity.CRITICAL, title="Wrong", location=Location(file="app.py", line=3)),))
LOOKS = (
    'git log --format=%B head >&2; git log --format=%B "$BURNISH_HEAD" >&2; git reflog >&2\n'
    'test "$(git rev-parse head)" = "$BURNISH_HEAD" || exit 9\n'
    "git diff --stat base...head >&2"
)


def test_the_clone_of_a_later_reviewer_does_not_tell_what_fixers_said(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    script = machine.script(
        {
            "review:1:*": says(FOUND),
            "review:2:*": f"{LOOKS}\ncat >&2\n{says(findings(()))}",
            "fix:*": f"{writes('app.py', content('app.py', 1))}\ngit commit -qam '{SUMMARY}'\necho '{SUMMARY}'",
        }
    )
    furnished(machine, policy(f'["sh", "{script}"]', "epic"))
    view = machine.burnish("fix", "--json").view
    assert view["outcome"] == "approved"
    assert SUMMARY in machine.git("log", "--format=%B", "change")
    (log,) = (machine.state / "runs" / view["run"] / "logs").glob("review-2-*.log")
    seen = log.read_text()
    assert "The change under review" in seen
    assert "app.py" in seen
    assert SUMMARY not in seen
    assert "code review round 1" not in seen
