"""The change itself is made by an agent, and then passes the gate like any other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.testing.model_server.server import ModelServer, model_server
from tests.end_to_end.machine import Machine
from tests.end_to_end.simple import CLEAN, drift_machine
from tests.end_to_end.test_clients import FIXED, SCRIPT, agents, furnished, run, scenario
from tests.end_to_end.world import sealed_kinds

ROLES = '[roles]\nbuild = "claude"\nfix = "claude"\nreview = "codex"\n'


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with model_server({"drift": (*SCRIPT["builder"], *scenario("drift"))}) as server:
        yield server


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A user whose Claude Code builds, and whose Codex reviews. The branch is still empty."""
    made = furnished(tmp_path, ROLES)
    made.git("branch", "feature", "main")
    return made


def test_claude_builds_what_codex_reviews(machine: Machine, model: ModelServer) -> None:
    view = run(machine, model, "drift", "--build", "--branch", "feature", "--intent", "Halve by dividing.")
    assert (view["outcome"], len(view["rounds"])) == ("approved", 2), view["reason"]
    assert [name for name, _ in agents(machine, view["run"])] == ["claude", "codex", "claude", "codex"]
    assert machine.git("show", "feature:app.py") == FIXED.rstrip("\n")
    assert sealed_kinds(machine, view["subject"]["tree"]) == ["approved"]


def test_a_build_needs_somebody(tmp_path: Path) -> None:
    done = furnished(tmp_path).burnish("fix", "--build", "--intent", "Halve.")
    assert (done.code, "No agent has the role 'build'." in done.err) == (2, True), done.err


def test_a_build_needs_something_to_build_from(tmp_path: Path) -> None:
    done = drift_machine(tmp_path, CLEAN).burnish("fix", "--build")
    assert (done.code, "There is nothing to build from." in done.err) == (2, True), done.err
