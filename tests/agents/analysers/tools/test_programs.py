"""Where the tools are found, and what is said where one is not."""

import os
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from burnish.agents.panel import programs
from burnish.agents.panel.interface import ToolError, ToolName
from burnish.agents.panel.programs import WHEELS, Wheel, program, version
from burnish.system.process import Command, run_now


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    program.cache_clear()
    version.cache_clear()


@pytest.mark.parametrize("tool", WHEELS)
def test_every_program_is_in_our_own_environment_and_of_the_version_that_is_said(
    tool: ToolName, tmp_path: Path
) -> None:
    path = Path(program(tool))
    assert path.is_absolute()
    assert path.is_relative_to(sys.prefix)
    assert path.read_bytes()[:2] != b"#!"
    said = run_now(Command(argv=(str(path), "--version"), folder=str(tmp_path), environment={})).stdout.decode()
    assert version(tool).removesuffix(".1") in said or version(tool) in said


@pytest.mark.parametrize("tool", WHEELS)
def test_what_is_installed_is_what_burnish_is_made_for(tool: ToolName) -> None:
    assert version(tool) == WHEELS[tool].pin


def test_path_is_never_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    impostor = tmp_path / "ruff"
    impostor.write_text("#!/bin/sh\n")
    impostor.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Path(program(ToolName.RUFF)) != impostor


def test_a_missing_tool_is_an_error_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = Wheel(package="burnish-no-such-tool", pin="1.0", program="bin/nothing")
    monkeypatch.setitem(WHEELS, ToolName.HADOLINT, missing)
    for ask in (program, version):
        with pytest.raises(ToolError, match="hadolint is not installed") as caught:
            ask(ToolName.HADOLINT)
        assert "pip install 'burnish-no-such-tool==1.0'" in caught.value.hint


def test_a_package_without_its_program_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WHEELS, ToolName.RUFF, Wheel(package="ruff", pin="1", program="bin/no-such-program"))
    with pytest.raises(ToolError, match="its program is missing"):
        program(ToolName.RUFF)


def test_a_package_that_does_not_say_what_it_brought_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ruff-1.2.3.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert version(ToolName.RUFF) == "1.2.3"
    with pytest.raises(ToolError, match="its program is missing"):
        program(ToolName.RUFF)


def test_versions_and_programs_are_those_that_python_itself_knows() -> None:
    for tool, wheel in WHEELS.items():
        installed = metadata.distribution(wheel.package)
        assert version(tool) == installed.version
        assert program(tool) in {os.path.normpath(str(file.locate())) for file in installed.files or ()}


def test_eslint_is_the_projects_own() -> None:
    assert version(ToolName.ESLINT) == programs.OF_THE_PROJECT
    with pytest.raises(ToolError, match="project's own"):
        program(ToolName.ESLINT)


def test_the_pins_are_those_of_the_package() -> None:
    """burnish's own metadata names each tool with the version that this code was written for."""
    project = tomllib.loads((Path(__file__).parents[4] / "pyproject.toml").read_text())["project"]
    assert {f"{wheel.package}=={wheel.pin}" for wheel in WHEELS.values()} <= set(project["dependencies"])
    assert metadata.version("burnish")
