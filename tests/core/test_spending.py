"""A run with a budget: who reserves what, who is held back, when a cap is reached, and which time counts."""

import pytest

from burnish.core.budget import Budget, Cap, Share
from burnish.core.effects import MakeSeal, ReachBudget, StartBuild, StartFix, StartReview, StartTimer
from burnish.core.events import BudgetReached, Cancelled, Roles, TimerFired, WorkLost
from burnish.core.protocol import Ask, Choice, ChoiceAction, Reviewer
from burnish.core.reviews import FailureKind, Usage
from burnish.core.spending import reserved, used
from burnish.core.state import AnsweredReview, FailedReview, Outcome
from burnish.core.values import replace
from burnish.core.work import Assignment
from tests.core.driving import CLEAN, PLAIN, Driven, found, problem, rewritten

FIVE = replace(PLAIN, panel=tuple(Reviewer(name=name) for name in ("a", "b", "c", "d", "e")))
PAIR = replace(PLAIN, panel=(Reviewer(name="critic"), Reviewer(name="pedant")))
PAID = ("first", "fixer")
SIX_DOLLARS = Budget(cost_usd=6.0, paid=PAID)


def wanted_shares(driven: Driven) -> list[Share]:
    return [effect.share for effect in driven.wanted if isinstance(effect, StartReview | StartFix | StartBuild)]


def reviewers(driven: Driven) -> list[str]:
    return [effect.reviewer for effect in driven.wanted if isinstance(effect, StartReview)]


def test_a_panel_shares_equally_and_leaves_one_share_for_whoever_must_try_again() -> None:
    driven = Driven(FIVE, budget=replace(SIX_DOLLARS, tokens=60_000))
    assert wanted_shares(driven) == [Share(cost_usd=1.0, tokens=10_000)] * 5


def test_work_that_has_started_keeps_what_it_reserved() -> None:
    driven = Driven(FIVE, budget=SIX_DOLLARS)
    driven.start()
    assert reserved(driven.run) == [Share(cost_usd=1.0)] * 5
    driven.answer(CLEAN, "a", usage=Usage(cost_usd=0.25))
    assert reserved(driven.run) == [Share(cost_usd=1.0)] * 4
    assert used(driven.run) == {Cap.COST: 0.25, Cap.TOKENS: 0, Cap.MINUTES: pytest.approx(5 / 60)}


def test_those_who_cost_nothing_reserve_nothing() -> None:
    roles = Roles(review=Assignment(agent="first"), fix=Assignment(agent="free"), reviewers={})
    roles = replace(roles, reviewers={"b": Assignment(agent="free")})
    driven = Driven(FIVE, roles=roles, budget=replace(SIX_DOLLARS, cost_usd=5.0))
    assert wanted_shares(driven) == [Share(cost_usd=1.0), Share(), *[Share(cost_usd=1.0)] * 3]
    driven.start()
    assert len(reserved(driven.run)) == 4
    assert wanted_shares(Driven(FIVE, roles=roles)) == [Share()] * 5


def test_a_fixer_is_alone_and_may_use_all_that_is_left() -> None:
    driven = Driven(budget=SIX_DOLLARS)
    driven.answer(found(problem()), usage=Usage(cost_usd=2.0))
    assert wanted_shares(driven) == [Share(cost_usd=4.0)]
    driven.fix("tree-1", rewritten("a.py"), usage=Usage(cost_usd=1.0))
    assert wanted_shares(driven) == [Share(cost_usd=1.5)]  # of a lone reviewer, who may have to try again


def test_a_builder_may_use_everything() -> None:
    assert wanted_shares(Driven(build=True, budget=SIX_DOLLARS)) == [Share(cost_usd=6.0)]


def test_whoever_tries_again_has_the_share_that_was_left_free_and_what_was_given_back() -> None:
    driven = Driven(FIVE, budget=SIX_DOLLARS)
    driven.start()
    driven.fail(FailureKind.UNREADABLE, ":a:", usage=Usage(cost_usd=0.5))
    # Five in all are reserved or used up; half of the rest stays for the next who must try again.
    assert wanted_shares(driven) == [Share(cost_usd=0.75)]
    assert reviewers(driven) == ["a"]


def test_with_too_little_for_all_some_wait_for_what_the_others_give_back() -> None:
    driven = Driven(FIVE, budget=replace(SIX_DOLLARS, cost_usd=0.025))
    assert wanted_shares(driven) == [Share(cost_usd=0.0125)] * 2
    assert reviewers(driven) == ["a", "b"]
    driven.start()
    assert driven.wanted == ()
    driven.answer(CLEAN, "b", usage=Usage(cost_usd=0.0))
    assert (reviewers(driven), wanted_shares(driven)) == (["c"], [Share(cost_usd=0.0125)])


