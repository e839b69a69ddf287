"""Whole loops over beads with scripted agents on a real repository: what is picked, built, reviewed and merged."""

import json
import os
from pathlib import Path

import pytest

from burnish.core.epics.state import TicketFailed, state_as
from burnish.core.events import Outcome
from tests.end_to_end.world import sealed_kinds
from tests.epics.bead_project import BUILDS, DRIFTS, DRIFTS_ONCE, PASSES, BeadProject, bead
from tests.sources.test_beads import stand_in

WARNING = "Up to 2 agents work on this repository at the same time."


def test_beads_are_built_reviewed_fixed_merged_and_closed(tmp_path: Path) -> None:
    """Two slots: the most urgent first, a drift that is fixed, and everything that agents are told."""
    listed = [bead("low", priority=3), bead("late", "first", priority=0), bead("first", priority=1)]
    project = BeadProject(tmp_path, listed)
    project.says("review", DRIFTS_ONCE, "first")
    done = project.run("--parallel", "2")
    assert done.code == 0, done.err
    assert project.statuses() == dict.fromkeys(("low", "late", "first"), "closed")
    assert sorted(project.merges()) == ["Merge first: Do first", "Merge late: Do late", "Merge low: Do low"]
    assert project.machine.git("show", "epic/beads:first.txt") == "first\nfix 1"
    assert "3 beads merged; each was approved by itself" in done.out
    epic = project.state()
    assert {name: one.iteration for name, one in epic.tickets.items()} == {"first": 1, "low": 1, "late": 2}
    runs = [one.runs[-1] for one in epic.tickets.values()]
    trees = [project.machine.git("rev-parse", f"bead/{name}^{{tree}}") for name in epic.tickets]
    assert [sealed_kinds(project.machine, tree) for tree in trees] == [["approved"]] * 3
    # All that a reviewer is told: the bead, what its builder said, the attempt, and the warning, which all get.
    first, second = sorted(project.logs("review", "first"), key=lambda log: "called review first 2" in log)
    for text in ("Bead: first", "Status: in_progress", "Priority: 1", "# Do first", "Built first.", "+first", WARNING):
        assert text in first, text
    assert "Add a line." in second
    assert all(WARNING in log for role in ("build", "fix", "review") for log in project.logs(role))
    (build,) = project.logs("build", "first")
    assert "You were given this task: first." in build
    assert "At work now: low." in build or "At work now: no other one." in build
    # Nothing of the list is in the work, and only what a status concerns has changed in the list.
    assert project.machine.git("diff", "--name-only", "main", "epic/beads", "--", ".beads") == ""
    assert project.bead("low") == {**listed[0], **{key: project.bead("low")[key] for key in _MARKS}}
    assert project.machine.git("status", "--porcelain") == " M .beads/issues.jsonl"
    assert len(set(runs)) == 3


_MARKS = ("status", "updated_at", "closed_at", "close_reason")


@pytest.mark.prove
def test_a_failed_slot_fails_its_iteration_and_the_exit_code_says_so(tmp_path: Path) -> None:
    """Every way in which a slot fails: drift that stays, a broken contract, and agents that exit with an error."""
    names = ("drifts", "breaks", "review-dies", "fix-dies", "build-dies", "good")
    project = BeadProject(tmp_path, [bead(name, priority=at) for at, name in enumerate(names)])
    project.says("review", DRIFTS, "drifts")
    project.says("review", "echo 'Fine, I think. no_beads_available'", "breaks")
    project.says("review", f"{PASSES}; exit 3", "review-dies")
    project.says("review", DRIFTS, "fix-dies")
    project.says("fix", "exit 3", "fix-dies")
    project.says("build", "exit 3", "build-dies")
    done = project.run("--review-max-fix-attempts", "1", "--parallel", "3")
    assert done.code == 4, done.err
    assert project.states() == {**dict.fromkeys(names, "failed"), "good": "completed"}
    assert project.statuses() == {**dict.fromkeys(names, "open"), "good": "closed"}
    assert project.state().failed_iterations == (1, 2)
    assert "2 of 2 iterations failed: 1, 2" in done.out
    assert project.calls("fix") == ["drifts", "fix-dies"]
    assert "build-dies" not in project.calls("review")
    failed = [one for one in project.state().tickets.values() if isinstance(one.state, TicketFailed)]
    reasons = {one.ticket.id: state_as(one, TicketFailed).reason for one in failed}
    assert reasons["drifts"] == "Drift remains after 1 fix attempt"
    assert "review skipped" in reasons["build-dies"]
    assert "burnish: did-not-run" in project.bead("breaks")["notes"]


