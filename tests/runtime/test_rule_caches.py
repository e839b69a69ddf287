"""kingfisher's rules are compiled once, into a folder that no look at a repository can write to."""

import asyncio
from pathlib import Path

import pytest

from burnish.agents.panel.interface import RuleSelection, Task, ToolError, ToolName
from burnish.agents.panel.rule_caches import compile_rules
from burnish.agents.panel.runner import AnalyserRunner
from burnish.agents.panel.tools.kingfisher import scanned_name
from burnish.settings.types import AnalyserSettings
from burnish.system.sandbox import choose
from burnish.testing.repositories import branch_with_two_defects
from tests.runtime.fixers_desk import FixersDesk

ONE_RULE = ("scan", "--no-validate", "--rule=betterleaks.aws-access-token", "--", "./a.py")
"""Few rules are compiled in no time."""
TOKEN = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL3nR6"
GITHUB_RULE = "betterleaks.github-pat"


@pytest.fixture
def harness(tmp_path: Path) -> FixersDesk:
    return FixersDesk(tmp_path / "cache" / "run", branch_with_two_defects(tmp_path / "project"), AnalyserSettings(), {})


def _compile(harness: FixersDesk, arguments: tuple[str, ...]) -> Path | None:
    return asyncio.run(compile_rules(harness.services, arguments, asyncio.Event()))


def test_the_rules_outlive_the_run_and_are_not_compiled_again(harness: FixersDesk, tmp_path: Path) -> None:
    folder = _compile(harness, ONE_RULE)
    assert folder is not None
    (compiled,) = folder.iterdir()
    before = compiled.stat()

    assert folder.is_relative_to(tmp_path / "cache")
    assert not folder.is_relative_to(tmp_path / "cache" / "run")
    assert _compile(harness, ONE_RULE) == folder
    assert compiled.stat() == before


def test_another_choice_of_rules_is_another_folder(harness: FixersDesk) -> None:
    other = ("scan", "--rule=betterleaks.1password-secret-key", "--", "./a.py")

    assert _compile(harness, ONE_RULE) != _compile(harness, other)


def test_rules_that_cannot_be_compiled_leave_nothing_and_the_scan_says_why(harness: FixersDesk, tmp_path: Path) -> None:
    assert _compile(harness, ("scan", "--rule=no-such-rule")) is None
    assert not (tmp_path / "cache" / "analysers").exists()

    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.py").write_text("KEY = 1\n")
    task = Task(tool=ToolName.KINGFISHER, files=("a.py",), choice=RuleSelection(select=("no-such-rule",)))
    with pytest.raises(ToolError, match="Unknown rule"):
        asyncio.run(AnalyserRunner(harness.services).look(tmp_path / "files", (task,), asyncio.Event()))


def test_a_secret_is_found_where_kingfisher_keeps_no_compiled_rules(harness: FixersDesk, tmp_path: Path) -> None:
    """As without a sandbox where a group may write above the cache: in homes that were made under a umask of 002."""
    harness.services.sandbox = choose("off")
    (tmp_path / "cache").chmod(0o775)
    file = tmp_path / "files" / scanned_name("a.py")
    file.parent.mkdir(parents=True)
    file.write_text(f'KEY = "{TOKEN}"\n')
    task = Task(tool=ToolName.KINGFISHER, files=("a.py",), choice=RuleSelection(select=(GITHUB_RULE,)))

    assert _compile(harness, (f"--rule={GITHUB_RULE}",)) is None
    (hit,) = asyncio.run(AnalyserRunner(harness.services).look(tmp_path / "files", (task,), asyncio.Event()))
    assert (hit.file, hit.line) == ("a.py", 1)