def test_where_nothing_is_left_and_nothing_runs_the_budget_is_reached() -> None:
    driven = Driven(FIVE, budget=replace(SIX_DOLLARS, cost_usd=0.025))
    driven.start()
    driven.answer(CLEAN, "a", usage=Usage(cost_usd=0.0125))
    assert driven.wanted == ()
    driven.answer(CLEAN, "b", usage=Usage(cost_usd=0.0125))
    assert driven.wanted == (ReachBudget(id="budget", limit="0.025 USD"),)
    driven.reach_budget()
    assert driven.ended == (Outcome.OVER_BUDGET, "budget reached: 0.025 USD")
    assert [review.reviewer for review in driven.run.rounds[-1].reviews] == ["a", "b"]


def test_a_pause_is_waited_for_before_the_budget_counts_as_reached() -> None:
    roles = Roles(review=Assignment(agent="first"), fix=Assignment(agent="fixer"))
    roles = replace(roles, reviewers={"pedant": Assignment(agent="free")})
    driven = Driven(PAIR, roles=roles, budget=replace(SIX_DOLLARS, cost_usd=0.02))
    driven.start()
    driven.fail(FailureKind.CRASHED, ":pedant:")
    driven.fail(FailureKind.UNREADABLE, ":critic:", usage=Usage(cost_usd=0.02))
    assert [type(effect) for effect in driven.wanted] == [StartTimer]
    driven.wait()
    assert reviewers(driven) == ["pedant"]
    driven.answer(CLEAN, "pedant")
    assert driven.wanted == (ReachBudget(id="budget", limit="0.02 USD"),)


def test_a_fixer_without_a_share_reaches_the_budget() -> None:
    driven = Driven(budget=replace(SIX_DOLLARS, tokens=1_000))
    driven.answer(found(problem()), usage=Usage(tokens=1_000))
    assert driven.wanted == (ReachBudget(id="budget", limit="1,000 tokens"),)
    driven.reach_budget()
    assert driven.ended == (Outcome.OVER_BUDGET, "budget reached: 1,000 tokens")
    assert driven.status("wrong result").value == "open"


def test_one_seat_over_its_share_ends_the_run_and_the_others_are_kept() -> None:
    driven = Driven(PAIR, budget=SIX_DOLLARS)
    driven.start()
    driven.fail(FailureKind.OVER_BUDGET, ":critic:", message="2.10 USD of 2.00", usage=Usage(cost_usd=2.1))
    driven.answer(CLEAN, "pedant", usage=Usage(cost_usd=1.0))
    assert driven.ended == (Outcome.OVER_BUDGET, "critic over-budget: 2.10 USD of 2.00")
    assert [type(review) for review in driven.run.rounds[-1].reviews] == [FailedReview, AnsweredReview]
    assert driven.run.usage.cost_usd == pytest.approx(3.1)


def test_what_was_lost_with_its_driver_gives_its_share_back_and_is_not_counted() -> None:
    driven = Driven(PAIR, budget=SIX_DOLLARS)
    driven.start()
    driven.answer(CLEAN, "pedant", usage=Usage(cost_usd=1.0))
    driven.lose()
    assert reserved(driven.run) == []
    assert wanted_shares(driven) == [Share(cost_usd=2.5)]
    driven.answer(CLEAN, usage=Usage(cost_usd=0.5))
    assert driven.run.usage.cost_usd == 1.5


def minutes(driven: Driven) -> float:
    (limit,) = (effect for effect in driven.wanted if isinstance(effect, ReachBudget))
    return limit.seconds / 60


TEN_MINUTES = Budget(minutes=10)


def test_time_counts_while_work_runs() -> None:
    driven = Driven(budget=TEN_MINUTES)
    assert minutes(driven) == 10
    driven.start()
    driven.answer(found(problem()), after=120)
    assert driven.run.busy == 120
    driven.start()
    driven.at += 180
    driven.fix("tree-1", rewritten("a.py"))
    assert driven.run.busy == 120 + 181
    assert minutes(driven) == pytest.approx(10 - 301 / 60)


def test_the_time_limit_ends_work_and_keeps_what_it_gives() -> None:
    driven = Driven(PAIR, budget=TEN_MINUTES)
    driven.start()
    driven.answer(CLEAN, "pedant")
    driven.reach_budget()
    assert [effect.id for effect in driven.wanted] == ["stop:review:1:critic:1"]
    driven.lose()
    assert driven.ended == (Outcome.OVER_BUDGET, "budget reached: 10 minutes")
    assert driven.run.busy == 600
    assert [review.reviewer for review in driven.run.rounds[-1].reviews] == ["pedant"]


