"""Findings that ask for a person's word: they wait for it, and a person may add to them."""

import pytest

from burnish.core.events import Decided, FindingAdded, FindingAnnotated, StoryStatus
from burnish.core.findings import Action, Finding, FindingStatus
from burnish.core.protocol import (
    Ask,
    Choice,
    ChoiceAction,
    FailureRule,
    FixInput,
    FixRule,
    OnFailure,
    OpenBlockers,
    ReviewBy,
    ReviewRule,
)
from burnish.core.reviews import FailureKind
from burnish.core.state import Outcome, Sealing, Waiting
from burnish.core.steps.flow import QUESTIONS
from burnish.core.values import replace
from tests.core.driving import PLAIN, Driven, found, problem, rewritten

UNCLEAR = replace(problem("unclear"), action=Action.ASK)
VAGUE = replace(problem("vague", file="b.py"), action=Action.ASK)
MANUAL = Choice(key="a", action=ChoiceAction.MANUAL, text="by hand")
ASKING = replace(PLAIN, exhausted=Ask(choices=(MANUAL,)))


def asked(*findings: Finding) -> Driven:
    driven = Driven()
    driven.answer(found(*findings))
    assert isinstance(driven.run.phase, Waiting)
    return driven


def must(driven: Driven) -> list[str]:
    return [finding.title for finding in driven.fixing.order.must]


@pytest.mark.parametrize(
    ("findings", "reason"),
    [
        ((UNCLEAR, problem("plain", file="c.py")), "1 finding needs a person's decision"),
        ((UNCLEAR, VAGUE), "2 findings need a person's decision"),
    ],
)
def test_blockers_that_ask_are_put_to_a_person_before_the_fix(findings: tuple[Finding, ...], reason: str) -> None:
    driven = asked(*findings)
    ids = tuple(entry.finding.id for entry in driven.run.findings if entry.finding.action is Action.ASK)
    assert driven.run.phase == Waiting(reason=reason, choices=QUESTIONS, asked=ids)


def test_a_finding_that_asks_but_does_not_block_is_not_put_to_anybody() -> None:
    driven = Driven(replace(PLAIN, gate=PLAIN.gate))
    driven.answer(found(problem("bad"), replace(problem("odd", UNCLEAR.severity.LOW, "c.py"), action=Action.ASK)))
    assert must(driven) == ["bad"]


def test_the_order_to_fix_them_is_an_answer_for_good() -> None:
    driven = asked(UNCLEAR)
    driven.decide("f")
    assert must(driven) == ["unclear"]
    assert driven.tracked("unclear").decided
    driven.fix("tree-1", rewritten("a.py"))
    driven.answer(found(UNCLEAR))
    assert must(driven) == ["unclear"]


def test_a_new_question_is_asked_beside_an_answered_one() -> None:
    driven = asked(UNCLEAR)
    driven.decide("f")
    assert driven.tracked("unclear").decided
    driven.fix("tree-1", rewritten("a.py"))
    driven.answer(found(UNCLEAR, VAGUE))
    assert driven.waiting.asked == (driven.tracked("vague").finding.id,)
    assert not driven.tracked("vague").decided


def test_a_carried_blocker_that_asks_is_asked_about() -> None:
    driven = Driven(replace(PLAIN, review=ReviewRule(open_blockers=OpenBlockers.LOOP)))
    driven.answer(found(problem("bad")))
    entry = driven.tracked("bad")
    driven.run = replace(driven.run, findings=(replace(entry, finding=replace(entry.finding, action=Action.ASK)),))
    driven.fix("tree-1")
    driven.answer(found())
    assert driven.waiting.asked == (entry.finding.id,)


def test_a_person_may_take_over() -> None:
    driven = asked(UNCLEAR)
    driven.decide("m", note="mine")
    assert driven.ended == (Outcome.BLOCKED, "a person took over: mine")


def test_dismissing_one_of_two_questions_leaves_the_other() -> None:
    driven = asked(UNCLEAR, VAGUE)
    driven.waive(driven.tracked("unclear").finding.id)
    other = driven.tracked("vague").finding.id
    expected = Waiting(reason="1 finding needs a person's decision", choices=QUESTIONS, asked=(other,))
    assert driven.run.phase == expected


def test_dismissing_the_last_question_begins_the_fix_of_the_rest() -> None:
    driven = asked(UNCLEAR, problem("plain", file="c.py"))
    driven.refute(driven.tracked("unclear").finding.id)
    assert must(driven) == ["plain"]


