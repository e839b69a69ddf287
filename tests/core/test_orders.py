"""What the fixer is asked for, and by whom it is done."""

import pytest

from burnish.core.events import Roles, ValidationStatus
from burnish.core.findings import FindingStatus, Severity
from burnish.core.protocol import (
    FixInput,
    FixRule,
    OpenBlockers,
    Reviewer,
    ReviewRule,
    RoundLimits,
    ScoreGate,
    ValidateRule,
)
from burnish.core.reviews import Answer, ContractName, DimensionScore, ScoreCard
from burnish.core.state import FixOrder
from burnish.core.steps.work import assignment_of
from burnish.core.values import replace
from burnish.core.work import Assignment
from tests.core.driving import PLAIN, Driven, found, problem, rewritten

HIGH, SMALL = problem("bad"), problem("small", Severity.LOW, line=9)


def titles(order: FixOrder) -> tuple[list[str], list[str]]:
    return [finding.title for finding in order.must], [finding.title for finding in order.may]


@pytest.mark.parametrize(
    ("given", "must", "may"),
    [
        (FixInput.BLOCKING, ["bad"], []),
        (FixInput.BLOCKING_THEN_REST, ["bad"], ["small"]),
        (FixInput.ALL, ["bad", "small"], []),
        (FixInput.REVISION, ["bad"], ["small"]),
        (FixInput.FOLLOW_UP, ["bad"], ["small"]),
        (FixInput.NOTHING, ["bad"], []),
    ],
)
def test_what_each_input_gives_the_fixer(given: FixInput, must: list[str], may: list[str]) -> None:
    driven = Driven(replace(PLAIN, fix=FixRule(input=given)))
    driven.answer(found(HIGH, SMALL))
    assert titles(driven.fixing.order) == (must, may)
    assert (driven.fixing.order.number, driven.fixing.order.round) == (1, 1)


def test_only_open_findings_of_the_last_round_are_the_rest() -> None:
    driven = Driven(replace(PLAIN, fix=FixRule(input=FixInput.ALL)))
    left_alone = problem("elsewhere", Severity.LOW, "c.py")
    driven.answer(found(HIGH, SMALL, problem("tiny", Severity.INFO, line=20), left_alone))
    driven.waive(driven.tracked("small").finding.id)
    driven.fix("tree-1", rewritten("a.py"))
    driven.answer(found(problem("new"), replace(SMALL, severity=Severity.MEDIUM)))
    assert driven.status("elsewhere") is FindingStatus.OPEN
    assert titles(driven.fixing.order) == (["new"], [])
    assert (driven.fixing.order.number, driven.fixing.order.round) == (2, 2)


def test_a_carried_blocker_is_to_be_fixed_too() -> None:
    driven = Driven(replace(PLAIN, review=ReviewRule(open_blockers=OpenBlockers.LOOP)))
    driven.answer(found(HIGH))
    driven.fix("tree-1")
    driven.answer(found(problem("new", file="b.py")))
    assert titles(driven.fixing.order) == (["new", "bad"], [])


def test_follow_ups_and_revision_notes_are_the_instructions() -> None:
    driven = Driven(replace(PLAIN, panel=(Reviewer(name="critic"), Reviewer(name="pedant"))))
    driven.answer(Answer(clean=False, findings=(HIGH,), follow_up="close the file"))
    driven.answer(Answer(clean=False, findings=(SMALL,), follow_up="rename it"), "pedant")
    assert driven.fixing.order.instructions == "close the file\n\nrename it"


def test_revision_notes_of_a_score_card_are_the_instructions() -> None:
    gate = ScoreGate(dimensions=ScoreGate().dimensions[:1])
    driven = Driven(replace(PLAIN, gate=gate, contract=ContractName.REPORT, fix=FixRule(input=FixInput.REVISION)))
    scores = (DimensionScore(name="requirement_adherence", score=10),)
    card = ScoreCard(dimensions=scores, revision_notes="do what was asked", claimed_pass=True)
    driven.answer(Answer(clean=False, card=card))
    assert driven.fixing.order.instructions == "do what was asked"


def test_a_failed_validation_hands_its_output_over() -> None:
    driven = Driven(replace(PLAIN, validate=ValidateRule(after_fix=True)))
    driven.validate(ValidationStatus.FAILED, "1 failed")
    assert driven.fixing.order == FixOrder(number=1, round=0, instructions="1 failed", after_validation=True)
    driven.fix("tree-1")
    driven.validate()
    driven.answer(found(HIGH))
    driven.fix("tree-2", rewritten("a.py"))
    driven.validate(ValidationStatus.FAILED, "2 failed")
    assert driven.fixing.order == FixOrder(number=3, round=1, instructions="2 failed", after_validation=True)


def test_later_fixes_are_made_by_the_later_agents_and_the_last_one_stays() -> None:
    roles = Roles(review=Assignment(agent="first"), fix=Assignment(agent="fixer", fallback="spare"))
    protocol = replace(
        PLAIN,
        fix=FixRule(input=FixInput.BLOCKING, by_round=("small", "large")),
        limits=RoundLimits(reviews=5, hard_cap=5),
    )
    driven = Driven(replace(protocol, validate=ValidateRule()), roles=roles)
    driven.validate(ValidationStatus.FAILED)
    agents = [assignment_of(driven.run, driven.fixing)]
    driven.fix("tree-0b")
    driven.validate()
    for tree in ("tree-1", "tree-2", "tree-3"):
        driven.answer(found(HIGH))
        agents.append(assignment_of(driven.run, driven.fixing))
        driven.fix(tree, rewritten("a.py"))
    spare = [Assignment(agent=agent, fallback="spare") for agent in ("small", "small", "large", "large")]
    assert agents == spare


def test_without_agents_by_round_the_fixer_fixes() -> None:
    driven = Driven()
    driven.answer(found(HIGH))
    assert assignment_of(driven.run, driven.fixing) == Assignment(agent="fixer")
