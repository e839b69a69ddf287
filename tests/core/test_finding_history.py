"""What became of each finding: recognised, moved, settled by evidence, carried on, dismissed by a person."""

import pytest

from burnish.core.events import FindingAdded
from burnish.core.finding_history import without
from burnish.core.findings import Action, Finding, FindingStatus, Location, Severity
from burnish.core.gates import Judgement
from burnish.core.line_changes import FileChange, Hunk
from burnish.core.protocol import OpenBlockers, Protocol, Reviewer, ReviewMode, ReviewRule, RoundLimits
from burnish.core.reviews import Answer, Former, FormerAnswer
from burnish.core.state import Outcome, Scope
from burnish.core.values import replace
from tests.core.driving import CLEAN, PLAIN, Driven, found, problem, rewritten

LONG = replace(PLAIN, limits=RoundLimits(reviews=5, hard_cap=5))
HOLDING = replace(LONG, review=ReviewRule(open_blockers=OpenBlockers.LOOP))
RATCHET = replace(LONG, review=ReviewRule(mode=ReviewMode.RATCHET))
BAD = problem("bad")


def about(driven: Driven, answer: FormerAnswer, *, title: str = "bad", clean: bool = True) -> Answer:
    """A ratchet answer about one former finding."""
    return Answer(clean=clean, former=(Former(id=driven.tracked(title).finding.id, answer=answer),))


def after_a_fix(protocol: Protocol = RATCHET, *, tree: str = "tree-1", files: tuple[FileChange, ...] = ()) -> Driven:
    """A blocker was found in round 1, and a fix was made."""
    driven = Driven(protocol)
    driven.answer(found(BAD))
    driven.fix(tree, files)
    return driven


def test_a_finding_enters_with_its_round_its_finder_and_whether_it_blocks() -> None:
    driven = Driven()
    driven.answer(found(BAD, problem("small", Severity.LOW, line=9)))
    bad, small = driven.tracked("bad"), driven.tracked("small")
    assert (bad.round, bad.last_reported_round, bad.blocking, bad.status) == (1, 1, True, FindingStatus.OPEN)
    assert (small.round, small.last_reported_round, small.blocking, small.status) == (1, 1, False, FindingStatus.OPEN)
    assert bad.finding.found_by == ("critic",)
    assert bad.finding.id
    assert bad.finding.id != small.finding.id


def test_who_is_named_as_finder_stays_named() -> None:
    driven = Driven()
    driven.answer(found(replace(BAD, found_by=("tool",))))
    assert driven.tracked("bad").finding.found_by == ("tool",)


def test_one_problem_of_two_reviewers_is_one_finding() -> None:
    driven = Driven(replace(PLAIN, panel=(Reviewer(name="critic"), Reviewer(name="pedant"))))
    driven.answer(found(BAD))
    driven.answer(found(replace(BAD, severity=Severity.CRITICAL)), "pedant")
    (entry,) = driven.run.findings
    assert entry.finding.severity is Severity.CRITICAL
    assert set(entry.finding.found_by) == {"critic", "pedant"}


def test_a_blocker_on_changed_lines_that_nobody_reports_again_is_resolved() -> None:
    driven = after_a_fix(LONG, files=rewritten("a.py"))
    driven.answer(CLEAN)
    assert driven.status("bad") is FindingStatus.RESOLVED
    driven.seal()
    assert driven.ended == (Outcome.APPROVED, "no blocking findings in round 2")


def test_a_blocker_on_unchanged_lines_withholds_the_seal() -> None:
    driven = after_a_fix(LONG, files=rewritten("b.py"))
    driven.answer(CLEAN)
    assert driven.status("bad") is FindingStatus.OPEN
    assert driven.run.rounds[-1].judgement == Judgement(clean=True, carried=(driven.tracked("bad").finding,))
    reason = "no blocking findings in round 2; no seal: earlier findings still block: bad"
    assert driven.ended == (Outcome.APPROVED, reason)


def test_only_three_of_the_blockers_that_withhold_the_seal_are_named() -> None:
    driven = Driven(LONG)
    words = ("leak", "race", "typo", "crash")
    driven.answer(found(*(problem(word, line=number * 10) for number, word in enumerate(words, start=1))))
    driven.fix("tree-1")
    driven.answer(CLEAN)
    assert driven.ended[1].endswith(": leak; race; typo")


