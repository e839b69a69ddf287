"""A reviewer with fresh eyes sees the current code and no word of those who fixed it, wherever it looks."""

import pytest

from burnish.core.events import ProcessStarted, Reviewed, decode
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


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Machine, str]:
    """A run in which one finding was fixed, and the second reviewer looked at everything it could see."""
    machine = Machine(tmp_path_factory.mktemp("fresh-eyes"))
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
    return machine, view["run"]


def test_the_clone_of_a_later_reviewer_does_not_tell_what_fixers_said(ended: tuple[Machine, str]) -> None:
    machine, run = ended
    assert SUMMARY in machine.git("log", "--format=%B", "change")
    (log,) = (machine.state / "runs" / run / "logs").glob("review-2-*.log")
    seen = log.read_text()
    assert "The change under review" in seen
    assert "app.py" in seen
    assert SUMMARY not in seen
    assert "code review round 1" not in seen


def test_the_fixer_starts_within_five_seconds_of_the_review(ended: tuple[Machine, str]) -> None:
    machine, run = ended
    with machine.ledger() as ledger:
        events = [decode(event.body) for event in ledger.read(f"run/{run}")]
    reviewed = next(event.at for event in events if isinstance(event, Reviewed))
    started = [event.at for event in events if isinstance(event, ProcessStarted) and event.effect.startswith("fix:")]
    assert started[0] - reviewed < 5
