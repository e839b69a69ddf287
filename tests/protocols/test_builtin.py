"""The six protocols that come with burnish, field by field against the table of the design."""

import pytest

from burnish.core.findings import Severity
from burnish.core.protocol import (
    Ask,
    AskAtTerminal,
    ChoiceAction,
    Dimension,
    Fail,
    FailureRule,
    FallbackTurn,
    Feedback,
    FixInput,
    FixRule,
    OnFailure,
    OpenBlockers,
    Priority,
    Protocol,
    RecordLayout,
    ReviewBy,
    Reviewer,
    ReviewMode,
    ReviewRule,
    RoundLimits,
    ScoreGate,
    SeatKind,
    SeverityGate,
    SkipReason,
    Stop,
    Unchanged,
    ValidateRule,
    VerdictGate,
)
from burnish.core.protocol_rules import faults
from burnish.core.reviews import ContractName, Weight
from burnish.protocols.loader import BUILT_IN, load

FIVE = (
    Reviewer(name="critic"),
    Reviewer(name="pedant"),
    Reviewer(name="witness", scratch=True),
    Reviewer(name="security-reviewer"),
    Reviewer(name="silent-failure-hunter"),
)


def protocol(name: str) -> Protocol:
    return load(name).protocol


def choices(name: str) -> list[tuple[str, ChoiceAction, str]]:
    exhausted = protocol(name).exhausted
    assert isinstance(exhausted, Ask | AskAtTerminal)
    return [(choice.key, choice.action, choice.text) for choice in exhausted.choices]


@pytest.mark.parametrize("name", BUILT_IN)
def test_each_loads_under_its_own_name_and_breaks_no_rule(name: str) -> None:
    loaded = load(name)
    assert loaded.protocol.name == name
    assert loaded.protocol.description
    assert loaded.chain == (name,)
    assert faults(loaded.protocol) == ()


def test_panels() -> None:
    assert {name: protocol(name).panel for name in BUILT_IN} == {
        "default": (
            Reviewer(name="bugs", kind=SeatKind.CHECK),
            Reviewer(name="style", kind=SeatKind.CHECK),
            Reviewer(name="tests", kind=SeatKind.CHECK, scratch=True),
            Reviewer(name="security", kind=SeatKind.CHECK),
            Reviewer(name="errors", kind=SeatKind.CHECK),
            Reviewer(name="reviewer", kind=SeatKind.EXTRA),
        ),
        "epic": (Reviewer(name="reviewer"),),
        "ticket": (Reviewer(name="code-review", scratch=True),),
        "story": (Reviewer(name="session"),),
        "panel": FIVE,
        "drift": (Reviewer(name="reviewer"),),
    }


def test_contracts() -> None:
    assert {name: protocol(name).contract for name in BUILT_IN} == {
        "default": ContractName.ISSUES,
        "epic": ContractName.FINDINGS,
        "ticket": ContractName.REPORT,
        "story": ContractName.FINDINGS,
        "panel": ContractName.ISSUES,
        "drift": ContractName.VERDICT,
    }


def test_gates() -> None:
    assert {name: protocol(name).gate for name in BUILT_IN} == {
        "default": SeverityGate(block=Severity.HIGH),
        "epic": SeverityGate(block=Severity.HIGH),
        "ticket": ScoreGate(
            dimensions=(
                Dimension(name="requirement_adherence", weight=Weight.CRITICAL),
                Dimension(name="coordination_compliance", weight=Weight.CRITICAL),
                Dimension(name="code_quality", weight=Weight.IMPORTANT),
                Dimension(name="pattern_consistency", weight=Weight.IMPORTANT),
                Dimension(name="test_quality", weight=Weight.IMPORTANT),
                Dimension(name="security_performance", weight=Weight.MODERATE),
            ),
            overall=75,
            critical=90,
            important=70,
            moderate=0,
        ),
        "story": SeverityGate(block=Severity.CRITICAL),
        "panel": SeverityGate(block=Severity.INFO),
        "drift": VerdictGate(),
    }


def test_limits() -> None:
    assert {name: protocol(name).limits for name in BUILT_IN} == {
        "default": RoundLimits(reviews=3, hard_cap=5),
        "epic": RoundLimits(reviews=3, hard_cap=5),
        "ticket": RoundLimits(reviews=3, hard_cap=3, slow_review_seconds=120),
        "story": RoundLimits(reviews=5, hard_cap=10),
        "panel": RoundLimits(reviews=5, hard_cap=5),
        "drift": RoundLimits(reviews=6, hard_cap=6),
    }


def test_failed_validations_go_to_the_fixer_twice_in_all() -> None:
    assert {protocol(name).limits.validation_fixes for name in BUILT_IN} == {2}


