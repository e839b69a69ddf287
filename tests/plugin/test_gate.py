"""The gate before an agent stops: it asks once for a seal, and never loops."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from burnish.cli.app import run as burnish
from burnish.usecases.gate_stop import StopAnswer, gate_stop
from tests.usecases.cloned_projects import READER
from tests.usecases.sealed_runs import Project


def stop(project: Project, session: str = "one", **more: Any) -> StopAnswer:
    event = {"cwd": str(project.builder.path), "session_id": session, "stop_hook_active": False, **more}
    return gate_stop(event, project.environment)


def test_a_change_without_a_seal_is_asked_about_once(tmp_path: Path) -> None:
    project = Project(tmp_path)
    first = stop(project)
    assert "burnish review --uncommitted --base main" in first.block
    again = stop(project)
    assert (again.block, "still has no valid seal" in again.note) == ("", True)
    assert stop(project, "two").block
    project.builder.write({"app.py": "more = 1\n"})
    assert stop(project).block  # another state of the tree


def test_it_lets_an_agent_stop_that_it_has_held_or_knows_nothing_of(tmp_path: Path) -> None:
    project = Project(tmp_path)
    assert stop(project, stop_hook_active=True) == StopAnswer()
    assert gate_stop({"cwd": str(project.builder.path)}, {}) == StopAnswer()  # the client does not say
    assert gate_stop({"cwd": str(tmp_path), "stop_hook_active": False}, {}) == StopAnswer()  # no repository
    project.environment["BURNISH_RUN"] = "x"
    assert stop(project) == StopAnswer()


def test_a_sealed_change_and_no_change_may_stop(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.run([])
    assert project.verify().ok
    assert stop(project) == StopAnswer()
    project.builder.git.run("checkout", "--quiet", "main")
    assert stop(project) == StopAnswer()


def test_a_project_that_only_reports_is_not_held(tmp_path: Path) -> None:
    assert stop(Project(tmp_path, f"{READER}[gate]\nenforce = false\n")) == StopAnswer()


@pytest.mark.parametrize("given", ["", "nonsense", "[]", '{"stop_hook_active": false, "cwd": "/no/such/folder"}'])
def test_what_it_cannot_read_does_not_hold_an_agent(
    given: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
    assert burnish(["plugin", "gate"]) == 0
    said = capsys.readouterr().out
    assert "decision" not in said
    assert not said or "did not check" in json.loads(said)["systemMessage"]
