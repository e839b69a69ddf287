"""Caps and shares as values: what is left, how it is divided, and which of two caps holds."""

import pytest

from burnish.core.budget import LEAST_COST_USD, LEAST_TOKENS, Budget, Cap, Share
from burnish.core.reviews import Usage


def test_a_share_without_a_cap_is_never_used_up() -> None:
    share = Share()
    much = Usage(cost_usd=1e6, tokens=10**12)
    assert share.without(much) == share.divided(5) == share
    assert share.parts is None
    assert not share.exceeded_by(much)


def test_what_is_left_of_a_share_is_never_less_than_nothing() -> None:
    share = Share(cost_usd=1.0, tokens=1_000)
    assert share.without(Usage(cost_usd=0.25, tokens=400)) == Share(cost_usd=0.75, tokens=600)
    assert share.without(Usage(cost_usd=2.0, tokens=2_000)) == Share(cost_usd=0.0, tokens=0)


def test_a_share_is_exceeded_by_more_than_all_of_it() -> None:
    share = Share(cost_usd=1.0, tokens=1_000)
    assert not share.exceeded_by(Usage(cost_usd=1.0, tokens=1_000))
    assert share.exceeded_by(Usage(cost_usd=1.01))
    assert share.exceeded_by(Usage(tokens=1_001))
    assert not Share(tokens=1_000).exceeded_by(Usage(cost_usd=9.0))


def test_a_share_is_divided_equally_and_never_rounded_up() -> None:
    assert Share(cost_usd=1.0, tokens=1_001).divided(2) == Share(cost_usd=0.5, tokens=500)


@pytest.mark.parametrize(
    ("share", "parts"),
    [
        (Share(cost_usd=3 * LEAST_COST_USD), 3),
        (Share(cost_usd=3 * LEAST_COST_USD - 0.001), 2),
        (Share(cost_usd=0.07), 7),  # which is 7.000000000000001 times the least
        (Share(cost_usd=0.29), 29),  # which is 28.999999999999996 times the least
        (Share(tokens=2 * LEAST_TOKENS - 1), 1),
        (Share(cost_usd=5.0, tokens=LEAST_TOKENS), 1),
        (Share(cost_usd=0.0, tokens=10**9), 0),
        (Share(cost_usd=1e308), 10**11),
    ],
)
def test_a_part_is_worth_something(share: Share, parts: int) -> None:
    assert share.parts == parts


def test_the_caps_of_a_budget_are_those_that_were_set() -> None:
    assert Budget().caps == {}
    whole = Budget(cost_usd=5.0, tokens=10, minutes=0.5)
    assert whole.caps == {Cap.COST: 5.0, Cap.TOKENS: 10, Cap.MINUTES: 0.5}
    assert whole.left(Usage(cost_usd=2.0, tokens=4)) == Share(cost_usd=3.0, tokens=6)


@pytest.mark.parametrize(
    ("budget", "left", "words"),
    [
        (Budget(cost_usd=5.0), Share(cost_usd=0.009), "5.00 USD"),
        (Budget(tokens=2_000_000), Share(tokens=999), "2,000,000 tokens"),
        (Budget(cost_usd=5.0, tokens=9_000), Share(cost_usd=0.01, tokens=0), "9,000 tokens"),
        (Budget(cost_usd=5.0, tokens=9_000), Share(cost_usd=0.0, tokens=0), "5.00 USD"),
    ],
)
def test_the_cap_that_is_reached_is_named(budget: Budget, left: Share, words: str) -> None:
    assert budget.reached(left) == words


def test_the_smaller_of_two_caps_holds_and_says_whose_it_is() -> None:
    own = Budget(cost_usd=5.0, tokens=1_000, paid=("claude",))
    caps = {Cap.COST: 12.0, Cap.TOKENS: 9_000, Cap.MINUTES: 60.0}
    inside = own.within("ticket", caps, {Cap.COST: 8.5, Cap.TOKENS: 100, Cap.MINUTES: 12.5})
    assert inside.caps == {Cap.COST: 3.5, Cap.TOKENS: 1_000, Cap.MINUTES: 47.5}
    assert inside.paid == ("claude",)
    assert inside.words(Cap.COST) == "3.50 USD, all that is left of the ticket's 12.00 USD"
    assert inside.words(Cap.TOKENS) == "1,000 tokens"
    assert inside.words(Cap.MINUTES) == "47.5 minutes, all that is left of the ticket's 60 minutes"


def test_a_wider_cap_that_leaves_as_much_changes_nothing() -> None:
    own = Budget(cost_usd=5.0)
    assert own.within("ticket", {Cap.COST: 6.0}, {Cap.COST: 1.0}) == own
    assert own.within("ticket", {Cap.COST: 6.0}, {}) == own


def test_nothing_is_left_of_a_wider_cap_that_was_exceeded() -> None:
    inside = Budget(cost_usd=5.0).within("ticket", {Cap.COST: 6.0, Cap.TOKENS: 500}, {Cap.COST: 7.0, Cap.TOKENS: 0.4})
    assert inside.caps == {Cap.COST: 0.0, Cap.TOKENS: 499}
    assert inside.reached(Share(cost_usd=0.0)) == "0.00 USD, all that is left of the ticket's 6.00 USD"


def test_budgets_nest_and_the_narrowest_cap_names_its_owner() -> None:
    ticket = Budget().within("ticket", {Cap.COST: 6.0}, {})
    assert ticket.words(Cap.COST) == "6.00 USD, the ticket's cap"
    inside = ticket.within("epic", {Cap.COST: 50.0}, {Cap.COST: 48.0})
    assert inside.words(Cap.COST) == "2.00 USD, all that is left of the epic's 50.00 USD"
    assert inside.within("year", {Cap.COST: 100.0}, {}) == inside
