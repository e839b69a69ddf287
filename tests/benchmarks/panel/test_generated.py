"""The project on which the panel is timed is as large as the figures say."""

from pathlib import Path

from benchmarks.panel.generated import lines_of, project

from burnish.testing.repositories import RepositoryBuilder


def test_a_change_of_500_lines_in_a_project_of_80_000(tmp_path: Path) -> None:
    whole, changed = lines_of(project(RepositoryBuilder(tmp_path)))

    assert (round(whole, -3), round(changed, -1)) == (80_000, 500)
