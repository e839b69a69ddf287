"""The stage on which scripted ACP agents play."""

from pathlib import Path

import pytest

from tests.agents.acp.harness import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)
