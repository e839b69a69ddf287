"""Servers for the tests beside this file."""

from collections.abc import Iterator

import pytest

from burnish.testing.model_server.server import ModelServer, model_server


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """One that plays the ready-made scenarios."""
    with model_server() as server:
        yield server
