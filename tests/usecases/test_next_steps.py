"""What a person is told to do after a budget ran out: what was paid for is kept, and there is a command to go on."""

from pathlib import Path

import pytest

from burnish.core.budget import Budget, Cap
from burnish.core.events import BudgetReached
from burnish.core.reviews import Usage
from burnish.core.state import Run
from burnish.core.values import replace
from burnish.report.account import NextStep, RunSnapshot
from burnish.testing.repositories import RepositoryBuilder
from burnish.usecases.next_steps import next_steps
from burnish.workspace.repository import Repository
from tests.core.driving import Driven, found, problem, rewritten

AGAIN = "burnish fix --branch topic --base main"


def over(budget: Budget, usage: Usage) -> Run:
    """A run that has fixed something and then reached a cap."""
    driven = Driven(budget=budget)
    driven.answer(found(problem()))
    driven.fix("tree-1", rewritten("a.py"), usage=usage)
    return driven.happen(BudgetReached(at=driven.tick(), limit="so much"))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    RepositoryBuilder(tmp_path).commit({"a.py": "x\n"}).branch("topic").commit({"a.py": "y\n"})
    return Repository.discover(tmp_path)


def only_step(repository: Repository, run: Run) -> NextStep:
    (step,) = next_steps(repository, RunSnapshot(run=run))
    return step


@pytest.mark.parametrize(
    ("budget", "usage", "variable"),
    [
        (Budget(cost_usd=5.0), Usage(cost_usd=5.0), "BURNISH_COST_USD=10"),
        (Budget(cost_usd=0.25, minutes=30), Usage(cost_usd=0.2), "BURNISH_COST_USD=0.5"),
        (Budget(cost_usd=5.0, tokens=2_000_000), Usage(cost_usd=4.0, tokens=1_700_000), "BURNISH_TOKENS=4000000"),
        (Budget(cost_usd=5.0, minutes=0.05), Usage(cost_usd=0.1), "BURNISH_MINUTES=0.1"),
    ],
)
def test_the_cap_of_which_most_is_used_up_is_doubled(
    repository: Repository, budget: Budget, usage: Usage, variable: str
) -> None:
    step = only_step(repository, over(budget, usage))
    assert step == NextStep(command=f"{variable} {AGAIN}", does="starts a new run with twice the budget")


def test_the_cap_of_a_ticket_is_raised_where_it_was_set(repository: Repository) -> None:
    used_up = Budget(cost_usd=5.0).within("ticket", {Cap.COST: 6.0}, {Cap.COST: 6.0})
    step = only_step(repository, over(used_up, Usage()))
    assert (step.first, step.command) == ("Raise cost_usd in [limits.ticket] of burnish.toml", AGAIN)


def test_a_run_that_was_begun_without_a_budget_names_the_table(repository: Repository) -> None:
    step = only_step(repository, over(Budget(), Usage()))
    assert (step.first, step.command) == ("Raise cost_usd in [limits] of burnish.toml", AGAIN)


def test_a_session_goes_on_with_its_own_run(repository: Repository) -> None:
    driven = Driven()
    run = replace(driven.run, started=replace(driven.run.started, session="s"))
    step = only_step(repository, run)
    assert step == NextStep(
        first="Type /burnish:fix in your session to go on with it",
        command=f"burnish cancel {run.id}",
        does="ends the run",
    )
