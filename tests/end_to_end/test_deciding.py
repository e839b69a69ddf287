"""A person's word to a run that nobody drives takes effect at once, and none is lost to a driver that is leaving."""

import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from burnish.core.events import Mode
from burnish.core.state import Ended
from burnish.ledger.interface import Lease
from burnish.ledger.sqlite import SqliteLedger
from burnish.runtime.journal import Journal
from burnish.system import clock
from burnish.system.identifiers import this_process
from burnish.usecases.drive_run import Driven, DriveOptions, drive
from burnish.usecases.plan_run import RunRequest, plan
from burnish.usecases.start_run import begin
from tests.end_to_end.machine import Machine
from tests.end_to_end.playing import arguments, check_state
from tests.end_to_end.plots import Plot, rehearsed, staged
from tests.end_to_end.simple import HANGING_FIX, drift_machine, killed_while_fixing
from tests.end_to_end.world import Before, check_nothing_left, fixes, refs
from tests.trails.test_epic import SCENARIOS as EPIC

ACCEPTED = rehearsed(EPIC["exhausted, a person accepts"])
ONE_MORE = rehearsed(EPIC["exhausted, one more round passes"])


def waiting(folder: Path, plot: Plot) -> tuple[Machine, Before, str]:
    """A run that waits for a person, and nobody drives it."""
    machine = staged(folder, plot)
    before = Before.of(machine)
    done = machine.burnish(*arguments(plot))
    assert done.code == 3
    return machine, before, done.view["run"]


def test_what_is_accepted_is_sealed_and_lands_at_once(tmp_path: Path) -> None:
    machine, before, run = waiting(tmp_path, ACCEPTED)
    done = machine.burnish("decide", run, "b", "--note", "we ship")
    assert done.code == 0
    assert f"{run}: accepted" in done.out
    assert "The result is on change.\nNext: burnish verify change --allow accepted\n" in done.out
    check_state(machine, ACCEPTED, before, machine.burnish("show", run, "--json").view)
    assert machine.burnish("resume", run).code == 2


@pytest.mark.parametrize(
    "words",
    [pytest.param(["decide", "a"], id="taken over", marks=pytest.mark.prove), pytest.param(["cancel"], id="cancelled")],
)
def test_the_work_of_a_run_that_a_person_ends_can_be_taken_at_once(tmp_path: Path, words: list[str]) -> None:
    machine, before, run = waiting(tmp_path, ACCEPTED)
    verb, *rest = words
    done = machine.burnish(verb, run, *rest)
    assert done.code == 0
    assert f"The result is on burnish/{run}.\nNext: git merge --ff-only burnish/{run}\n" in done.out
    assert machine.git("rev-parse", f"burnish/{run}") == fixes(machine, run, before.head)[-1]
    assert machine.git("rev-parse", "change") == before.head
    assert f"refs/burnish/kept/{run}" not in refs(machine)
    assert machine.kinds(run)[-1] == "Closed"
    check_nothing_left(machine, before, run)


def test_a_killed_run_that_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, HANGING_FIX, sandbox="off")
    before = Before.of(machine)
    run = killed_while_fixing(machine)
    assert machine.processes(run) > 0
    done = machine.burnish("cancel", run, "--json")
    assert (done.code, done.view["outcome"]) == (0, "cancelled")
    assert f"refs/burnish/kept/{run}" not in refs(machine)
    check_nothing_left(machine, before, run)


def test_a_choice_that_calls_agents_names_the_command_that_goes_on(tmp_path: Path) -> None:
    machine, _, run = waiting(tmp_path, ONE_MORE)
    done = machine.burnish("decide", run, "c")
    assert done.code == 0
    assert done.out.rstrip().endswith(f"The run is not active. Continue it with: burnish resume {run}")
    assert machine.burnish("resume", run, "--json").view["outcome"] == "approved"


class Leaving(SqliteLedger):
    """A ledger in which something happens in the very last moment before its driver gives the run back."""

    at_last: Callable[[], None] | None = None

    def release_lease(self, lease: Lease) -> None:
        if self.at_last is not None:
            happens, self.at_last = self.at_last, None
            happens()
        super().release_lease(lease)


def left(machine: Machine, monkeypatch: pytest.MonkeyPatch, at_last: Callable[[str], None]) -> Driven:
    """Drive a run in this process, with something that happens while it is about to leave."""
    for name, value in machine.environment.items():
        monkeypatch.setenv(name, value)
    planned = plan(machine.root, RunRequest(mode=Mode.FIX), machine.environment)
    with machine.ledger() as ledger:
        begun = begin(planned, ledger, machine.environment, mode=Mode.FIX, max_rounds=None, interactive=False)
        run = begun.state.id
        begun.release()
    with closing(Leaving(machine.state / "ledger.db")) as ledger:
        ledger.at_last = lambda: at_last(run)
        journal = Journal.take_over(ledger, run, this_process(), clock.now())
        return drive(planned.repository, ledger, journal, machine.environment, DriveOptions())


@pytest.mark.parametrize(
    ("plot", "key"),
    [
        pytest.param(ACCEPTED, "b", id="an end", marks=pytest.mark.prove),
        pytest.param(ONE_MORE, "c", id="one more round"),
    ],
)
def test_a_choice_made_while_the_driver_leaves_is_carried_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plot: Plot, key: str
) -> None:
    machine = staged(tmp_path, plot)
    before = Before.of(machine)
    said: list[str] = []

    def choose(run: str) -> None:
        said.append(machine.burnish("decide", run, key).out)

    driven = left(machine, monkeypatch, choose)
    assert isinstance(driven.run.phase, Ended)
    assert len(said) == 1
    assert "burnish resume" not in said[0]
    check_state(machine, plot, before, machine.burnish("show", driven.run.id, "--json").view)


@pytest.mark.prove
def test_a_driver_that_nobody_speaks_to_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = staged(tmp_path, ACCEPTED)
    driven = left(machine, monkeypatch, lambda _run: None)
    assert machine.burnish("status", driven.run.id, "--json").view["runs"][0]["state"] == "waiting"


def test_two_who_finish_a_run_at_the_same_time_finish_it_once(tmp_path: Path) -> None:
    machine, before, run = waiting(tmp_path, ACCEPTED)
    machine.types_steps = False  # what one of them offers, the other may have done by now
    both: list[subprocess.Popen[bytes]] = [machine.start("decide", run, "b"), machine.start("resume", run, "--json")]
    codes = [machine.end_of(process).code for process in both]
    assert codes[0] in (0, 2)
    machine.burnish("decide", run, "b")
    check_state(machine, ACCEPTED, before, machine.burnish("show", run, "--json").view)
    assert machine.kinds(run).count("Sealed") == 1
