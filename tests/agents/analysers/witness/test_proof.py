"""What a change adds to its tests, and what their run on the base's code means."""

import pytest

from burnish.agents.panel.project_tests.changed_tests import affected_tests, edited_tests
from burnish.agents.panel.project_tests.proof import (
    TestFileChange,
    TouchedTests,
    WithoutChange,
    changes_behaviour,
    fix_subject,
    keeps_behaviour,
    touched_tests,
    without_change,
)
from burnish.agents.panel.project_tests.values import Case, CaseOutcome, Framework, SuiteEnd, TestResult

OLD = "CASES = [1]\n\n\ndef test_kept(): assert f(1)\n\n\ndef test_more(): assert all(map(f, CASES))\n"


def ran(*cases: Case, ended: SuiteEnd = SuiteEnd.EXITED, output: str = "", running: tuple[str, ...] = ()) -> TestResult:
    return TestResult(ended=ended, code=0, cases=cases, lists_passed=True, output=output, running=running)


def case(name: str, outcome: CaseOutcome = CaseOutcome.PASSED, text: str = "", *, loading: bool = False) -> Case:
    return Case(name=name, outcome=outcome, file=name.partition("::")[0], text=text, loading=loading)


def failing(name: str, text: str = "assert 1 == 2") -> Case:
    return case(name, CaseOutcome.FAILED, text)


def test_an_edited_test_is_one_whose_code_is_another() -> None:
    new = (
        OLD.replace("f(1)", "f(2)").replace("def test_more()", "def test_more( )")
        + "\n\nclass TestNew:\n    def test_b(self): pass\n"
    )
    assert edited_tests(OLD, new) == {"test_kept", "TestNew.test_b"}


def test_a_test_that_uses_other_data_than_before_is_affected() -> None:
    assert affected_tests(OLD, OLD.replace("[1]", "[1, 2]")) == {"test_more"}


def test_the_passing_tests_of_a_change_are_told_apart_by_what_it_did_to_them() -> None:
    new = OLD.replace("f(1)", "f(2)").replace("[1]", "[1, 2]") + "\n\ndef test_new(): assert f(3)\n"
    cases = [case(f"t.py::{name}") for name in ("test_kept", "test_more[1]", "test_more[2]", "test_new", "test_gone")]
    found = touched_tests([TestFileChange(path="t.py", before=OLD, now=new)], ran(*cases), Framework.PYTEST)
    assert found == TouchedTests(added=("t.py::test_new",), edited=("t.py::test_kept",), affected=("t.py::test_more",))


def test_a_test_that_fails_on_the_change_is_not_asked() -> None:
    head = ran(failing("t.py::test_more[1]"), case("t.py::test_more[2]"))
    file = TestFileChange(path="t.py", before="", now=OLD)
    assert touched_tests([file], head, Framework.PYTEST) == TouchedTests()


def test_tests_of_other_languages_are_compared_by_their_text() -> None:
    go = 'func TestA(t *testing.T) {\n\tif add(1) != 2 {\n\t\tt.Fatal("a")\n\t}\n}\n'
    file = TestFileChange(path="sum/sum_test.go", before="", now=go)
    head = ran(Case(name="example.org/sum.TestA", outcome=CaseOutcome.PASSED, folder="sum"))
    assert touched_tests([file], head, Framework.GO).added == ("example.org/sum.TestA",)


def without(*cases: Case, **more: object) -> WithoutChange:
    wanted = ("t.py::test_a", "t.py::test_b")
    return without_change(wanted, ran(*cases, **more), {"shop.new"}.__contains__)  # type: ignore[arg-type]


A, B = "t.py::test_a", "t.py::test_b"


def test_a_test_passes_without_the_change_only_if_all_its_parameters_do() -> None:
    found = without(case(f"{A}[1]"), failing(f"{A}[2]"), case(B))
    assert found == WithoutChange(passing=frozenset({B}), failing=frozenset({A}), ran_and_failed=frozenset({A}))


@pytest.mark.parametrize(
    ("text", "proof"),
    [
        ("E   assert 1 == 2", True),
        ("AttributeError: module 'shop' has no attribute 'refund'", True),
        ("ModuleNotFoundError: No module named 'shop.new'", True),
        ("ModuleNotFoundError: No module named 'numpy'", False),
        ("E       fixture 'server' not found", False),
        ("'slow' not found in `markers` configuration option", False),
    ],
)
def test_a_failure_is_proof_where_the_code_is_its_reason(text: str, *, proof: bool) -> None:
    found = without(failing(A, text), case(B))
    assert (A in found.failing, A in found.unclear) == (proof, not proof)


def test_a_file_that_the_base_cannot_load_fails_with_all_its_tests() -> None:
    broken = case("t.py", CaseOutcome.FAILED, "ImportError: cannot import name 'refund'", loading=True)
    found = without(broken)
    assert (found.failing, found.ran_and_failed) == ({A, B}, frozenset())


def test_a_test_that_hangs_without_the_change_fails() -> None:
    found = without(case(B), ended=SuiteEnd.ENDLESS, running=(A,))
    assert (found.failing, found.passing, found.unclear) == ({A}, frozenset(), {B})


def test_nothing_follows_from_tests_that_could_not_run() -> None:
    assert without(ended=SuiteEnd.COULD_NOT_RUN, output="no space left").unclear == {A, B}
    new = "ImportError while loading conftest: No module named 'shop.new'"
    assert without(ended=SuiteEnd.COULD_NOT_RUN, output=new).failing == {A, B}
    assert without(case(A, CaseOutcome.SKIPPED)).unclear == {A, B}


@pytest.mark.parametrize(
    ("subject", "fix"),
    [
        ("fix: rounding of totals", True),
        ("Fix #12", True),
        ("Fixed rounding (#12)", True),
        ("hotfix totals", True),
        ("[cart] fix rounding", True),
        ("#12 fix rounding", True),
        ("Round totals, fixes #12", True),
        ("Round totals to avoid a bug in tax", True),
        ("fix(cart): rounding", True),
        ("Fix typo in docs", False),
        ("Spelling Fixes (#12)", False),
        ("Link totals from the docs, fixes #12", True),
        ("Fix flaky test", False),
        ("fix test_totals on 3.13", False),
        ("fix lint", False),
        ("Add a prefix to totals", False),
        ("Add fixed rate", False),
        ("debug totals", False),
    ],
)
def test_a_change_calls_itself_a_fix_by_its_subject(subject: str, *, fix: bool) -> None:
    assert bool(fix_subject([f"{subject}\n\nAnd a body that names a bug."])) is fix


def test_a_change_keeps_behaviour_where_all_its_commits_say_so() -> None:
    assert keeps_behaviour(["refactor: split cart", "test: totals"])
    assert not keeps_behaviour(["refactor: split cart", "add refunds"])
    assert not keeps_behaviour([])


def test_comments_docstrings_annotations_imports_and_versions_are_no_behaviour() -> None:
    before = '__version__ = "1"\n\ndef f(a):\n    return a\n'
    now = 'import os\n__version__ = "2"\n\ndef f(a: int) -> int:\n    """Doc."""\n    return a  # same\n'
    assert not changes_behaviour(before, now)
    assert changes_behaviour(before, before.replace("return a", "return -a"))
    assert changes_behaviour("", before)
