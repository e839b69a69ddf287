"""Signals end everything that runs and leave a run that goes on where it was."""

import signal
from pathlib import Path

import pytest

from tests.end_to_end.simple import FIRST_FIX, FIXED, HANGING_FIX, drift_machine
from tests.end_to_end.world import Before, check_nothing_left, refs


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.prove)]
)
@pytest.mark.parametrize("sandbox", ["auto", pytest.param("off", marks=pytest.mark.prove)])
def test_a_signal_interrupts_and_a_resume_goes_on(
    tmp_path: Path, number: signal.Signals, code: int, sandbox: str
) -> None:
    machine = drift_machine(tmp_path, HANGING_FIX, sandbox=sandbox)
    before = Before.of(machine)
    process = machine.start("fix", "--json")
    run = machine.wait_for_call(process, FIRST_FIX)
    process.send_signal(number)
    interrupted = machine.end_of(process)
    assert (interrupted.code, interrupted.view["state"], interrupted.view["outcome"]) == (code, "running", None)
    assert f"burnish resume {run}" in interrupted.err
    check_nothing_left(machine, before, run)
    machine.script(FIXED)
    done = machine.burnish("resume", "--json")
    assert (done.code, done.view["run"], done.view["outcome"]) == (0, run, "approved")
    assert machine.calls(run).count("review:1:reviewer:1") == 1
    assert machine.calls(run).count(FIRST_FIX) == 2
    assert refs(machine) >= {f"refs/burnish/{run}"}
    check_nothing_left(machine, before, run)


def test_both_signals_at_once_are_one_interruption(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, HANGING_FIX)
    before = Before.of(machine)
    process = machine.start("fix", "--json")
    run = machine.wait_for_call(process, FIRST_FIX)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
        process.send_signal(number)
    assert machine.end_of(process).code in (130, 143)
    check_nothing_left(machine, before, run)
