"""`burnish story`: how a story stands, field by field as the tool that it replaces says it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from burnish.cli.app import run
from burnish.testing.repositories import RepositoryBuilder

FILES = {
    "plan/sprint-status.yaml": 'development_status:\n  epic-1: done\n  1-1-a: "done"  # kept\n  1-2-b: review\n',
    "plan/1-2-b.md": "# B\n\nStatus: done  # PR 3\n",
    "plan/2-1-c.md": "# C\n\nStatus: done\n",
}


def said(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    if not (folder / "repository").exists():
        RepositoryBuilder(folder / "repository").commit(FILES, "Begin")
    monkeypatch.chdir(folder / "repository")
    assert run(["story", *words]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("status", "1.1"), {"found": True, "story": "1.1", "status": "done", "done": True}),
        (("status", "1-2"), {"found": True, "story": "1-2", "status": "review", "done": False}),
        (("status", "1.2.1"), {"found": False, "story": "1.2.1", "status": "", "done": False}),
        (("file-status", "1.2"), {"found": True, "story": "1.2", "status": "done", "done": True}),
        (("file-status", "1.1"), {"found": False, "story": "1.1", "status": "", "done": False}),
    ],
)
def test_the_status_of_a_story(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    expected: Mapping[str, Any],
) -> None:
    assert said(tmp_path, monkeypatch, capsys, *words) == expected


def test_whether_a_story_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(story: str) -> Any:
        found = said(tmp_path, monkeypatch, capsys, "verify", story, "--state-file", "state.md")
        return found["verified"], found["sprint_status"], found["story_file_status"], found.get("source")

    assert told("1.1") == (True, "done", "", "sprint-status.yaml")
    assert told("1.2") == (False, "review", "done", None)
    assert told("2.1") == (True, "", "done", "story-file")
    missing = said(tmp_path, monkeypatch, capsys, "verify", "9.9")
    assert missing["reason"] == "story_not_found"


@pytest.mark.parametrize(
    "case",
    [
        ("No issues found.", "SUCCESS", 0, "proceed"),
        ("## Critical Issues (Must Fix)\n\n1. **[Bug]:** Bad\n   - **File:** a.py:1\n", "FAILURE", 1, "retry"),
        ("It went well, I think", "AMBIGUOUS", 0, "retry"),
        ("", "AMBIGUOUS", 0, "retry"),
    ],
)
def test_the_output_of_a_review(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    case: tuple[str, str, int, str],
) -> None:
    output, status, critical, action = case
    file = tmp_path / "output.txt"
    file.write_text(output)
    found = said(tmp_path, monkeypatch, capsys, "parse-output", str(file), "review")
    assert (found["status"], found["issues_found"]["critical"], found["next_action"]) == (status, critical, action)
    assert sorted(found) == ["all_fixed", "issues_found", "next_action", "status", "summary"]
    assert found["all_fixed"] is (status == "SUCCESS")


def test_after_the_last_cycle_a_person_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not said(tmp_path, monkeypatch, capsys, "escalate", "review-loop", "cycles=5")["escalate"]
    found = said(tmp_path, monkeypatch, capsys, "escalate", "review-loop", "cycles=6")
    assert (found["escalate"], found["priority"], len(found["options"])) == (True, "CRITICAL", 3)
