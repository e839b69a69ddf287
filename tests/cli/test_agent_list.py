"""`burnish agent list`: what it shows, and that it asks nobody."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from burnish.testing.repositories import RepositoryBuilder

Burnish = Callable[..., tuple[int, str, str]]

POLICY = """
[agents.mine]
kind = "command"
command = ["no-such-reviewer"]

[agents.strong]
kind = "codex"
model = "gpt-5.5"

[roles]
review = { agent = "mine", fallback = "strong" }

[limits]
cost_usd = 2.5
"""


@pytest.fixture
def programs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only clients on the PATH, which say what version they are, or fail; and nobody is logged in anywhere."""
    programs = folder / "bin"
    programs.mkdir()
    for name in ("claude", "codex", "gemini", "opencode"):
        conduct = "exit 3" if name == "gemini" else f'touch "{folder}/asked-{name}"; echo "{name} 1.2"; echo more'
        (programs / name).write_text(f"#!/bin/sh\n{conduct}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for name in list(os.environ):
        if name.endswith(("_KEY", "_TOKEN")) or name.startswith(("CLAUDE_", "GOOGLE_", "OPENCODE_", "BURNISH_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    return programs


@pytest.fixture
def repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    built = RepositoryBuilder(folder / "repository").commit({"burnish.toml": POLICY})
    monkeypatch.chdir(built.path)
    return built.path


@pytest.mark.skipif(os.uname().sysname == "Darwin", reason="optional: there, logins are where only clients can look")
def test_everything_about_everybody(burnish: Burnish, programs: Path, repository: Path) -> None:
    code, out, err = burnish("agent", "list")
    assert (code, err) == (0, "")
    assert "\n".join(line.rstrip() for line in out.replace(f"{programs}/", "").splitlines()) == snapshot("""\
NAME       KIND       MODEL    STATE          USED FOR           COST                   PROGRAM
mine       command             not installed  review             set by its provider
strong     codex      gpt-5.5  usable         review (fallback)  $5 in, $30 out         codex
analysers  analysers           usable         fix                nothing
claude     claude              not logged in                     reported by the agent  claude
codex      codex               usable                            price unknown          codex
gemini     gemini              not logged in                     price unknown          gemini
opencode   opencode            usable                            price unknown          opencode

mine is not installed: 'no-such-reviewer' was not found. Check the command of [agents.mine].
claude is not logged in: Run `claude auth login`, or set ANTHROPIC_API_KEY.
gemini is not logged in: Run `gemini`, or set GEMINI_API_KEY.
Prices are per million tokens. Paid agents may spend up to $2.5 per run.\
""")


def test_nobody_is_asked_unless_versions_are_wanted(burnish: Burnish, programs: Path, repository: Path) -> None:
    assert burnish("agent", "list")[0] == 0
    assert list(programs.parent.glob("asked-*")) == []
    rows = json.loads(burnish("agent", "list", "--versions", "--json")[1])["agents"]
    assert {row["name"]: row["version"] for row in rows} == {
        "mine": None,
        "strong": "codex 1.2",
        "analysers": None,
        "claude": "claude 1.2",
        "codex": "codex 1.2",
        "gemini": None,
        "opencode": "opencode 1.2",
    }


def test_the_object_for_programs(burnish: Burnish, programs: Path, repository: Path) -> None:
    shown = json.loads(burnish("agent", "list", "--json")[1])
    assert (shown["version"], shown["limits"]) == (1, {"cost_usd": 2.5, "tokens": None, "minutes": None})
    assert shown["agents"][1] == {
        "name": "strong",
        "kind": "codex",
        "model": "gpt-5.5",
        "configured": True,
        "state": "usable",
        "usable": True,
        "hint": "",
        "program": str(programs / "codex"),
        "version": None,
        "roles": ["review (fallback)"],
        "paid": True,
        "price": {"input": 5.0, "cached": 0.5, "output": 30.0},
        "names_cost": False,
    }


def test_outside_of_a_repository(
    burnish: Burnish, programs: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
    code, out, _ = burnish("agent", "list", "--json")
    assert (code, json.loads(out)["agents"][0]["name"]) == (0, "analysers")


def test_settings_that_cannot_be_read_are_an_error(burnish: Burnish, programs: Path, repository: Path) -> None:
    (programs.parent / ".config" / "burnish").mkdir(parents=True)
    (programs.parent / ".config" / "burnish" / "config.toml").write_text("protocl = 1\n")
    code, out, err = burnish("agent", "list")
    assert (code, out) == (2, "")
    assert "protocl" in err
