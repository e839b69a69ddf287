"""The way of one change through the workspace, from start to end, with nothing of the user's touched."""

from pathlib import Path

from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.clones import Clones
from burnish.workspace.landing import land
from burnish.workspace.repository import Repository
from burnish.workspace.results import collect
from burnish.workspace.subjects import freeze


def test_a_fix_becomes_one_commit_and_the_branch_moves_once(
    repository: Repository, branch_with_two_defects: RepositoryBuilder, tmp_path: Path
) -> None:
    subject = freeze(repository, None, None)
    clones = Clones(repository, tmp_path / "clones")
    clone = clones.make("fixer", subject.base_commit, subject.head, writable=True)
    (clone.path / "calc.py").write_text("def mean(values):\n    return sum(values) / max(len(values), 1)\n")

    collected = collect(
        repository,
        clone,
        run="r1",
        parent=subject.head,
        round=1,
        summary="Guard the division\nmore",
        at=1_700_001_000.0,
    )

    message = repository.git.text("show", "--no-patch", "--format=%an %at %P%n%B", collected.change.commit)
    assert message == (
        f"A. Developer 1700001000 {subject.head}\n"
        "fix: address code review round 1 - Guard the division\n\nBurnish-Run: r1\n"
    )
    assert [change.path for change in collected.change.files] == ["calc.py"]
    assert branch_with_two_defects.head == subject.head

    landing = land(repository, branch="change", expected=subject.head, new=collected.change.commit, run="r1")

    assert landing.moved
    assert branch_with_two_defects.head == collected.change.commit
    assert "max(" in (branch_with_two_defects.path / "calc.py").read_text()
    clones.remove_all()
    assert not (tmp_path / "clones").exists()
