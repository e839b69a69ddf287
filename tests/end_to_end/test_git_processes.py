"""How many processes of git a whole run starts: each costs milliseconds, and all of them together seconds."""

from pathlib import Path

import pytest
from benchmarks.shape import Project, scripted_project, unused_import

MOST = {"scripted agents": (scripted_project, 85), "the analysers": (unused_import, 75)}


@pytest.mark.parametrize("name", MOST)
def test_a_fix_of_two_rounds_starts_few_processes_of_git(tmp_path: Path, name: str) -> None:
    make, most = MOST[name]
    project = Project(tmp_path, Path(__file__).parents[2])
    make(project)
    assert project.git_processes("fix", "--json") <= most
