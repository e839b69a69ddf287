"""Builds, fixes, repairs, validations and seals: what each leads to, and what becomes of one that fails."""

import pytest

from burnish.core.events import (
    FixAnswer,
    Roles,
    ValidationStatus,
)
from burnish.core.findings import FixVerdict
from burnish.core.protocol import (
    FailureRule,
    FixInput,
    FixRule,
    OnFailure,
    SkipReason,
    Unchanged,
    ValidateRule,
)
from burnish.core.reviews import FailureKind, Usage
from burnish.core.state import (
    FixerAnswer,
    FixResult,
    FixStatus,
    Outcome,
    Validating,
    Validation,
)
from burnish.core.values import replace
from burnish.core.work import Assignment, Running
from tests.core.driving import CLEAN, PLAIN, Driven, found, problem, rewritten

VALIDATED = replace(PLAIN, validate=ValidateRule(after_fix=True))
GAINING = replace(PLAIN, fix=FixRule(input=FixInput.BLOCKING, unchanged=Unchanged.EXHAUSTED))
BY_ROUND = replace(PLAIN, failures=FailureRule(unreadable=OnFailure.ROUND, crashed=OnFailure.ROUND))
BAD = found(problem("bad"))


def unanswered(driven: Driven, expected: FixResult) -> FixResult:
    """The result of a fix that says nothing of the one finding."""
    name = driven.tracked("bad").finding.id
    return replace(expected, answers=(FixerAnswer(finding=name, verdict=FixVerdict.NO_ANSWER),))


def test_a_fix_is_written_into_its_round_and_becomes_the_tree() -> None:
    driven = Driven()
    driven.answer(BAD)
    assert driven.run.fixes == 1
    driven.fix("tree-1", summary="closed the file")
    assert (driven.run.tree, driven.run.commit) == ("tree-1", "commit of tree-1")
    expected = FixResult(status=FixStatus.FIXED, commit="commit of tree-1", summary="closed the file")
    assert driven.run.rounds[0].fix == unanswered(driven, expected)
    assert driven.reviewing.round == 2
    assert driven.run.revisions == 1


def test_a_fix_that_changed_nothing_goes_on_where_the_protocol_says_so() -> None:
    driven = Driven()
    driven.answer(BAD)
    driven.fix("tree-0")
    expected = FixResult(status=FixStatus.UNCHANGED, commit="commit of tree-0", summary="done")
    assert driven.run.rounds[0].fix == unanswered(driven, expected)
    assert driven.run.commit == "commit-0"
    assert driven.reviewing.round == 2


def test_a_fix_that_changed_nothing_ends_it_where_the_protocol_says_so() -> None:
    driven = Driven(GAINING)
    driven.answer(BAD)
    driven.fix("tree-0")
    assert driven.ended == (
        Outcome.FAILED,
        "no more after 1 review and 1 revision (the fix changed nothing)",
    )


def test_a_fix_that_brings_an_earlier_tree_back_gains_nothing() -> None:
    driven = Driven(GAINING)
    driven.answer(BAD)
    driven.fix("tree-1", rewritten("a.py"))
    driven.answer(BAD)
    driven.fix("tree-0", rewritten("a.py"))
    reason = "no more after 2 reviews and 2 revisions (the fix restored the tree of round 1)"
    assert driven.ended == (Outcome.FAILED, reason)
    going_on = Driven()
    going_on.answer(BAD)
    going_on.fix("tree-1", rewritten("a.py"))
    going_on.answer(BAD)
    going_on.fix("tree-0", rewritten("a.py"))
    assert going_on.reviewing.round == 3


def test_a_new_tree_gains_something() -> None:
    driven = Driven(GAINING)
    driven.answer(BAD)
    driven.fix("tree-1", rewritten("a.py"))
    assert driven.reviewing.round == 2


def test_after_a_fix_the_project_is_validated_where_the_protocol_says_so() -> None:
    driven = Driven(VALIDATED)
    driven.validate()
    driven.answer(BAD)
    driven.fix("tree-1", rewritten("a.py"))
    assert isinstance(driven.run.phase, Validating)
    assert driven.run.phase.number == 2
    assert driven.run.validations == 2


def test_failed_validations_in_a_row_are_bounded() -> None:
    driven = Driven(VALIDATED)
    for tree in ("tree-1", "tree-2"):
        driven.validate(ValidationStatus.FAILED, "1 failed")
        driven.fix(tree)
    assert driven.run.failed_validations == 2
    assert driven.run.validation == Validation(status=ValidationStatus.FAILED, output="1 failed", tree="tree-1")
    driven.validate(ValidationStatus.FAILED)
    assert driven.ended == (Outcome.FAILED, "validation failed 3 times in a row")
    assert driven.run.rounds == ()


@pytest.mark.parametrize("status", [ValidationStatus.PASSED, ValidationStatus.SKIPPED])
def test_a_validation_that_does_not_fail_begins_the_row_again(status: ValidationStatus) -> None:
    driven = Driven(VALIDATED)
    driven.validate(ValidationStatus.FAILED)
    driven.fix("tree-1")
    driven.validate(status)
    assert driven.run.failed_validations == 0
    assert driven.reviewing.round == 1


