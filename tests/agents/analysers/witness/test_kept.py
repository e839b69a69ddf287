"""Results that are kept for later runs: what is believed, and what is not."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from burnish.agents.panel import kept
from burnish.agents.panel.kept import environment_digest
from burnish.agents.panel.project_tests.commands import EVERYTHING, SuiteSelection
from burnish.agents.panel.project_tests.kept import KeptResults, SuiteState
from burnish.agents.panel.project_tests.values import (
    Case,
    CaseOutcome,
    FileLines,
    Framework,
    SuiteEnd,
    TestPlan,
    TestResult,
)
from burnish.agents.services import Services
from burnish.core.values import replace
from burnish.settings.types import Settings, WorkspaceSettings
from burnish.system import clock

PLAN = TestPlan(framework=Framework.PYTEST, argv=("python",), text="pytest")
STATE = SuiteState(tree="1234", environment="here", plan=PLAN)
ONE, TWO = (Case(name=f"t.py::{name}", outcome=CaseOutcome.PASSED, file="t.py") for name in "ab")
PASSED = TestResult(ended=SuiteEnd.EXITED, code=0, cases=(ONE, TWO), lists_passed=True)
FAILED = replace(PASSED, code=1, cases=(ONE, replace(TWO, outcome=CaseOutcome.FAILED)))


def services(folder: Path, *, confined: bool = True, settings: Settings | None = None) -> Services:
    repository = SimpleNamespace(root=folder)
    return cast(
        "Services",
        SimpleNamespace(
            cache=folder,
            is_confined=confined,
            settings=settings or Settings(),
            repository=repository,
            tool_environment=lambda: {"PATH": "/nonexistent"},
        ),
    )


def results(folder: Path, *, fix: bool = False) -> KeptResults:
    return KeptResults(services(folder), believes_failures=fix)


def test_an_equal_run_is_not_repeated(tmp_path: Path) -> None:
    results(tmp_path).keep(STATE, EVERYTHING, PASSED)
    assert results(tmp_path).find(STATE, EVERYTHING) == PASSED


@pytest.mark.parametrize(
    "state",
    [
        STATE._replace(tree="5678"),
        STATE._replace(environment="there"),
        STATE._replace(purpose="again"),
        STATE._replace(plan=replace(PLAN, argv=("python3",))),
    ],
)
def test_another_tree_command_or_environment_is_another_run(tmp_path: Path, state: SuiteState) -> None:
    results(tmp_path).keep(STATE, EVERYTHING, PASSED)
    assert results(tmp_path).find(state, EVERYTHING) is None
    assert results(tmp_path).find(STATE, SuiteSelection(measured=("a.py",))) is None


def test_a_run_of_all_tests_says_what_some_of_them_do(tmp_path: Path) -> None:
    results(tmp_path).keep(STATE, SuiteSelection(measured=("a.py",), first=("t.py",)), PASSED)
    found = results(tmp_path).find(STATE, SuiteSelection(only=("t.py::b",)))
    assert found is not None
    assert found.cases == (TWO,)


def test_failures_are_believed_once_and_only_by_a_fix(tmp_path: Path) -> None:
    results(tmp_path).keep(STATE, EVERYTHING, FAILED)
    assert results(tmp_path, fix=True).find(STATE, EVERYTHING) == FAILED
    assert results(tmp_path, fix=True).find(STATE, EVERYTHING) is None
    results(tmp_path).keep(STATE, EVERYTHING, FAILED)
    assert results(tmp_path).find(STATE, EVERYTHING) is None


@pytest.mark.parametrize("ended", [SuiteEnd.ENDLESS, SuiteEnd.CRASHED, SuiteEnd.COULD_NOT_RUN])
def test_a_run_that_was_cut_short_is_not_kept(tmp_path: Path, ended: SuiteEnd) -> None:
    results(tmp_path).keep(STATE, EVERYTHING, replace(PASSED, ended=ended))
    assert results(tmp_path).find(STATE, EVERYTHING) is None


def spoil(folder: Path, how: str) -> None:
    (entry,) = (folder / "tests").iterdir()
    text = entry.read_bytes()
    if how == "cut":
        entry.write_bytes(text[:-9])
    elif how == "of another run":
        entry.write_bytes(
            text.replace(STATE.key(EVERYTHING).encode(), STATE._replace(tree="").key(EVERYTHING).encode())
        )
    elif how == "writable for others":
        entry.chmod(0o666)
    elif how == "a link":
        entry.rename(folder / "elsewhere")
        entry.symlink_to(folder / "elsewhere")


@pytest.mark.parametrize("how", ["cut", "of another run", "writable for others", "a link"])
def test_a_damaged_or_foreign_entry_is_none(tmp_path: Path, how: str) -> None:
    results(tmp_path).keep(STATE, EVERYTHING, PASSED)
    spoil(tmp_path, how)
    assert results(tmp_path).find(STATE, EVERYTHING) is None


def test_an_old_entry_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results(tmp_path).keep(STATE, EVERYTHING, PASSED)
    later = clock.now() + kept.MOST_SECONDS + 60.0
    monkeypatch.setattr(clock, "now", lambda: later)
    assert results(tmp_path).find(STATE, EVERYTHING) is None


def test_the_oldest_entries_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_ENTRIES", 3)
    for number in range(9):
        results(tmp_path).keep(STATE._replace(tree=str(number)), EVERYTHING, PASSED)
    assert len(list((tmp_path / "tests").iterdir())) == 3
    assert results(tmp_path).find(STATE._replace(tree="8"), EVERYTHING) == PASSED


def test_nothing_is_kept_where_tests_can_write_anywhere(tmp_path: Path) -> None:
    seeded = Settings(workspace=WorkspaceSettings(seed=(".env",)))
    for here in (services(tmp_path, confined=False), services(tmp_path, settings=seeded)):
        KeptResults(here, believes_failures=False).keep(STATE, EVERYTHING, PASSED)
        assert not (tmp_path / "tests").exists()
    results(tmp_path).keep(STATE, EVERYTHING, PASSED)
    assert KeptResults(services(tmp_path, confined=False), believes_failures=False).find(STATE, EVERYTHING) is None


def test_installing_a_package_changes_the_environment(tmp_path: Path) -> None:
    site = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    before = environment_digest(services(tmp_path), "")
    assert environment_digest(services(tmp_path), "") == before
    (site / "left-1.0.dist-info").mkdir()
    after = environment_digest(services(tmp_path), "")
    (tmp_path / "uv.lock").write_text("left = 1\n")
    assert len({before, after, environment_digest(services(tmp_path), "")}) == 3


def test_what_tests_leave_in_the_checkout_does_not_change_the_environment(tmp_path: Path) -> None:
    """A report of coverage, or a cache: otherwise, the next review would run the tests once more."""
    before = environment_digest(services(tmp_path), "")
    os.utime(tmp_path, (1, 1))
    (tmp_path / ".coverage").touch()
    assert environment_digest(services(tmp_path), "") == before


def test_a_run_of_all_tests_keeps_its_lines_where_nothing_else_was_asked(tmp_path: Path) -> None:
    lines = {"calc.go": FileLines(statements=frozenset({1, 2}), executed=frozenset({1}))}
    results(tmp_path).keep(STATE, EVERYTHING, replace(PASSED, lines=lines))
    found = results(tmp_path).find(STATE, EVERYTHING)
    assert found is not None
    assert found.lines == lines
