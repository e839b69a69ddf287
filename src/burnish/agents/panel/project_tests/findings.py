"""What the comparison means to a reader: findings, each with a rule by which it is known again, and notes."""

import re
from collections.abc import Iterator, Sequence

from burnish.agents.panel.project_tests.comparison import NoEvidence, SuiteComparison
from burnish.agents.panel.project_tests.places import Tree, place_of
from burnish.agents.panel.project_tests.values import Case, SuiteEnd, TestPlan, TestResult
from burnish.core.finding_likeness import RULE_SEPARATOR
from burnish.core.findings import Finding, Location, Severity
from burnish.core.values import Value

CATEGORY = "tests"
MOST_FAILURES = 20
MOST_EVIDENCE = 4_000
_NAMED = 5
_MISSING_MODULE = re.compile(r"No module named '([\w.]+)'")


class DependencyChange(Value):
    """What must be known of the change to tell its doing from the machine's."""

    dependencies: bool
    """It edits a file that lists dependencies: what it needs now may not be installed here."""


class Trial(Value):
    """The tests on both sides."""

    plan: TestPlan
    head: TestResult
    base_seconds: float
    comparison: SuiteComparison


def named(names: Sequence[str]) -> str:
    """Some names, and how many there are beyond."""
    listed = ", ".join(f"`{name}`" for name in names[:_NAMED])
    return listed + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def findings_of(trial: Trial, change: DependencyChange, tree: Tree) -> tuple[Finding, ...]:
    """What is wrong with the change, by its tests."""
    comparison = trial.comparison
    failures = [case for case in comparison.new_failures if not _unmet(case, change, tree)]
    found = [_failure(case, trial, tree) for case in failures[:MOST_FAILURES]]
    if failures[MOST_FAILURES:]:
        found.append(_further(failures[MOST_FAILURES:]))
    if comparison.whole is not None:
        found.append(_whole(comparison.whole, trial, tree))
    return (*found, *(_flaky(case, trial, tree) for case in comparison.flaky))


def notes_of(trial: Trial) -> Iterator[str]:
    """What a reader who relies on the tests must know."""
    comparison = trial.comparison
    if comparison.old_failures:
        number = comparison.old_failures
        told = (
            "1 test also fails on the base, so it says"
            if number == 1
            else f"{number} tests also fail on the base, so they say"
        )
        yield f"{told} nothing about the change"
    if comparison.flaky:
        yield f"flaky: {named([case.name for case in comparison.flaky])} failed once and passed when repeated"


def unmet_dependencies(trial: Trial, change: DependencyChange, tree: Tree) -> NoEvidence | None:
    """Tests that need what the change adds to the dependencies, and what is not installed here."""
    unmet = {case.name: module for case in trial.comparison.new_failures if (module := _unmet(case, change, tree))}
    if not unmet:
        return None
    modules = ", ".join(sorted(set(unmet.values())))
    return NoEvidence(
        reason=f"{named(list(unmet))} cannot be loaded, because {modules} is not installed here",
        hint=(
            "The change edits the dependencies. Install them in the checkout, or with [workspace] prepare in "
            "burnish.toml."
        ),
    )


def _unmet(case: Case, change: DependencyChange, tree: Tree) -> str:
    """The module that a test file lacks, where the change may need one that is not installed here."""
    missing = _MISSING_MODULE.search(case.text) if case.loading and change.dependencies else None
    if missing is None:
        return ""
    top = missing[1].partition(".")[0]
    ours = (f"{folder}{top}{end}" for folder in ("", "src/", "lib/") for end in (".py", "/__init__.py"))
    return "" if any(tree.is_file(path) for path in ours) else missing[1]


def rule_of(name: str) -> str:
    """The rule of a failing test is the test: what separates several rules cannot be in it."""
    return f"test:{name}".replace(RULE_SEPARATOR, ",")


def _failure(case: Case, trial: Trial, tree: Tree) -> Finding:
    if case.loading:
        title, problem = (
            f"`{case.name}` cannot be loaded",
            "This test file cannot be loaded, so none of its tests run.",
        )
    else:
        title, problem = f"`{case.name}` fails", "The test fails on the change, and did not fail on the base."
    return Finding(
        severity=Severity.CRITICAL,
        title=title,
        category=CATEGORY,
        rule=rule_of(case.name),
        location=place_of(case, trial.plan.framework, tree),
        problem=problem,
        impact="The behaviour that the test checks is broken, or the test is wrong.",
        evidence=evidence(case.text or trial.head.output),
        suggestion=f"Run `{trial.plan.text}` and fix the code, or the test if the new behaviour is intended.",
        confidence=1.0,
    )


def evidence(text: str) -> str:
    text = text.strip()
    return text if len(text) <= MOST_EVIDENCE else f"… {text[-MOST_EVIDENCE:]}"


def _further(cases: Sequence[Case]) -> Finding:
    return Finding(
        severity=Severity.CRITICAL,
        title=f"{len(cases)} more tests fail",
        category=CATEGORY,
        rule="witness:further-failures",
        problem="They fail on the change, and did not fail on the base.",
        evidence=evidence("\n".join(case.name for case in cases)),
        confidence=1.0,
    )


def _whole(ended: SuiteEnd, trial: Trial, tree: Tree) -> Finding:
    head = trial.head
    files = [file for name in head.running if tree.is_file(file := name.partition("::")[0])]
    running = f" while {named(head.running)} ran" if head.running else ""
    titles = {
        SuiteEnd.ENDLESS: f"The tests no longer finish: they were stopped{running}",
        SuiteEnd.CRASHED: f"The tests crash{running}",
        SuiteEnd.COULD_NOT_RUN: "The tests can no longer run",
    }
    problems = {
        SuiteEnd.ENDLESS: f"They took {trial.base_seconds:.1f} s on the base, and {head.seconds:.0f} s or more here.",
        SuiteEnd.CRASHED: "The test process died on the change; on the base it ran to completion.",
        SuiteEnd.COULD_NOT_RUN: f"They ran on the base. On the change: {head.message}",
    }
    return Finding(
        severity=Severity.CRITICAL,
        title=titles.get(ended, f"`{trial.plan.text}` fails"),
        category=CATEGORY,
        rule=f"witness:{ended.value}",
        location=Location(file=files[0]) if files else None,
        problem=problems.get(ended, f"It exits with {head.code} on the change, and with 0 on the base."),
        evidence=evidence(head.output),
        suggestion=f"Run `{trial.plan.text}` and check how the change affects it.",
        confidence=1.0,
    )


def _flaky(case: Case, trial: Trial, tree: Tree) -> Finding:
    return Finding(
        severity=Severity.LOW,
        title=f"`{case.name}` is flaky",
        category=CATEGORY,
        rule=f"witness:flaky:{case.name}".replace(RULE_SEPARATOR, ","),
        location=place_of(case, trial.plan.framework, tree),
        problem="It failed on the change, passed when repeated, and did not fail on the base.",
        impact="A test that fails at random hides tests that fail for a reason.",
        evidence=evidence(case.text),
        suggestion="Find out what it depends on: time, order, ports, other tests.",
    )
