"""What the change did to the tests, from what they said on both sides."""

import pytest

from burnish.agents.panel.project_tests.comparison import (
    NoEvidence,
    Reach,
    SuiteComparison,
    compare,
    hangs,
    reach_of,
    settled,
    within_limit,
    without_known_flaky,
)
from burnish.agents.panel.project_tests.values import Case, CaseOutcome, NoTests, SuiteEnd, TestResult
from burnish.core.values import replace


def case(name: str, outcome: CaseOutcome = CaseOutcome.PASSED, *, loading: bool = False) -> Case:
    return Case(name=name, outcome=outcome, file=name.partition("::")[0], loading=loading)


def ran(*cases: Case, code: int | None = None, ended: SuiteEnd = SuiteEnd.EXITED) -> TestResult:
    """A run that lists its tests, with the exit code that fits them."""
    fitting = 1 if any(each.outcome is CaseOutcome.FAILED for each in cases) else 0
    return TestResult(ended=ended, code=fitting if code is None else code, cases=cases, lists_passed=True)


PASSED, FAILED = case("t.py::a"), case("t.py::a", CaseOutcome.FAILED)
OTHER = case("t.py::b")


def compared(base: TestResult | NoTests, head: TestResult, renames: dict[str, str] | None = None) -> SuiteComparison:
    return compare(base, head, renames or {})


def missing(base: TestResult | NoTests, head: TestResult) -> str:
    """Why there is no evidence; empty where there is."""
    found = compare(base, head).missing
    return found.reason if found else ""


def test_only_what_did_not_fail_before_is_new() -> None:
    assert compared(ran(PASSED), ran(FAILED)).new_failures == (FAILED,)
    assert compared(ran(OTHER), ran(OTHER, FAILED)).new_failures == (FAILED,)
    both = compared(ran(FAILED, OTHER), ran(FAILED, OTHER))
    assert (both.new_failures, both.old_failures) == ((), 1)


def test_a_renamed_file_has_the_same_tests() -> None:
    old = case("old.py::a", CaseOutcome.FAILED)
    assert compared(ran(old, OTHER), ran(FAILED, OTHER), {"old.py": "t.py"}).old_failures == 1


@pytest.mark.parametrize("ended", [SuiteEnd.ENDLESS, SuiteEnd.CRASHED])
def test_a_base_that_broke_off_accuses_only_what_it_saw_pass(ended: SuiteEnd) -> None:
    base = ran(PASSED, ended=ended)
    unseen = case("t.py::unseen", CaseOutcome.FAILED)
    assert compared(base, ran(FAILED, unseen)).new_failures == (FAILED,)
    assert missing(base, ran(PASSED, unseen))
    assert missing(base, ran(PASSED))


@pytest.mark.parametrize("ended", [SuiteEnd.ENDLESS, SuiteEnd.CRASHED, SuiteEnd.COULD_NOT_RUN])
def test_tests_that_no_longer_come_to_their_end(ended: SuiteEnd) -> None:
    assert compared(ran(PASSED), ran(ended=ended)).whole is ended


def test_a_failure_without_a_name_is_one_of_the_whole() -> None:
    assert compared(ran(PASSED), ran(PASSED, code=2)).whole is SuiteEnd.EXITED
    assert compared(ran(PASSED, code=2), ran(PASSED, code=2)).whole is None


@pytest.mark.parametrize(
    "base",
    [
        NoTests(reason="not installed"),
        TestResult(ended=SuiteEnd.COULD_NOT_RUN, message="no such program"),
        TestResult(ended=SuiteEnd.EXITED, code=2),
        ran(case("t.py", CaseOutcome.FAILED, loading=True)),
    ],
)
def test_a_base_that_says_nothing_is_no_evidence(base: TestResult | NoTests) -> None:
    assert missing(base, ran(FAILED))
    assert missing(base, ran(PASSED))


@pytest.mark.parametrize("base", [NoTests(reason="none", absent=True), TestResult(ended=SuiteEnd.NOTHING, code=5)])
def test_the_first_tests_of_a_project(base: TestResult | NoTests) -> None:
    assert compared(base, ran(FAILED, OTHER)).new_failures == (FAILED,)
    assert compared(base, ran(PASSED)) == SuiteComparison(first=True)
    assert compare(base, TestResult(ended=SuiteEnd.NOTHING)).missing == NoEvidence(
        reason="no tests were found", excused=True
    )
    assert missing(base, TestResult(ended=SuiteEnd.NOTHING))
    assert missing(base, ran(case("t.py", CaseOutcome.FAILED, loading=True)))


