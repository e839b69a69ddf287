"""A change that adds a whole program is reviewed as a change; the user is told how to review existing code."""

from pathlib import Path

import pytest

from burnish.core.events import Mode
from burnish.testing.repositories import RepositoryBuilder
from burnish.usecases.plan_run import RunRequest, plan

_PROGRAM = {f"app/{number}.py": f"x = {number}\n" for number in range(50)}


def _notices(folder: Path, base: dict[str, str], added: dict[str, str]) -> str:
    builder = RepositoryBuilder(folder / "shop").commit(base, "Begin").branch("change").commit(added, "Change")
    return " ".join(plan(builder.path, RunRequest(mode=Mode.REVIEW), {"HOME": str(folder)}).notices)


def test_a_whole_program_on_a_base_without_code(tmp_path: Path) -> None:
    said = _notices(tmp_path, {"README.md": "Shop\n", "pyproject.toml": "", "setup.cfg": ""}, _PROGRAM)
    assert "main holds no code, so that all 50 files of code count as new" in said
    assert "burnish review --whole" in said


@pytest.mark.parametrize(
    ("base", "added"),
    [
        ({"README.md": "Shop\n"}, {"app.py": "x = 1\n"}),
        ({"app.py": "x = 1\n"}, _PROGRAM),
        ({"app/1.py": "x = 0\n"}, _PROGRAM),
    ],
)
def test_all_other_changes(tmp_path: Path, base: dict[str, str], added: dict[str, str]) -> None:
    assert "--whole" not in _notices(tmp_path, base, added)
