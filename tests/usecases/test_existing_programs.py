"""A change that adds a whole program to a base without code is judged like existing code; no other change is."""

from pathlib import Path

import pytest

from burnish.core.events import Mode
from burnish.testing.repositories import RepositoryBuilder
from burnish.usecases.plan_run import RunRequest, plan

_PROGRAM = {f"app/{number}.py": f"x = {number}\n" for number in range(50)}


def _is_imported(folder: Path, base: dict[str, str], added: dict[str, str], request: RunRequest) -> bool:
    builder = RepositoryBuilder(folder / "shop").commit(base, "Begin").branch("change").commit(added, "Change")
    return plan(builder.path, request, {"HOME": str(folder)}).subject.imported


@pytest.mark.parametrize("mode", [Mode.REVIEW, Mode.FIX])
def test_a_whole_program_on_a_base_without_code(tmp_path: Path, mode: Mode) -> None:
    base = {"README.md": "Shop\n", "pyproject.toml": "", "setup.cfg": "", "license": ""}
    assert _is_imported(tmp_path, base, _PROGRAM, RunRequest(mode=mode))


@pytest.mark.parametrize(
    ("base", "added"),
    [
        ({"README.md": "Shop\n"}, {name: text for name, text in _PROGRAM.items() if name != "app/7.py"}),
        ({"README.md": "Shop\n"}, {f"docs/{number}.md": "Shop\n" for number in range(60)}),
        ({"tool.py": "x = 1\n"}, _PROGRAM),
        ({"app/1.py": "x = 0\n"}, _PROGRAM),
        ({"run": "x = 1\n"}, _PROGRAM),
    ],
)
def test_all_other_changes(tmp_path: Path, base: dict[str, str], added: dict[str, str]) -> None:
    assert not _is_imported(tmp_path, base, added, RunRequest(mode=Mode.REVIEW))


@pytest.mark.parametrize(
    "request_",
    [
        RunRequest(mode=Mode.FIX, story="1.1"),
        RunRequest(mode=Mode.FIX, session="s1"),
        RunRequest(mode=Mode.REVIEW, epic="shop"),
        RunRequest(mode=Mode.FIX, build=True, intent="A shop"),
    ],
)
def test_what_an_agent_builds_is_new(tmp_path: Path, request_: RunRequest) -> None:
    agents = '[agents.a]\nkind = "command"\ncommand = ["true"]\n[roles]\nfix = "a"\nbuild = "a"\n'
    assert not _is_imported(tmp_path, {"burnish.toml": agents}, _PROGRAM, request_)
    assert _is_imported(tmp_path / "by hand", {"burnish.toml": agents}, _PROGRAM, RunRequest(mode=Mode.FIX))


def test_files_as_they_are_are_no_change(tmp_path: Path) -> None:
    assert not _is_imported(tmp_path, {"README.md": "Shop\n"}, _PROGRAM, RunRequest(mode=Mode.REVIEW, whole=True))