def test_nothing_is_started_when_the_time_is_over() -> None:
    driven = Driven(budget=TEN_MINUTES)
    driven.start()
    driven.answer(found(problem()), after=600)
    assert driven.wanted == (ReachBudget(id="budget:minutes", limit="10 minutes"),)
    assert [type(effect) for effect in Driven(budget=Budget(minutes=0.0)).wanted] == [ReachBudget]
    assert [type(effect) for effect in Driven(budget=Budget(minutes=0.01)).wanted] == [StartReview, ReachBudget]


def test_a_seal_in_the_making_is_let_finish() -> None:
    driven = Driven(budget=TEN_MINUTES)
    driven.start()
    driven.answer(CLEAN, after=900)
    assert [type(effect) for effect in driven.wanted] == [MakeSeal]
    driven.seal()
    assert driven.ended[0] is Outcome.APPROVED


def test_the_time_of_a_person_does_not_count() -> None:
    more = Choice(key="c", action=ChoiceAction.ANOTHER_ROUND, text="again")
    driven = Driven(replace(PLAIN, exhausted=Ask(choices=(more,))), max_reviews=1, budget=TEN_MINUTES)
    driven.answer(found(problem()))
    assert not [effect for effect in driven.wanted if isinstance(effect, ReachBudget)]
    before = driven.run.busy
    driven.at += 100_000
    driven.decide("c")
    assert driven.run.busy == before


def test_the_time_in_which_nobody_drove_the_run_does_not_count() -> None:
    driven = Driven(PAIR, budget=TEN_MINUTES)
    driven.start()
    driven.answer(CLEAN, "pedant", after=60)
    before = driven.run.busy
    driven.at += 100_000
    driven.lose()
    driven.at += 100_000
    driven.start()
    assert driven.run.busy == before
    assert minutes(driven) == pytest.approx(10 - before / 60)


def test_a_pause_counts_for_as_long_as_it_was_meant_to_be() -> None:
    driven = Driven(budget=TEN_MINUTES)
    driven.start()
    driven.fail(FailureKind.RATE_LIMITED, retry_after=30.0)
    before, failed_at = driven.run.busy, driven.at
    # Its driver dies, and somebody takes the run up much later.
    driven.happen(TimerFired(at=failed_at + 100_000, effect="pause:review:1:critic:2"))
    assert driven.run.busy == before + 30
    # A pause that is longer than what is left of the time ends with it.
    long = Driven(budget=TEN_MINUTES)
    long.start()
    long.fail(FailureKind.RATE_LIMITED, retry_after=18_000.0)
    long.reach_budget()
    assert (long.ended[0], long.run.busy) == (Outcome.OVER_BUDGET, 600)


def test_the_pause_of_a_fixer_counts_like_any_other() -> None:
    driven = Driven(budget=replace(SIX_DOLLARS, minutes=10))
    driven.answer(found(problem()))
    driven.start()
    assert reserved(driven.run) == [Share(cost_usd=6.0)]
    driven.fail(FailureKind.RATE_LIMITED, "fix:", retry_after=30.0)
    before = driven.run.busy
    driven.wait()
    assert driven.run.busy == before + 30


def test_of_two_pauses_the_first_that_ends_counts() -> None:
    driven = Driven(PAIR, budget=TEN_MINUTES)
    driven.start()
    driven.fail(FailureKind.RATE_LIMITED, ":critic:", retry_after=30.0)
    driven.fail(FailureKind.RATE_LIMITED, ":pedant:", retry_after=90.0)
    before = driven.run.busy
    driven.happen(TimerFired(at=driven.at + 29, effect="pause:review:1:critic:2"))
    assert driven.run.busy == before + 29


def test_the_cap_that_a_person_reads_is_the_one_of_the_ticket_where_that_is_smaller() -> None:
    budget = SIX_DOLLARS.within("ticket", {Cap.COST: 9.0, Cap.MINUTES: 3.0}, {Cap.COST: 9.0, Cap.MINUTES: 2.0})
    driven = Driven(budget=budget)
    reach, limit = (effect for effect in driven.wanted if isinstance(effect, ReachBudget))
    assert reach.limit == "0.00 USD, all that is left of the ticket's 9.00 USD"
    assert (limit.limit, limit.seconds) == ("1 minute, all that is left of the ticket's 3 minutes", 60)
    driven.happen(BudgetReached(at=1.0, limit=reach.limit))
    assert driven.ended == (Outcome.OVER_BUDGET, f"budget reached: {reach.limit}")


def test_what_lost_work_has_cost_is_spent() -> None:
    driven = Driven()
    (effect,) = driven.start()
    driven.happen(WorkLost(at=driven.tick(), effect=effect, usage=Usage(tokens=7, cost_usd=0.5)))
    assert (driven.run.usage.tokens, driven.run.usage.cost_usd) == (7, 0.5)
    (effect,) = driven.start()
    driven.happen(Cancelled(at=driven.tick()))
    driven.happen(WorkLost(at=driven.tick(), effect=effect, usage=Usage(tokens=3)))
    assert driven.run.usage.tokens == 10
