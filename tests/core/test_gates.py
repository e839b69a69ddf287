"""The rule that turns answers into a judgement: what blocks, what objects, and that nothing is clean by default."""

import pytest

from burnish.core.findings import Finding, Severity
from burnish.core.gates import Judgement, judge, judge_answers, threshold
from burnish.core.protocol import Gate, ScoreGate, SeverityGate, VerdictGate
from burnish.core.reviews import Answer, DimensionScore, Former, FormerAnswer, ScoreCard
from tests.core.driving import CLEAN, found, problem

HIGH_BLOCKS = SeverityGate(block=Severity.HIGH)
GATES: tuple[Gate, ...] = (HIGH_BLOCKS, VerdictGate(), ScoreGate())


def objection(severity: Severity, text: str) -> Judgement:
    """The judgement where nothing blocks but the objection itself."""
    title = f"The gate is not met: {text}"
    blocking = Finding(severity=severity, title=title, category="gate", synthetic=True)
    return Judgement(clean=False, blocking=(blocking,), reasons=(text,))


@pytest.mark.parametrize("severity", Severity)
@pytest.mark.parametrize("block", Severity)
def test_findings_at_or_above_the_threshold_block(severity: Severity, block: Severity) -> None:
    one = problem(severity=severity)
    blocked = severity.rank <= block.rank
    expected = Judgement(clean=False, blocking=(one,)) if blocked else Judgement(clean=True)
    assert judge_answers(SeverityGate(block=block), [found(one)]) == expected


def test_thresholds_of_the_gates() -> None:
    assert [threshold(gate) for gate in GATES] == [Severity.HIGH, Severity.HIGH, Severity.CRITICAL]


@pytest.mark.parametrize("gate", GATES)
def test_no_answer_is_never_clean(gate: Gate) -> None:
    assert judge(gate, [], []) == objection(threshold(gate), "no reviewer answered")


def test_a_clean_answer_is_clean() -> None:
    assert judge_answers(HIGH_BLOCKS, [CLEAN, CLEAN]) == Judgement(clean=True)


@pytest.mark.parametrize("gate", [HIGH_BLOCKS, VerdictGate()])
def test_a_reviewer_that_lists_nothing_and_does_not_approve_blocks(gate: Gate) -> None:
    said = "the reviewer did not approve, but listed nothing"
    assert judge_answers(gate, [CLEAN, Answer(clean=False)]) == objection(Severity.HIGH, said)


def test_two_objections_are_both_named() -> None:
    silent = Answer(clean=False)
    said = "the reviewer did not approve, but listed nothing"
    judgement = judge_answers(HIGH_BLOCKS, [silent, silent])
    assert judgement.reasons == (said, said)
    assert judgement.blocking[0].title == f"The gate is not met: {said}; {said}"


def test_an_objection_beside_a_finding_that_blocks_adds_no_finding() -> None:
    one = problem()
    judgement = judge_answers(HIGH_BLOCKS, [found(one), Answer(clean=False)])
    assert judgement.blocking == (one,)
    assert judgement.reasons == ("the reviewer did not approve, but listed nothing",)


def test_findings_of_every_answer_are_judged() -> None:
    one, other, small = problem("one"), problem("other"), problem("small", Severity.LOW)
    assert judge_answers(HIGH_BLOCKS, [found(one, small), found(other)]).blocking == (one, other)


def test_a_ratchet_answer_about_former_findings_has_listed_something() -> None:
    former = (Former(id="1", answer=FormerAnswer.FIXED),)
    assert judge_answers(HIGH_BLOCKS, [Answer(clean=False, former=former)]).clean


def test_a_dismissed_finding_leaves_its_answer_without_an_objection() -> None:
    assert judge(HIGH_BLOCKS, [found(problem())], []) == Judgement(clean=True)


def test_a_score_gate_needs_scores() -> None:
    assert judge_answers(ScoreGate(), [CLEAN]) == objection(Severity.CRITICAL, "the answer has no scores")


def test_a_score_gate_names_every_unmet_criterion_and_ignores_the_word_clean() -> None:
    gate = ScoreGate(dimensions=ScoreGate().dimensions[:1])
    card = ScoreCard(dimensions=(DimensionScore(name="requirement_adherence", score=80),), claimed_pass=True)
    judgement = judge_answers(gate, [Answer(clean=True, card=card)])
    assert judgement.reasons == ("requirement_adherence 80 is below 90",)
    good = ScoreCard(dimensions=(DimensionScore(name="requirement_adherence", score=90),), claimed_pass=True)
    assert judge_answers(gate, [Answer(clean=False, card=good)]).clean
    assert not judge_answers(
        gate, [Answer(clean=True, card=good, findings=(problem(severity=Severity.CRITICAL),))]
    ).clean
    assert judge_answers(gate, [Answer(clean=True, card=good, findings=(problem(),))]).clean
