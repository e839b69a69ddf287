"""A floor for coverage: held against what the project's own commands measured, and not reached without a measure."""

from pathlib import Path

import pytest

from burnish.core.events import AnyEvent, Validated, ValidationStatus
from tests.end_to_end.machine import Machine
from tests.end_to_end.playing import real_events
from tests.end_to_end.simple import CLEAN, FIX, drift_machine
from tests.end_to_end.world import Before, check_nothing_left

FLOOR = "coverage_floor = 80\n"


def measured(folder: Path, *commands: str, floor: str = FLOOR) -> Machine:
    """A machine whose checks do this in turn."""
    conduct = {f"validate:{number}:1": lines for number, lines in enumerate(commands, start=1)}
    machine = drift_machine(folder, {**CLEAN, "fix:*": FIX, **conduct})
    place = folder / "settings" / "burnish"
    place.mkdir()
    script = machine.agents / "agent.sh"
    (place / "config.toml").write_text(f'[validate]\ntests = ["sh", "{script}"]\n{floor}')
    return machine


def report(percent: float) -> str:
    return f"""echo '{{"totals": {{"percent_covered": {percent}}}}}' > coverage.json"""


def validations(machine: Machine, run: str) -> list[Validated]:
    events: list[AnyEvent] = real_events(machine, run)
    return [event for event in events if isinstance(event, Validated)]


def test_coverage_below_the_floor_fails_and_the_fixer_is_told(tmp_path: Path) -> None:
    machine = measured(tmp_path, f"{report(72.5)}\necho 3 passed", report(80))
    before = Before.of(machine)
    done = machine.burnish("fix", "--json")
    assert (done.code, done.view["outcome"]) == (0, "approved")
    first, second = validations(machine, done.view["run"])
    assert first.status is ValidationStatus.FAILED
    assert first.output.endswith("Coverage: 72.50 % (coverage.json), below the floor of 80 %.")
    assert "3 passed" in first.output
    assert second.status is ValidationStatus.PASSED
    assert second.output.endswith("Coverage: 80.00 % (coverage.json), not below the floor of 80 %.")
    assert "fix:1:1" in machine.calls(done.view["run"])
    check_nothing_left(machine, before, done.view["run"])


@pytest.mark.prove
def test_the_lowest_of_several_reports_counts(tmp_path: Path) -> None:
    machine = measured(tmp_path, f"{report(99)}\nprintf 'LF:10\\nLH:7\\n' > lcov.info", report(99))
    done = machine.burnish("fix", "--json")
    first, _ = validations(machine, done.view["run"])
    assert first.output.endswith("Coverage: 70.00 % (lcov.info), below the floor of 80 %.")


def test_what_was_not_measured_fails(tmp_path: Path) -> None:
    """A report of the repository itself says nothing of the tree that was tested."""
    machine = measured(tmp_path, "echo 3 passed")
    machine.repository.commit({"coverage.json": '{"totals": {"percent_covered": 100}}'}, "Commit a report")
    done = machine.burnish("review", "--json")
    first = validations(machine, done.view["run"])[0]
    assert (first.status, done.view["outcome"]) == (ValidationStatus.FAILED, "failed")
    assert "Coverage: not measured, though the floor is 80 %: the commands wrote none of coverage.json" in first.output


@pytest.mark.prove
def test_without_a_floor_nothing_is_said(tmp_path: Path) -> None:
    machine = measured(tmp_path, report(1), floor="")
    done = machine.burnish("review", "--json")
    (only,) = validations(machine, done.view["run"])
    assert only.status is ValidationStatus.PASSED
    assert "Coverage" not in only.output
