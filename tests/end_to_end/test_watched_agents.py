"""`--terminal tmux`: a run whose agents can be watched is the same run, and leaves nothing behind either."""

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from burnish.system.terminal import View, find_tmux, open_socket, open_views
from tests.end_to_end.machine import Machine
from tests.end_to_end.simple import CLEAN, FIRST_FIX, FIRST_REVIEW, FIXED, HANGING_FIX, PASS, drift_machine
from tests.end_to_end.watching import eventually
from tests.end_to_end.world import Before, check_nothing_left

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="optional: tmux is not installed")

SURROUNDINGS = "{ env | cut -d= -f1 | sort; tty; ps -o tty= -p $$; } >&2"
"""A shown agent has no terminal, and no variable says that there is one."""
RUN_ID = re.compile(r"\d{8}-\d{6}-[0-9a-z]{6}")


def terminals(machine: Machine, run: str) -> Path:
    return machine.state / "runs" / run / "terminals"


def shown(machine: Machine, run: str) -> View:
    """The view of a run's agent, as soon as there is one."""
    return eventually(lambda: next(iter(open_views(terminals(machine, run))), None))


def pane(view: View) -> list[str]:
    path = open_socket(view, find_tmux())
    words = (find_tmux(), "-S", path.name, "capture-pane", "-p", "-t", f"={view.session}:")
    done = subprocess.run(words, cwd=path.parent, capture_output=True, check=True, text=True)
    return done.stdout.rstrip().splitlines()


def traces(machine: Machine, run: str, answer: dict[str, Any]) -> dict[str, Any]:
    """All that a run leaves, without what differs between any two runs: names, times, processes, commits."""
    folder = machine.state / "runs" / run
    with machine.ledger() as ledger:
        events = [json.loads(event.body) for event in ledger.read(f"run/{run}")]
    files = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
    return {
        "answer": _plain(answer, machine),
        "events": [_plain(event, machine) for event in events],
        # The two channels of an agent reach its log in no fixed order.
        "files": {name: sorted(_plain(line, machine) for line in text.splitlines()) for name, text in files.items()},
    }


def _plain(value: object, machine: Machine) -> str:
    """JSON without times and processes; names of runs, digests and the folder of the machine made equal."""
    kept = json.dumps(json.loads(json.dumps(value), object_hook=_without_what_varies))
    text = RUN_ID.sub("RUN", kept.replace(str(machine.folder), "MACHINE"))
    return re.sub(r"\b[0-9a-f]{12,64}\b|\d+\.\d+ ?s\b|\d{4}-\d\d-\d\dT[\d:.+Z-]+", "X", text)


def _without_what_varies(item: dict[str, Any]) -> dict[str, Any]:
    varies = ("at", "pid", "started", "seconds", "since", "process", "space", "until")
    return {key: value for key, value in item.items() if key not in varies}


@needs_tmux
@pytest.mark.parametrize("sandbox", ["auto", pytest.param("off", marks=pytest.mark.prove)])
def test_a_run_in_terminals_is_the_same_run(tmp_path: Path, sandbox: str) -> None:
    left: list[dict[str, Any]] = []
    for name, options in (("plain", ()), ("shown", ("--terminal", "tmux"))):
        conduct = {effect: f"{SURROUNDINGS}\n{lines}" for effect, lines in FIXED.items()}
        machine = drift_machine(tmp_path / name, conduct, sandbox=sandbox)
        before = Before.of(machine)
        done = machine.burnish("fix", "--json", *options)
        assert (done.code, done.view["outcome"]) == (0, "approved")
        run = done.view["run"]
        check_nothing_left(machine, before, run)
        assert not terminals(machine, run).exists()
        left.append(traces(machine, run, done.view))
    plain, in_terminals = left
    assert "TMUX" not in str(in_terminals["files"])
    assert in_terminals == plain