def test_a_blocker_on_unchanged_lines_holds_the_loop_up_where_the_protocol_says_so() -> None:
    driven = after_a_fix(HOLDING, files=rewritten("b.py"))
    driven.answer(CLEAN)
    judgement = driven.run.rounds[-1].judgement
    assert judgement == Judgement(clean=False, carried=(driven.tracked("bad").finding,))
    assert [finding.title for finding in driven.fixing.order.must] == ["bad"]


def test_a_finding_that_does_not_block_holds_nothing_up() -> None:
    driven = Driven(HOLDING)
    driven.answer(found(BAD, problem("small", Severity.LOW, file="b.py")))
    driven.fix("tree-1", rewritten("a.py"))
    driven.answer(CLEAN)
    assert driven.run.rounds[-1].judgement == Judgement(clean=True)
    assert driven.status("small") is FindingStatus.OPEN


def insertion(after: int, lines: int = 4) -> FileChange:
    """Some new lines after a line of a.py."""
    hunk = Hunk(old_start=after, old_lines=0, new_start=after + 1, new_lines=lines)
    return FileChange(path="a.py", new_path="a.py", hunks=(hunk,))


def test_a_finding_moves_with_its_lines_and_is_known_again() -> None:
    driven = Driven(LONG)
    driven.answer(found(problem("bad", line=30)))
    driven.fix("tree-1", (insertion(after=1),))
    moved = driven.tracked("bad")
    assert moved.finding.location == Location(file="a.py", line=34)
    assert not moved.lines_changed
    driven.answer(found(problem("bad", line=34)))
    known = driven.tracked("bad")
    assert (known.round, known.last_reported_round, known.finding.id) == (1, 2, moved.finding.id)


@pytest.mark.parametrize(
    ("after", "touched"), [(25, False), (26, False), (27, True), (29, True), (31, True), (33, True), (34, False)]
)
def test_a_change_within_three_lines_counts_as_a_change_of_the_finding(after: int, touched: bool) -> None:
    driven = Driven(LONG)
    driven.answer(found(replace(BAD, location=Location(file="a.py", line=30, end_line=31))))
    driven.fix("tree-1", (insertion(after),))
    entry = driven.tracked("bad")
    assert entry.lines_changed is touched
    shift = 4 if after < 30 else 0
    assert entry.finding.location == Location(file="a.py", line=30 + shift, end_line=31 + shift)


def test_a_finding_that_was_touched_once_stays_so_until_it_is_reported_again() -> None:
    driven = after_a_fix(LONG, files=rewritten("a.py"))
    driven.answer(found(problem("other", file="b.py")))
    driven.fix("tree-2", rewritten("b.py"))
    assert driven.tracked("bad").lines_changed


def test_a_finding_about_a_whole_file_is_met_by_any_change_of_it() -> None:
    driven = Driven(LONG)
    driven.answer(found(problem("bad", line=None)))
    driven.fix("tree-1", (insertion(after=99),))
    assert driven.tracked("bad").lines_changed


def test_a_re_worded_finding_near_the_same_lines_keeps_its_id() -> None:
    driven = Driven(LONG)
    driven.answer(found(problem("user input reaches the shell unescaped")))
    before = driven.run.findings[0].finding.id
    driven.fix("tree-1", rewritten("b.py"))
    driven.answer(found(problem("unescaped user input reaches the shell command")))
    (entry,) = driven.run.findings
    assert entry.finding.id == before
    assert entry.finding.title == "unescaped user input reaches the shell command"
    assert driven.run.rounds[-1].judgement == Judgement(clean=False, blocking=(entry.finding,))


def test_a_finding_on_changed_lines_is_known_again_wherever_it_is_now() -> None:
    driven = after_a_fix(LONG, files=rewritten("a.py"))
    before = driven.tracked("bad")
    assert before.lines_changed
    driven.answer(found(replace(problem("bad", line=90), problem="still there")))
    (entry,) = driven.run.findings
    assert entry.finding.id == before.finding.id
    assert not entry.lines_changed
    assert entry.finding.location == Location(file="a.py", line=90)


