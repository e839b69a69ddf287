"""What a run must not forget or double: blockers, prompts, and a person's evidence."""

import pytest

from burnish.core.events import Cancelled, FindingAnnotated, Reviewed
from burnish.core.gates import Judgement
from burnish.core.loop import IllegalEventError
from burnish.core.protocol import Limits, ReviewMode
from burnish.core.reviews import Answer, Former, FormerAnswer
from burnish.core.state import GoodReview
from burnish.core.values import replace
from tests.core.driving import CLEAN, PLAIN, Driven, found, problem, rewritten

RATCHET = replace(PLAIN, review=replace(PLAIN.review, mode=ReviewMode.RATCHET), limits=Limits(reviews=5, hard_cap=5))


def test_a_blocker_that_is_called_not_fixed_blocks_once() -> None:
    driven = Driven(RATCHET)
    driven.answer(found(problem("bad")))
    driven.fix("tree-1", rewritten("a.py"))
    bad = driven.tracked("bad").finding
    driven.answer(Answer(clean=True, former=(Former(id=bad.id, answer=FormerAnswer.NOT_FIXED),)))
    assert driven.run.rounds[-1].judgement == Judgement(clean=False, blocking=(bad,))


def test_an_answer_that_arrives_while_stopping_keeps_what_it_was_given() -> None:
    driven = Driven()
    driven.start()
    driven.happen(Cancelled(at=2))
    driven.happen(Reviewed(at=3, effect="review:1:critic:1", answer=CLEAN, prompt="digest"))
    review = driven.run.rounds[0].reviews[0]
    assert isinstance(review, GoodReview)
    assert review.prompt == "digest"


def test_the_evidence_against_a_finding_is_not_overwritten_by_a_note() -> None:
    driven = Driven()
    driven.answer(found(problem("bad"), problem("other", file="b.py")))
    name = driven.tracked("bad").finding.id
    driven.refute(name, "see line 3")
    with pytest.raises(IllegalEventError, match="refuted"):
        driven.happen(FindingAnnotated(at=9, finding=name, note=""))
    assert driven.tracked("bad").note == "see line 3"
