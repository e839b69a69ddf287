"""What a run must not forget or double: blockers, prompts, and a person's evidence."""

import pytest

from burnish.core.events import Cancelled, FindingAnnotated, Reviewed
from burnish.core.findings import FindingStatus, Tracked
from burnish.core.gates import Judgement
from burnish.core.loop import IllegalEventError
from burnish.core.protocol import OpenBlockers, ReviewMode, RoundLimits
from burnish.core.reviews import Answer, Former, FormerAnswer
from burnish.core.state import AnsweredReview, Sealing, SealKind
from burnish.core.values import replace
from tests.core.driving import CLEAN, PLAIN, Driven, found, problem, rewritten

RATCHET = replace(
    PLAIN, review=replace(PLAIN.review, mode=ReviewMode.RATCHET), limits=RoundLimits(reviews=5, hard_cap=5)
)


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
    assert isinstance(review, AnsweredReview)
    assert review.prompt == "digest"


def test_the_evidence_against_a_finding_is_not_overwritten_by_a_note() -> None:
    driven = Driven()
    driven.answer(found(problem("bad"), problem("other", file="b.py")))
    name = driven.tracked("bad").finding.id
    driven.refute(name, "see line 3")
    with pytest.raises(IllegalEventError, match="refuted"):
        driven.happen(FindingAnnotated(at=9, finding=name, note=""))
    assert driven.tracked("bad").note == "see line 3"


def former(rule: str = "", status: FindingStatus = FindingStatus.OPEN) -> Tracked:
    """What an earlier run left."""
    finding = replace(problem("bad"), id="former", rule=rule, found_by=("critic",))
    return Tracked(
        finding=finding,
        round=0,
        last_reported_round=0,
        blocking=status is FindingStatus.OPEN,
        status=status,
        note="known",
    )


SAYS_FIXED = Answer(clean=True, former=(Former(id="former", answer=FormerAnswer.FIXED),))


def test_what_an_earlier_run_found_is_not_fixed_by_an_answer_on_the_same_tree() -> None:
    driven = Driven(remembered=(former(),))
    driven.answer(SAYS_FIXED)
    assert driven.status("bad") is FindingStatus.OPEN
    assert not driven.run.seal


def test_what_an_earlier_run_found_by_rule_is_gone_where_the_rule_reports_it_no_longer() -> None:
    """The cure may be elsewhere, as an import at the top."""
    driven = Driven(remembered=(former("ruff:F821"),))
    driven.answer(SAYS_FIXED)
    assert driven.status("bad") is FindingStatus.RESOLVED
    assert isinstance(driven.run.phase, Sealing)


def test_what_an_earlier_run_found_goes_to_the_fixer_and_is_resolved_by_its_change() -> None:
    driven = Driven(
        replace(RATCHET, review=replace(RATCHET.review, open_blockers=OpenBlockers.LOOP)), remembered=(former(),)
    )
    driven.answer(CLEAN)
    judgement = driven.run.rounds[0].judgement
    assert judgement is not None
    assert [finding.title for finding in judgement.carried] == ["bad"]
    driven.fix("tree-1", rewritten("a.py"))
    driven.answer(CLEAN)
    assert driven.status("bad") is FindingStatus.RESOLVED


@pytest.mark.parametrize("status", [FindingStatus.WAIVED, FindingStatus.REFUTED])
def test_what_a_person_set_aside_in_an_earlier_run_does_not_block_and_is_told(status: FindingStatus) -> None:
    driven = Driven(remembered=(former(status=status),))
    driven.answer(found(problem("bad")))
    assert isinstance(driven.run.phase, Sealing)
    assert driven.run.phase.kinds == (SealKind.WAIVED,)
    assert [(entry.status, entry.note) for entry in driven.run.findings] == [(status, "known")]
    listed = Driven(remembered=(former(status=status),), waivers=("former",))
    listed.answer(found(problem("bad")))
    assert isinstance(listed.run.phase, Sealing)
    assert listed.run.phase.kinds == (SealKind.APPROVED,)
