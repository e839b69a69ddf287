"""What people and budgets may decide, when, and what each decision does."""

import pytest

from burnish.core.events import (
    BudgetReached,
    Cancelled,
    Decided,
    FindingRefuted,
    FindingWaived,
    Mode,
    Roles,
    Skipped,
    ValidationStatus,
)
from burnish.core.findings import FindingStatus, Severity
from burnish.core.protocol import (
    Ask,
    AskAtTerminal,
    Choice,
    ChoiceAction,
    FixInput,
    FixRule,
    OnFailure,
    OpenBlockers,
    Priority,
    Protocol,
    ReviewBy,
    ReviewMode,
    ReviewRule,
    RoundLimits,
    SkipReason,
    Unchanged,
    ValidateRule,
)
from burnish.core.reviews import Answer, FailureKind
from burnish.core.state import (
    Ended,
    Fixing,
    Outcome,
    Phase,
    Reviewing,
    Scope,
    Sealing,
    SealKind,
    Stopping,
    Validating,
    Waiting,
)
from burnish.core.steps.person import other_agent
from burnish.core.values import replace
from burnish.core.work import Assignment
from tests.core.driving import CLEAN, PLAIN, ROLES, Driven, found, problem, rewritten

ACTIONS = (action for action in ChoiceAction if action is not ChoiceAction.FIX)
CHOICES = tuple(Choice(key=key, action=action, text=action.value) for key, action in zip("abcde", ACTIONS, strict=True))
ASKING = replace(PLAIN, exhausted=Ask(choices=CHOICES, priority=Priority.CRITICAL))
SESSION = replace(ASKING, review=ReviewRule(by=ReviewBy.SESSION), fix=FixRule(input=FixInput.NOTHING))
HOLDING = replace(ASKING, review=ReviewRule(open_blockers=OpenBlockers.LOOP))
BACKED = Roles(review=Assignment(agent="first", fallback="second"), fix=Assignment(agent="fixer"))


def waiting(protocol: Protocol = ASKING, *, roles: Roles = ROLES, answer: Answer | None = None) -> Driven:
    """The only review that is allowed has found something."""
    driven = Driven(protocol, roles=roles, max_reviews=1)
    said = found(problem("bad")) if answer is None else answer
    if protocol.review.by is ReviewBy.SESSION:
        driven.session(said)
    else:
        driven.answer(said)
    assert isinstance(driven.run.phase, Waiting)
    return driven


@pytest.mark.parametrize(
    ("choice", "outcome", "reason"),
    [
        ("a", Outcome.BLOCKED, "a person took over"),
        ("e", Outcome.SKIPPED, "a person skipped the review"),
    ],
)
def test_choices_that_end_a_run(choice: str, outcome: Outcome, reason: str) -> None:
    driven = waiting()
    driven.decide(choice)
    assert driven.ended == (outcome, reason)
    noted = waiting()
    noted.decide(choice, note="it is late")
    assert noted.ended == (outcome, f"{reason}: it is late")


def test_an_accepted_risk_is_sealed_as_such() -> None:
    driven = waiting()
    driven.decide("b", note="ship it")
    assert isinstance(driven.run.phase, Sealing)
    assert driven.run.phase.kinds == (SealKind.ACCEPTED,)
    driven.seal()
    assert driven.ended == (Outcome.ACCEPTED, "a person accepted the open findings: ship it")
    assert driven.run.seal == "digest"


def test_another_round_raises_the_limit_by_one_and_fixes_first() -> None:
    driven = waiting()
    driven.decide("c")
    assert driven.run.limit == 2
    assert [finding.title for finding in driven.fixing.order.must] == ["bad"]
    assert driven.run.other_agent is None


def test_another_round_of_a_session_reviews_at_once() -> None:
    driven = waiting(SESSION)
    driven.decide("c")
    assert driven.reviewing.round == 2


