"""Evidence beside findings: what was not examined is never approved without saying so."""

import pytest

from burnish.core.events import Mode, ValidationStatus
from burnish.core.evidence import (
    CensusFile,
    Evidence,
    Examined,
    Gap,
    Level,
    Missing,
    Need,
    gaps,
    looked,
    summary,
    take_census,
)
from burnish.core.findings import Action, FindingStatus, Severity, Tracked
from burnish.core.gates import blocks
from burnish.core.protocol import (
    Ask,
    Choice,
    ChoiceAction,
    FailureRule,
    Reviewer,
    RoundLimits,
    SeverityGate,
    SkipReason,
    ValidateRule,
)
from burnish.core.reviews import FailureKind
from burnish.core.state import Outcome, ReviewStatus, Sealing, SealKind, Validating
from burnish.core.values import replace
from tests.core.driving import CHANGED, CLEAN, EXAMINED, PLAIN, Driven, found, problem, rewritten

NO_TESTS = Evidence(missing=Missing(reason="the tests cannot be started", hint="Install pytest."))
EXCUSED = Evidence(missing=Missing(reason="the project has no tests", excused=True))
PAIR = replace(PLAIN, panel=(Reviewer(name="critic"), Reviewer(name="witness")))


def at(level: Level, path: str = "a.py") -> Evidence:
    return Evidence(examined=(Examined(path=path, level=level),))


@pytest.mark.parametrize("level", Level)
def test_code_must_be_linted_or_better(level: Level) -> None:
    driven = Driven()
    driven.answer(CLEAN, evidence=at(level))
    enough = level in (Level.LINTED, Level.CHECKED, Level.TESTED, Level.READ)
    assert isinstance(driven.run.phase, Sealing) is enough
    if not enough:
        assert driven.ended == (
            Outcome.UNPROVEN,
            f"no blocking findings, but not everything was examined: a.py: {level.words}",
        )


@pytest.mark.parametrize(
    ("need", "level", "enough"),
    [
        (Need.DATA, Level.SECRETS, True),
        (Need.DATA, Level.COULD_READ, False),
        (Need.DATA, Level.NOT_EXAMINED, False),
        (Need.NOTHING, Level.NOT_EXAMINED, True),
        (Need.OPAQUE, Level.READ, False),
    ],
)
def test_each_kind_of_file_has_a_line_of_its_own(need: Need, level: Level, enough: bool) -> None:
    (entry,) = take_census([CensusFile(path="a", need=need)], {"critic": at(level, "a")})
    assert entry.enough is enough


def test_the_census_keeps_the_closest_look_and_every_reviewer() -> None:
    files = (*CHANGED, CensusFile(path="b.rs", need=Need.CODE, why="binary"))
    given = {"critic": at(Level.LINTED), "scanner": at(Level.SECRETS), "other": at(Level.READ, "not-changed.py")}
    first, second = take_census(files, given)
    assert (first.level, first.by) == (Level.LINTED, ("critic", "scanner"))
    assert (second.level, second.by) == (Level.NOT_EXAMINED, ())
    assert gaps((first, second), given) == (Gap(subject="b.rs", reason="not examined (binary)"),)


def test_a_change_of_which_nothing_is_known_is_not_proven() -> None:
    (gap,) = gaps((), {"critic": EXAMINED})
    assert "not known" in summary([gap])


def test_a_reviewer_looked_only_where_it_examined_a_changed_file_closely_enough() -> None:
    assert looked(CHANGED, EXAMINED)
    assert not looked(CHANGED, at(Level.SECRETS))
    assert not looked(CHANGED, at(Level.READ, "other.py"))
    assert not looked((CensusFile(path="a.py", need=Need.NOTHING),), Evidence())
    assert looked((CensusFile(path="a.md", need=Need.DATA),), at(Level.SECRETS, "a.md"))


def test_only_a_few_gaps_are_named() -> None:
    many = [Gap(subject=f"{number}.rs", reason="not examined") for number in range(5)]
    assert summary(many) == "0.rs: not examined; 1.rs: not examined; 2.rs: not examined; and 2 more"


def test_a_reviewer_without_evidence_is_not_clean() -> None:
    driven = Driven(PAIR)
    driven.start()
    driven.answer(CLEAN)
    driven.answer(CLEAN, "witness", evidence=NO_TESTS)
    assert [review.status for review in driven.run.rounds[0].reviews] == [ReviewStatus.CLEAN, ReviewStatus.NO_EVIDENCE]
    outcome, reason = driven.ended
    assert (outcome, "witness: the tests cannot be started" in reason) == (Outcome.UNPROVEN, True)
    judgement = driven.run.rounds[0].judgement
    assert judgement is not None
    assert (judgement.clean, judgement.passes) == (True, False)


