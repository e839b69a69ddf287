"""`burnish config show`: the settings that hold, and where each was made."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.testing.repositories import RepositoryBuilder

Burnish = Callable[..., tuple[int, str, str]]


def test_every_setting_has_its_origin(burnish: Burnish, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = "[limits]\ncost_usd = 2.5\n\n[analysers]\nmutations = 5\n"
    built = RepositoryBuilder(folder / "repository").commit({"burnish.toml": policy}).branch("change")
    monkeypatch.chdir(built.path)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("BURNISH_MODEL", "large")
    code, out, err = burnish("config", "show")
    assert (code, err, out.splitlines()[0]) == (0, "", "policy: base")
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()[2:-1]}
    assert rows == {
        "model": ['"large"', "BURNISH_MODEL"],
        "limits.cost_usd": ["2.5", "main:burnish.toml:2"],
        "analysers.mutations": ["5.0", "main:burnish.toml:5"],
    }
    shown = json.loads(burnish("config", "show", "--all", "--json")[1])
    assert shown["settings"]["analysers.mutations"] == {"value": 5.0, "origin": "main:burnish.toml:5"}
    assert shown["settings"]["analysers.tests"] == {"value": "auto", "origin": "default"}
