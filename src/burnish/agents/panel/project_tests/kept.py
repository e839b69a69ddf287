"""Results of test runs that are kept for later runs of burnish: by tree, command and environment.

What is kept must not excuse a change. Tests may fail for a reason that has gone since, and such a failure on the base
would hide one of the change: so a result with failures is believed only once, by the `fix` that follows a review.
"""

from typing import NamedTuple

from burnish.agents.panel.kept import KeptValues, key_of
from burnish.agents.panel.project_tests.commands import SuiteSelection
from burnish.agents.panel.project_tests.values import CaseOutcome, SuiteEnd, TestPlan, TestResult
from burnish.agents.services import Services
from burnish.core.values import replace


class SuiteState(NamedTuple):
    """What a run of tests depends on: the files, and the machine."""

    tree: str
    environment: str
    """A digest of what tests find outside of the tree: interpreters, installed packages, variables."""
    plan: TestPlan
    purpose: str = ""
    """Tells a repeated run from the first one."""

    def key(self, selection: SuiteSelection) -> str:
        return key_of(self.tree, self.environment, self.purpose, self.plan, selection)


class KeptResults:
    """What earlier runs of burnish know of trees."""

    def __init__(self, services: Services, *, believes_failures: bool) -> None:
        self._values = KeptValues(services, "tests", TestResult)
        self._believes_failures = believes_failures

    def find(self, state: SuiteState, selection: SuiteSelection) -> TestResult | None:
        """The result of an equal run, or what a run of all tests says of those that are asked for."""
        exact = self._read(state.key(selection))
        if exact is not None or selection.measured or selection.everything or selection.listing:
            return exact
        whole = self._read(state._replace(purpose="").key(_WHOLE)) if selection.only and not state.purpose else None
        if whole is None or not whole.lists_passed:
            return None
        wanted = set(selection.only)
        return replace(whole, cases=tuple(case for case in whole.cases if case.name in wanted or case.file in wanted))

    def keep(self, state: SuiteState, selection: SuiteSelection, result: TestResult) -> None:
        """Keep what a run said. One that was cut short says something of the machine, too: it is not kept."""
        if result.ended not in (SuiteEnd.EXITED, SuiteEnd.NOTHING):
            return
        is_whole = not (selection.only or selection.without or selection.listing or state.purpose)
        keys = {state.key(_WHOLE): replace(result, lines={})} if is_whole else {}
        keys[state.key(selection)] = result  # which may be the same key
        self._values.keep(keys)

    def _read(self, key: str) -> TestResult | None:
        result = self._values.find(key)
        if result is None:
            return None
        if not any(case.outcome is CaseOutcome.FAILED for case in result.cases) and result.code in (0, 5):
            return result
        self._values.forget(key)
        return result if self._believes_failures else None


_WHOLE = SuiteSelection()
