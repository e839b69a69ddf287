"""The scenes of hostile agents: one for each sandbox that this machine has, and one without."""

from pathlib import Path

import pytest

from burnish.system.sandbox import SandboxKind
from tests.hostile.scene import Scene, make_scene

CONFINED = (SandboxKind.BUBBLEWRAP, SandboxKind.LANDLOCK)


@pytest.fixture(params=list(SandboxKind), ids=lambda kind: kind.value)
def any_scene(request: pytest.FixtureRequest, tmp_path: Path) -> Scene:
    """With each sandbox, and without."""
    return make_scene(tmp_path, request.param)


@pytest.fixture(params=CONFINED, ids=lambda kind: kind.value)
def confined_scene(request: pytest.FixtureRequest, tmp_path: Path) -> Scene:
    """With each sandbox."""
    return make_scene(tmp_path, request.param)


@pytest.fixture
def bubblewrap_scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, SandboxKind.BUBBLEWRAP)


@pytest.fixture
def open_scene(tmp_path: Path) -> Scene:
    """Without a sandbox, where only comparing can help."""
    return make_scene(tmp_path, SandboxKind.NONE)