def test_another_round_reviews_at_once_where_nothing_is_known_to_block() -> None:
    protocol = replace(ASKING, failures=replace(ASKING.failures, crashed=OnFailure.ROUND))
    driven = Driven(protocol, max_reviews=1)
    driven.fail(FailureKind.CRASHED)
    assert driven.waiting.reason == "critic gave no usable answer: no luck"
    driven.decide("c")
    assert driven.reviewing.round == 2


def test_another_round_fixes_a_carried_blocker_first() -> None:
    driven = Driven(HOLDING, max_reviews=2)
    driven.answer(found(problem("bad")))
    driven.fix("tree-1")
    driven.answer(CLEAN)
    driven.decide("c")
    assert [finding.title for finding in driven.fixing.order.must] == ["bad"]


@pytest.mark.parametrize(
    ("roles", "named", "agent"),
    [(ROLES, "third", "third"), (BACKED, None, "second"), (BACKED, "third", "third"), (ROLES, None, "first")],
)
def test_another_agent_reviews_and_has_no_fallback(roles: Roles, named: str | None, agent: str) -> None:
    driven = waiting(SESSION, roles=roles)
    driven.decide("d", agent=named)
    assert driven.run.limit == 2
    (review,) = driven.wanted
    assert getattr(review, "agent", None) == agent
    driven.fail(FailureKind.REFUSED)
    assert driven.ended[0] is Outcome.DID_NOT_RUN


def test_the_other_agent_is_the_fallback_of_the_reviewer_itself() -> None:
    own = Assignment(agent="first", fallback="second")
    driven = waiting(SESSION, roles=replace(ROLES, reviewers={"critic": own}))
    driven.decide("d")
    assert driven.run.other_agent == "second"


def test_another_agent_is_never_the_one_that_reviewed_last() -> None:
    driven = waiting(SESSION)
    assert other_agent(driven.run) is None
    driven.decide("d", agent="third")
    driven.session(found(problem("bad")), tree="tree-2")
    driven.decide("d")
    assert driven.run.other_agent == "first"
    backed = waiting(SESSION, roles=BACKED)
    assert other_agent(backed.run) == "second"
    backed.decide("d")
    backed.session(found(problem("bad")), tree="tree-2")
    assert other_agent(backed.run) == "first"


def test_a_choice_that_is_not_offered_is_refused_with_those_that_are() -> None:
    refusal = waiting().refusal(Decided(at=9, choice="z"))
    assert refusal == "Decided is illegal while waiting: 'z' is not offered; choose one of a, b, c, d, e"


def test_at_the_hard_cap_no_round_can_be_added() -> None:
    driven = Driven(replace(ASKING, limits=RoundLimits(reviews=2, hard_cap=2)), max_reviews=1)
    driven.answer(found(problem("bad")))
    assert [choice.key for choice in driven.waiting.choices] == ["a", "b", "c", "d", "e"]
    assert driven.waiting.priority is Priority.CRITICAL
    driven.decide("c")
    driven.fix("tree-1", rewritten("a.py"))
    driven.answer(found(problem("bad")))
    assert [choice.key for choice in driven.waiting.choices] == ["a", "b", "e"]


def test_at_a_terminal_a_person_is_asked_and_elsewhere_it_fails() -> None:
    rule = AskAtTerminal(choices=CHOICES, reason="over after {reviews} and {revisions}", priority=Priority.CRITICAL)
    asked = Driven(replace(PLAIN, exhausted=rule), interactive=True, max_reviews=1)
    asked.answer(found(problem("bad")))
    assert asked.waiting.choices == CHOICES
    assert asked.waiting.priority is Priority.CRITICAL
    alone = Driven(replace(PLAIN, exhausted=rule), max_reviews=1)
    alone.answer(found(problem("bad")))
    assert alone.ended == (Outcome.FAILED, "over after 1 and 0")


def test_a_run_can_be_cancelled_while_it_waits() -> None:
    driven = waiting()
    driven.happen(Cancelled(at=9, note="enough"))
    assert driven.ended == (Outcome.CANCELLED, "a person cancelled the run: enough")


def test_a_budget_ends_a_run_that_waits() -> None:
    driven = waiting()
    driven.happen(BudgetReached(at=9, limit="5 USD"))
    assert driven.ended == (Outcome.OVER_BUDGET, "budget reached: 5 USD")


