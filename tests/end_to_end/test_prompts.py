"""`burnish prompt show` prints what would be sent, and touches nothing."""

from pathlib import Path

from tests.end_to_end.simple import CLEAN, drift_machine


def test_the_prompt_of_a_story_is_shown_and_nothing_is_made(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, CLEAN)
    machine.repository.write({"brief.md": "# Story 1.2: Log in\n\n## Acceptance Criteria\n\n- A name suffices\n"})
    done = machine.burnish("prompt", "show", "--story", "1.2", "--brief", "brief.md")
    assert done.code == 0, done.err
    assert "Story: 1.2 - Log in\n" in done.out
    assert "Brief: brief.md\n" in done.out
    assert not machine.state.exists()