def test_a_repair_after_a_fix_adds_to_the_same_fix() -> None:
    driven = Driven(VALIDATED)
    driven.validate()
    driven.answer(BAD)
    driven.fix("tree-1", rewritten("a.py"), summary="first")
    driven.validate(ValidationStatus.FAILED)
    driven.fix("tree-1", summary="nothing")
    first = FixResult(status=FixStatus.FIXED, commit="commit of tree-1", summary="first")
    assert driven.run.rounds[0].fix == unanswered(driven, first)
    driven.validate(ValidationStatus.FAILED)
    driven.fix("tree-2", summary="repaired")
    repaired = FixResult(status=FixStatus.FIXED, commit="commit of tree-2", summary="repaired")
    assert driven.run.rounds[0].fix == unanswered(driven, repaired)
    assert isinstance(driven.run.phase, Validating)


def test_a_repair_is_validated_even_where_fixes_are_not() -> None:
    driven = Driven(replace(PLAIN, validate=ValidateRule()))
    driven.validate(ValidationStatus.FAILED)
    driven.fix("tree-1")
    assert isinstance(driven.run.phase, Validating)


def test_a_repair_that_changed_nothing_fails_where_nothing_can_be_gained() -> None:
    driven = Driven(replace(GAINING, validate=ValidateRule()))
    driven.validate(ValidationStatus.FAILED)
    driven.fix("tree-0")
    assert driven.ended == (Outcome.FAILED, "validation failed (the fix changed nothing)")


@pytest.mark.parametrize("kind", [FailureKind.CANNOT_RUN, FailureKind.EMPTY_DIFF])
def test_a_validation_that_cannot_run_is_infrastructure(kind: FailureKind) -> None:
    driven = Driven(VALIDATED)
    driven.fail(kind, "validate:", message="exit 127")
    assert driven.ended == (Outcome.DID_NOT_RUN, "validation did not run: exit 127")
    assert driven.run.infrastructure_failures == 1


def test_a_seal_that_cannot_be_stored_did_not_run() -> None:
    driven = Driven(replace(PLAIN, failures=FailureRule(retries=1, crashed=OnFailure.END)))
    driven.answer(CLEAN)
    driven.fail(FailureKind.CRASHED, "seal:")
    driven.wait()
    driven.fail(FailureKind.CRASHED, "seal:", message="disk full")
    assert driven.ended == (Outcome.DID_NOT_RUN, "sealing did not run: disk full")
    assert driven.run.seal == ""


@pytest.mark.parametrize(("skip_when", "note"), [((), ""), ((SkipReason.BUILD_FAILED,), "; review skipped")])
def test_without_a_build_there_is_nothing_to_review(skip_when: tuple[SkipReason, ...], note: str) -> None:
    driven = Driven(replace(PLAIN, skip_when=skip_when), build=True)
    driven.fail(FailureKind.REFUSED, "build:", message="no key")
    assert driven.ended == (Outcome.DID_NOT_RUN, f"the builder refused: no key{note}")
    assert driven.run.infrastructure_failures == 1


def test_a_fixer_without_a_result_ends_the_run_and_is_written_into_the_round() -> None:
    driven = Driven()
    driven.answer(BAD)
    driven.fail(FailureKind.REFUSED, "fix:", message="no key", usage=Usage(tokens=5))
    assert driven.ended == (Outcome.DID_NOT_RUN, "the fixer refused: no key")
    assert (driven.run.infrastructure_failures, driven.run.usage) == (1, Usage(tokens=5))
    assert driven.run.rounds[0].fix == FixResult(status=FixStatus.DID_NOT_RUN)


def test_a_fixer_without_a_result_goes_on_to_the_next_round_where_failures_use_rounds_up() -> None:
    driven = Driven(BY_ROUND)
    driven.answer(BAD)
    driven.fail(FailureKind.CRASHED, "fix:")
    assert driven.run.rounds[0].fix == FixResult(status=FixStatus.DID_NOT_RUN)
    assert driven.reviewing.round == 2
    repairing = Driven(replace(BY_ROUND, validate=ValidateRule()))
    repairing.validate(ValidationStatus.FAILED)
    repairing.fail(FailureKind.CRASHED, "fix:")
    assert isinstance(repairing.run.phase, Validating)


def test_the_fallback_fixes_when_the_fixer_cannot() -> None:
    backed = Assignment(agent="fixer", fallback="spare")
    driven = Driven(roles=Roles(review=Assignment(agent="first"), fix=backed))
    driven.answer(BAD)
    driven.fail(FailureKind.UNAUTHORISED, "fix:")
    driven.start()
    assert isinstance(driven.fixing.work, Running)
    assert driven.fixing.work.agent == "spare"


def test_a_fixer_by_rule_that_changed_nothing_can_do_no_more_whatever_the_protocol_hopes_for() -> None:
    driven = Driven()
    driven.answer(BAD)
    name = driven.tracked("bad").finding.id
    driven.fix("tree-0", by_rule=True, answers=(FixAnswer(finding=name, fixed=False, text="no safe fix"),))
    reason = "no more after 1 review and 1 revision (no automatic fix left)"
    assert driven.ended == (Outcome.FAILED, reason)
    fix = driven.run.rounds[0].fix
    assert fix is not None
    assert fix.answers == (FixerAnswer(finding=name, verdict=FixVerdict.NOT_FIXED, text="no safe fix"),)


def test_a_fixer_by_rule_that_changed_something_is_reviewed_like_any_other() -> None:
    driven = Driven()
    driven.answer(BAD)
    driven.fix("tree-1", by_rule=True)
    assert driven.reviewing.round == 2


def test_a_fixer_by_rule_cannot_repair_a_failed_validation() -> None:
    driven = Driven(VALIDATED)
    driven.validate(ValidationStatus.FAILED, "1 failed")
    driven.fix("tree-0", by_rule=True)
    assert driven.ended == (Outcome.FAILED, "validation failed (no automatic fix left)")