SKIPPING = replace(PLAIN, skip_when=tuple(SkipReason), validate=ValidateRule())


@pytest.mark.parametrize("reason", SkipReason)
def test_a_skip_is_no_verdict_and_a_failed_build_did_not_run(reason: SkipReason) -> None:
    driven = Driven(SKIPPING)
    driven.happen(Skipped(at=1, reason=reason))
    failed = reason is SkipReason.BUILD_FAILED
    outcome = Outcome.DID_NOT_RUN if failed else Outcome.SKIPPED
    assert driven.ended == (outcome, f"review skipped: {reason.value}")
    assert not driven.run.seal


def test_a_reason_that_the_protocol_does_not_name_is_no_reason_to_skip() -> None:
    driven = Driven(replace(SKIPPING, skip_when=(SkipReason.REVIEW_DISABLED,)))
    refusal = driven.refusal(Skipped(at=1, reason=SkipReason.NOTHING_PICKED))
    assert refusal.endswith(": the protocol 'plain' does not skip reviews for 'nothing-picked'")


def test_nothing_is_skipped_once_a_review_has_started() -> None:
    driven = Driven(replace(SKIPPING, validate=ValidateRule(before_first_review=False)))
    driven.start()
    refusal = driven.refusal(Skipped(at=1, reason=SkipReason.REVIEW_DISABLED))
    assert refusal == "Skipped is illegal while reviewing: a review has already started"


def in_phase(phase: type[Phase]) -> Driven:
    """A run with a known finding that blocks and one that does not, in the given phase."""
    protocol = replace(ASKING, validate=ValidateRule(before_first_review=False, after_fix=True))
    driven = Driven(protocol)
    driven.answer(found(problem("bad"), problem("small", Severity.LOW, "b.py")))
    if phase is Stopping:
        driven.start()
        driven.happen(Cancelled(at=9))
    if phase is Ended:
        driven.happen(Cancelled(at=9))
    if phase in (Validating, Reviewing, Sealing):
        driven.fix("tree-1", rewritten("a.py"))
    if phase in (Reviewing, Sealing):
        driven.validate()
    if phase is Sealing:
        driven.answer(CLEAN)
    assert isinstance(driven.run.phase, phase)
    return driven


PHASES: tuple[type[Phase], ...] = (Fixing, Validating, Reviewing, Sealing, Stopping, Ended)


@pytest.mark.parametrize("phase", PHASES)
def test_a_finding_can_be_waived_in_every_phase_which_stays_as_it_was(phase: type[Phase]) -> None:
    driven = in_phase(phase)
    before = driven.run.phase
    driven.waive(driven.tracked("small").finding.id, "we know")
    entry = driven.tracked("small")
    assert (entry.status, entry.note) == (FindingStatus.WAIVED, "we know")
    assert driven.run.phase == before
    assert driven.status("bad") is not FindingStatus.WAIVED


@pytest.mark.parametrize("phase", PHASES)
def test_a_finding_can_be_refuted_in_every_phase_which_stays_as_it_was(phase: type[Phase]) -> None:
    driven = in_phase(phase)
    before = driven.run.phase
    driven.refute(driven.tracked("small").finding.id, "see line 3")
    entry = driven.tracked("small")
    assert (entry.status, entry.note) == (FindingStatus.REFUTED, "see line 3")
    assert driven.run.phase == before


def test_dismissals_that_are_refused() -> None:
    driven = in_phase(Fixing)
    known = driven.tracked("small").finding.id
    unknown = driven.refusal(FindingWaived(at=1, finding="nope", reason="x"))
    assert unknown.endswith(": this run has no finding 'nope'")
    silent = driven.refusal(FindingRefuted(at=1, finding=known, evidence="  "))
    assert silent.endswith(": the evidence or reason is empty")
    driven.waive(known)
    again = driven.refusal(FindingRefuted(at=1, finding=known, evidence="x"))
    assert again.endswith(": the finding is already waived")