def test_tests_that_are_gone_or_skipped() -> None:
    skipped = case("t.py::a", CaseOutcome.SKIPPED)
    assert compared(ran(PASSED, OTHER), ran(OTHER)).gone == (PASSED,)
    assert compared(ran(PASSED, OTHER), ran(skipped, OTHER)).gone == (PASSED,)
    assert compared(ran(PASSED), TestResult(ended=SuiteEnd.NOTHING, code=5)).gone == (PASSED,)


def test_others_may_have_come_in_their_place() -> None:
    renamed, moved = case("t.py::c"), case("u.py::a")
    for now in (renamed, moved):
        comparison = compared(ran(PASSED), ran(now))
        assert (comparison.gone, comparison.replaced) == ((PASSED,), {PASSED.name})
    assert compared(ran(PASSED, OTHER), ran(renamed)).replaced == {PASSED.name}


def test_tests_that_mostly_fail_on_the_base_are_no_evidence() -> None:
    broken = [case(f"t.py::t{number}", CaseOutcome.FAILED) for number in range(3)]
    assert missing(ran(*broken), ran(*broken)) == "3 of 3 tests fail on the base: no reason given"
    assert missing(ran(*broken, PASSED), ran(*broken, PASSED)) == "3 of 4 tests fail on the base: no reason given"
    assert not missing(ran(broken[0], PASSED, OTHER), ran(broken[0], PASSED, OTHER))


def test_findings_are_kept_where_evidence_is_missing() -> None:
    broken = [case(f"t.py::t{number}", CaseOutcome.FAILED) for number in range(3)]
    comparison = compared(ran(*broken, PASSED), ran(*broken, FAILED))
    assert (comparison.new_failures, comparison.missing is None) == ((FAILED,), False)


def test_a_change_that_leaves_no_test_that_runs_is_no_evidence() -> None:
    skipped = case("t.py::a", CaseOutcome.SKIPPED)
    assert missing(ran(PASSED), TestResult(ended=SuiteEnd.NOTHING, code=5)) == "no test is left to run"
    assert missing(ran(PASSED), ran(skipped)) == "no test ran: all 1 are skipped"


def test_where_only_the_base_is_not_installed_here_the_change_speaks_for_itself() -> None:
    base = NoTests(reason="another lock", unfit=True)
    assert not missing(base, ran(PASSED))
    assert missing(base, ran(FAILED)) == "another lock"


def test_what_cannot_be_loaded_is_not_gone_besides() -> None:
    broken = case("t.py", CaseOutcome.FAILED, loading=True)
    comparison = compared(ran(PASSED), ran(broken))
    assert (comparison.new_failures, comparison.gone) == ((broken,), ())


def test_the_base_may_have_been_asked_for_some_tests_only() -> None:
    broken = case("u.py", CaseOutcome.FAILED, loading=True)
    asked = replace(ran(broken), partial=True)
    comparison = compared(asked, ran(broken, PASSED, OTHER))
    assert (comparison.new_failures, comparison.old_failures, comparison.missing) == ((), 1, None)


def test_only_tests_of_edited_files_come_in_the_place_of_others() -> None:
    known = replace(ran(PASSED), listed=("t.py::a",), partial=True)
    elsewhere = case("u.py::x")
    assert compare(known, ran(elsewhere), {}, {"t.py"}).replaced == set()
    assert compare(known, ran(case("t.py::c")), {}, {"t.py"}).replaced == {"t.py::a"}


@pytest.mark.parametrize("pattern", ["t.py::a[1]", "t.py::a", "t.py", "*::a", "t.py::*"])
def test_tests_that_the_policy_calls_flaky_are_told_apart(pattern: str) -> None:
    failed = case("t.py::a[1]", CaseOutcome.FAILED)
    other = case("u.py::b", CaseOutcome.FAILED)
    comparison = without_known_flaky(SuiteComparison(new_failures=(failed, other)), [pattern])
    assert (comparison.new_failures, comparison.known_flaky) == ((other,), (failed,))


def test_a_file_that_cannot_be_loaded_is_never_flaky() -> None:
    broken = SuiteComparison(new_failures=(case("t.py", CaseOutcome.FAILED, loading=True),))
    assert without_known_flaky(broken, ["t.py"]) == broken