@pytest.mark.prove
def test_a_stop_marker_ends_the_loop_and_gives_the_bead_back(tmp_path: Path) -> None:
    project = BeadProject(tmp_path, [bead("a"), bead("b"), bead("c")])
    project.says("build", "echo 'I looked around.'; echo 'no_beads_available'", "b")
    done = project.run()
    assert done.code == 0, done.err
    assert project.states() == {"a": "completed", "b": "pending", "c": "pending"}
    assert project.statuses() == {"a": "closed", "b": "open", "c": "open"}
    assert project.calls("review") == ["a"]
    assert "2 beads not begun: the agent of b said that none is left" in done.out


@pytest.mark.prove
def test_the_agent_has_the_last_word_on_what_it_picks(tmp_path: Path) -> None:
    """One agent marks another bead in the list of its clone, and one says it. Both are reviewed as what they are."""
    listed = [bead("a", priority=0), bead("d", priority=1), bead("b"), bead("c", description="The one that is chosen.")]
    project = BeadProject(tmp_path, listed)
    claims = 'sed -i \'/"id": "c"/s/"open"/"in_progress"/\' .beads/issues.jsonl'
    project.says("build", f"{claims}; echo chosen > c.txt; echo Built.", "a")
    project.says("build", "echo chosen > b.txt; echo 'picked: b'", "d")
    done = project.run("--iterations", "1", "--parallel", "2")
    assert done.code == 0, done.err
    assert project.statuses() == {"a": "open", "b": "closed", "c": "closed", "d": "open"}
    assert (project.calls("build"), project.calls("review")) == (["a", "d"], ["b", "c"])
    assert project.machine.git("show", "epic/beads:c.txt") == "chosen"
    assert "The one that is chosen." in project.logs("review", "c")[0]
    assert "a: open again; its agent worked on c instead" in done.err


@pytest.mark.prove
def test_without_a_review_the_work_is_kept_and_said_so_everywhere(tmp_path: Path) -> None:
    """An ouroboros project that says nothing: off. Then it is reviewed without being built again."""
    config = 'provider = "codex"\niterationLimit = 1\nparallelAgents = 2\n'
    project = BeadProject(tmp_path, [bead("a"), bead("b"), bead("c")], **{".ouroboros__config_toml": config})
    dry = project.run("--dry-run")
    assert "REVIEW OFF" in dry.err
    assert not (project.machine.state / "ledger.db").exists()
    done = project.run()
    assert (done.code, project.calls("review")) == (0, []), done.err
    assert "note: REVIEW OFF (.ouroboros/config.toml does not turn it on)" in done.err
    assert "provider does not apply. Set 'default' in [roles]" in done.err
    assert "2 beads built without a review, so nothing was merged; 1 bead not begun" in done.out
    run = project.state().tickets["a"].runs[-1]
    assert f"The work is on burnish/{run}" in done.out
    assert project.machine.git("show", f"burnish/{run}:a.txt") == "a"
    assert project.machine.git("for-each-ref", "refs/burnish/seals") == ""
    assert project.statuses() == dict.fromkeys("abc", "open")
    assert "built without a review" in project.bead("a")["notes"]
    assert "REVIEW OFF" in project.machine.burnish("status", "beads").out
    assert project.machine.burnish("show", run, "--json").view["reason"] == "review skipped: review-disabled"
    done = project.run("--review", "--iterations", "5")
    assert done.code == 0, done.err
    assert (project.calls("build"), project.calls("review")) == (["a", "b", "c"], ["a", "b", "c"])
    assert project.statuses() == dict.fromkeys("abc", "closed")


@pytest.mark.prove
@pytest.mark.parametrize(
    ("config", "settings", "options", "reviewed", "why"),
    [
        ("reviewEnabled = true\n", "", (), True, ""),
        ("reviewEnabled = false\n", "", (), False, "main:.ouroboros/config.toml:1: reviewEnabled = false"),
        ("reviewEnabled = false\n", "[beads]\nreview = true\n", (), True, ""),
        ("reviewEnabled = true\n", "[beads]\nreview = false\n", (), False, "burnish.toml"),
        ("reviewEnabled = true\n", "", ("--no-review",), False, "--no-review"),
        ('reviewEnabled = true\nreviewerPromptPath = ""\n', "", (), False, "names no reviewer's prompt"),
    ],
)
def test_who_decides_about_the_review(
    tmp_path: Path, config: str, settings: str, options: tuple[str, ...], *, reviewed: bool, why: str
) -> None:
    files = {".ouroboros__config_toml": config}
    project = BeadProject(tmp_path, [bead("a")], settings=settings, **files)
    done = project.run(*options)
    assert (done.code, project.calls("review")) == (0, ["a"] if reviewed else []), done.err
    assert why in done.err
    skipped = {"": None, "names no reviewer's prompt": "no-reviewer-prompt"}.get(why, "review-disabled")
    view = project.machine.burnish("show", project.state().tickets["a"].runs[-1], "--json").view
    assert skipped is None or view["reason"] == f"review skipped: {skipped}"


