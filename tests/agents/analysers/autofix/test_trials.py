"""When tests speak against a fix."""

import pytest

from burnish.agents.panel.autofix.trials import broken
from burnish.agents.panel.project_tests.values import Case, CaseOutcome, SuiteEnd, TestResult


def _result(
    *failing: str, passing: str = "good", ended: SuiteEnd = SuiteEnd.EXITED, code: int | None = None
) -> TestResult:
    cases = [Case(name=name, outcome=CaseOutcome.FAILED) for name in failing]
    if passing:
        cases.append(Case(name=passing, outcome=CaseOutcome.PASSED))
    status = int(bool(failing)) if code is None else code
    return TestResult(ended=ended, code=status, cases=tuple(cases), lists_passed=True)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (_result(), _result(), ""),
        (_result("old"), _result("old"), ""),
        (_result("old"), _result(), ""),
        (_result("old"), _result("old", "new"), "new"),
        (_result(), _result("a", "b", "c", "d"), "a, b, c and 1 more"),
        (_result(), _result(passing="", ended=SuiteEnd.NOTHING), "good"),
        (_result(passing="", code=0), _result(passing="", code=1), "the whole test suite"),
        (_result(passing="", code=1), _result(passing="", code=1), ""),
        (_result(), _result(ended=SuiteEnd.ENDLESS), "the whole test suite"),
        (_result("old"), _result(ended=SuiteEnd.CRASHED), "the whole test suite"),
        (_result(), _result(passing="", ended=SuiteEnd.COULD_NOT_RUN), "the whole test suite"),
        (_result(passing="", ended=SuiteEnd.COULD_NOT_RUN), _result(passing="", ended=SuiteEnd.COULD_NOT_RUN), ""),
    ],
)
def test_only_what_was_all_right_before_counts(before: TestResult, after: TestResult, words: str) -> None:
    assert broken(before, after) == words
