"""A working tree under review that changes: no review of the former tree counts."""

from burnish.core.events import Change, Outcome, TreeChanged
from burnish.core.protocol import FailureRule, OnFailure, Reviewer
from burnish.core.reviews import FailureKind
from burnish.core.state import Ended, FailedReview, Reviewing, SealKind
from burnish.core.values import replace
from burnish.core.work import Ready, Running
from tests.core.driving import CLEAN, PLAIN, Driven

PANEL = replace(PLAIN, panel=(Reviewer(name="critic"), Reviewer(name="witness")))


def change(tree: str = "tree-1") -> TreeChanged:
    return TreeChanged(at=50.0, change=Change(commit=f"commit of {tree}", tree=tree), files=("app.py",))


def works(driven: Driven) -> list[object]:
    assert isinstance(driven.run.phase, Reviewing)
    return [seat.work for seat in driven.run.phase.seats]


def test_before_any_review_the_new_tree_is_simply_taken() -> None:
    driven = Driven(PANEL, session="s")
    driven.happen(change())
    assert driven.run.tree == "tree-1"
    assert works(driven) == [Ready()] * len(works(driven))
    assert driven.run.infrastructure_failures == 0


def test_what_was_answered_and_what_runs_is_asked_for_again_on_the_new_tree() -> None:
    driven = Driven(PANEL, session="s")
    driven.answer(CLEAN)
    driven.happen(change())
    assert works(driven) == [Ready(attempt=2)] * len(works(driven))
    assert (driven.run.rounds[-1].tree, driven.run.rounds[-1].reviews) == ("tree-1", ())
    driven.start()
    assert all(isinstance(work, Running) and work.attempt == 2 for work in works(driven))


def test_a_round_whose_only_review_was_lost_is_one_of_the_new_tree() -> None:
    driven = Driven(PLAIN, session="s")
    driven.start()
    driven.lose()
    driven.happen(change())
    assert works(driven) == [Ready()]
    assert (driven.run.rounds[-1].tree, driven.run.rounds[-1].commit) == ("tree-1", "commit of tree-1")


def test_it_is_asked_for_twice_more_and_then_the_run_did_not_run() -> None:
    driven = Driven(PLAIN, session="s")
    for number in (1, 2, 3):
        driven.start()
        driven.happen(change(f"tree-{number}"))
    phase = driven.run.phase
    assert isinstance(phase, Ended)
    assert phase.outcome is Outcome.DID_NOT_RUN
    assert "the working tree changed during the review: app.py" in phase.reason
    (review,) = driven.run.rounds[-1].reviews
    assert isinstance(review, FailedReview)
    assert review.failure.kind is FailureKind.WROTE_TO_TREE


def test_a_protocol_that_ends_at_the_first_failure_ends() -> None:
    protocol = replace(PLAIN, failures=FailureRule(crashed=OnFailure.END))
    driven = Driven(protocol, session="s")
    driven.start()
    assert driven.happen(change()).outcome is Outcome.DID_NOT_RUN


def test_reviewers_of_a_copy_know_no_such_change() -> None:
    driven = Driven(PLAIN)
    driven.start()
    assert "reviewers look at a copy" in driven.refusal(change())


def test_the_same_tree_is_no_change() -> None:
    driven = Driven(PLAIN, session="s")
    assert "the tree is the one under review" in driven.refusal(change("tree-0"))


def test_the_seal_of_a_session_says_that_it_reviewed_its_own_work() -> None:
    driven = Driven(PLAIN, session="s")
    driven.answer(CLEAN)
    assert driven.run.phase == replace(driven.run.phase, kinds=(SealKind.SELF_REVIEWED,))
