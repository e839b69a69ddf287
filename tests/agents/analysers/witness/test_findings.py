"""Findings and notes of a trial, where running real tests for each would take long."""

from burnish.agents.panel.project_tests.comparison import SuiteComparison
from burnish.agents.panel.project_tests.findings import (
    DependencyChange,
    Trial,
    findings_of,
    notes_of,
    unmet_dependencies,
)
from burnish.agents.panel.project_tests.places import Tree
from burnish.agents.panel.project_tests.uncovered import uncovered
from burnish.agents.panel.project_tests.values import (
    Case,
    CaseOutcome,
    FileLines,
    Framework,
    Language,
    SuiteEnd,
    TestPlan,
    TestResult,
)
from burnish.core.findings import Location, Severity
from burnish.core.values import replace

PLAN = TestPlan(framework=Framework.PYTEST, argv=("python",), text="pytest")
TREE = Tree(root="/copy", is_file={"t.py", "src/ours.py"}.__contains__)
STILL = DependencyChange(dependencies=False)


def trial(*new: Case, whole: SuiteEnd | None = None) -> Trial:
    head = TestResult(ended=whole or SuiteEnd.EXITED, code=1, seconds=60.0, output="the end")
    return Trial(plan=PLAN, head=head, base_seconds=1.0, comparison=SuiteComparison(new_failures=new, whole=whole))


def failing(name: str, text: str = "", *, loading: bool = False) -> Case:
    return Case(name=name, outcome=CaseOutcome.FAILED, text=text, loading=loading)


def test_twenty_failures_are_listed_and_the_rest_counted() -> None:
    findings = findings_of(trial(*(failing(f"t.py::test_{number}") for number in range(30))), STILL, TREE)
    assert len(findings) == 21
    assert findings[-1].title == "10 more tests fail"
    assert {finding.severity for finding in findings} == {Severity.CRITICAL}


def test_evidence_is_bounded_and_loses_neither_end_of_the_output() -> None:
    text = f"the assertion\n{'x' * 10_000}the reason"
    (finding,) = findings_of(trial(failing("t.py::a", text)), STILL, TREE)
    assert finding.evidence.startswith("the assertion")
    assert finding.evidence.endswith("the reason")
    assert len(finding.evidence) < 4_100


def test_rules_are_never_taken_for_several() -> None:
    (finding,) = findings_of(trial(failing("t.py::a, b[1, 2]")), STILL, TREE)
    assert finding.rule == "test:t.py::a,b"


def test_the_parameters_of_a_test_are_one_finding() -> None:
    cases = [failing(f"t.py::a[{number}]") for number in range(7)]
    several, single = findings_of(trial(*cases, failing("t.py::b[x]")), STILL, TREE)
    assert (several.title, several.rule) == ("`t.py::a` fails for 7 parameters", "test:t.py::a")
    assert "for `0`, `1`, `2`, `3`, `4` and 2 more" in several.problem
    assert single.title == "`t.py::b[x]` fails"


def test_tests_of_javascript_that_a_loop_makes_are_one_finding() -> None:
    """They fail in the same line of their own file; other lines and helpers elsewhere are other problems."""

    def case(name: str, *places: str) -> Case:
        text = "\n".join(f"    at {place}:5" for place in places)
        return Case(name=f"a.test.js > {name}", outcome=CaseOutcome.FAILED, text=text, file="a.test.js")

    looped = [case(f"query > of {number}", "/copy/a.test.js:7") for number in range(3)]
    others = [case("query > all", "/copy/a.test.js:9"), *(case(f"url {name}", "/copy/help.js:2") for name in "ab")]
    plan = TestPlan(framework=Framework.VITEST, argv=("vitest",), text="vitest", language=Language.NODE)
    tree = Tree(root="/copy", is_file={"a.test.js", "help.js"}.__contains__)
    findings = findings_of(replace(trial(*looped, *others), plan=plan), STILL, tree)
    assert [finding.title for finding in findings] == [
        "`a.test.js > query > of` fails for 3 cases",
        "`a.test.js > query > all` fails",
        "`a.test.js > url a` fails",
        "`a.test.js > url b` fails",
    ]
    assert "for `0`, `1`, `2`" in findings[0].problem


