"""Whole sprints with scripted agents on real repositories."""

from pathlib import Path

from tests.stories.sprint import SPRINT, Sprint

TWO = {"1-1-first": "ready-for-dev", "1-2-second": "backlog"}


def test_stories_are_built_reviewed_and_merged_in_their_order(tmp_path: Path) -> None:
    sprint = Sprint(tmp_path, TWO)
    before = sprint.read(SPRINT)
    done = sprint.run()
    assert done.code == 0, done.err
    assert sprint.states() == dict.fromkeys(TWO, "completed")
    assert sprint.merges() == ["Merge 1-2-second: Make 1-2-second", "Merge 1-1-first: Make 1-1-first"]
    assert "the whole was not reviewed together" in done.out + done.err
    sprint.check_records()
    after = before.replace("1-1-first: ready-for-dev", "1-1-first: done").replace("second: backlog", "second: done")
    assert sprint.read(SPRINT) == after
    assert sprint.machine.git("show", f"epic/1:{SPRINT}") + "\n" == after
