"""What a person is told to do after a budget ran out: what was paid for is kept, and there is a command to go on."""

import pytest

from burnish.core.budget import Budget, Cap
from burnish.core.events import BudgetReached
from burnish.core.reviews import Usage
from burnish.core.state import Run
from burnish.usecases.next_steps import next_step
from burnish.usecases.runs import Sighting
from tests.core.driving import Driven, found, problem, rewritten

AGAIN = "burnish fix --branch topic --base main"


def over(budget: Budget, usage: Usage) -> Run:
    """A run that has fixed something and then reached a cap."""
    driven = Driven(budget=budget)
    driven.answer(found(problem()))
    driven.fix("tree-1", rewritten("a.py"), usage=usage)
    return driven.happen(BudgetReached(at=driven.tick(), limit="so much"))


@pytest.mark.parametrize(
    ("budget", "usage", "variable"),
    [
        (Budget(cost_usd=5.0), Usage(cost_usd=5.0), "BURNISH_COST_USD=10"),
        (Budget(cost_usd=0.25, minutes=30), Usage(cost_usd=0.2), "BURNISH_COST_USD=0.5"),
        (Budget(cost_usd=5.0, tokens=2_000_000), Usage(cost_usd=4.0, tokens=1_700_000), "BURNISH_TOKENS=4000000"),
        (Budget(cost_usd=5.0, minutes=0.05), Usage(cost_usd=0.1), "BURNISH_MINUTES=0.1"),
    ],
)
def test_the_cap_of_which_most_is_used_up_is_doubled(budget: Budget, usage: Usage, variable: str) -> None:
    run = over(budget, usage)
    assert next_step(Sighting(run=run)) == f"{variable} {AGAIN} starts anew with twice the budget"


def test_the_result_is_taken_first_where_there_is_one() -> None:
    run = over(Budget(cost_usd=5.0), Usage(cost_usd=5.0))
    assert next_step(Sighting(run=run), taken=False) == (
        "Take the result into topic with git merge --ff-only commit of tr, for it is paid for; "
        f"then BURNISH_COST_USD=10 {AGAIN} starts anew with twice the budget"
    )


def test_the_cap_of_a_ticket_is_raised_where_it_was_set() -> None:
    used_up = Budget(cost_usd=5.0).within("ticket", {Cap.COST: 6.0}, {Cap.COST: 6.0})
    step = next_step(Sighting(run=over(used_up, Usage())))
    assert step == f"raise cost_usd of [limits.ticket] in burnish.toml, then {AGAIN}"


def test_a_run_that_was_begun_without_a_budget_names_the_table() -> None:
    step = next_step(Sighting(run=over(Budget(), Usage())))
    assert step == f"raise cost_usd of [limits] in burnish.toml, then {AGAIN}"
