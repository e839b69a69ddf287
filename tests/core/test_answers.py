"""What a fixer's answers do to findings: claims are kept and shown, and close nothing by themselves."""

import pytest

from burnish.core.effects import StartReview
from burnish.core.events import EVIDENCE, FixAnswer
from burnish.core.finding_history import answers_to_last_round, last_answers
from burnish.core.findings import FindingStatus, FixVerdict
from burnish.core.loop import decide
from burnish.core.protocol import Feedback, OpenBlockers, Protocol, ReviewMode
from burnish.core.state import FixerAnswer, Outcome
from burnish.core.values import replace
from tests.core.driving import CLEAN, PLAIN, Driven, found, problem, rewritten

BAD = problem("bad")
HOLDING = replace(PLAIN, review=replace(PLAIN.review, open_blockers=OpenBlockers.LOOP))


def after_review(protocol: Protocol = PLAIN, rules: int | None = None) -> tuple[Driven, str]:
    driven = Driven(protocol) if rules is None else Driven(protocol, rules=rules)
    driven.answer(found(BAD))
    return driven, driven.tracked("bad").finding.id


def answer(finding: str, verdict: FixVerdict, text: str = "") -> FixAnswer:
    fixed, refuted = verdict is FixVerdict.FIXED, verdict is FixVerdict.REFUTED
    return FixAnswer(finding=finding, fixed=fixed, refuted=refuted, text=text)


@pytest.mark.parametrize("verdict", [FixVerdict.NOT_FIXED, FixVerdict.REFUTED])
def test_what_the_fixer_left_is_open_though_its_lines_changed_and_nobody_repeats_it(verdict: FixVerdict) -> None:
    driven, name = after_review()
    driven.fix("tree-1", rewritten("a.py"), answers=(answer(name, verdict, "because"),))
    driven.answer(CLEAN)
    assert driven.status("bad") is FindingStatus.OPEN
    outcome, reason = driven.ended
    assert outcome is Outcome.APPROVED
    assert "no seal" in reason


def test_it_holds_the_loop_where_the_protocol_says_so() -> None:
    driven, name = after_review(HOLDING)
    driven.fix("tree-1", rewritten("a.py"), answers=(answer(name, FixVerdict.NOT_FIXED),))
    driven.answer(CLEAN)
    assert [one.id for one in driven.fixing.order.must] == [name]
    driven.fix("tree-2", rewritten("a.py"), answers=(answer(name, FixVerdict.FIXED),))
    driven.answer(CLEAN)
    assert driven.status("bad") is FindingStatus.RESOLVED


def test_fixed_is_believed_only_where_lines_changed() -> None:
    driven, name = after_review()
    driven.fix("tree-1", rewritten("b.py"), answers=(answer(name, FixVerdict.FIXED, "trust me"),))
    driven.answer(CLEAN)
    assert driven.status("bad") is FindingStatus.OPEN


def test_fixed_is_not_believed_for_lines_that_changed_while_it_was_called_unfixed() -> None:
    driven, name = after_review(HOLDING)
    driven.fix("tree-1", rewritten("a.py"), answers=(answer(name, FixVerdict.NOT_FIXED),))
    driven.answer(CLEAN)
    driven.fix("tree-2", rewritten("b.py"), answers=(answer(name, FixVerdict.FIXED, "now"),))
    driven.answer(CLEAN)
    assert driven.status("bad") is FindingStatus.OPEN


def test_without_an_answer_the_lines_decide() -> None:
    driven, name = after_review()
    driven.fix("tree-1", rewritten("a.py"))
    assert answers_to_last_round(driven.run) == (FixerAnswer(finding=name, verdict=FixVerdict.NO_ANSWER),)
    assert last_answers(driven.run) == {}
    driven.answer(CLEAN)
    assert driven.status("bad") is FindingStatus.RESOLVED


def test_of_contradictory_answers_the_worst_holds_and_all_are_shown() -> None:
    driven, name = after_review()
    both = (answer(name, FixVerdict.FIXED, "it is"), answer(name, FixVerdict.NOT_FIXED, "it is not"))
    driven.fix("tree-1", rewritten("a.py"), answers=both)
    said = last_answers(driven.run)[name]
    assert said.verdict is FixVerdict.NOT_FIXED
    assert said.text == "contradictory answers: not-fixed: it is not; fixed: it is"


def test_an_answer_about_another_finding_is_kept_apart() -> None:
    driven, name = after_review()
    driven.fix("tree-1", rewritten("a.py"), answers=(answer("unknown", FixVerdict.REFUTED, "which?"),))
    fix = driven.run.rounds[0].fix
    assert fix is not None
    assert [one.finding for one in fix.answers] == [name]
    assert fix.strays == (FixerAnswer(finding="unknown", verdict=FixVerdict.REFUTED, text="which?"),)


def test_a_run_of_older_rules_replays_as_it_was() -> None:
    driven, name = after_review(rules=EVIDENCE)
    driven.fix("tree-1", rewritten("a.py"), answers=(answer(name, FixVerdict.NOT_FIXED, "no safe fix"),))
    driven.answer(CLEAN)
    assert driven.status("bad") is FindingStatus.RESOLVED


def reviewer_is_told(protocol: Protocol) -> tuple[FixerAnswer, ...]:
    driven, name = after_review(protocol)
    driven.fix("tree-1", rewritten("a.py"), answers=(answer(name, FixVerdict.REFUTED, "see line 4"),))
    (review,) = (effect for effect in decide(driven.run) if isinstance(effect, StartReview))
    return review.answers


@pytest.mark.parametrize("feedback", [Feedback.PREVIOUS, Feedback.FOLLOW_UP])
def test_a_reviewer_that_hears_of_the_round_before_hears_the_fixer(feedback: Feedback) -> None:
    told = reviewer_is_told(replace(PLAIN, review=replace(PLAIN.review, feedback=feedback)))
    assert [(one.verdict, one.text) for one in told] == [(FixVerdict.REFUTED, "see line 4")]


def test_a_ratchet_hears_the_fixer_and_fresh_eyes_do_not() -> None:
    ratchet = replace(PLAIN, review=replace(PLAIN.review, mode=ReviewMode.RATCHET))
    assert len(reviewer_is_told(ratchet)) == 1
    assert reviewer_is_told(PLAIN) == ()
