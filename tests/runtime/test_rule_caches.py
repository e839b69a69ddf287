"""kingfisher's rules are compiled once, into a folder that no look at a repository can write to."""

import asyncio
from pathlib import Path

import pytest

from burnish.agents.analysers.interface import ToolError
from burnish.config.settings import AnalyserSettings
from burnish.runtime.performing.rule_caches import compile_rules
from burnish.testing.repositories import branch_with_two_defects
from tests.runtime.fixers_desk import FixersDesk

ONE_RULE = ("scan", "--no-validate", "--rule=betterleaks.aws-access-token", "--", "./a.py")
"""Few rules are compiled in no time."""


@pytest.fixture
def desk(tmp_path: Path) -> FixersDesk:
    return FixersDesk(tmp_path / "cache" / "run", branch_with_two_defects(tmp_path / "project"), AnalyserSettings(), {})


def _compile(desk: FixersDesk, arguments: tuple[str, ...]) -> Path:
    return asyncio.run(compile_rules(desk.shop, arguments, asyncio.Event()))


def test_the_rules_outlive_the_run_and_are_not_compiled_again(desk: FixersDesk, tmp_path: Path) -> None:
    folder = _compile(desk, ONE_RULE)
    (compiled,) = folder.iterdir()
    before = compiled.stat()

    assert folder.is_relative_to(tmp_path / "cache")
    assert not folder.is_relative_to(tmp_path / "cache" / "run")
    assert _compile(desk, ONE_RULE) == folder
    assert compiled.stat() == before


def test_another_choice_of_rules_is_another_folder(desk: FixersDesk) -> None:
    other = ("scan", "--rule=betterleaks.1password-secret-key", "--", "./a.py")

    assert _compile(desk, ONE_RULE) != _compile(desk, other)


def test_rules_that_cannot_be_compiled_are_an_error_and_leave_nothing(desk: FixersDesk, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="could not compile"):
        _compile(desk, ("scan", "--rule=no-such-rule"))

    assert not (tmp_path / "cache" / "analysers").exists()
