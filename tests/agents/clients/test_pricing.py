"""Prices: known ones are exact, unknown ones are never guessed."""

import pytest

from burnish.agents.interface import Tokens
from burnish.agents.pricing import price_of
from burnish.agents.registry import clients
from burnish.settings.agent_kinds import AgentKind


@pytest.mark.parametrize("model", ["gpt-5.5", "openai/gpt-5.5", "gpt-5.5-2026-04-01", "openai/gpt-5.5-20260401"])
def test_a_model_is_known_by_its_name_with_or_without_vendor_and_date(model: str) -> None:
    assert price_of(model) == clients()[AgentKind.CODEX].card.prices["gpt-5.5"]


@pytest.mark.parametrize("model", ["", "gpt-5.5-turbo", "gpt", "my-model"])
def test_an_unknown_model_has_no_price(model: str) -> None:
    assert price_of(model) is None


def test_a_cost_is_the_sum_over_the_kinds_of_tokens() -> None:
    price = price_of("gpt-5.5")
    assert price is not None
    cost = price.of(Tokens(input=1_000_000, cached=2_000_000, output=100_000))
    assert cost == pytest.approx(5.0 + 2 * 0.5 + 3.0)


def test_every_price_is_plausible() -> None:
    cards = [client.card for client in clients().values() if client.card.prices]
    assert len(cards) > 2
    for card in cards:
        assert card.prices_updated.startswith("20")
        assert card.prices_from
        for model, price in card.prices.items():
            assert 0 < price.cached < price.input < price.output < 100, model
