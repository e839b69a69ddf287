"""`--terminal tmux`: a run whose agents can be watched is the same run, and leaves nothing behind either."""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from burnish.core.events import WorkFailed, decode
from burnish.system.terminal_sessions import Watched, living
from tests.end_to_end.machine import HANGS, Machine
from tests.end_to_end.simple import CLEAN, FIRST_FIX, FIXED, HANGING_FIX, drift_machine
from tests.end_to_end.watching import eventually
from tests.end_to_end.world import Before, check_nothing_left

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="optional: tmux is not installed")


def terminals(machine: Machine, run: str) -> Path:
    return machine.state / "runs" / run / "terminals"


@needs_tmux
@pytest.mark.parametrize("sandbox", ["auto", pytest.param("off", marks=pytest.mark.prove)])
def test_a_run_in_terminals_is_the_same_run(tmp_path: Path, sandbox: str) -> None:
    machine = drift_machine(tmp_path, FIXED, sandbox=sandbox)
    before = Before.of(machine)
    done = machine.burnish("fix", "--json", "--terminal", "tmux")
    assert (done.code, done.view["outcome"]) == (0, "approved")
    run = done.view["run"]
    check_nothing_left(machine, before, run)
    assert not terminals(machine, run).exists()


@needs_tmux
@pytest.mark.parametrize("sandbox", ["auto", pytest.param("off", marks=pytest.mark.prove)])
def test_an_agent_in_a_terminal_outlives_nobody(tmp_path: Path, sandbox: str) -> None:
    machine = drift_machine(tmp_path, HANGING_FIX, sandbox=sandbox)
    before = Before.of(machine)
    process = machine.start("fix", "--json", "--terminal", "tmux")
    run = machine.wait_for_call(process, FIRST_FIX)
    shown = json.loads(machine.burnish("attach", run, "--json").out)
    assert shown["agents"] == [{"name": "fix-1", "session": f"burnish-{run}-fix-1"}]
    machine.cut_down(process)
    eventually(lambda: machine.processes(run) == 0 or None)
    eventually(lambda: not living(terminals(machine, run)) or None)
    machine.script(FIXED)
    done = machine.burnish("resume", "--json", BURNISH_TERMINAL="tmux")
    assert (done.code, done.view["outcome"]) == (0, "approved")
    check_nothing_left(machine, before, run)


@needs_tmux
def test_a_run_in_the_background_can_be_watched_and_cancelled(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, HANGING_FIX)
    run = machine.burnish("fix", "--background", "--terminal", "tmux").out.strip()
    eventually(lambda: FIRST_FIX in machine.calls(run) or None)
    assert [watched.view.name for watched in living(terminals(machine, run))] == ["fix-1"]
    machine.burnish("cancel", run)
    assert machine.burnish("wait", run).code == 1
    assert machine.processes(run) == 0
    assert not terminals(machine, run).exists()


@needs_tmux
def test_a_session_that_is_closed_is_a_crash(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, {"review:*": HANGS})
    process = machine.start("review", "--json", "--terminal", "tmux")
    run = machine.wait_for_run(process)

    def shown() -> Watched | None:
        return next(iter(living(terminals(machine, run))), None)

    os.kill(eventually(shown).server.pid, signal.SIGTERM)
    done = machine.end_of(process)
    assert (done.code, done.view["outcome"]) == (4, "did-not-run")
    with machine.ledger() as ledger:
        events = [decode(event.body) for event in ledger.read(f"run/{run}")]
    (failed,) = (event for event in events if isinstance(event, WorkFailed))
    assert "the terminal session was closed" in failed.failure.message


def test_without_tmux_nothing_begins(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, CLEAN)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which("git") or "git")
    done = machine.burnish("review", "--terminal", "tmux", PATH=str(programs))
    assert done.code == 2
    assert "tmux is not installed" in done.err
    assert machine.runs() == []
