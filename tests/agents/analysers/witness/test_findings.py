"""Findings and notes of a trial, where running real tests for each would take long."""

from burnish.agents.panel.project_tests.comparison import SuiteComparison
from burnish.agents.panel.project_tests.findings import DependencyChange, Trial, findings_of, unmet_dependencies
from burnish.agents.panel.project_tests.places import Tree
from burnish.agents.panel.project_tests.uncovered import uncovered
from burnish.agents.panel.project_tests.values import (
    Case,
    CaseOutcome,
    FileLines,
    Framework,
    SuiteEnd,
    TestPlan,
    TestResult,
)
from burnish.core.findings import Location, Severity

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


def test_evidence_is_the_bounded_end_of_the_output() -> None:
    (finding,) = findings_of(trial(failing("t.py::a", "x" * 10_000 + "the reason")), STILL, TREE)
    assert finding.evidence.endswith("the reason")
    assert len(finding.evidence) < 4_100


def test_rules_are_never_taken_for_several() -> None:
    (finding,) = findings_of(trial(failing("t.py::a[1, 2]")), STILL, TREE)
    assert finding.rule == "test:t.py::a[1,2]"


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
