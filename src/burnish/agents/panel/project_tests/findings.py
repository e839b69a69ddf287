"""What the comparison means to a reader: findings, each with a rule by which it is known again, and notes."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from textwrap import dedent

from burnish.agents.panel.project_tests.comparison import NoEvidence, SuiteComparison
from burnish.agents.panel.project_tests.outputs import shortened
from burnish.agents.panel.project_tests.places import Tree, place_of
from burnish.agents.panel.project_tests.values import Case, Language, SuiteEnd, TestPlan, TestResult, function_of
from burnish.core.finding_likeness import RULE_SEPARATOR
from burnish.core.findings import Finding, Location, Severity
from burnish.core.values import Value

CATEGORY = "tests"
MOST_FAILURES = 20
MOST_EVIDENCE = 4_000
_NAMED = 5
_ASSERTION_LINES = 12
_SUMMARY_LINES = 3
_NOISE = re.compile(r"\s*(?:=== |--- (?:FAIL|PASS|SKIP)|---$|\.\.\.$)")
_STACK = re.compile(r"\s+at .|stack: \||stack backtrace:|note: run with `RUST_BACKTRACE")
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
    functions = _by_function(failures, trial.plan, tree)
    found = [_failure(name, cases, trial, tree) for name, cases in functions[:MOST_FAILURES]]
    if functions[MOST_FAILURES:]:
        found.append(_further([name for name, _ in functions[MOST_FAILURES:]], trial))
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
    if comparison.limited:
        yield comparison.limited
    if comparison.known_flaky:
        names = named([case.name for case in comparison.known_flaky])
        yield f"known to be flaky, so not counted: {names} failed ([analysers] flaky in the policy of the base)"
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
    """The rule of a failing test is its function: what separates several rules cannot be in it."""
    return f"test:{function_of(name)}".replace(RULE_SEPARATOR, ",")


def _by_function(cases: Iterable[Case], plan: TestPlan, tree: Tree) -> list[tuple[str, list[Case]]]:
    """The failures of each test function: its parameters are one problem.

    Tests of JavaScript are often made in a loop: those that fail in the same line of their own file are one function.
    """
    found: dict[object, list[Case]] = {}
    for case in cases:
        place = place_of(case, plan.framework, tree) if plan.language is Language.NODE and not case.loading else None
        looped = place is not None and place.line is not None and place.file == case.file
        found.setdefault((place.file, place.line) if place and looped else function_of(case.name), []).append(case)
    return [(key if isinstance(key, str) else _common_name(cases), cases) for key, cases in found.items()]


def _common_name(cases: Sequence[Case]) -> str:
    """What the names of several tests begin with, in whole words: the file, and the groups that they are in."""
    if len(cases) == 1:
        return function_of(cases[0].name)
    words = [case.name.split(" ") for case in cases]
    same = takewhile(lambda some: len(set(some)) == 1, zip(*words, strict=False))
    return " ".join(some[0] for some in same).removesuffix(" >") or cases[0].file


def _failure(name: str, cases: Sequence[Case], trial: Trial, tree: Tree) -> Finding:
    parts = [case for case in cases if case.name != name]
    case = (parts or cases)[0]
    if case.loading:
        title, problem = f"`{name}` cannot be loaded", "This test file cannot be loaded, so none of its tests run."
    elif len(parts) > 1:
        what = "cases" if trial.plan.language is Language.NODE else "parameters"
        title = f"`{name}` fails for {len(parts)} {what}"
        problem = f"{_fails_now('The test fails', trial)}, for {_parameters(name, parts)}."
    else:
        title = f"`{case.name}` fails"
        problem = f"{_fails_now('The test fails', trial)}."
    location = place_of(case, trial.plan.framework, tree)
    return Finding(
        severity=Severity.CRITICAL,
        title=title,
        category=CATEGORY,
        rule=rule_of(name),
        location=location,
        problem=problem,
        impact=_said(case) or "The behaviour that the test checks is broken, or the test is wrong.",
        evidence=failure_evidence(case, location, tree) or evidence(trial.head.output),
        suggestion=f"Run `{trial.plan.text}` and fix the code, or the test if the new behaviour is intended.",
        confidence=1.0,
    )


def _fails_now(what: str, trial: Trial) -> str:
    before = "the base has no tests" if trial.comparison.first else "did not fail on the base"
    return f"{what} on the change, and {before}"


def _said(case: Case) -> str:
    """What a reader looks for first: what was expected, and what came."""
    lines = [line.strip() for line in assertion_of(case).splitlines() if line.strip()]
    return f"The test says: {' '.join(lines[:_SUMMARY_LINES])}" if lines else ""


def _parameters(name: str, cases: Sequence[Case]) -> str:
    return named([case.name.removeprefix(name).strip("[]/ >") for case in cases])


def failure_evidence(case: Case, location: Location | None, tree: Tree) -> str:
    """The line that failed, what was asserted, and then as much of the rest as there is room for."""
    source = tree.source(location) if location else ""
    said = "\n".join(part for part in (source, assertion_of(case)) if part)
    rest = "" if case.text.strip() in said else evidence(case.text, MOST_EVIDENCE // 2)
    return "\n\n".join(part for part in (evidence(said, MOST_EVIDENCE // 2), rest) if part)


def assertion_of(case: Case) -> str:
    """The lines that say what was expected and what came."""
    if case.message.strip():
        return case.message.strip()
    lines = [line for line in case.text.splitlines() if line.strip() and not _NOISE.match(line)]
    marked = [line[1:].strip() for line in lines if line.startswith("E  ")]
    stack = next((place for place, line in enumerate(lines) if _STACK.match(line)), len(lines))
    return dedent("\n".join((marked or lines[:stack])[:_ASSERTION_LINES]))


def evidence(text: str, most: int = MOST_EVIDENCE) -> str:
    """A text without its middle, where it is too long."""
    return shortened(text.strip(), most)


def _further(names: Sequence[str], trial: Trial) -> Finding:
    return Finding(
        severity=Severity.CRITICAL,
        title=f"{len(names)} more tests fail",
        category=CATEGORY,
        rule="tests:further-failures",
        problem=f"{_fails_now('They fail', trial)}.",
        evidence=evidence("\n".join(names)),
        confidence=1.0,
    )


def _whole(ended: SuiteEnd, trial: Trial, tree: Tree) -> Finding:
    head = trial.head
    files = [file for name in head.running if tree.is_file(file := name.partition("::")[0])]
    running = f" while {named(head.running)} ran" if head.running else ""
    is_first = trial.comparison.first
    titles = {
        SuiteEnd.ENDLESS: f"The tests {'do not' if is_first else 'no longer'} finish: they were stopped{running}",
        SuiteEnd.CRASHED: f"The tests crash{running}",
        SuiteEnd.COULD_NOT_RUN: "The tests can no longer run",
    }
    problems = {
        SuiteEnd.ENDLESS: f"They took {trial.base_seconds:.1f} s on the base, and {head.seconds:.0f} s or more here.",
        SuiteEnd.CRASHED: "The test process died on the change; on the base it ran to completion.",
        SuiteEnd.COULD_NOT_RUN: f"They ran on the base. On the change: {head.message}",
    }
    problem = problems.get(ended, f"It exits with {head.code} on the change, and with 0 on the base.")
    if is_first:
        how = f"It exits with {head.code}" if ended is SuiteEnd.EXITED else f"This was after {head.seconds:.0f} s"
        problem = f"{how}. The base has no tests to compare with."
    return Finding(
        severity=Severity.CRITICAL,
        title=titles.get(ended, f"`{trial.plan.text}` fails"),
        category=CATEGORY,
        rule=f"tests:{ended.value}",
        location=Location(file=files[0]) if files else None,
        problem=problem,
        evidence=evidence(head.output),
        suggestion=f"Run `{trial.plan.text}` and check how the change affects it.",
        confidence=1.0,
    )


def _flaky(case: Case, trial: Trial, tree: Tree) -> Finding:
    return Finding(
        severity=Severity.LOW,
        title=f"`{case.name}` is flaky",
        category=CATEGORY,
        rule=f"tests:flaky:{case.name}".replace(RULE_SEPARATOR, ","),
        location=place_of(case, trial.plan.framework, tree),
        problem="It failed on the change, passed when repeated, and did not fail on the base.",
        impact="A test that fails at random hides tests that fail for a reason.",
        evidence=evidence(case.text),
        suggestion="Find out what it depends on: time, order, ports, other tests.",
    )
