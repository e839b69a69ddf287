"""Siblings that conflict, merges that break the project, and work that may not be merged at all."""

from pathlib import Path

from tests.end_to_end.world import sealed_kinds
from tests.epics.project import Project, Ticket

_SAME_LINE = 'sed -i "5s/.*/by $story/" shared.txt; echo "Built $story."'
_JOINS = "sed -i '/^<<<<<<< /,/^>>>>>>> /c by both' shared.txt; echo Resolved."
_RESOLVES = f'case "$BURNISH_SUBJECT" in *-merge-*) {_JOINS} ;; *) {_SAME_LINE} ;; esac'
_IGNORES = f'case "$BURNISH_SUBJECT" in *-merge-*) echo more >> notes.txt; echo Resolved. ;; *) {_SAME_LINE} ;; esac'
_SIBLINGS = (Ticket("a"), Ticket("b"))


def test_siblings_that_conflict_are_resolved_and_reviewed_again(tmp_path: Path) -> None:
    project = Project(tmp_path, _SIBLINGS)
    project.says("build", _RESOLVES)
    done = project.run()
    assert (done.code, project.states()) == (0, {"a": "completed", "b": "completed"}), done.err
    text = project.show("epic/demo:shared.txt")
    assert ("by both" in text, "<<<<" in text) == (True, False)
    resolved = [name for name in project.calls("build") if "-merge-" in name]
    assert len(resolved) == 1
    # The resolution was reviewed, too, and is sealed.
    assert resolved[0] in project.calls("review")
    tree = project.machine.git("rev-parse", f"{resolved[0]}^{{tree}}")
    assert set(sealed_kinds(project.machine, tree)) == {"approved"}


def test_markers_that_are_left_never_reach_the_epic(tmp_path: Path) -> None:
    project = Project(tmp_path, _SIBLINGS)
    project.says("build", _IGNORES)
    done = project.run()
    assert done.code == 1, done.err
    assert sorted(project.states().values()) == ["completed", "failed"]
    assert "<<<<" not in project.show("epic/demo:shared.txt")
    assert "conflict markers are left in shared.txt" in done.err


def test_a_merge_that_breaks_the_project_goes_to_the_fixer(tmp_path: Path) -> None:
    """Each side passes by itself; together they do not."""
    settings = '[validate]\ncheck = "test ! -f a.txt || test ! -f b.txt || test -f both.txt"\n'
    project = Project(tmp_path, _SIBLINGS, settings=settings)
    project.says("fix", "echo both > both.txt; echo Repaired.")
    done = project.run()
    assert (done.code, project.states()) == (0, {"a": "completed", "b": "completed"}), done.err
    assert project.show("epic/demo:both.txt") == "both"


def test_a_branch_with_work_of_the_user_is_not_overwritten(tmp_path: Path) -> None:
    project = Project(tmp_path, _SIBLINGS)
    git = project.machine.git
    git("checkout", "-q", "--orphan", "elsewhere")
    git("commit", "-q", "-m", "Another history")
    git("branch", "ticket/a")
    git("checkout", "-q", "main")
    before = git("rev-parse", "ticket/a")
    done = project.run()
    assert (done.code, "ticket/a" in done.err, git("rev-parse", "ticket/a")) == (2, True, before), done.err


def test_a_pull_request_is_opened_only_once_the_epic_is_approved(tmp_path: Path) -> None:
    project = Project(tmp_path, [Ticket("a")])
    machine = project.machine
    remote = tmp_path / "remote.git"
    machine.git("init", "-q", "--bare", str(remote))
    machine.git("remote", "add", "origin", str(remote))
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "gh").write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/gh\ntest "$2" = create || exit 1\necho https://example.com/pull/1\n'
    )
    (programs / "gh").chmod(0o755)
    machine.variables["PATH"] = f"{programs}:{machine.environment['PATH']}"
    assert project.run().code == 0
    reviews = project.calls("review")
    done = project.run("--pr")
    assert project.calls("review") == reviews  # what was approved is not reviewed again
    assert (done.code, project.state().pull_request) == (0, "https://example.com/pull/1"), done.err
    assert machine.git("ls-remote", "origin", "epic/demo").split()[0] == machine.git("rev-parse", "epic/demo")
    assert "--base main --head epic/demo" in (tmp_path / "gh").read_text()
