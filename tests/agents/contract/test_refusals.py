"""What every agent promises where its service refuses: the kind of the failure, the pause, what was spent."""

import pytest

from burnish.core.reviews import FailureKind
from tests.agents.contract.conftest import Hire
from tests.agents.contract.office import failed
from tests.agents.contract.parts import TOKENS
from tests.agents.contract.players import Player, clients, players


@pytest.mark.parametrize("player", players())
def test_a_key_that_is_refused(hire: Hire, player: Player) -> None:
    failed(hire(player).review("unauthorised"), FailureKind.UNAUTHORISED)


@pytest.mark.parametrize("player", players())
def test_a_service_that_asks_to_wait(hire: Hire, player: Player) -> None:
    found = failed(hire(player).review("limited"), FailureKind.RATE_LIMITED)
    assert found.failure.retry_after == (1.0 if player.names_pause else None)


@pytest.mark.parametrize("player", players())
def test_a_service_that_fails(hire: Hire, player: Player) -> None:
    failed(hire(player).review("server-error"), FailureKind.CRASHED)


@pytest.mark.parametrize("player", clients())
def test_what_was_used_before_a_failure_is_counted_where_it_is_told(hire: Hire, player: Player) -> None:
    office = hire(player)
    found = failed(office.review("refused-later"), FailureKind.UNAUTHORISED)
    assert found.usage.tokens == (TOKENS if player.counts_failures else 0)