def test_a_project_without_tests_can_be_approved() -> None:
    driven = Driven(PAIR)
    driven.start()
    driven.answer(CLEAN)
    driven.answer(CLEAN, "witness", evidence=EXCUSED)
    assert isinstance(driven.run.phase, Sealing)
    assert driven.run.phase.kinds == (SealKind.APPROVED,)


def test_blocking_findings_come_first() -> None:
    driven = Driven(mode=Mode.REVIEW)
    driven.answer(found(problem()), evidence=Evidence())
    assert driven.ended[0] is Outcome.FAILED


def test_what_is_not_proven_can_be_allowed_and_the_seal_says_so() -> None:
    driven = Driven(allow_unexamined=True)
    driven.answer(CLEAN, evidence=Evidence())
    assert isinstance(driven.run.phase, Sealing)
    assert driven.run.phase.kinds == (SealKind.UNPROVEN,)
    driven.seal()
    assert driven.ended[0] is Outcome.APPROVED


def test_a_policy_of_the_working_tree_gives_a_seal_of_its_own_kind() -> None:
    driven = Driven(local_policy=True)
    driven.answer(CLEAN)
    assert isinstance(driven.run.phase, Sealing)
    assert driven.run.phase.kinds == (SealKind.LOCAL_POLICY,)


@pytest.mark.parametrize("passes", [True, False])
def test_a_review_that_is_not_enforced_is_sealed_as_reported_where_its_gate_is_not_met(passes: bool) -> None:
    driven = Driven(mode=Mode.REVIEW, enforced=False)
    driven.answer(CLEAN if passes else found(problem()))
    assert isinstance(driven.run.phase, Sealing)
    assert driven.run.phase.kinds == ((SealKind.APPROVED if passes else SealKind.REPORTED),)
    assert driven.run.phase.outcome is (Outcome.APPROVED if passes else Outcome.FAILED)


def test_a_report_under_a_policy_of_the_working_tree_is_of_both_kinds() -> None:
    driven = Driven(mode=Mode.REVIEW, enforced=False, local_policy=True)
    driven.answer(found(problem()))
    assert isinstance(driven.run.phase, Sealing)
    assert driven.run.phase.kinds == (SealKind.LOCAL_POLICY, SealKind.REPORTED)


@pytest.mark.parametrize(
    ("paths", "as_is", "seen"),
    [
        (("a.py",), False, "only a part of the change was reviewed"),
        (("a.py",), True, "files were reviewed, not a change"),
        ((), True, "files were reviewed, not a change"),
    ],
)
def test_what_is_no_whole_change_is_approved_without_a_seal(paths: tuple[str, ...], *, as_is: bool, seen: str) -> None:
    driven = Driven(mode=Mode.REVIEW, paths=paths, as_is=as_is)
    driven.answer(CLEAN)
    assert driven.ended == (Outcome.APPROVED, f"no blocking findings in round 1; no seal: {seen}")
    unenforced = Driven(mode=Mode.REVIEW, paths=paths, as_is=as_is, enforced=False)
    unenforced.answer(found(problem()))
    assert unenforced.ended[0] is Outcome.FAILED


def test_what_a_source_leaves_unreviewed_is_skipped_and_says_why() -> None:
    driven = Driven(build=True, skip=SkipReason.REVIEW_DISABLED)
    driven.build("tree-1")
    assert driven.ended == (Outcome.SKIPPED, "review skipped: review-disabled")


def test_a_failed_validation_is_never_approved_though_nothing_is_enforced() -> None:
    driven = Driven(replace(PLAIN, validate=ValidateRule()), mode=Mode.REVIEW, enforced=False, validates=True)
    driven.validate(ValidationStatus.FAILED)
    driven.answer(CLEAN)
    assert isinstance(driven.run.phase, Sealing)
    assert driven.run.phase.kinds == (SealKind.REPORTED,)
    assert driven.run.phase.outcome is Outcome.FAILED


def test_a_run_of_older_rules_replays_as_it_went_but_seals_nothing_as_proven() -> None:
    driven = Driven(rules=1)
    driven.answer(CLEAN, evidence=Evidence())
    assert isinstance(driven.run.phase, Sealing)
    assert driven.run.phase.kinds == (SealKind.UNPROVEN,)


def test_nothing_is_sealed_before_the_commands_of_the_project_passed_on_its_tree() -> None:
    driven = Driven(replace(PLAIN, validate=ValidateRule()), validates=True)
    driven.validate()
    driven.answer(found(problem()))
    driven.fix("tree-1", rewritten("a.py"))
    driven.answer(CLEAN)
    assert isinstance(driven.run.phase, Validating)
    driven.validate(ValidationStatus.FAILED, "broken")
    assert driven.fixing.order.instructions == "broken"
    driven.fix("tree-2")
    driven.validate()
    driven.answer(CLEAN)
    assert isinstance(driven.run.phase, Sealing)
    assert driven.run.tree == "tree-2"


