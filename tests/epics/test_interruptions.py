"""An epic that is killed, stopped, waits for a person or meets an edited source goes on where it was."""

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
from tests.epics.project import FAILS, Project, Ticket

_TWENTY = tuple(
    Ticket(f"t{number}", tuple(f"t{before}" for before in (number - 4, number - 3) if before >= 0))
    for number in range(20)
)


def _events(machine: Machine) -> int:
    with machine.ledger() as ledger:
        return sum(ledger.version(stream) for stream in ledger.streams())


def _kill(project: Project, chance: random.Random, after: int) -> bool:
    """Run the epic and kill it once so many events more are in the ledger. Whether it ended before that."""
    machine = project.machine
    target = after + (_events(machine) if machine.state.exists() else 0)
    process = machine.start("run", "plan/epic.yaml")
    eventually(lambda: (machine.state / "ledger.db").exists() or process.poll() is not None or None)
    eventually(lambda: _events(machine) >= target or process.poll() is not None or None)
    ended = process.poll() is not None
    machine.cut_down(process)
    children = survivors.find(EPIC_MARKER, project.state().id)
    if chance.random() < 0.5:
        survivors.end(children, 0.0)  # with the driver; otherwise they are asked to end by its death
    record = machine.root / "plan" / "artifacts" / "epic-state.json"
    assert not record.exists() or json.loads(record.read_text())["tickets"].keys() == project.state().tickets.keys()
    return ended


