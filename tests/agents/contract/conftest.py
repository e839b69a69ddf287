"""One scripted model for all tests of the suite, and the office in which agents are put to work."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from burnish.testing.model_server.server import ModelServer, model_server
from tests.agents.contract.office import Office
from tests.agents.contract.parts import SCENARIOS
from tests.agents.contract.players import Player

Hire = Callable[..., Office]


@pytest.fixture(scope="session")
def model() -> Iterator[ModelServer]:
    with model_server(SCENARIOS) as server:
        yield server


@pytest.fixture
def hire(tmp_path: Path, model: ModelServer) -> Iterator[Hire]:
    """Puts an agent into an office. Whatever it did, nothing of it is left at the end."""
    offices: list[Office] = []

    def hiring(player: Player, **settings: Any) -> Office:
        player.skip_if_missing()
        offices.append(Office(tmp_path, player, model, **settings))
        return offices[-1]

    yield hiring
    for office in offices:
        assert office.processes() == 0
        assert not office.confined or list(office.home.rglob("*")) == []
        assert list(office.cache.glob("*/clones/[!.]*")) == []
