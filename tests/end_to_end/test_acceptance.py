"""A ticket that is not complete by its own words goes back before anybody reviews it."""

from pathlib import Path

import pytest

from burnish.core.events import Fixed, Reviewed, Validated, ValidationStatus
from burnish.core.protocol import STANDARD_DIMENSIONS
from burnish.core.reviews import DimensionScore, ScoreCard
from tests.end_to_end.answers import report
from tests.end_to_end.machine import Machine, says
from tests.end_to_end.playing import real_events
from tests.end_to_end.plots import furnished
from tests.end_to_end.simple import FIX, policy

GOOD = ScoreCard(
    dimensions=tuple(DimensionScore(name=one.name, score=95, weight=one.weight) for one in STANDARD_DIMENSIONS),
    claimed_pass=True,
)
TICKET = "# Log in\n\n## Acceptance Criteria\n\n- [{0}] It asks for a name\n- [{1}] It refuses an empty name\n"


def machine_with(folder: Path, boxes: str, fix: str = "echo nothing") -> Machine:
    machine = Machine(folder)
    # The reviewer is told how often the ticket was revised; a repair of the validation is no revision.
    script = machine.script({"review:*": says(report(GOOD, (), 0)), "fix:*": fix})
    furnished(machine, policy(f'["sh", "{script}"]', "ticket"))
    (folder / "ticket.md").write_text(TICKET.format(*boxes))
    return machine


def statuses(machine: Machine, run: str) -> list[ValidationStatus]:
    return [event.status for event in real_events(machine, run) if isinstance(event, Validated)]


@pytest.mark.parametrize("boxes", ["  ", "xx"], ids=["no box is ticked", "all are"])
def test_a_ticket_that_says_nothing_against_itself_is_reviewed(tmp_path: Path, boxes: str) -> None:
    machine = machine_with(tmp_path, boxes)
    done = machine.burnish("review", "--brief", str(tmp_path / "ticket.md"), "--json")
    assert done.view["outcome"] == "approved", done.view["reason"]


def test_a_ticket_with_an_empty_box_among_ticked_ones_is_not_reviewed(tmp_path: Path) -> None:
    machine = machine_with(tmp_path, "x ")
    done = machine.burnish("review", "--brief", str(tmp_path / "ticket.md"), "--json")
    assert (done.code, done.view["outcome"]) == (1, "failed")
    events = real_events(machine, done.view["run"])
    assert not any(isinstance(event, Reviewed) for event in events)
    [validated] = [event for event in events if isinstance(event, Validated)]
    assert "- 2: It refuses an empty name" in validated.output
    assert "It asks for a name" not in validated.output


def test_the_fixer_meets_what_is_missing_and_says_so(tmp_path: Path) -> None:
    machine = machine_with(tmp_path, "x ", f"{FIX}\necho '- 2: met - by a check'")
    done = machine.burnish("fix", "--brief", str(tmp_path / "ticket.md"), "--json")
    assert done.view["outcome"] == "approved", done.view["reason"]
    run = done.view["run"]
    assert statuses(machine, run)[:2] == [ValidationStatus.FAILED, ValidationStatus.SKIPPED]
    kinds = [type(event) for event in real_events(machine, run) if isinstance(event, Fixed | Reviewed)]
    assert kinds == [Fixed, Reviewed]