@pytest.mark.prove
def test_prompts_of_the_project_are_read_from_its_base(tmp_path: Path) -> None:
    config = 'reviewEnabled = true\ndeveloperPromptPath = "own/dev.md"\nreviewerPromptPath = "own/rev.md"\n'
    files = {".ouroboros__config_toml": config, "own__dev.md": "Choose well.\n", "own__rev.md": "Be strict.\n"}
    project = BeadProject(tmp_path, [bead("a")], **files)
    (project.machine.root / "own" / "rev.md").write_text("Say pass.\n")
    assert project.run().code == 0
    assert "prompt: Choose well." in project.logs("build")[0]
    assert "prompt: Be strict." in project.logs("review")[0]
    (project.machine.root / ".ouroboros" / "config.toml").write_text('reviewerPromptPath = "gone.md"\n')
    project.machine.git("commit", "-qam", "Name another one")
    refused = project.run("--dry-run")
    assert (refused.code, "There is no file 'gone.md'" in refused.err) == (2, True), refused.err


@pytest.mark.prove
def test_a_file_that_is_not_committed_names_no_prompts(tmp_path: Path) -> None:
    project = BeadProject(tmp_path, [bead("a")])
    folder = project.machine.root / ".ouroboros"
    folder.mkdir()
    (folder / "config.toml").write_text('reviewEnabled = true\nreviewerPromptPath = "/etc/hostname"\n')
    done = project.run()
    assert done.code == 0, done.err
    assert "reviewerPromptPath does not apply before it is committed. Use --reviewer-prompt meanwhile." in done.err
    assert "Review" in project.logs("review")[0]


@pytest.mark.prove
def test_a_limit_of_a_service_is_waited_for(tmp_path: Path) -> None:
    project = BeadProject(tmp_path, [bead("a")])
    tried = project.machine.folder / "home" / "tried"
    limit = f"touch {tried}; echo 'usage limit: try again in 1 s' >&2; exit 1"
    project.says("build", f"if test -e {tried}; then {BUILDS}; else {limit}; fi")
    done = project.run(BURNISH_SANDBOX="off")  # so that the agent remembers that it was called
    assert (done.code, project.states()) == (0, {"a": "completed"}), done.err
    assert "a: open again, tried again in 1 s" in done.err
    assert [one.iteration for one in project.state().tickets.values()] == [2]
    assert project.state().failed_iterations == ()


@pytest.mark.prove
def test_a_tool_is_asked_and_told(tmp_path: Path) -> None:
    """A stand-in for bd with its JSON: bd itself cannot be installed for a test."""
    project = BeadProject(tmp_path, [bead("a")])
    root = project.machine.root
    (root / "bd.json").write_text(json.dumps([{"id": "from-bd", "status": "open", "title": "T", "priority": 1}]))
    path = stand_in(tmp_path)
    before = project.file.read_text()
    done = project.run(PATH=f"{path}:{os.environ['PATH']}")
    assert done.code == 0, done.err
    assert json.loads((root / "bd.json").read_text())[0]["status"] == "closed"
    assert project.file.read_text() == before
    asked = [line for line in (root / "asked").read_text().splitlines() if "list" not in line]
    assert [line.split()[:2] for line in asked] == [["update", "from-bd"], ["close", "from-bd"]]


@pytest.mark.prove
def test_what_a_person_wrote_meanwhile_stays(tmp_path: Path) -> None:
    project = BeadProject(tmp_path, [bead("a"), bead("b")])
    edit = f'sed -i \'/"id": "b"/s/"open"/"deferred"/\' {project.file}'
    project.says("build", f"{edit}; {BUILDS}", "a")
    project.says("review", DRIFTS, "b")
    done = project.run("--review-max-fix-attempts", "0", BURNISH_SANDBOX="off")
    assert (done.code, project.statuses()) == (1, {"a": "closed", "b": "deferred"}), done.err


@pytest.mark.prove
def test_options_that_do_not_fit(tmp_path: Path) -> None:
    project = BeadProject(tmp_path, [bead("a"), bead("b", status="in_progress")])
    (project.machine.root / "tasks.md").write_text("- [ ] One\n")
    for words, told in (
        (("run", "tasks.md", "--no-review"), "apply only to beads"),
        (("run", ".beads", "--review-max-fix-attempts", "9"), "9 fix attempts are more than the 5 that 'drift' allows"),
        (
            ("run", ".beads", "--top-level-bead", "bb"),
            "There is no bead 'bb'",
        ),
        (("run", "beads"), "Did you mean '.beads'?"),
    ):
        refused = project.machine.burnish(*words)
        assert (refused.code, told in refused.err) == (2, True), refused.err
    assert project.machine.runs() == []


def test_the_outcome_is_no_approval_where_nothing_is_open(tmp_path: Path) -> None:
    project = BeadProject(tmp_path, [bead("a", status="closed")])
    done = project.run()
    assert (done.code, project.state().end is not None) == (0, True), done.err
    end = project.state().end
    assert end is not None
    assert end.outcome is Outcome.SKIPPED
