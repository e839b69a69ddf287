"""What is put under review: a branch, work that is not committed, a detached HEAD, a linked work tree, nothing."""

from pathlib import Path

from tests.end_to_end.machine import Done, Machine
from tests.end_to_end.plots import content
from tests.end_to_end.simple import CLEAN, DRIFT, FIXED, drift_machine
from tests.end_to_end.world import Before, check_nothing_left, sealed_kinds, status

SHOWS_PROMPT = "cat >&2\n"


def prompt_of(machine: Machine, done: Done, effect: str = "review-1-reviewer-1") -> str:
    """What an agent that shows its prompt was given."""
    return (machine.state / "runs" / done.view["run"] / "logs" / f"{effect}.log").read_text()


def telling(conduct: dict[str, str]) -> dict[str, str]:
    return {effect: SHOWS_PROMPT + lines for effect, lines in conduct.items()}


def test_work_that_is_not_committed_is_reviewed_as_it_is(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, telling(CLEAN))
    machine.repository.write({"b.py": "staged = True\n"})
    machine.git("add", "b.py")
    machine.repository.write({"c.py": "unstaged = True\n", "new.py": "untracked = True\n"})
    before = Before.of(machine)
    done = machine.burnish("review", "--uncommitted", "--json")
    assert (done.code, done.view["outcome"]) == (0, "approved")
    prompt = prompt_of(machine, done)
    assert all(f"+{name} = True" in prompt for name in ("staged", "unstaged", "untracked"))
    assert "TOKEN=secret" not in prompt
    assert sealed_kinds(machine, done.view["subject"]["tree"]) == ["approved"]
    assert machine.git("rev-parse", "change") == before.head
    check_nothing_left(machine, before, done.view["run"])


def test_what_is_staged_is_reviewed_and_nothing_else(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, telling(CLEAN))
    nothing = machine.burnish("review", "--staged")
    assert (nothing.code, "nothing is staged" in nothing.err) == (2, True)
    machine.repository.write({"b.py": "staged = True\n"})
    machine.git("add", "b.py")
    machine.repository.write({"b.py": "unstaged = True\n", "new.py": "untracked = True\n"})
    before = Before.of(machine)
    done = machine.burnish("review", "--staged", "--json")
    assert (done.code, [file["file"] for file in done.view["census"]]) == (0, ["b.py"])
    prompt = prompt_of(machine, done)
    assert ("+staged = True" in prompt, "unstaged" in prompt, "untracked" in prompt) == (True, False, False)
    check_nothing_left(machine, before, done.view["run"])


def test_words_name_a_branch_a_range_or_a_commit_where_the_review_begins(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, CLEAN)
    machine.repository.commit({"later.py": "later = True\n"}, "Later")
    machine.git("checkout", "--quiet", "main")
    for words, files in (
        (("change",), {"app.py", "later.py"}),
        (("main..change",), {"app.py", "later.py"}),
        (("change~1..change",), {"later.py"}),
        (("--commit", "change~1"), {"app.py"}),
    ):
        done = machine.burnish("review", *words, "--json")
        seen = {file["file"] for file in done.view["census"]} & {"app.py", "later.py"}
        assert (done.code, seen) == (0, files), words
    machine.git("checkout", "--quiet", "change")
    assert machine.burnish("review", "HEAD~1", "--json").view["subject"]["base"] == "HEAD~1"


def test_a_review_of_some_files_is_never_sealed(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, telling(CLEAN))
    machine.repository.commit({"lib/later.py": "later = True\n"}, "Later")
    done = machine.burnish("review", "later.py", "--json", folder=machine.root / "lib")
    assert (done.code, done.view["outcome"], done.view["seal"]) == (0, "approved", None)
    assert done.view["subject"]["paths"] == ["lib/later.py"]
    assert [file["file"] for file in done.view["census"]] == ["lib/later.py"]
    prompt = prompt_of(machine, done)
    assert "Only these paths are under review: lib/later.py" in prompt
    assert "app.py" not in prompt
    assert machine.burnish("verify").code == 1
    assert done.view["next"][0]["command"] == "burnish review --branch change --base main"
    assert "no seal: only a part of the change was reviewed" in done.view["reason"]


def test_a_review_of_files_as_they_are_is_never_sealed(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, telling(CLEAN))
    machine.git("checkout", "--quiet", "main")
    assert "burnish review --whole" in machine.burnish("review").err
    whole = machine.burnish("review", "--whole", "--json")
    assert (whole.code, whole.view["outcome"], whole.view["seal"]) == (0, "approved", None)
    assert whole.view["subject"]["as_is"] is True
    assert "no seal: files were reviewed, not a change" in whole.view["reason"]
    assert {"app.py", "b.py"} <= {file["file"] for file in whole.view["census"]}
    assert "burnish.toml" not in {file["file"] for file in whole.view["census"]}
    assert machine.burnish("verify", "main", "--base", "main").code == 1
    some = machine.burnish("review", "--whole", "change", "b.py", "--json")
    assert ([file["file"] for file in some.view["census"]], some.view["subject"]["branch"]) == (["b.py"], "change")
    assert "The files of the head are under review as they are" in prompt_of(machine, some)
    assert machine.burnish("verify", "change", "--base", "main").code == 1
    machine.git("checkout", "--quiet", "change")
    before = machine.burnish("review", "--whole", "HEAD~1", "--json")
    assert (before.code, before.view["subject"]["tree"]) == (0, machine.git("rev-parse", "main^{tree}"))
    machine.git("checkout", "--quiet", "--detach")
    detached = machine.burnish("review", "--whole", "--json")
    assert detached.view["next"][0]["command"] == f"burnish findings {detached.view['run']}"
    machine.git("checkout", "--quiet", "change")
    assert "it looked at files, not at all that the branch changes" in machine.burnish().out