def test_reviewers_are_told_the_result_for_the_very_tree_or_none() -> None:
    driven = Driven(replace(PLAIN, validate=ValidateRule()), validates=True)
    driven.validate()
    assert driven.run.validated is not None
    driven.answer(found(problem()))
    driven.fix("tree-1", rewritten("a.py"))
    assert driven.run.validated is None


def test_a_validation_that_fails_after_the_last_review_exhausts_the_run() -> None:
    driven = Driven(max_reviews=1, validates=True)
    driven.answer(CLEAN)
    driven.validate(ValidationStatus.FAILED)
    assert driven.ended == (Outcome.FAILED, "no more after 1 review and 0 revisions")


ACCEPT = Choice(key="b", action=ChoiceAction.ACCEPT, text="accept")
MORE = Choice(key="c", action=ChoiceAction.ANOTHER_ROUND, text="again")


def test_a_person_may_accept_a_tree_that_fails_its_validation_but_it_is_not_sealed() -> None:
    driven = Driven(replace(PLAIN, exhausted=Ask(choices=(ACCEPT, MORE))), max_reviews=1, validates=True)
    driven.answer(found(problem()))
    driven.decide("b")
    driven.validate(ValidationStatus.FAILED)
    outcome, reason = driven.ended
    assert outcome is Outcome.ACCEPTED
    assert reason.endswith("no seal: validation fails on this tree")
    assert not driven.run.seal


def test_one_more_round_repairs_a_failed_validation_first() -> None:
    driven = Driven(replace(PLAIN, exhausted=Ask(choices=(ACCEPT, MORE))), max_reviews=1, validates=True)
    driven.answer(CLEAN)
    driven.validate(ValidationStatus.FAILED, "broken")
    driven.decide("c")
    assert driven.fixing.order.instructions == "broken"


def test_what_others_found_is_kept_when_one_seat_cannot_run() -> None:
    driven = Driven(replace(PAIR, failures=FailureRule(retries=0)))
    driven.start()
    driven.answer(found(problem("lost update", Severity.CRITICAL)))
    driven.fail(FailureKind.CANNOT_RUN, ":witness:")
    assert driven.ended[0] is Outcome.DID_NOT_RUN
    entry = driven.tracked("lost update")
    assert (entry.status, entry.blocking, entry.round) == (FindingStatus.OPEN, True, 1)


def test_the_silence_of_half_a_panel_closes_nothing() -> None:
    driven = Driven(replace(PAIR, failures=FailureRule(retries=0)))
    driven.start()
    driven.answer(found(problem()))
    driven.answer(CLEAN, "witness")
    driven.fix("tree-1", rewritten("a.py"))
    driven.start()
    driven.answer(CLEAN)
    driven.fail(FailureKind.CANNOT_RUN, ":witness:")
    assert driven.status("wrong result") is FindingStatus.OPEN


def test_a_note_never_counts_in_a_gate() -> None:
    note = replace(problem(severity=Severity.CRITICAL), action=Action.NOTE)
    assert not blocks(SeverityGate(block=Severity.INFO), note)
    driven = Driven()
    driven.answer(found(note))
    assert isinstance(driven.run.phase, Sealing)


def test_a_waiver_of_a_blocker_is_told_by_the_seal_unless_the_base_lists_it() -> None:
    by_hand = Driven(replace(PLAIN, limits=RoundLimits(reviews=2, hard_cap=2)))
    by_hand.answer(found(problem()))
    finding = by_hand.run.findings[0].finding.id
    by_hand.waive(finding)
    by_hand.fix("tree-1")
    by_hand.answer(found(problem()))
    assert isinstance(by_hand.run.phase, Sealing)
    assert by_hand.run.phase.kinds == (SealKind.WAIVED,)

    listed = Driven(waivers=(finding,))
    listed.answer(found(problem()))
    assert isinstance(listed.run.phase, Sealing)
    assert listed.run.phase.kinds == (SealKind.APPROVED,)
    assert listed.status("wrong result") is FindingStatus.WAIVED


def test_a_blocker_of_an_earlier_run_withholds_the_seal() -> None:
    entry = Tracked(finding=replace(problem(), id="former"), round=0, last_reported_round=0, blocking=True)
    driven = Driven(remembered=(entry,))
    driven.answer(CLEAN)
    outcome, reason = driven.ended
    assert outcome is Outcome.APPROVED
    assert "no seal" in reason
    assert not driven.run.seal
