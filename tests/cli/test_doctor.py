"""`burnish doctor`: each part, and the remedy where something is missing."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.testing.repositories import RepositoryBuilder

Burnish = Callable[..., tuple[int, str, str]]
PARTS = ["git", "policy", "sandbox", "analysers", "tests", "agents", "hooks", "ledger"]


@pytest.fixture
def repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> RepositoryBuilder:
    files = {"tests/test_a.py": "def test_a():\n    assert True\n", "pyproject.toml": "[tool.pytest.ini_options]\n"}
    built = RepositoryBuilder(folder / "repository").commit(files).branch("change")
    monkeypatch.chdir(built.path)
    monkeypatch.setenv("HOME", str(folder))
    for name in list(os.environ):
        if name.endswith(("_KEY", "_TOKEN")) or name.startswith(("CLAUDE_", "BURNISH_")):
            monkeypatch.delenv(name)
    return built


def test_every_part_is_told(burnish: Burnish, repository: RepositoryBuilder) -> None:
    before = repository.git.run("status", "--porcelain")
    assert burnish("hook", "install", "pre-push")[0] == 0
    code, out, err = burnish("doctor")
    assert (code, err) == (0, "")
    assert [line[2:14].strip() for line in out.splitlines() if line[0] != " "] == PARTS
    assert "'change' would be compared with 'main'" in out
    assert "no runs yet" in out
    assert "pre-push installed, post-commit not installed" in out
    assert repository.git.run("status", "--porcelain") == before


def test_what_is_in_the_way_has_a_remedy(
    burnish: Burnish, repository: RepositoryBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = repository.path.parent / "programs"
    programs.mkdir()
    (programs / "claude").write_text("#!/bin/sh\n")
    (programs / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    repository.git.run("checkout", "--quiet", "main")
    repository.commit({"burnish.toml": '[roles]\nreview = "claude"\n'})
    repository.git.run("checkout", "--quiet", "change")
    code, out, _ = burnish("doctor", "--json")
    agents = [each for each in json.loads(out)["checks"] if each["part"] == "agents" and each["health"] == "bad"]
    assert (code, [each["says"] for each in agents]) == (1, ["claude (review): not logged in"])
    assert "claude auth login" in agents[0]["remedy"]


def test_outside_of_a_repository_it_says_so(burnish: Burnish, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    code, _, err = burnish("doctor")
    assert (code, "not" in err and "git" in err) == (2, True)