@pytest.mark.parametrize("location", [Location(file="a.py"), Location(file="a.py", end_line=9)])
def test_a_finding_about_a_whole_file_stands_while_the_file_is_left_alone(location: Location) -> None:
    driven = Driven(LONG)
    driven.answer(found(replace(BAD, location=location)))
    driven.fix("tree-1", rewritten("b.py"))
    assert driven.tracked("bad").finding.location == location
    assert not driven.tracked("bad").lines_changed


def test_a_re_worded_finding_is_known_again_anywhere_in_a_file_that_was_changed() -> None:
    driven = Driven(LONG)
    driven.answer(found(problem("user input reaches the shell unescaped")))
    before = driven.run.findings[0].finding.id
    driven.fix("tree-1", rewritten("a.py"))
    driven.answer(found(problem("unescaped user input reaches the shell command", line=90)))
    assert [entry.finding.id for entry in driven.run.findings] == [before]


def test_a_re_worded_finding_far_from_unchanged_lines_is_another_one() -> None:
    driven = Driven(LONG)
    driven.answer(found(problem("user input reaches the shell unescaped")))
    driven.fix("tree-1", rewritten("b.py"))
    driven.answer(found(problem("unescaped user input reaches the shell command", line=90)))
    assert len(driven.run.findings) == 2


def test_a_finding_about_the_whole_change_may_be_met_anywhere() -> None:
    driven = Driven(HOLDING)
    driven.answer(found(problem("no tests", file=None)))
    driven.fix("tree-1", rewritten("b.py"))
    assert driven.tracked("no tests").lines_changed
    driven.answer(CLEAN)
    assert driven.status("no tests") is FindingStatus.RESOLVED


def test_a_finding_follows_a_renamed_file_and_keeps_its_id() -> None:
    driven = after_a_fix(LONG, files=(FileChange(path="a.py", new_path="b.py"),))
    assert driven.run.origins == {"b.py": "a.py"}
    before = driven.tracked("bad").finding
    assert before.location == Location(file="b.py", line=3)
    driven.answer(found(problem("bad", file="b.py")))
    assert driven.tracked("bad").finding.id == before.id


def test_origins_go_back_to_the_first_round_and_end_where_a_name_comes_back() -> None:
    driven = after_a_fix(LONG, files=(FileChange(path="a.py", new_path="b.py"),))
    driven.answer(found(problem("bad", file="b.py")))
    driven.fix("tree-2", (FileChange(path="b.py", new_path="c.py"), FileChange(path="x.py", new_path="y.py")))
    assert driven.run.origins == {"c.py": "a.py", "y.py": "x.py"}
    driven.answer(found(problem("bad", file="c.py")))
    driven.fix("tree-3", (FileChange(path="c.py", new_path="a.py"),))
    assert driven.run.origins == {"y.py": "x.py"}


def test_a_finding_that_comes_back_is_open_again() -> None:
    driven = after_a_fix(LONG, files=rewritten("a.py"))
    driven.answer(found(problem("other", file="b.py")))
    assert driven.status("bad") is FindingStatus.RESOLVED
    driven.fix("tree-2", rewritten("b.py"))
    driven.answer(found(BAD))
    assert driven.status("bad") is FindingStatus.OPEN
    assert driven.tracked("bad").round == 1
    assert driven.status("other") is FindingStatus.RESOLVED


@pytest.mark.parametrize("status", [FindingStatus.WAIVED, FindingStatus.REFUTED])
def test_a_dismissed_finding_that_is_reported_again_stays_dismissed_and_blocks_nothing(status: FindingStatus) -> None:
    driven = Driven(LONG)
    driven.answer(found(BAD, problem("other", file="b.py")))
    name = driven.tracked("bad").finding.id
    driven.waive(name) if status is FindingStatus.WAIVED else driven.refute(name)
    driven.fix("tree-1", rewritten("b.py"))
    driven.answer(found(BAD))
    assert driven.status("bad") is status
    assert driven.tracked("bad").last_reported_round == 2
    assert not driven.tracked("bad").blocking
    assert driven.run.rounds[-1].judgement == Judgement(clean=True)