def test_files_as_they_are_have_no_base(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, CLEAN)
    for words in (("main..change",), ("--staged",), ("--commit", "HEAD")):
        refused = machine.burnish("review", "--whole", *words)
        assert (refused.code, "--whole" in refused.err) == (2, True), words


def test_settings_for_files_as_they_are_come_from_the_base(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, {"review:*": DRIFT})
    machine.repository.commit({"burnish.toml": "this is no setting\n"}, "Bring other settings")
    done = machine.burnish("review", "--whole", "--base", "main", "--json")
    assert (done.code, done.view["outcome"], done.view["subject"]["base"]) == (1, "failed", "main")
    assert "burnish.toml" in {file["file"] for file in done.view["census"]}
    assert done.view["next"][0]["command"] == "burnish review --whole"


def test_what_was_found_in_files_as_they_are_blocks_no_change(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, {"review:1:reviewer:1": DRIFT, **CLEAN})
    assert machine.burnish("review", "--whole", "--json").view["outcome"] == "failed"
    machine.script(CLEAN)
    assert machine.burnish("review", "--json").view["outcome"] == "approved"


def test_the_base_is_the_one_that_ci_names(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, CLEAN)
    machine.git("branch", "release", "main")
    done = machine.burnish("review", "--json", GITHUB_BASE_REF="release")
    assert (done.code, done.view["subject"]["base"]) == (0, "release")
    missing = machine.burnish("review", CI_MERGE_REQUEST_TARGET_BRANCH_NAME="next")
    assert (missing.code, "into 'next', which this clone does not have" in missing.err) == (2, True)
    assert "git fetch origin next" in missing.err


def test_brief_intent_and_story_reach_reviewer_and_fixer(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, telling(FIXED))
    brief = tmp_path / "brief.md"
    brief.write_text("## Acceptance Criteria\n- The door stays shut.\n")
    done = machine.burnish("fix", "--json", "--brief", str(brief), "--intent", "Keep the cold out", "--story", "7.3")
    assert done.code == 0
    for effect in ("review-1-reviewer-1", "fix-1-1", "review-2-reviewer-1"):
        prompt = prompt_of(machine, done, effect)
        assert "The door stays shut." in prompt
        assert "Keep the cold out" in prompt
        assert "7.3" in prompt


def test_the_fixer_is_given_the_follow_up_word_for_word(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, telling(FIXED))
    done = machine.burnish("fix", "--json")
    # The reviewer of the first round says it itself; nobody else does.
    assert prompt_of(machine, done).count("Handle errors in app.py.") == 1
    assert "Handle errors in app.py." in prompt_of(machine, done, "fix-1-1")
    assert "Handle errors in app.py." in prompt_of(machine, done, "review-2-reviewer-1")


def test_a_change_without_a_difference_is_no_clean_review(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, CLEAN)
    machine.repository.git.run("checkout", "main", "--", ".")
    machine.git("commit", "--all", "--message", "Take everything back")
    before = Before.of(machine)
    done = machine.burnish("fix", "--json")
    assert (done.code, done.view["outcome"], done.view["seal"]) == (4, "did-not-run", None)
    assert "nothing to review" in done.view["reason"]
    check_nothing_left(machine, before, done.view["run"])


def test_the_result_of_a_detached_head_is_left_where_it_can_be_taken(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, FIXED)
    machine.git("checkout", "--quiet", "--detach")
    before = Before.of(machine)
    done = machine.burnish("fix", "--json")
    run, head = done.view["run"], done.view["subject"]["head"]
    assert (done.code, done.view["outcome"]) == (0, "approved")
    assert machine.git("rev-parse", "HEAD") == machine.git("rev-parse", "change") == before.head
    assert machine.git("rev-parse", f"burnish/{run}") == head
    assert f"burnish/{run}" in done.err
    check_nothing_left(machine, before, run)


def test_a_branch_in_a_linked_work_tree_is_moved_there(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, FIXED)
    machine.git("checkout", "--quiet", "main")
    linked = machine.repository.worktree(tmp_path / "linked", "change")
    before = Before.of(machine)
    done = machine.burnish("fix", "--json", folder=linked.path)
    assert (done.code, done.view["outcome"]) == (0, "approved")
    assert linked.head == machine.git("rev-parse", "change") == done.view["subject"]["head"]
    assert (linked.path / "app.py").read_text() == content("app.py", 1)
    assert linked.git.text("status", "--porcelain") == ""
    assert status(machine) == before.status
    check_nothing_left(machine, before, done.view["run"])


def test_another_branch_is_moved_without_touching_the_checkout(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, FIXED)
    machine.git("checkout", "--quiet", "main")
    before = Before.of(machine)
    done = machine.burnish("fix", "--json", "--branch", "change")
    assert (done.code, done.view["outcome"]) == (0, "approved")
    assert machine.git("rev-parse", "change") == done.view["subject"]["head"] != before.head
    assert machine.git("rev-parse", "--abbrev-ref", "HEAD") == "main"
    check_nothing_left(machine, before, done.view["run"])