def test_dismissing_another_blocker_keeps_the_question() -> None:
    driven = asked(UNCLEAR, problem("plain", file="c.py"))
    before = driven.run.phase
    driven.refute(driven.tracked("plain").finding.id)
    assert driven.run.phase == before


def test_dismissing_the_only_blocker_approves() -> None:
    driven = asked(UNCLEAR)
    driven.refute(driven.tracked("unclear").finding.id)
    assert isinstance(driven.run.phase, Sealing)


def test_at_the_limit_the_protocols_own_choices_are_given() -> None:
    driven = Driven(ASKING, max_reviews=1)
    driven.answer(found(UNCLEAR))
    assert driven.waiting.choices == (MANUAL,)
    assert driven.waiting.asked == ()
    assert driven.refusal(Decided(at=9, choice="f")).endswith("choose one of a")


def test_a_note_goes_to_the_fixer() -> None:
    driven = asked(UNCLEAR, VAGUE)
    unclear, vague = driven.tracked("unclear").finding.id, driven.tracked("vague").finding.id
    driven.happen(FindingAnnotated(at=9, finding=unclear, note="use a lock"))
    assert driven.tracked("unclear").note == "use a lock"
    assert driven.tracked("vague").note == ""
    driven.waive(vague, "fine by me")
    driven.decide("f")
    assert driven.fixing.order.notes == {unclear: "use a lock"}


def test_a_note_about_nothing_is_refused() -> None:
    refusal = asked(UNCLEAR).refusal(FindingAnnotated(at=9, finding="nope", note="x"))
    assert refusal == "FindingAnnotated is illegal while waiting: this run has no finding 'nope'"


def test_a_persons_own_finding_blocks_and_goes_to_the_fixer() -> None:
    driven = asked(UNCLEAR)
    driven.happen(FindingAdded(at=9, finding=problem("mine", file="c.py"), by="ada"))
    entry = driven.tracked("mine")
    assert entry.finding.found_by == ("ada",)
    assert (entry.round, entry.last_reported_round, entry.blocking, entry.decided) == (1, 1, True, True)
    assert (entry.status, bool(entry.finding.id)) == (FindingStatus.OPEN, True)
    judgement = driven.run.rounds[-1].judgement
    assert judgement is not None
    assert not judgement.clean
    assert judgement.blocking[-1] == entry.finding
    driven.decide("f")
    assert must(driven) == ["unclear", "mine"]


def test_a_persons_own_finding_belongs_to_the_last_round_and_makes_it_not_clean() -> None:
    session = replace(ASKING, review=ReviewRule(by=ReviewBy.SESSION), fix=FixRule(input=FixInput.NOTHING))
    driven = Driven(session, max_reviews=2)
    driven.session(found(), StoryStatus.NOT_DONE)
    driven.session(found(), StoryStatus.NOT_DONE, tree="tree-2")
    assert isinstance(driven.run.phase, Waiting)
    driven.happen(FindingAdded(at=9, finding=problem("mine")))
    first, last = driven.run.rounds
    assert first.judgement is not None
    assert last.judgement is not None
    assert (first.judgement.blocking, [each.title for each in last.judgement.blocking]) == ((), ["mine"])
    assert [finding.title for finding in last.judgement.blocking] == ["mine"]


def test_who_adds_a_finding_need_not_have_a_name_or_may_name_another() -> None:
    driven = asked(UNCLEAR)
    driven.happen(FindingAdded(at=9, finding=problem("mine", file="c.py")))
    assert driven.tracked("mine").finding.found_by == ("a person",)
    named = replace(problem("theirs", file="d.py"), found_by=("bob",), id="chosen")
    driven.happen(FindingAdded(at=9, finding=named, by="ada"))
    assert driven.tracked("theirs").finding.found_by == ("bob",)
    assert driven.tracked("theirs").finding.id != "chosen"


def test_a_finding_that_is_known_cannot_be_added() -> None:
    driven = asked(UNCLEAR)
    added = FindingAdded(at=9, finding=problem("mine", file="c.py"), by="ada")
    driven.happen(added)
    assert driven.refusal(added).endswith(": the finding is already known")


def test_a_finding_can_be_added_to_a_judged_round_only() -> None:
    protocol = replace(ASKING, failures=FailureRule(crashed=OnFailure.ROUND))
    driven = Driven(protocol, max_reviews=1)
    driven.fail(FailureKind.CRASHED)
    refusal = driven.refusal(FindingAdded(at=9, finding=problem("mine")))
    assert refusal == "FindingAdded is illegal while waiting: no round has been judged yet"
