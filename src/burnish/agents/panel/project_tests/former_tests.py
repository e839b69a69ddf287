"""The base's version of the tests, and of what steers them, on the code of the change.

A test that a change edits together with the code proves the code only as far as the former test does. Where the former
one fails, behaviour was changed; that may be meant, so both versions are shown and a reader decides. Where only the
configuration of the tests was edited, no behaviour was meant to change.
"""

import re
from collections.abc import Mapping, Sequence

from burnish.agents.panel.project_tests.comparison import compare
from burnish.agents.panel.project_tests.findings import CATEGORY, MOST_FAILURES, evidence, rule_of
from burnish.agents.panel.project_tests.places import Tree, place_of
from burnish.agents.panel.project_tests.silenced import block_of
from burnish.agents.panel.project_tests.values import Case, TestPlan, TestResult, function_of
from burnish.core.finding_likeness import RULE_SEPARATOR
from burnish.core.findings import Finding, Severity
from burnish.core.values import Value

_DECIDES_OUTCOMES = re.compile(
    r"\b(?:pytest_runtest_\w+|pytest_pyfunc_call|pytest_collection_\w+|pytest_collection|pytest_ignore_collect"
    r"|pytest_collect_file|pytest_make_collect_report|pytest_report_teststatus|pytest_sessionfinish"
    r"|pytest_exception_interact|collect_ignore(?:_glob)?|hookwrapper|hookimpl)\b"
)
_MOST_BLOCK = 1_500


class EditedTestFile(Value):
    """A file of tests, or one that steers them, before and after."""

    path: str
    before: str
    now: str


def decides_outcomes(edits: Sequence[EditedTestFile]) -> bool:
    """Whether an edit adds something that can turn a failure into a pass, or leave tests out."""
    for edit in edits:
        known = set(edit.before.splitlines())
        if any(_DECIDES_OUTCOMES.search(line) for line in edit.now.splitlines() if line not in known):
            return True
    return False


def only_by_edit(base: TestResult, head: TestResult, former: TestResult) -> tuple[Case, ...]:
    """Tests whose former version fails on the change, did not on the base, and which pass now or are gone."""
    failing_now = {case.name for case in head.failing}
    failed = compare(base, former).new_failures
    known = {case.name for case in base.passing}
    return tuple(case for case in failed if not case.loading and case.name in known and case.name not in failing_now)


def edited_rule(name: str) -> str:
    """The rule of a test whose former version fails on the change."""
    return f"tests:test-edited:{name}".replace(RULE_SEPARATOR, ",")


def edited_test(case: Case, edits: Mapping[str, EditedTestFile], plan: TestPlan, tree: Tree) -> Finding:
    """A test that passes only because the change edits it, or what steers it; or that fails on it and is deleted."""
    edit = edits.get(case.file)
    before = block_of(case.name, edit.before) if edit else ""
    now = block_of(case.name, edit.now) if edit else ""
    if edit is None or before == now:
        return _steered(case, edits, plan, tree)
    deleted = not now
    return Finding(
        severity=Severity.MEDIUM,
        title=f"`{case.name}` "
        + ("fails on the change, which deletes it" if deleted else "passes only because the change edits it"),
        category=CATEGORY,
        rule=edited_rule(case.name),
        location=place_of(case, plan.framework, tree),
        problem="The deleted test fails on the change."
        if deleted
        else "The base's version of the test fails on the change.",
        impact="The behaviour that it checks has changed. That may be intended: compare both versions.",
        evidence=evidence(
            f"Before:\n{before[:_MOST_BLOCK]}\n\nNow:\n{now[:_MOST_BLOCK] or '(deleted)'}\n\n"
            f"Before, on the change:\n{case.text[-_MOST_BLOCK:]}"
        ),
        suggestion="If the new behaviour is not intended, restore the test and fix the code.",
        confidence=0.9,
    )


def _steered(case: Case, edits: Mapping[str, EditedTestFile], plan: TestPlan, tree: Tree) -> Finding:
    others = [edit for path, edit in edits.items() if path != case.file]
    names = ", ".join(f"`{edit.path}`" for edit in others[:5]) or "other files"
    sharp = decides_outcomes(others)
    return Finding(
        severity=Severity.HIGH if sharp else Severity.MEDIUM,
        title=f"`{case.name}` passes only because the change edits the test configuration",
        category=CATEGORY,
        rule=f"tests:test-steered:{case.name}".replace(RULE_SEPARATOR, ","),
        location=place_of(case, plan.framework, tree),
        problem=f"The test itself is unchanged. It fails on the change with the base's version of {names}"
        + (", and the new version decides which tests run or how their results count." if sharp else "."),
        impact="The code does not do what the test requires, or the configuration hides that.",
        evidence=evidence(case.text),
        suggestion="Restore the test configuration, and fix the code.",
        confidence=0.9,
    )


def still_failing(case: Case, plan: TestPlan, tree: Tree) -> Finding:
    """A failure of an earlier round whose test was edited since: as it was reported, it still fails."""
    return Finding(
        severity=Severity.CRITICAL,
        title=f"`{case.name}` fails",
        category=CATEGORY,
        rule=rule_of(case.name),
        location=place_of(case, plan.framework, tree),
        problem="The test was reported as failing and has been edited since. The reported version still fails.",
        impact="The behaviour that the test checks is broken, or the test is wrong.",
        evidence=evidence(case.text),
        suggestion="Fix the code. If the new behaviour is intended, a person can refute this finding.",
        confidence=1.0,
    )


def at_most(cases: Sequence[Case]) -> tuple[Case, ...]:
    """One case for each test: parameters of one test are one problem."""
    first: dict[str, Case] = {}
    for case in cases:
        first.setdefault(function_of(case.name), case)
    return tuple(first.values())[:MOST_FAILURES]