def test_the_parts_of_a_test_of_go_are_one_finding_with_its_place() -> None:
    said = "=== RUN   TestX/one\n    x_test.go:2: got 3\n    --- FAIL: TestX/one (0.00s)\n"
    part = Case(name="m/pkg.TestX/one", outcome=CaseOutcome.FAILED, text=said, folder="pkg")
    tree = Tree(root="/copy", is_file={"pkg/x_test.go"}.__contains__, text="package x\n\tt.Fatal(3)\n".format)
    (finding,) = findings_of(trial(failing("m/pkg.TestX"), part), STILL, tree)
    assert (finding.title, finding.rule) == ("`m/pkg.TestX/one` fails", "test:m/pkg.TestX")
    assert finding.location == Location(file="pkg/x_test.go", line=2)
    assert finding.evidence.startswith("pkg/x_test.go:2: t.Fatal(3)\nx_test.go:2: got 3")


def test_evidence_begins_with_the_line_and_the_assertion() -> None:
    case = Case(
        name="t.py::a",
        outcome=CaseOutcome.FAILED,
        text="def a():\n>  assert f() == 4\nE  assert 6 == 4\n\nt.py:2: AssertionError",
        message="assert 6 == 4\n +  where 6 = f()",
    )
    tree = Tree(root="/copy", is_file={"t.py"}.__contains__, text="def a():\n    assert f() == 4\n".format)
    (finding,) = findings_of(trial(case), STILL, tree)
    assert finding.evidence.startswith("t.py:2: assert f() == 4\nassert 6 == 4\n +  where 6 = f()\n\n")


def test_notes_tell_of_known_flaky_tests_and_of_the_limit() -> None:
    comparison = SuiteComparison(known_flaky=(failing("t.py::a"),), limited="the tests reached their limit")
    told = list(notes_of(replace(trial(), comparison=comparison)))
    assert told[0] == "the tests reached their limit"
    assert "`t.py::a` failed" in told[1]


def test_a_missing_module_is_the_changes_doing_unless_it_edits_the_dependencies() -> None:
    lacking = failing("t.py", "ModuleNotFoundError: No module named 'other'", loading=True)
    edited = DependencyChange(dependencies=True)
    assert len(findings_of(trial(lacking), STILL, TREE)) == 1
    assert findings_of(trial(lacking), edited, TREE) == ()
    missing = unmet_dependencies(trial(lacking), edited, TREE)
    assert missing is not None
    assert missing.reason == "`t.py` cannot be loaded, because other is not installed here"
    ours = failing("t.py", "ModuleNotFoundError: No module named 'ours.part'", loading=True)
    assert len(findings_of(trial(ours), edited, TREE)) == 1


def test_the_whole_says_how_long_it_took() -> None:
    (finding,) = findings_of(trial(whole=SuiteEnd.ENDLESS), STILL, TREE)
    assert finding.title == "The tests no longer finish: they were stopped"
    assert finding.problem == "They took 1.0 s on the base, and 60 s or more here."


def test_idle_lines_are_ranges_of_statements() -> None:
    measured = {"a.py": FileLines(statements=frozenset({1, 2, 4, 5, 9, 12}), executed=frozenset({1, 9}))}
    (finding,) = uncovered(measured, {"a.py": [2, 3, 4, 9, 12], "b.py": [1]}, Severity.LOW)
    assert finding.title == "No test runs 3 of the changed lines of `a.py`"
    assert finding.problem == "The tests do not run these lines: 2-4, 12."
    assert finding.location == Location(file="a.py", line=2, end_line=4)
    assert finding.also_at == (Location(file="a.py", line=12, end_line=12),)
    assert uncovered(measured, {"a.py": [1, 3, 9]}, Severity.LOW) == ()


def test_what_a_test_expected_is_said_before_anything_else() -> None:
    text = "    def a():\n>       assert f() == 4\nE       assert 6 == 4\nE        +  where 6 = f()"
    (finding,) = findings_of(trial(failing("t.py::a", text)), STILL, TREE)
    assert finding.impact == "The test says: assert 6 == 4 +  where 6 = f()"
    (silent,) = findings_of(trial(failing("t.py::a")), STILL, TREE)
    assert silent.impact == "The behaviour that the test checks is broken, or the test is wrong."


def test_what_is_said_where_the_base_has_no_tests() -> None:
    def told(*new: Case, whole: SuiteEnd | None = None) -> str:
        one = trial(*new, whole=whole)
        (finding,) = findings_of(replace(one, comparison=replace(one.comparison, first=True)), STILL, TREE)
        return f"{finding.title}. {finding.problem}"

    assert told(failing("t.py::a")) == "`t.py::a` fails. The test fails on the change, and the base has no tests."
    assert told(whole=SuiteEnd.ENDLESS) == (
        "The tests do not finish: they were stopped. This was after 60 s. The base has no tests to compare with."
    )
    assert told(whole=SuiteEnd.EXITED) == "`pytest` fails. It exits with 1. The base has no tests to compare with."
