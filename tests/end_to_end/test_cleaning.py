"""What is left of runs, named and removed: clones of killed ones, old logs, commits kept for runs that never began."""

from pathlib import Path

import pytest

from tests.end_to_end.machine import Machine
from tests.end_to_end.simple import CLEAN, FIRST_FIX, FIXED, HANGING_FIX, drift_machine, killed_while_fixing
from tests.end_to_end.world import refs

STILLBORN = "20200101-000000-aaaaaa"
JUST_BEGINNING = "29991231-235959-zzzzzz"


def kept(machine: Machine) -> set[str]:
    prefix = "refs/burnish/kept/"
    return {name.removeprefix(prefix) for name in refs(machine) if name.startswith(prefix)}


@pytest.mark.prove
def test_commits_kept_for_runs_that_never_began_are_let_go(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, HANGING_FIX)
    run = killed_while_fixing(machine)
    for name in (STILLBORN, JUST_BEGINNING):
        machine.git("update-ref", f"refs/burnish/kept/{name}", "HEAD")
    named = machine.burnish("clean", "--older-than", "0", "--dry-run", "--json").view
    assert named["refs"] == [STILLBORN]
    assert kept(machine) == {run, STILLBORN, JUST_BEGINNING}
    done = machine.burnish("clean", "--older-than", "0")
    assert done.code == 0
    assert f"removed refs/burnish/kept/{STILLBORN} (its run never started)" in done.out
    assert kept(machine) == {run, JUST_BEGINNING}
    machine.script(FIXED)
    assert machine.burnish("resume", run, "--json").view["outcome"] == "approved"


def test_clones_of_a_killed_run_and_logs_of_an_old_one_are_removed(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, CLEAN)
    ended = machine.burnish("review", "--json").view["run"]
    logs = machine.state / "runs" / ended / "logs"
    left = machine.copies_of(ended) / "clones"
    left.mkdir(parents=True)
    assert machine.burnish("clean", "--json").view["folders"] == [str(left.parent)]
    assert logs.exists()
    assert not left.exists()
    assert machine.burnish("clean", "--older-than", "1w", "--json").view["folders"] == []
    cleaned = machine.burnish("clean", "--older-than", "0d", "--json").view
    assert cleaned["folders"] == [str(logs)]
    assert cleaned["blobs"] > 0
    assert not logs.exists()
    assert machine.burnish("verify", "change").code == 0
    removed = f"The logs, prompts and transcripts of {ended} were removed"
    assert removed in machine.burnish("show", ended).out
    assert removed in machine.burnish("logs", ended).out
    assert machine.burnish("logs", ended, "--json").view["removed"] is True


def test_an_age_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, CLEAN)
    done = machine.burnish("clean", "--older-than", "soon")
    assert done.code == 2
    assert "Use days, or a number with h, d or w" in done.err


def test_a_living_run_is_left_alone(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, HANGING_FIX)
    process = machine.start("fix", "--json")
    run = machine.wait_for_call(process, FIRST_FIX)
    assert machine.burnish("clean", "--older-than", "0", "--json").view["folders"] == []
    assert list((machine.copies_of(run) / "clones").iterdir())
    assert machine.burnish("cancel", run).code == 0
    assert machine.end_of(process).view["outcome"] == "cancelled"