def test_reviewing() -> None:
    assert {name: protocol(name).review for name in BUILT_IN} == {
        "default": ReviewRule(mode=ReviewMode.RATCHET, open_blockers=OpenBlockers.LOOP),
        "epic": ReviewRule(),
        "ticket": ReviewRule(feedback=Feedback.PREVIOUS),
        "story": ReviewRule(by=ReviewBy.SESSION),
        "panel": ReviewRule(),
        "drift": ReviewRule(feedback=Feedback.FOLLOW_UP),
    }


def test_what_the_fixer_gets_and_what_no_change_leads_to() -> None:
    assert {name: protocol(name).fix for name in BUILT_IN} == {
        "default": FixRule(input=FixInput.BLOCKING, unchanged=Unchanged.EXHAUSTED),
        "epic": FixRule(input=FixInput.BLOCKING_THEN_REST, coverage=80.0),
        "ticket": FixRule(input=FixInput.REVISION),
        "story": FixRule(input=FixInput.NOTHING),
        "panel": FixRule(input=FixInput.ALL),
        "drift": FixRule(input=FixInput.FOLLOW_UP),
    }


def test_records() -> None:
    assert {name: protocol(name).records for name in BUILT_IN} == {
        "default": RecordLayout.NONE,
        "epic": RecordLayout.EPIC,
        "ticket": RecordLayout.TICKET,
        "story": RecordLayout.NONE,
        "panel": RecordLayout.PANEL,
        "drift": RecordLayout.DRIFT,
    }


def test_validation() -> None:
    after_fix = ValidateRule(before_first_review=True, after_fix=True)
    assert {name: protocol(name).validate for name in BUILT_IN} == {
        "default": after_fix,
        "epic": ValidateRule(),
        "ticket": ValidateRule(before_first_review=True, after_fix=True, acceptance=True),
        "story": ValidateRule(),
        "panel": ValidateRule(),
        "drift": ValidateRule(),
    }


def test_failures() -> None:
    assert {name: protocol(name).failures for name in BUILT_IN} == {
        "default": FailureRule(retries=2),
        "epic": FailureRule(retries=2),
        "ticket": FailureRule(retries=2),
        "story": FailureRule(
            unreadable=OnFailure.ROUND,
            crashed=OnFailure.ROUND,
            unusable=OnFailure.RETRY,
            fallback=FallbackTurn.ALTERNATE,
        ),
        "panel": FailureRule(retries=2),
        "drift": FailureRule(unreadable=OnFailure.END, crashed=OnFailure.END),
    }


def test_exhaustion_that_ends_the_run() -> None:
    assert protocol("ticket").exhausted == Fail(reason="Review failed after {revisions} revisions")
    assert protocol("panel").exhausted == Stop(reason="Issues remain after {reviews} reviews")
    assert protocol("drift").exhausted == Fail(reason="Drift remains after {revisions} fix attempts")


def test_exhaustion_that_asks_a_person() -> None:
    asked = {name: protocol(name).exhausted for name in ("epic", "story", "default")}
    assert isinstance(asked["epic"], Ask)
    assert asked["epic"].priority is Priority.NORMAL
    assert isinstance(asked["story"], Ask)
    assert asked["story"].priority is Priority.CRITICAL
    assert isinstance(asked["default"], AskAtTerminal)
    assert asked["default"].reason == "Blocking findings remain after {reviews} reviews"


def test_the_choices_of_epic() -> None:
    assert choices("epic") == [
        ("a", ChoiceAction.MANUAL, "Manual review and fix (pause autonomous workflow)"),
        ("b", ChoiceAction.ACCEPT, "Accept findings and mark story complete (not recommended)"),
        ("c", ChoiceAction.ANOTHER_ROUND, "Continue with 1 more review round (override limit)"),
    ]


def test_the_choices_of_story() -> None:
    assert choices("story") == [
        ("1", ChoiceAction.MANUAL, "Manual Fix - Update sprint-status.yaml yourself"),
        ("2", ChoiceAction.ANOTHER_AGENT, "Run with another agent - Re-run code-review with the other agent"),
        ("3", ChoiceAction.SKIP, "Skip Story - Mark story as skipped and continue"),
    ]


def test_the_choices_of_default() -> None:
    assert [(key, action) for key, action, _ in choices("default")] == [
        ("a", ChoiceAction.MANUAL),
        ("b", ChoiceAction.ACCEPT),
        ("c", ChoiceAction.ANOTHER_ROUND),
    ]


def test_which_protocols_leave_subjects_unreviewed() -> None:
    assert {name: protocol(name).skip_when for name in BUILT_IN if protocol(name).skip_when} == {
        "drift": tuple(SkipReason),
        "ticket": (SkipReason.REVIEW_DISABLED,),
    }
