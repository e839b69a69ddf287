"""Running the command line in this process, with everything that it wrote."""

from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.cli.app import run

Burnish = Callable[..., tuple[int, str, str]]
"""Exit code, standard output, standard error output."""


@pytest.fixture(autouse=True)
def usual_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Help is laid out by the width of the terminal."""
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def burnish(capsys: pytest.CaptureFixture[str]) -> Burnish:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return call
