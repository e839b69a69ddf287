"""Records in a user's checkout, run after run with the real command."""

import json
from pathlib import Path

from burnish.core.findings import Finding, Severity
from burnish.core.reviews import Answer
from tests.end_to_end.answers import findings, issues
from tests.end_to_end.machine import Machine, says
from tests.end_to_end.plots import furnished
from tests.end_to_end.simple import FIX, policy

CRITICAL = (Finding(severity=Severity.CRITICAL, title="Wrong result"),)
CRASHES = "exit 1"


def documents(machine: Machine) -> list[str]:
    return sorted(path.name for path in (machine.root / "docs/progress").glob("*"))


def phase_files(machine: Machine) -> list[str]:
    folder = machine.root / ".agents/tmp/phases"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def machine_with(folder: Path, protocol: str) -> Machine:
    machine = Machine(folder)
    return furnished(machine, policy(f'["sh", "{machine.script({"review:*": CRASHES})}"]', protocol))


def test_a_clean_round_stands_alone_after_three_that_were_not(tmp_path: Path) -> None:
    machine = machine_with(tmp_path, "epic")
    machine.script({"review:*": says(findings(CRITICAL)), "fix:*": "echo nothing"})
    waiting = machine.burnish("fix", "--story", "1.2", "--json")
    assert machine.burnish("decide", waiting.view["run"], "a").code in (0, 1)
    names = [f"story-1.2-review-findings-round-{number}.md" for number in (1, 2, 3)]
    assert documents(machine) == names
    third = machine.root / "docs/progress" / names[2]
    third.write_text(third.read_text() + "\nMy notes.\n")
    machine.script({"review:*": says(findings(()))})
    done = machine.burnish("review", "--story", "1.2")
    assert done.code == 0
    assert documents(machine) == [names[0], names[2]], "what a person added to stays"
    assert f"docs/progress/{names[2]}: It belongs to an earlier run and was changed since" in done.err


def test_no_verdict_is_left_where_nobody_reviewed(tmp_path: Path) -> None:
    machine = machine_with(tmp_path, "panel")
    machine.script({"review:*": says(issues(Answer(clean=True)))})
    first = machine.burnish("review", "--json")
    assert (first.code, first.view["outcome"]) == (0, "approved")
    assert "review-1/r1-verdict.json" in phase_files(machine)
    machine.script({"review:*": CRASHES})
    second = machine.burnish("review", "--json")
    assert (second.code, second.view["outcome"]) == (4, "did-not-run")
    assert phase_files(machine) == []
    state = json.loads((machine.root / ".agents/tmp/state.json").read_text())
    assert (state["sessionId"], state["status"]) == (second.view["run"], "stopped")
    assert machine.burnish("records", "rebuild").out == "Every record is up to date.\n"
    older = machine.burnish("records", "rebuild", first.view["run"]).out
    assert older.startswith(f"The checkout has the records of {second.view['run']}, which is newer")
    assert phase_files(machine) == []


def test_a_protocol_of_ones_own_has_the_records_that_it_inherits(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    script = machine.script({"review:1:*": says(findings(CRITICAL)), "review:*": says(findings(())), "fix:*": FIX})
    machine.repository.commit({"mine.toml": 'extends = "epic"\n[limits]\nreviews = 2\n'})
    furnished(machine, policy(f'["sh", "{script}"]', "mine.toml"))
    done = machine.burnish("fix", "--json")
    assert done.code == 0, done
    assert documents(machine) == [f"story-change-review-findings-round-{number}.md" for number in (1, 2)]


def test_a_run_without_records_says_so(tmp_path: Path) -> None:
    machine = machine_with(tmp_path, "default")
    run = machine.burnish("review", "--json").view["run"]
    assert machine.burnish("records", "rebuild").out == f"The protocol of {run} writes no records.\n"
    assert json.loads(machine.burnish("records", "rebuild", "--json").out) == {
        "version": 1,
        "run": run,
        "layout": "none",
        "written": [],
        "removed": [],
        "notices": [],
        "newer_run": None,
    }