# Sprints and beads are killed five times each beside this: twenty kills in all, as everywhere in the fast tests.
@pytest.mark.parametrize(("kills", "tickets"), [(10, 10), pytest.param(200, 20, marks=pytest.mark.prove)])
def test_killed_at_any_moment_every_ticket_is_merged_exactly_once(tmp_path: Path, kills: int, tickets: int) -> None:
    project, chance = Project(tmp_path, _TWENTY[:tickets]), random.Random(kills)  # noqa: S311 - not for secrets
    most = max(2, 2 * 17 * tickets // kills)
    for _ in range(kills):
        if _kill(project, chance, chance.randint(1, most)):
            break
    done = project.run()
    assert done.code == 0, done.err
    epic = project.state()
    with project.machine.ledger() as ledger:
        ledger.verify()
        events = [decode_epic(event.body) for event in ledger.read(epic_stream(epic.id))]
    merged = [event.ticket for event in events if isinstance(event, TicketMerged)]
    assert sorted(merged) == sorted(epic.tickets)
    assert sorted(project.merges()) == sorted(f"Merge {name}" for name in epic.tickets)
    assert all(isinstance(one.state, TicketCompleted) and len(one.runs) == 1 for one in epic.tickets.values())
    assert survivors.find(EPIC_MARKER, epic.id) == []
    assert {one["status"] for one in project.record()["tickets"].values()} == {"completed"}


def test_an_interrupt_ends_the_runs_and_a_resume_goes_on(tmp_path: Path) -> None:
    project = Project(tmp_path, [Ticket("a"), Ticket("b", ("a",))])
    project.says("build", "exec sleep 600", "a")
    process = project.machine.start("run", "plan/epic.yaml")
    eventually(lambda: project.calls("build") or None)
    process.send_signal(signal.SIGTERM)
    done = project.machine.end_of(process)
    assert done.code == 143, done.err
    assert survivors.find(EPIC_MARKER, project.state().id) == []
    project.says("build", "echo a > a.txt; echo Built.", "a")
    done = project.machine.burnish("resume")
    assert (done.code, project.states()) == (0, {"a": "completed", "b": "completed"}), done.err


def test_a_run_that_waits_for_a_person_leaves_the_others_at_work(tmp_path: Path) -> None:
    project = Project(tmp_path, [Ticket("a"), Ticket("b")])
    project.says("review", "echo '## Critical Issues (Must Fix)'; echo '1. **Bad**: it is bad.'", "a")
    project.says("review", "echo 'No issues found.'")
    done = project.run("--protocol", "epic")
    assert (done.code, project.states()) == (3, {"a": "waiting", "b": "completed"}), done.err
    run = project.state().tickets["a"].runs[-1]
    assert run in done.out + done.err
    assert project.machine.burnish("decide", run, "b").code == 0
    project.says("review", "echo 'No issues found.'", "a")
    done = project.run("--protocol", "epic")
    assert (done.code, project.states()) == (0, {"a": "completed", "b": "completed"}), done.err


def test_what_people_change_in_the_source_is_told_and_taken_in(tmp_path: Path) -> None:
    project = Project(tmp_path, [Ticket("a"), Ticket("b", ("a",)), Ticket("c", ("b",))])
    project.says("build", "exec sleep 600", "b")
    process = project.machine.start("run", "plan/epic.yaml")
    eventually(lambda: "ticket/b" in project.calls("build") or None)
    process.send_signal(signal.SIGTERM)
    project.machine.end_of(process)
    a, b, _ = project.listed
    changed = {**b, "description": "Something else."}
    project.edit(tickets=[a, changed, {"id": "d", "description": "New.", "depends_on": ["b"]}])
    project.says("build", "echo b > b.txt; echo Built.", "b")
    done = project.run()
    assert (done.code, project.states()) == (0, {"a": "completed", "b": "completed", "d": "completed"}), done.err
    for told in ("ticket d was added", "ticket c was removed", "ticket b was changed", "keep what they began with: b"):
        assert told in done.err


def test_a_branch_that_was_moved_back_is_not_merged_into(tmp_path: Path) -> None:
    project = Project(tmp_path, [Ticket("a"), Ticket("b", ("a",))])
    project.says("build", "exec sleep 600", "b")
    process = project.machine.start("run", "plan/epic.yaml")
    eventually(lambda: "ticket/b" in project.calls("build") or None)
    process.send_signal(signal.SIGTERM)
    project.machine.end_of(process)
    project.machine.git("branch", "-f", "epic/demo", "main")
    project.says("build", "echo b > b.txt; echo Built.", "b")
    done = project.machine.burnish("resume", "demo")
    assert done.code == 4, done.err
    assert "no longer holds" in done.out + done.err
    assert project.states() == {"a": "completed", "b": "failed"}


def test_an_epic_can_be_cancelled(tmp_path: Path) -> None:
    project = Project(tmp_path, [Ticket("a"), Ticket("b", ("a",))])
    project.says("build", "exec sleep 600", "b")
    process = project.machine.start("run", "plan/epic.yaml")
    eventually(lambda: "ticket/b" in project.calls("build") or None)
    assert project.machine.burnish("cancel", "demo", "--note", "not needed").code == 0
    done = project.machine.end_of(process)
    assert (done.code, project.states()) == (1, {"a": "completed", "b": "failed"}), done.err
    end = project.state().end
    assert end is not None
    assert end.reason == "not needed"
    # What is merged stays, and the next run goes on from there.
    project.says("build", "echo b > b.txt; echo Built.", "b")
    assert project.run().code == 0
    assert project.merges() == ["Merge b", "Merge a"]


def test_two_drivers_of_one_epic_exclude_each_other(tmp_path: Path) -> None:
    project = Project(tmp_path, [Ticket("a")])
    project.says("build", "exec sleep 600", "a")
    process = project.machine.start("run", "plan/epic.yaml")
    eventually(lambda: project.calls("build") or None)
    second = project.run()
    assert (second.code, "already running" in second.err) == (2, True), second.err
    process.send_signal(signal.SIGTERM)
    project.machine.end_of(process)


def test_a_ticket_that_cannot_begin_says_why(tmp_path: Path) -> None:
    """Its branch is taken after the plan was made: the others go on."""
    project = Project(tmp_path, [Ticket("a"), Ticket("b")])
    project.says("review", FAILS, "a")
    done = project.run("--max-rounds", "1")
    assert (done.code, project.states()) == (1, {"a": "failed", "b": "completed"}), done.err