def test_new_lesser_findings_of_a_ratchet_round_are_filed_and_stay_so() -> None:
    driven = after_a_fix(files=rewritten("a.py"))
    driven.answer(found(problem("odd", Severity.MEDIUM, "b.py"), problem("worse", Severity.HIGH, "c.py")))
    assert driven.status("odd") is FindingStatus.FILED
    assert driven.status("worse") is FindingStatus.OPEN
    assert [finding.title for finding in driven.fixing.order.must] == ["worse"]
    driven.fix("tree-2", rewritten("b.py", "c.py"))
    driven.answer(found(problem("odd", Severity.MEDIUM, "b.py")))
    assert driven.status("odd") is FindingStatus.FILED


def test_lesser_findings_of_a_full_round_are_open() -> None:
    driven = Driven(RATCHET)
    driven.answer(found(problem("odd", Severity.MEDIUM)))
    assert driven.status("odd") is FindingStatus.OPEN


def test_a_known_lesser_finding_stays_open_in_a_ratchet_round() -> None:
    driven = Driven(RATCHET)
    driven.answer(found(BAD, problem("odd", Severity.MEDIUM, "b.py")))
    driven.fix("tree-1", rewritten("a.py"))
    driven.answer(found(problem("odd", Severity.MEDIUM, "b.py")))
    assert driven.status("odd") is FindingStatus.OPEN


def test_fixed_closes_a_finding_on_another_tree() -> None:
    driven = after_a_fix(files=rewritten("b.py"))
    driven.answer(about(driven, FormerAnswer.FIXED))
    assert driven.status("bad") is FindingStatus.RESOLVED
    assert driven.reviewing.scope is Scope.FULL


def test_fixed_closes_nothing_on_the_very_tree_in_which_it_was_seen() -> None:
    protocol = replace(RATCHET, review=ReviewRule(mode=ReviewMode.RATCHET, open_blockers=OpenBlockers.LOOP))
    driven = after_a_fix(protocol, tree="tree-0")
    driven.answer(about(driven, FormerAnswer.FIXED))
    assert driven.status("bad") is FindingStatus.OPEN
    assert [finding.title for finding in driven.fixing.order.must] == ["bad"]


def test_fixed_is_measured_against_the_round_that_saw_the_finding_last() -> None:
    driven = after_a_fix(files=rewritten("b.py"))
    driven.answer(found(BAD))
    driven.fix("tree-1")
    driven.answer(about(driven, FormerAnswer.FIXED))
    assert driven.status("bad") is FindingStatus.OPEN


def test_withdrawn_closes_a_finding_on_any_tree() -> None:
    driven = after_a_fix(tree="tree-0")
    driven.answer(about(driven, FormerAnswer.WITHDRAWN))
    assert driven.status("bad") is FindingStatus.WITHDRAWN


def test_not_fixed_keeps_a_blocker_even_where_its_lines_were_changed() -> None:
    driven = after_a_fix(files=rewritten("a.py"))
    driven.answer(about(driven, FormerAnswer.NOT_FIXED))
    entry = driven.tracked("bad")
    assert (entry.status, entry.last_reported_round, entry.lines_changed, entry.blocking) == (
        FindingStatus.OPEN,
        2,
        False,
        True,
    )
    judgement = driven.run.rounds[-1].judgement
    assert judgement is not None
    assert not judgement.clean
    assert set(judgement.blocking) == {entry.finding} == set(driven.fixing.order.must)


def test_not_fixed_of_a_lesser_finding_does_not_block() -> None:
    driven = Driven(RATCHET)
    driven.answer(found(BAD, problem("odd", Severity.MEDIUM, "b.py")))
    driven.fix("tree-1", rewritten("a.py", "b.py"))
    driven.answer(about(driven, FormerAnswer.NOT_FIXED, title="odd"))
    assert driven.status("odd") is FindingStatus.OPEN
    assert driven.run.rounds[-1].judgement == Judgement(clean=True)


