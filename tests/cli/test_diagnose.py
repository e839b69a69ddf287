"""`burnish diagnose`: everything that is planted stays out of the bundle."""

import json
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.testing.repositories import RepositoryBuilder

Burnish = Callable[..., tuple[int, str, str]]
WORD = "zanzibar"
"""Is planted wherever a user, a project or an agent can write."""
AGENT = f"""#!/bin/sh
echo '{WORD} on stderr' >&2
cat > /dev/null
echo '{{"issues": [{{"file": "{WORD}.py", "line": 1, "severity": "critical", "message": "{WORD} is wrong"}}],
 "summary": {{"critical": 1, "warning": 0, "info": 0, "verdict": "issues_found"}}}}'
"""
POLICY = f"""
[agents.{WORD}]
kind = "command"
command = ["./{WORD}.sh", "--token={WORD}"]
model = "{WORD}"
contract = "issues"

[roles]
review = "{WORD}"

[validate]
{WORD} = "echo {WORD}"

[limits]
minutes = 7

[[waivers]]
finding = "abcdef0123456789"
reason = "{WORD}"
by = "{WORD}"

[analysers.rules]
"ruff:F401" = "off"
"""
MINE = """
extends = "epic"
"""


@pytest.fixture
def home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = folder / WORD
    home.mkdir()
    for name in list(os.environ):
        if name.endswith(("_KEY", "_TOKEN")) or name.startswith(("CLAUDE_", "BURNISH_")):
            monkeypatch.delenv(name)
    for name in ("HOME", "USER", "LOGNAME", "ANTHROPIC_API_KEY", "BURNISH_MODEL", "GIT_AUTHOR_NAME"):
        monkeypatch.setenv(name, str(home) if name == "HOME" else WORD)
    return home


def bundle_in(folder: Path) -> dict[str, str]:
    (path,) = folder.glob("burnish-diagnose-*.zip")
    with zipfile.ZipFile(path) as archive:
        return {info.filename: archive.read(info).decode() for info in archive.infolist()}


def test_nothing_that_is_planted_gets_in(
    burnish: Burnish, home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = RepositoryBuilder(home / f"{WORD}-repository").executable(f"{WORD}.sh", AGENT)
    built.commit({"burnish.toml": POLICY, f"{WORD}.toml": MINE}, WORD).branch(f"{WORD}-branch")
    built.commit({f"{WORD}.py": f"{WORD} = '{WORD}'\n"}, f"fix: {WORD}")
    monkeypatch.chdir(built.path)
    code, _, err = burnish("review", "--protocol", f"./{WORD}.toml", "--intent", WORD, "--story", WORD)
    assert code == 1, err
    code, out, err = burnish("diagnose")
    assert (code, err) == (0, "")
    bundle = bundle_in(built.path)
    assert {name: text for name, text in bundle.items() if WORD in text.lower()} == {}
    assert sorted(bundle) == sorted(line.split()[0] for line in out.splitlines()[:-1])
    (run,) = json.loads(bundle["runs.json"])
    types = [event["type"] for event in run["events"]]
    assert (types[0], types[-1], run["events"][-1]["outcome"]) == ("run-started", "closed", "failed")
    reviewed = next(event for event in run["events"] if event["type"] == "reviewed")
    assert (reviewed["effect"], reviewed["findings"]) == ("review:1:*:1", {"critical": 1})
    settings = json.loads(bundle["settings.json"])["settings"]
    assert (settings["limits"]["minutes"], settings["agents"]["1"]["kind"]) == (7, "command")
    assert settings["agents"]["1"]["model"] == "<text>"
    assert json.loads(bundle["about.json"])["hooks"]["pre-push"] == "not installed"


def test_broken_settings_are_told_and_no_file_is_replaced(
    burnish: Burnish, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = RepositoryBuilder(home / "repository").commit({"burnish.toml": f"{WORD} = = 1\n"})
    monkeypatch.chdir(built.path)
    assert burnish("diagnose")[0] == 0
    assert json.loads(bundle_in(built.path)["settings.json"]) == {"error": "DocumentError", "kind": "configuration"}
    (built.path / "mine.zip").write_text("mine")
    code, _, err = burnish("diagnose", "--output", "mine.zip")
    assert (code, "exists already" in err, (built.path / "mine.zip").read_text()) == (2, True, "mine")
    code, _, err = burnish("diagnose", "--output", "nowhere/mine.zip")
    assert (code, "--output FILE" in err) == (2, True)


def test_it_works_outside_of_a_repository(burnish: Burnish, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    assert burnish("diagnose")[0] == 0
    bundle = bundle_in(home)
    assert json.loads(bundle["doctor.json"])["error"] == "NotARepositoryError"
    assert json.loads(bundle["about.json"])["burnish"]
    assert WORD not in "".join(bundle.values())
    (path,) = home.glob("*.zip")
    assert stat.S_ISREG(path.lstat().st_mode)
