"""Whole sprints with scripted agents on real repositories: what is built, reviewed, merged, and written down."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from burnish.core.events import Validated, decode
from burnish.runtime.journal import stream_of
from tests.stories.sprint import FAILS, FIXED, SESSION, SPRINT, Sprint

ONE = {"1-1-first": "ready-for-dev"}
TWO = {"1-1-first": "ready-for-dev", "1-2-second": "backlog"}
STORY = "[epics]\nsecrets = false\n"


def _type(sprint: Sprint, command: str) -> None:
    """Type a line that burnish printed, in a shell."""
    environment = {**sprint.machine.environment}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    done = subprocess.run(  # noqa: S602 - as a user would
        command, shell=True, cwd=sprint.machine.root, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def _next(sprint: Sprint) -> list[str]:
    told = json.loads(sprint.machine.burnish("status", "1", "--json").out)
    return [step["command"] for step in told["next"]]


def test_stories_are_built_reviewed_and_merged_in_their_order(tmp_path: Path) -> None:
    sprint = Sprint(tmp_path, TWO)
    before = sprint.read(SPRINT)
    sprint.says("review", "minor", "1-1-first")
    done = sprint.run()
    assert done.code == 0, done.err
    assert sprint.states() == dict.fromkeys(TWO, "completed")
    assert sprint.merges() == ["Merge 1-2-second: Make 1-2-second", "Merge 1-1-first: Make 1-1-first"]
    assert "the whole was not reviewed together" in done.out + done.err
    sprint.check_records()
    after = before.replace("1-1-first: ready-for-dev", "1-1-first: done").replace("second: backlog", "second: done")
    assert sprint.read(SPRINT) == after
    assert sprint.machine.git("show", f"epic/1:{SPRINT}") + "\n" == after
    for text in (sprint.read("plan/1-1-first.md"), sprint.machine.git("show", "epic/1:plan/1-1-first.md")):
        assert "- [ ] [LOW] A vague name (1-1-first.txt:1)" in text
    # Nothing is staged, and the printed command takes the branch over what burnish wrote.
    assert sprint.machine.git("diff", "--cached", "--name-only") == ""
    [merge] = _next(sprint)
    # What a person has added to such a file meanwhile is kept.
    sprint.machine.root.joinpath(SPRINT).write_text(f"{after}# by hand\n")
    [careful] = _next(sprint)
    assert ("stash" in merge, "git restore -- plan/1-1-first.md plan/1-2-second.md &&" in careful) == (False, True)
    assert f"stash push --include-untracked -- {SPRINT}" in careful
    sprint.machine.root.joinpath(SPRINT).write_text(after)
    _type(sprint, merge)
    assert sprint.machine.git("status", "--porcelain", "--untracked-files=no") == ""
    sprint.check_records()
    again = sprint.run()
    assert (again.code, "has approved all of this already" in again.err) == (0, True), again.err


@pytest.mark.prove
def test_a_finding_is_fixed_and_reviewed_again_and_the_round_is_counted(tmp_path: Path) -> None:
    sprint = Sprint(tmp_path, ONE)
    sprint.says("review", FIXED)
    assert sprint.run().code == 0
    assert sprint.document().get("stories").get("1.1").get("review_rounds").text == "2"
    assert sprint.calls("fix") == ["story/1-1-first"]


@pytest.mark.prove
def test_a_story_that_waits_halts_the_sprint_and_tells_what_can_be_chosen(tmp_path: Path) -> None:
    sprint = Sprint(tmp_path, TWO)
    sprint.says("review", FAILS, "1-1-first")
    done = sprint.run()
    assert (done.code, sprint.states()) == (3, {"1-1-first": "waiting", "1-2-second": "pending"}), done.err
    sprint.check_records()
    assert sprint.statuses()["1-1-first"] == "paused"
    for told in ("Critical: 1", "docs/progress/story-1-1-first-review-findings-round-3.md", "a)", "b)", "c)"):
        assert told in done.out, done.out
    run = sprint.epic().tickets["1-1-first"].runs[-1]
    assert sprint.machine.burnish("decide", run, "a").code == 0
    done = sprint.machine.burnish("resume", "1")
    # A person fixes it by hand: the workflow pauses.
    assert (done.code, sprint.states()["1-1-first"]) == (3, "failed"), done.err
    assert (sprint.statuses()["1-1-first"], sprint.calls("build")) == ("blocked", ["story/1-1-first"])
    done = sprint.machine.burnish("resume", "1")
    assert (done.code, sprint.states()) == (1, {"1-1-first": "failed", "1-2-second": "completed"}), done.err
    sprint.check_records()


@pytest.mark.prove
def test_a_session_completes_a_story_by_its_status_and_a_skipped_one_lets_the_next_begin(tmp_path: Path) -> None:
    sprint = Sprint(tmp_path, TWO)
    sprint.says("review", "clean", "1-1-first")  # it never marks the story as done
    sprint.says("review", SESSION)
    done = sprint.run("--protocol", "story")
    assert (done.code, sprint.states()["1-1-first"]) == (3, "waiting"), done.err
    run = sprint.epic().tickets["1-1-first"].runs[-1]
    assert sprint.machine.burnish("decide", run, "3").code == 0
    done = sprint.machine.burnish("resume", "1")
    assert (done.code, sprint.states()) == (0, {"1-1-first": "skipped", "1-2-second": "completed"}), done.err
    assert sprint.statuses()["1-1-first"] == "skipped"
    sprint.check_records()
    for command in _next(sprint):
        _type(sprint, command)
    sprint.check_records()


@pytest.mark.prove
def test_a_sprint_pauses_after_each_story_where_a_person_wants_to_look(tmp_path: Path) -> None:
    sprint = Sprint(tmp_path, TWO)
    done = sprint.run("--checkpoint")
    assert (done.code, sprint.states()) == (3, {"1-1-first": "completed", "1-2-second": "pending"}), done.err
    assert "Paused after 1-1-first" in done.out
    assert sprint.document().get("status").text == "paused"
    assert sprint.machine.burnish("wait", "1").code == 3
    [resume] = _next(sprint)
    _type(sprint, resume)
    assert sprint.states() == dict.fromkeys(TWO, "completed")
    assert sprint.document().get("status").text == "done"


@pytest.mark.prove
def test_work_that_is_not_committed_is_reviewed_as_the_storys(tmp_path: Path) -> None:
    sprint = Sprint(tmp_path, {"1-1-first": "in-progress", "1-2-second": "backlog"})
    (sprint.machine.root / "new.txt").write_text("by hand\n")
    (sprint.machine.root / "shared.txt").write_text("changed by hand\n")
    dry = sprint.run("--dry-run")
    assert "what is not committed is reviewed on story/1-1-first: new.txt, shared.txt" in dry.err
    assert not sprint.machine.state.exists()
    done = sprint.run("--stories", "1.1")
    assert (done.code, sprint.states()) == (0, {"1-1-first": "completed"}), done.err
    assert sprint.calls("build") == []
    assert sprint.machine.git("show", "epic/1:new.txt") == "by hand"
    assert sprint.read("new.txt") == "by hand\n"
    [merge] = _next(sprint)
    _type(sprint, merge)
    assert sprint.read("new.txt") == "by hand\n"
    assert sprint.machine.git("log", "-1", "--format=%s", "main") == "Merge 1-1-first: Make 1-1-first"


@pytest.mark.prove
def test_stories_at_once_write_into_one_sprint_status_without_a_conflict(tmp_path: Path) -> None:
    sprint = Sprint(tmp_path, TWO)
    sprint.says("review", f'echo "# seen by $story" >> plan/notes-$story.txt; {SESSION}')
    done = sprint.run("--protocol", "story", "--parallel", "2")
    assert (done.code, sprint.states()) == (0, dict.fromkeys(TWO, "completed")), done.err
    assert [len(one.runs) for one in sprint.epic().tickets.values()] == [1, 1]
    assert sprint.statuses(sprint.machine.git("show", f"epic/1:{SPRINT}")) == sprint.statuses()
    for name in TWO:
        assert sprint.machine.git("show", f"epic/1:plan/notes-{name}.txt") == f"# seen by {name}"


@pytest.mark.prove
def test_a_story_that_is_built_already_is_only_reviewed(tmp_path: Path) -> None:
    sprint = Sprint(tmp_path, {"1-1-first": "review"})
    sprint.machine.git("checkout", "-q", "-b", "story/1-1-first")
    sprint.machine.repository.commit({"1-1-first.txt": "by hand\n"}, "By hand")
    sprint.machine.git("checkout", "-q", "main")
    done = sprint.run()
    assert (done.code, sprint.calls("build"), sprint.calls("review")) == (0, [], ["story/1-1-first"]), done.err


@pytest.mark.prove
def test_all_of_it_together_is_reviewed_where_the_user_wants_that(tmp_path: Path) -> None:
    sprint = Sprint(tmp_path, ONE)
    done = sprint.run("--review-whole")
    assert (done.code, sprint.calls("review")) == (0, ["epic/1", "story/1-1-first"]), done.err
    assert "the whole was reviewed" in done.out


@pytest.mark.prove
def test_before_a_review_come_the_commands_the_criteria_and_the_scan(tmp_path: Path) -> None:
    lint = '[validate]\nlint = "! grep -q untidy 1-1-first.txt"\n'
    sprint = Sprint(tmp_path, ONE, settings=f"[epics]\nsecrets = true\n{lint}")
    sprint.says("build", 'echo untidy > "$story.txt"; echo "- 1: not met - no time"')
    first = 'echo tidy > "$story.txt"; echo "- 1: not met - still none"'
    second = 'echo done >> "$story.txt"; echo "- 1: met - it is there"'
    sprint.says("fix", f'if grep -q untidy "$story.txt"; then {first}; else {second}; fi')
    done = sprint.run()
    assert done.code == 0, done.err
    [run] = sprint.epic().tickets["1-1-first"].runs
    with sprint.machine.ledger() as ledger:
        told = [
            event.output
            for event in (decode(entry.body) for entry in ledger.read(stream_of(run)))
            if isinstance(event, Validated)
        ]
    assert len(told) == 3
    assert told[0].startswith("$ ! grep")
    assert "Acceptance criteria that are not met" in told[1]
    assert (sprint.calls("review"), sprint.calls("fix")) == (["story/1-1-first"], ["story/1-1-first"] * 2)