@pytest.mark.parametrize("other", [FormerAnswer.FIXED, FormerAnswer.WITHDRAWN])
def test_not_fixed_holds_against_every_other_answer(other: FormerAnswer) -> None:
    driven = Driven(replace(RATCHET, panel=(Reviewer(name="critic"), Reviewer(name="pedant"))))
    driven.answer(found(BAD))
    driven.answer(CLEAN, "pedant")
    driven.fix("tree-1", rewritten("a.py"))
    driven.answer(about(driven, other))
    driven.answer(about(driven, FormerAnswer.NOT_FIXED, clean=False), "pedant")
    assert driven.status("bad") is FindingStatus.OPEN
    assert set(driven.fixing.order.must) == {driven.tracked("bad").finding}


def test_not_fixed_on_an_id_that_nobody_knows_is_a_finding() -> None:
    driven = after_a_fix(files=rewritten("a.py"))
    former = (Former(id="unheard-of", answer=FormerAnswer.NOT_FIXED), Former(id="gone", answer=FormerAnswer.FIXED))
    driven.answer(Answer(clean=True, former=former))
    (must,) = driven.fixing.order.must
    assert replace(must, id="") == Finding(
        severity=Severity.HIGH,
        title="Not fixed, says the reviewer: unheard-of",
        found_by=("critic",),
        synthetic=True,
    )


def test_an_answer_about_a_dismissed_finding_changes_nothing() -> None:
    driven = after_a_fix(files=rewritten("a.py"))
    driven.waive(driven.tracked("bad").finding.id)
    driven.answer(about(driven, FormerAnswer.NOT_FIXED))
    assert driven.status("bad") is FindingStatus.WAIVED
    assert driven.run.rounds[-1].judgement == Judgement(clean=True)


def test_a_closed_finding_stays_as_it_was_closed_when_its_lines_change() -> None:
    driven = Driven(LONG)
    driven.answer(found(BAD, problem("waived", file="b.py")))
    driven.waive(driven.tracked("waived").finding.id)
    driven.fix("tree-1", rewritten("a.py", "b.py"))
    driven.answer(CLEAN)
    assert driven.status("waived") is FindingStatus.WAIVED
    filed = after_a_fix(files=rewritten("a.py"))
    filed.answer(found(problem("odd", Severity.MEDIUM, "b.py"), problem("worse", Severity.HIGH, "c.py")))
    filed.fix("tree-2", rewritten("b.py", "c.py"))
    filed.answer(CLEAN)
    assert filed.status("odd") is FindingStatus.FILED


def test_not_fixed_keeps_a_persons_own_finding_however_small_it_is() -> None:
    driven = Driven(RATCHET)
    driven.answer(found(replace(BAD, action=Action.ASK)))
    driven.happen(FindingAdded(at=9, finding=problem("mine", Severity.LOW, "b.py")))
    driven.decide("f")
    driven.fix("tree-1", rewritten("a.py", "b.py"))
    driven.answer(about(driven, FormerAnswer.NOT_FIXED, title="mine"))
    mine = driven.tracked("mine").finding
    assert driven.run.rounds[-1].judgement == Judgement(clean=False, blocking=(mine,))
    assert driven.fixing.order.must == (mine,)
    assert driven.status("bad") is FindingStatus.RESOLVED


def test_a_judgement_without_one_of_its_findings() -> None:
    one, other = replace(BAD, id="1"), replace(problem("other"), id="2")
    both = Judgement(clean=False, blocking=(one, other))
    assert without(both, "1", OpenBlockers.SEAL) == Judgement(clean=False, blocking=(other,))
    assert without(Judgement(clean=False, blocking=(one,)), "1", OpenBlockers.SEAL) == Judgement(clean=True)
    carried = Judgement(clean=False, blocking=(one,), carried=(other,))
    assert without(carried, "1", OpenBlockers.LOOP) == Judgement(clean=False, carried=(other,))
    assert without(carried, "1", OpenBlockers.SEAL) == Judgement(clean=True, carried=(other,))
    assert without(carried, "2", OpenBlockers.LOOP) == Judgement(clean=False, blocking=(one,))
    assert without(replace(carried, blocking=()), "2", OpenBlockers.LOOP) == Judgement(clean=True)
    objected = Judgement(clean=False, blocking=(one,), reasons=("no",))
    assert without(objected, "1", OpenBlockers.SEAL) == Judgement(clean=False, reasons=("no",))