def test_a_test_hangs_where_it_takes_far_longer_than_on_the_base() -> None:
    stuck = TestResult(ended=SuiteEnd.ENDLESS, seconds=600, quiet_seconds=70, running=("t.py::a",))
    assert hangs(stuck, replace(ran(PASSED), seconds=1.0))
    assert not hangs(stuck, replace(ran(PASSED), seconds=10.0))
    assert not hangs(replace(stuck, quiet_seconds=3), replace(ran(PASSED), seconds=1.0))
    assert not hangs(stuck, ran(ended=SuiteEnd.ENDLESS))
    assert not hangs(stuck, NoTests(reason="none", absent=True))


def test_a_run_that_reached_its_limit_is_evidence_if_all_that_reaches_the_change_ran() -> None:
    slow = SuiteComparison(whole=SuiteEnd.ENDLESS, missing=NoEvidence(reason="the tests timed out"))
    enough = within_limit(slow, Reach(ran=300, found=431, reaching_ran=12, reaching=12, all_ran=True), 600)
    assert (enough.whole, enough.missing) == (None, None)
    assert enough.limited == (
        "the tests reached their limit of 600 s: 300 of 431 ran, 12 of the 12 that reach the change among them"
    )
    files = tuple(f"t{number}.py" for number in range(7))
    less = within_limit(slow, Reach(ran=300, found=431, reaching_ran=11, reaching=12, waiting=files), 600)
    assert less.limited.endswith("among them; not run: t0.py, t1.py, t2.py, t3.py, t4.py and 2 more")
    assert less.missing is not None
    assert "11 of the 12 that reach the change" in less.missing.reason


def test_what_had_run_when_the_time_was_up() -> None:
    head = replace(ran(PASSED, ended=SuiteEnd.ENDLESS), listed=("t.py::a", "u.py::b", "u.py::c"))
    assert reach_of(head, {"t.py"}) == Reach(ran=1, found=3, reaching_ran=1, reaching=1, all_ran=True)
    assert reach_of(head, {"t.py", "u.py"}) == Reach(ran=1, found=3, reaching_ran=1, reaching=3, waiting=("u.py",))
    assert not reach_of(head, None).all_ran
    assert not reach_of(replace(head, listed=()), None).all_ran
    packages = TestResult(ended=SuiteEnd.ENDLESS, ended_units=frozenset({"m/a", "m/b"}))
    assert reach_of(packages, {"m/a"}).all_ran
    assert not reach_of(packages, {"m/a", "m/c"}).all_ran
    assert not reach_of(packages, None).all_ran


def test_what_passes_the_second_time_is_flaky() -> None:
    comparison = settled(compared(ran(PASSED), ran(FAILED)), ran(PASSED), "pytest")
    assert (comparison.new_failures, comparison.flaky) == ((), (FAILED,))
    still = settled(compared(ran(PASSED), ran(FAILED)), ran(FAILED), "pytest")
    assert (still.new_failures, still.flaky) == ((FAILED,), ())


def test_a_command_that_passes_the_second_time_is_flaky() -> None:
    base = TestResult(ended=SuiteEnd.EXITED, code=0)
    comparison = compared(base, TestResult(ended=SuiteEnd.EXITED, code=1))
    assert comparison.whole is SuiteEnd.EXITED
    calm = settled(comparison, base, "make test")
    assert (calm.whole, [each.name for each in calm.flaky]) == (None, ["make test"])


def test_files_that_only_look_like_tests_are_not_waited_for() -> None:
    head = TestResult(ended=SuiteEnd.ENDLESS, units=frozenset({"a.spec.ts"}), ended_units=frozenset({"a.spec.ts"}))
    assert reach_of(head, {"a.spec.ts", "playground/b.spec.ts"}).all_ran
    assert not reach_of(replace(head, ended_units=frozenset()), {"a.spec.ts"}).all_ran
    assert not reach_of(head, {"playground/b.spec.ts"}).all_ran


def test_first_tests_that_crash_before_any_of_them_runs_say_nothing() -> None:
    none, crash = NoTests(reason="none", absent=True), ran(ended=SuiteEnd.CRASHED)
    said = compared(none, replace(crash, output="INTERNALERROR> KeyError: 'mode'"))
    assert (said.whole, said.first) == (None, False)
    assert missing(none, crash) == "the tests crash before any of them runs"
    some = compared(none, replace(crash, cases=(PASSED,)))
    assert (some.whole, some.first) == (SuiteEnd.CRASHED, True)
    assert compared(none, replace(crash, running=("t.py::a",))).whole is SuiteEnd.CRASHED
    assert compared(ran(PASSED), crash).whole is SuiteEnd.CRASHED
