"""What was used up of a budget, wherever a person looks at a run."""

import pytest
from tests.core.driving import CLEAN, Driven

from burnish.core.budget import Budget
from burnish.core.reviews import Usage
from burnish.core.state import Run
from burnish.report.account import Account
from burnish.report.json_objects import run_object
from burnish.report.output import plain
from burnish.report.page import render as run_page
from burnish.report.text import run_lines, status_lines, summary
from burnish.report.words import usage, usage_of

USED = Usage(seconds=12.34, tokens=48_000, cost_usd=0.1234)


def reviewed(budget: Budget) -> Run:
    driven = Driven(budget=budget)
    driven.start()
    return driven.answer(CLEAN, usage=USED, after=90)


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        (Budget(), "12.3 s of agent time, 48,000 tokens, $0.1234"),
        (Budget(cost_usd=5.0), "12.3 s of agent time, 48,000 tokens, $0.1234 of $5.00"),
        (Budget(tokens=2_000_000), "12.3 s of agent time, 48,000 of 2,000,000 tokens, $0.1234"),
        (Budget(minutes=30), "12.3 s of agent time, 48,000 tokens, $0.1234, 1.5 of 30 minutes active"),
    ],
)
def test_what_was_used_up_and_how_much_there_is(budget: Budget, words: str) -> None:
    assert usage_of(reviewed(budget)) == words


def test_a_cap_is_told_before_anything_was_used_up() -> None:
    assert usage(Usage(), Budget(cost_usd=5.0, tokens=9)) == "0.0 s of agent time, 0 of 9 tokens, $0.00 of $5.00"


def test_every_view_shows_it() -> None:
    run = reviewed(Budget(cost_usd=5.0, tokens=2_000_000))
    words = "12.3 s of agent time, 48,000 of 2,000,000 tokens, $0.1234 of $5.00"
    account = Account(run=run)
    assert f"Usage: {words}" in plain(run_lines(account))
    assert f"Usage: {words}" in plain(summary(Account(run=run))).splitlines()
    assert "$0.1234 of $5.00" in run_page(account)
    assert run_object(account)["budget"] == {"cost_usd": 5.0, "tokens": 2_000_000, "minutes": None}
    assert f"\n  usage: {words}\n" in plain(status_lines(account))


def test_a_run_without_a_budget_is_not_bothered_with_it() -> None:
    run = reviewed(Budget())
    assert "used:" not in plain(status_lines(Account(run=run)))
    assert not [line for line in plain(summary(Account(run=run))).splitlines() if line.startswith("Usage")]
