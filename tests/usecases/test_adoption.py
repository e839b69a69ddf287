"""A gate that only reports, and one that is passed in an emergency: neither may look like an approval."""

import json
from pathlib import Path

import pytest

from burnish.cli.app import run as burnish
from burnish.core.events import Outcome
from burnish.core.evidence import Level
from burnish.core.state import SealKind
from burnish.report.account import RunSnapshot
from burnish.settings.types import Allowance
from tests.usecases.sealed_runs import POLICY, Project, problem

REPORT_ONLY = f"{POLICY}[gate]\nenforce = false\n"


@pytest.fixture
def reporting(tmp_path: Path) -> Project:
    """The base's policy says `enforce = false`."""
    return Project(tmp_path, REPORT_ONLY)


def test_what_the_base_does_not_enforce_is_reported_and_never_approved(reporting: Project) -> None:
    run = reporting.run([problem()])
    assert (run.outcome, run.seal_kinds, RunSnapshot(run=run).exit_code) == (Outcome.FAILED, (SealKind.REPORTED,), 0)
    verdict = reporting.verify()
    assert verdict.ok, verdict.reason
    assert verdict.is_reported
    assert not verdict.enforced
    assert "main does not enforce the gate" in verdict.reason
    assert verdict.notes == (
        "NOT APPROVED: the change did not pass the gate",
        "open: critical, Wrong value in app.py",
    )


def test_what_was_not_examined_is_reported_too(reporting: Project) -> None:
    run = reporting.run(level=Level.NOT_EXAMINED)
    assert (run.outcome, run.seal_kinds) == (Outcome.UNPROVEN, (SealKind.REPORTED,))
    assert any("app.py" in note for note in reporting.verify().notes)


def test_a_change_that_passes_is_approved_as_ever(reporting: Project) -> None:
    assert reporting.run().seal_kinds == (SealKind.APPROVED,)
    assert not reporting.verify().is_reported


def test_a_base_that_enforces_refuses_a_reported_seal_whatever_is_allowed(reporting: Project) -> None:
    reporting.run([problem()])
    reporting.builder.git.run("checkout", "--quiet", "main")
    reporting.builder.commit({"burnish.toml": POLICY}, "Enforce")
    verdict = reporting.verify(allow=tuple(Allowance), any_policy=True)
    assert not verdict.ok
    assert "main enforces the gate" in verdict.reason


@pytest.mark.parametrize("where", ["the change", "the user"])
def test_only_the_base_can_turn_enforcement_off(tmp_path: Path, where: str) -> None:
    project = Project(tmp_path)
    if where == "the change":
        project.builder.commit({"burnish.toml": REPORT_ONLY}, "Please")
    else:
        project.own_settings("[gate]\nenforce = false\n")
    run = project.run([problem()])
    assert run.outcome is Outcome.FAILED
    if where == "the change":
        assert not run.seal
    assert not project.verify(allow=tuple(Allowance), any_policy=True).ok


def verify(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = burnish(["verify", "change", "--base", "main", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_breaking_the_glass_is_loud_recorded_and_opens_nothing_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = Project(tmp_path)
    run = project.run([problem()])
    monkeypatch.chdir(project.builder.path)
    for wrong in (["--break-glass"], ["--break-glass", "--reason", " "], ["--reason", "x"]):
        assert verify(capsys, *wrong)[0] == 2
    monkeypatch.setenv("BURNISH_RUN", run.id)
    assert verify(capsys, "--break-glass", "--reason", "an agent wants it")[0] == 2
    monkeypatch.delenv("BURNISH_RUN")

    code, out, err = verify(capsys, "--break-glass", "--reason", "production is down", "--json")
    assert code == 0
    assert "BREAK-GLASS: change goes ahead WITHOUT a valid seal" in err
    told = json.loads(out)
    assert (told["sealed"], told["went_ahead"]) == (False, True)
    (record,) = told["break_glass"]
    assert (record["reason"], record["tree"]) == ("production is down", run.tree)
    assert "has no seal" in record["missing"]
    assert "A. Developer" in record["by"]

    code, out, _ = verify(capsys)
    assert code == 1
    assert "production is down" in out
    assert burnish(["show", run.id]) == 0
    assert "production is down" in capsys.readouterr().out


def test_the_glass_is_not_broken_for_a_tree_with_a_valid_seal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = Project(tmp_path)
    project.run()
    monkeypatch.chdir(project.builder.path)
    code, out, err = verify(capsys, "--break-glass", "--reason", "just in case", "--json")
    assert (code, json.loads(out)["break_glass"]) == (0, [])
    assert "nothing was recorded" in err