@needs_tmux
def test_an_agent_is_shown_while_it_works(tmp_path: Path) -> None:
    go = tmp_path / "agents" / "go"
    waits = f"printf 'first\\n\\033[2J\\033]52;c;aGk=\\007second\\n'; read _ < {go}\n{PASS}"
    machine = drift_machine(tmp_path, {"review:*": waits}, sandbox="off")
    machine.variables["OPENAI_API_KEY"] = "sesame"
    os.mkfifo(go)
    process = machine.start("review", "--json", "--terminal", "tmux")
    run = machine.wait_for_run(process)
    view = shown(machine, run)
    header, called = f"==> {FIRST_REVIEW} <==", f"called {run}/{FIRST_REVIEW}"
    eventually(lambda: sorted(pane(view)) == sorted([header, called, "first", "second"]) or None)
    for name in ("cmdline", "environ"):
        assert b"sesame" not in Path(f"/proc/{view.server.pid}/{name}").read_bytes()
    go.write_text("go\n")
    assert machine.end_of(process).code == 0
    assert machine.processes(run) == 0


@needs_tmux
@pytest.mark.parametrize("sandbox", ["auto", pytest.param("off", marks=pytest.mark.prove)])
def test_neither_a_view_nor_its_agent_outlives_a_run_that_was_killed(tmp_path: Path, sandbox: str) -> None:
    machine = drift_machine(tmp_path, HANGING_FIX, sandbox=sandbox)
    before = Before.of(machine)
    process = machine.start("fix", "--json", "--terminal", "tmux")
    run = machine.wait_for_call(process, FIRST_FIX)
    listed = json.loads(machine.burnish("attach", run, "--json").out)
    assert listed["agents"] == [{"name": "fix-1", "session": f"burnish-{run}-fix-1"}]
    machine.cut_down(process)
    eventually(lambda: not open_views(terminals(machine, run)) or None)
    if sandbox == "auto":  # without a sandbox, it is the resume that ends an agent
        eventually(lambda: machine.processes(run) == 0 or None)
    machine.script(FIXED)
    done = machine.burnish("resume", "--json", BURNISH_TERMINAL="tmux")
    assert (done.code, done.view["outcome"]) == (0, "approved")
    check_nothing_left(machine, before, run)


@needs_tmux
def test_a_run_in_the_background_can_be_watched_and_cancelled(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, HANGING_FIX)
    run = machine.burnish("fix", "--background", "--terminal", "tmux").out.strip()
    eventually(lambda: FIRST_FIX in machine.calls(run) or None)
    assert [view.name for view in open_views(terminals(machine, run))] == ["fix-1"]
    machine.burnish("cancel", run)
    assert machine.burnish("wait", run).code == 1
    assert machine.processes(run) == 0
    assert not terminals(machine, run).exists()


@needs_tmux
def test_closing_a_view_ends_nothing_else(tmp_path: Path) -> None:
    go = tmp_path / "agents" / "go"
    machine = drift_machine(tmp_path, {"review:*": f"read _ < {go}\n{PASS}"}, sandbox="off")
    os.mkfifo(go)
    process = machine.start("review", "--json", "--terminal", "tmux")
    run = machine.wait_for_run(process)
    os.kill(shown(machine, run).server.pid, signal.SIGTERM)
    eventually(lambda: not open_views(terminals(machine, run)) or None)
    go.write_text("go\n")
    done = machine.end_of(process)
    assert (done.code, done.view["outcome"]) == (0, "approved")
    assert machine.calls(run) == [FIRST_REVIEW]


def test_a_view_that_cannot_be_opened_is_a_note(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, CLEAN)
    programs = tmp_path / "programs"
    programs.mkdir()
    broken = programs / "tmux"
    broken.write_text("#!/bin/sh\necho 'no space left' >&2; exit 1\n")
    broken.chmod(0o755)
    done = machine.burnish("review", "--json", "--terminal", "tmux", PATH=f"{programs}:{os.environ['PATH']}")
    assert (done.code, done.view["outcome"]) == (0, "approved")
    assert "tmux cannot show reviewer: no space left." in done.err


def test_without_tmux_nothing_begins(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, CLEAN)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which("git") or "git")
    done = machine.burnish("review", "--terminal", "tmux", PATH=str(programs))
    assert done.code == 2
    assert "tmux is not installed" in done.err
    assert machine.runs() == []
