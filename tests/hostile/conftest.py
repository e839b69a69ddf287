"""The scenes of hostile agents: one for each sandbox that this machine has, and one without."""

from pathlib import Path

import pytest

from burnish.system.sandbox import SandboxKind
from tests.hostile.scene import Scene, make_scene

# `make test` plays the strongest sandbox and none; `make prove` plays all.
_LANDLOCK = pytest.param(SandboxKind.LANDLOCK, id="landlock", marks=pytest.mark.prove)
_BUBBLEWRAP = pytest.param(SandboxKind.BUBBLEWRAP, id="bubblewrap")


@pytest.fixture(params=[_BUBBLEWRAP, _LANDLOCK, pytest.param(SandboxKind.NONE, id="none")])
def any_scene(request: pytest.FixtureRequest, tmp_path: Path) -> Scene:
    """With each sandbox, and without."""
    return make_scene(tmp_path, request.param)


@pytest.fixture(params=[_BUBBLEWRAP, _LANDLOCK])
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
