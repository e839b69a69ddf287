"""Stories through `burnish session`, as a tool with a loop of its own has them reviewed: one cycle a session."""

import json
import shutil
from pathlib import Path

import pytest

from tests.end_to_end.machine import Machine, says, writes
from tests.end_to_end.plots import SPRINT, furnished, sprint
from tests.end_to_end.simple import policy

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="optional: tmux is not installed")

LEFT = """# Code Review: Story 1.2

## Findings

### [CRITICAL] Crash on empty input

- **File:** app.py:1
- **Status:** Not fixed

## Summary

CRITICAL: 1 found, 0 fixed
HIGH: 0 found, 0 fixed
"""
FIXED = LEFT.replace("[CRITICAL] Crash on empty input", "[HIGH] Answers are slow").replace(
    "CRITICAL: 1 found, 0 fixed\nHIGH: 0 found", "CRITICAL: 0 found, 0 fixed\nHIGH: 1 found"
)
STORY = "stories/1-2-login.md"
CONDUCT = {
    "review:1:*": f"grep '^Status file:' >&2\n{writes('a.py', 'first = 1')}\n{says(LEFT)}",
    "review:2:*": f"{writes(SPRINT, sprint('done'))}\n{says(FIXED)}",
}


@needs_tmux
def test_each_session_is_one_cycle_and_its_own_tree_is_monitored(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    command = f'["sh", "{machine.script(CONDUCT)}"]'
    files = {SPRINT: sprint("review"), STORY: "# Login\n\nStatus: review\n"}
    furnished(machine, policy(command, "story"), files)
    machine.repository.write({"b.py": "by_hand = True\n"})  # nothing lands over work that is not committed
    before = machine.git("rev-parse", "change")

    def cycle(number: int) -> tuple[dict[str, str], str]:
        """What the other tool's loop does, once."""
        line = machine.burnish("session", "build-cmd", "review", "1.2", "--agent", "scripted").out.strip()
        spawned = machine.burnish("session", "spawn", "review", "1", "1.2", "--cycle", str(number), "--command", line)
        name = spawned.out.strip()
        monitored = machine.burnish("session", "monitor", name, "--json", "--workflow", "review", "--story-key", "1.2")
        output = Path(monitored.view["output_file"]).read_text()
        machine.burnish("session", "kill", name)
        return monitored.view, output

    first, said = cycle(1)
    assert (first["final_state"], first["exit_reason"]) == ("incomplete", "workflow_not_complete"), said
    assert "Not committed, so not reviewed: b.py, notes.txt." in said
    assert "paused: 1 blocking finding remains after 1 review" in said
    (run,) = machine.runs()
    assert machine.calls(run) == ["review:1:session:1"]
    log = (machine.state / "runs" / run / "logs" / "review-1-session-1.log").read_text()
    assert [line for line in log.splitlines() if "Status file" in line] == [f"Status file: {SPRINT}"]

    second, said = cycle(2)
    assert (second["final_state"], second["exit_reason"]) == ("completed", "verified_complete"), said
    assert machine.runs() == [run]
    assert machine.calls(run) == ["review:1:session:1", "review:2:session:1"]
    assert machine.git("rev-parse", "change") == before
    view = json.loads(machine.burnish("show", run, "--json").out)
    assert (view["outcome"], len(view["rounds"])) == ("approved", 2)
    result = machine.git("show", f"burnish/{run}:{STORY}")
    assert result == "# Login\n\nStatus: review\n\n## Review Action Items\n\n- [ ] [HIGH] Answers are slow (app.py:1)"
    assert machine.git("show", f"burnish/{run}:a.py") == "first = 1"


def test_a_review_by_a_session_leaves_the_branch_alone(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    command = f'["sh", "{machine.script({"review:1:*": CONDUCT["review:2:*"]})}"]'
    furnished(machine, policy(command, "story"), {SPRINT: sprint("review")})
    before = machine.git("rev-parse", "change")
    view = machine.burnish("review", "--story", "1.2", "--json").view
    assert view["outcome"] == "approved"
    assert machine.git("rev-parse", "change") == before
    assert machine.git("rev-parse", f"burnish/{view['run']}") == view["subject"]["head"]