def test_the_last_blocker_dismissed_approves_the_tree_that_was_reviewed() -> None:
    driven = waiting()
    driven.waive(driven.tracked("bad").finding.id)
    assert isinstance(driven.run.phase, Sealing)
    judgement = driven.run.rounds[-1].judgement
    assert judgement is not None
    assert judgement.clean
    driven.seal()
    assert driven.ended == (Outcome.APPROVED, "no blocking findings left in round 1")


def test_one_of_two_blockers_dismissed_leaves_the_other_to_decide_on() -> None:
    driven = waiting(answer=found(problem("bad"), problem("worse", file="b.py")))
    driven.refute(driven.tracked("bad").finding.id)
    assert isinstance(driven.run.phase, Waiting)
    judgement = driven.run.rounds[-1].judgement
    assert judgement is not None
    assert [finding.title for finding in judgement.blocking] == ["worse"]
    driven.decide("c")
    assert [finding.title for finding in driven.fixing.order.must] == ["worse"]


def test_a_carried_blocker_is_left_to_decide_on() -> None:
    driven = Driven(HOLDING, max_reviews=2)
    driven.answer(found(problem("bad")))
    driven.fix("tree-1")
    driven.answer(found(problem("other", file="b.py")))
    assert driven.waiting.reason == "2 blocking findings remain after 2 reviews"
    driven.waive(driven.tracked("other").finding.id)
    assert isinstance(driven.run.phase, Waiting)
    driven.waive(driven.tracked("bad").finding.id)
    assert isinstance(driven.run.phase, Sealing)


def test_a_dismissed_blocker_does_not_approve_a_tree_that_nobody_has_reviewed() -> None:
    protocol = replace(ASKING, fix=FixRule(input=FixInput.BLOCKING, unchanged=Unchanged.EXHAUSTED))
    driven = Driven(protocol)
    driven.answer(found(problem("bad")))
    driven.fix("tree-1", rewritten("b.py"))
    driven.answer(found(problem("bad")))
    driven.fix("tree-0", rewritten("b.py"))
    assert driven.waiting.reason == "the fix restored the tree of round 1"
    driven.waive(driven.tracked("bad").finding.id)
    assert isinstance(driven.run.phase, Waiting)


def test_a_dismissed_blocker_of_a_ratchet_round_leads_to_a_full_one_while_one_is_allowed() -> None:
    rule = FixRule(input=FixInput.BLOCKING, unchanged=Unchanged.EXHAUSTED)
    protocol = replace(ASKING, fix=rule, review=ReviewRule(mode=ReviewMode.RATCHET))
    driven = Driven(protocol)
    driven.answer(found(problem("bad")))
    driven.fix("tree-1", rewritten("a.py"))
    driven.answer(found(problem("worse", file="b.py")))
    driven.fix("tree-1")
    assert driven.waiting.reason == "the fix changed nothing"
    assert driven.run.rounds[-1].scope is Scope.RATCHET
    driven.waive(driven.tracked("worse").finding.id)
    assert driven.reviewing.scope is Scope.FULL
    assert driven.reviewing.round == 3


def test_a_round_without_a_judgement_is_not_judged_again() -> None:
    protocol = replace(ASKING, failures=replace(ASKING.failures, crashed=OnFailure.ROUND))
    driven = Driven(protocol, max_reviews=2)
    driven.answer(found(problem("bad")))
    driven.fix("tree-1")
    driven.fail(FailureKind.CRASHED)
    driven.waive(driven.tracked("bad").finding.id)
    assert isinstance(driven.run.phase, Waiting)


def test_review_mode_reports_and_ends() -> None:
    driven = Driven(ASKING, mode=Mode.REVIEW)
    driven.answer(found(problem("bad"), problem("worse", file="b.py")))
    assert driven.ended == (Outcome.FAILED, "2 blocking findings remain after 1 review")
    invalid = Driven(replace(ASKING, validate=ValidateRule()), mode=Mode.REVIEW)
    invalid.validate(ValidationStatus.FAILED)
    assert invalid.ended == (Outcome.FAILED, "validation failed")
