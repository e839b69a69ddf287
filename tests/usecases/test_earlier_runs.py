"""What outlives a run: blockers on unchanged lines, and what a person said of a finding."""

from pathlib import Path

import pytest

from burnish.core.events import Mode, Outcome
from burnish.core.findings import FindingStatus, Severity
from burnish.core.state import Ended, Run
from burnish.ledger.sqlite import open_ledger
from burnish.usecases.plan_run import RunRequest, plan
from burnish.usecases.start_run import begin
from tests.usecases.sealed_runs import CODE, POLICY, Project, problem

CHANGED = CODE.replace("= 10\n", "= 11\n")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def outcome(run: Run) -> Outcome:
    assert isinstance(run.phase, Ended)
    return run.phase.outcome


def test_a_second_run_with_a_clean_answer_on_the_same_tree_is_not_sealed(project: Project) -> None:
    assert outcome(project.run([problem()])) is Outcome.FAILED
    second = project.run()
    assert not second.seal
    assert isinstance(second.phase, Ended)
    assert "earlier findings still block: Wrong value" in second.phase.reason
    (entry,) = second.findings
    assert (entry.round, entry.last_reported_round, entry.status) == (0, 0, FindingStatus.OPEN)
    assert not project.run().seal
    assert not project.verify().ok


def test_approved_without_a_seal_is_not_sealed_by_the_next_fix(project: Project) -> None:
    """The fix changes other lines, and the second reviewer misses the blocker: so does the next run's."""
    first = project.run([problem()], [], mode=Mode.FIX)
    assert (outcome(first), first.seal) == (Outcome.APPROVED, "")
    project.builder.git.run("update-ref", "refs/heads/change", first.commit)
    assert not project.run(mode=Mode.FIX, max_rounds=1).seal


def test_a_fix_that_was_not_taken_resolves_nothing(project: Project) -> None:
    first = project.run([problem(line=1)], [problem(line=15, title="Another")], mode=Mode.FIX, max_rounds=2)
    assert outcome(first) is Outcome.BLOCKED
    assert {entry.finding.title: entry.status for entry in first.findings}["Wrong value"] is FindingStatus.RESOLVED
    titles = {entry.finding.title for entry in project.run().findings if entry.status is FindingStatus.OPEN}
    assert "Wrong value" in titles


@pytest.mark.parametrize("what", ["another branch", "another commit", "both", "protocol", "base by another name"])
def test_another_name_does_not_make_a_blocker_forgotten(project: Project, what: str) -> None:
    assert not project.run([problem()]).seal
    git = project.builder.git
    if what in ("another branch", "both"):
        git.run("checkout", "--quiet", "-b", "renamed")
    if what in ("another commit", "both"):
        project.builder.commit({"other.py": "x = 1\n"}, "Something else")
    branch = git.text("symbolic-ref", "--short", "HEAD")
    protocol = "panel" if what == "protocol" else None
    base = git.text("rev-parse", "main") if what == "base by another name" else "main"
    assert not project.run(branch=branch, protocol=protocol, base=base).seal


def test_many_runs_against_other_bases_push_nothing_out_of_sight(project: Project) -> None:
    project.builder.commit({"other.py": "x = 1\n"}, "Something else")
    assert not project.run([problem()]).seal
    for _ in range(6):
        project.run(base="change~1")
    assert not project.run().seal


def test_a_blocker_moves_with_its_lines(project: Project) -> None:
    assert not project.run([problem()]).seal
    project.builder.commit({"app.py": "new = 0\n" * 5 + CHANGED}, "Above")
    run = project.run()
    assert not run.seal
    (entry,) = run.findings
    assert entry.finding.location is not None
    assert entry.finding.location.line == 15


def test_a_blocker_whose_lines_were_changed_is_dropped(project: Project) -> None:
    assert not project.run([problem()]).seal
    project.builder.commit({"app.py": CODE.replace("= 10\n", "= 12\n")}, "By hand")
    run = project.run()
    assert run.seal
    assert run.findings == ()
    assert project.verify().ok


def test_what_does_not_block_under_the_new_rules_is_not_carried(tmp_path: Path) -> None:
    project = Project(tmp_path, POLICY.replace('"epic"', '"panel"'))
    assert not project.run([problem(severity=Severity.LOW)]).seal
    assert not project.run().seal
    assert project.run(protocol="default").findings == ()


def test_a_waiver_lasts_over_runs_and_line_shifts(project: Project) -> None:
    project.say(project.run([problem()]), waive=True)
    assert project.run([problem()]).seal
    project.builder.commit({"app.py": "new = 0\n" + CHANGED}, "Above")
    run = project.run([problem(line=11)])
    assert run.seal
    assert [entry.status for entry in run.findings] == [FindingStatus.WAIVED]


def test_a_waiver_does_not_outlive_its_lines(project: Project) -> None:
    project.say(project.run([problem()]), waive=True)
    project.builder.commit({"app.py": CODE.replace("= 10\n", "= 12\n")}, "By hand")
    assert not project.run([problem()]).seal


def test_the_newest_word_counts(project: Project) -> None:
    first = project.run([problem()])
    second = project.run([problem()])
    project.say(second, waive=True)
    assert project.run([problem()]).seal
    assert project.reload(first).findings[0].status is FindingStatus.OPEN


def test_a_dead_twin_is_still_recognised(project: Project) -> None:
    """What earlier runs left is no part of what makes two runs the same."""
    assert not project.run([problem()]).seal

    def start() -> str:
        wanted = RunRequest(mode=Mode.REVIEW, branch="change", base="main")
        planned = plan(project.builder.path, wanted, project.environment)
        with open_ledger(project.repository.state_dir) as ledger:
            journal = begin(planned, ledger, project.environment, mode=Mode.REVIEW, max_rounds=None, interactive=False)
            journal.release()
        return journal.state.id

    assert start() == start()
