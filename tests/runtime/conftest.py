"""Situations that tests of the runtime share."""

from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.agents.panel.project_tests.reviewing import TestReview
from burnish.settings.types import Settings
from tests.runtime.witness_stand import PYTEST, QUIET, Files, Stand, change, virtual_environment

Hear = Callable[..., TestReview]


@pytest.fixture(scope="session")
def environment_with_pytest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An activated virtual environment with pytest, without coverage."""
    return virtual_environment(tmp_path_factory.mktemp("environment") / "venv", *PYTEST)


@pytest.fixture
def hear(tmp_path: Path, environment_with_pytest: Path) -> Hear:
    """What the witness says of a change from some files to others, where pytest is at hand."""

    def hearing(base: Files, head: Files, settings: Settings = QUIET) -> TestReview:
        return Stand(tmp_path, change(tmp_path, base, head), settings, environment_with_pytest).hear()

    return hearing
