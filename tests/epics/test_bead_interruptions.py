"""A loop over beads that is killed, interrupted or cancelled: nothing is built twice, and no bead stays claimed."""

import json
import random
import signal
from pathlib import Path

import pytest

from burnish.core.epics.events import TicketMerged, decode_epic
from burnish.core.epics.state import TicketCompleted
from burnish.runtime.journal import epic_stream
from burnish.system import survivors
from burnish.usecases.epics import EPIC_MARKER
from tests.end_to_end.machine import Machine
from tests.end_to_end.watching import eventually
from tests.epics.bead_project import DRIFTS_ONCE, BeadProject, bead


def _events(machine: Machine) -> int:
    with machine.ledger() as ledger:
        return sum(ledger.version(stream) for stream in ledger.streams())


def _kill(project: BeadProject, chance: random.Random, after: int) -> bool:
    """Run the loop and kill it once so many events more are in the ledger. Whether it ended before that."""
    machine = project.machine
    target = after + (_events(machine) if machine.state.exists() else 0)
    process = machine.start("run", ".beads", "--parallel", "2")
    eventually(lambda: (machine.state / "ledger.db").exists() or process.poll() is not None or None)
    eventually(lambda: _events(machine) >= target or process.poll() is not None or None)
    ended = process.poll() is not None
    machine.cut_down(process)
    if chance.random() < 0.5:
        survivors.end(survivors.find(EPIC_MARKER, project.state().id), 0.0)
    return ended


@pytest.mark.parametrize(("kills", "count"), [(5, 2), pytest.param(100, 10, marks=pytest.mark.prove)])
def test_killed_at_any_moment_every_bead_is_built_and_merged_once(tmp_path: Path, kills: int, count: int) -> None:
    names = [f"b{number}" for number in range(count)]
    listed = [bead(name, *names[at - 3 : at - 2] if at > 2 else (), priority=at % 3) for at, name in enumerate(names)]
    project, chance = BeadProject(tmp_path, listed), random.Random(kills)  # noqa: S311 - not for secrets
    project.says("review", DRIFTS_ONCE, "b1")
    most = max(2, 2 * 25 * count // kills)
    for _ in range(kills):
        if _kill(project, chance, chance.randint(1, most)):
            break
    done = project.run("--parallel", "2")
    assert done.code == 0, done.err
    assert project.statuses() == dict.fromkeys(names, "closed")
    with project.machine.ledger() as ledger:
        ledger.verify()
        streams = ledger.streams(epic_stream(""))
        events = [decode_epic(event.body) for stream in streams for event in ledger.read(stream)]
    merged = [event.ticket for event in events if isinstance(event, TicketMerged)]
    assert sorted(merged) == sorted(names)
    assert sorted(project.merges()) == sorted(f"Merge {name}: Do {name}" for name in names)
    epic = project.state()
    assert all(len(one.runs) <= 1 for one in epic.tickets.values())
    assert all(isinstance(one.state, TicketCompleted) for one in epic.tickets.values())
    assert survivors.find(EPIC_MARKER, epic.id) == []
    assert not list((project.machine.state / "epics").glob("*/beads-to-settle"))


@pytest.mark.prove
def test_an_interrupted_loop_goes_on_and_a_cancelled_one_gives_its_beads_back(tmp_path: Path) -> None:
    project = BeadProject(tmp_path, [bead("a"), bead("b", "a")])
    project.says("build", "exec sleep 600", "a")
    process = project.machine.start("run", ".beads")
    eventually(lambda: project.calls("build") or None)
    assert project.statuses() == {"a": "in_progress", "b": "open"}
    assert "a" in project.machine.burnish("status", "beads").out
    process.send_signal(signal.SIGTERM)
    done = project.machine.end_of(process)
    assert (done.code, project.statuses()["a"]) == (143, "in_progress"), done.err
    assert project.machine.burnish("cancel", "beads", "--note", "not now").code == 0
    assert project.statuses() == {"a": "open", "b": "open"}
    project.says("build", "echo a > a.txt; echo Built.", "a")
    done = project.run()
    assert (done.code, project.statuses()) == (0, {"a": "closed", "b": "closed"}), done.err


@pytest.mark.prove
def test_what_a_process_could_not_mark_is_marked_by_the_next_one(tmp_path: Path) -> None:
    project = BeadProject(tmp_path, [bead("a"), bead("b")])
    project.says("review", "exit 3", "a")
    assert project.run().code == 4
    epic = project.state()
    # As if it had been killed after the end of its epic, and before the last mark.
    lines = [json.loads(line) for line in project.file.read_text().splitlines()]
    claimed = [{**line, "status": "in_progress"} if line["id"] == "a" else line for line in lines]
    project.file.write_text("".join(f"{json.dumps(line)}\n" for line in claimed))
    assert project.statuses()["a"] == "in_progress"
    (project.machine.state / "epics" / epic.id / "beads-to-settle").touch()
    project.says("review", "exit 3", "a")
    project.run()
    assert project.statuses()["a"] == "open"
    assert project.calls("build").count("a") == 2
