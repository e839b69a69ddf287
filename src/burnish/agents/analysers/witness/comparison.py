"""Compares what the tests said on the base with what they say on the change. It knows nothing of findings.

Only what the change brought counts: what fails on both sides is not its doing, and where the base could not be tested,
nothing can be said of the change. What a base did not come to say (it had to be ended) accuses nobody.
"""

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from burnish.agents.analysers.witness.values import Case, Ended, NoTests, Outcome, TestResult
from burnish.core.values import Value, replace

NO_RENAMES: Mapping[str, str] = MappingProxyType({})


class NoEvidence(Value):
    """Why the tests say nothing about the change, and what a person could do about it."""

    reason: str
    hint: str = ""


class Comparison(Value):
    """What is different on the change."""

    new_failures: tuple[Case, ...] = ()
    """They fail on the change, and did not on the base."""
    flaky: tuple[Case, ...] = ()
    """They failed on the change once, and passed when they were run again."""
    old_failures: int = 0
    """Tests that fail on both sides."""
    gone: tuple[Case, ...] = ()
    """Tests that passed on the base, and are not run any more."""
    whole: Ended | None = None
    """Where it is the tests as a whole that do not come to their end any more: how they end now.

    `EXITED` stands for a command that fails without naming a test.
    """


def compare(
    base: TestResult | NoTests, head: TestResult, renames: Mapping[str, str] = NO_RENAMES
) -> Comparison | NoEvidence:
    """What the change did to the tests. `renames` maps a path of the base to its path now."""
    match base:
        case NoTests(absent=False):
            return NoEvidence(reason=base.reason, hint=base.hint)
        case NoTests() | TestResult(ended=Ended.NOTHING):
            return _without_base(head)
        case TestResult(ended=Ended.COULD_NOT_RUN):
            return NoEvidence(reason=f"the tests cannot run on the base: {base.message}", hint=_HINT)
        case TestResult(ended=Ended.EXITED, code=code) if code != 0 and not base.cases:
            return NoEvidence(reason=f"the tests fail on the base as a whole (exit code {code})", hint=_HINT)
        case TestResult() if not any(case.outcome is Outcome.PASSED for case in base.cases) and _all_loading(base):
            return NoEvidence(reason=f"the tests cannot be loaded on the base: {_first_reason(base)}", hint=_HINT)
        case TestResult():
            return _with_base(base, head, renames)


_HINT = (
    "Install what they need ([workspace] prepare or seed in burnish.toml), or say how they are run: [validate] tests."
)


def _all_loading(result: TestResult) -> bool:
    return bool(result.failing) and all(case.loading for case in result.failing)


def _first_reason(result: TestResult) -> str:
    text = next((case.text for case in result.failing if case.text.strip()), result.output).strip()
    return text.splitlines()[-1].strip().removeprefix("E").strip()[:300] if text else "no reason was given"


def _without_base(head: TestResult) -> Comparison | NoEvidence:
    """The change brings the first tests: every failure is new, but for those that nothing could have loaded."""
    if head.ended in (Ended.NOTHING, Ended.COULD_NOT_RUN):
        return NoEvidence(reason=head.message or "no tests were found", hint=_HINT)
    if _all_loading(head) and not any(case.outcome is Outcome.PASSED for case in head.cases):
        return NoEvidence(reason=f"the tests cannot be loaded here: {_first_reason(head)}", hint=_HINT)
    return Comparison(new_failures=head.failing, whole=_whole(None, head))


def _with_base(base: TestResult, head: TestResult, renames: Mapping[str, str]) -> Comparison | NoEvidence:
    failing_before = {_renamed(case.name, renames) for case in base.failing}
    known = {_renamed(case.name, renames) for case in base.cases}
    fair = [case for case in head.failing if case.name not in failing_before]
    new = tuple(case for case in fair if base.complete or case.name in known)
    whole = _whole(base, head) if not new or head.ended is not Ended.EXITED else None
    if not base.complete and not new:
        endless = base.ended is Ended.ENDLESS
        return NoEvidence(
            reason=f"the tests {'do not end in time' if endless else 'crash'} on the base",
            hint=_SLOW_HINT if endless else _HINT,
        )
    return Comparison(
        new_failures=new, old_failures=len(head.failing) - len(fair), gone=_gone(base, head, renames), whole=whole
    )


_SLOW_HINT = "Give them more time: [analysers] test_seconds in burnish.toml, or a quicker command: [validate] tests."


def _whole(base: TestResult | None, head: TestResult) -> Ended | None:
    """What is wrong with the tests as a whole that was not before."""
    if head.ended is Ended.EXITED:
        explained = head.code == 0 or head.failing
        return None if explained or (base is not None and not base.passed) else Ended.EXITED
    known = base is not None and not base.complete
    return None if head.ended is Ended.NOTHING or known else head.ended


def _renamed(name: str, renames: Mapping[str, str]) -> str:
    file, separator, rest = name.partition("::")
    return f"{renames.get(file, file)}{separator}{rest}"


def _gone(base: TestResult, head: TestResult, renames: Mapping[str, str]) -> tuple[Case, ...]:
    """Tests that are not run any more. Where others came in their place, they were only given new names."""
    ended = head.ended in (Ended.EXITED, Ended.NOTHING)
    if not ended or not base.lists_passed or not (head.lists_passed or head.ended is Ended.NOTHING):
        return ()
    run_now = {case.name for case in head.cases if case.outcome is not Outcome.SKIPPED}
    run_before = {_renamed(case.name, renames) for case in base.cases if case.outcome is not Outcome.SKIPPED}
    unloadable = {case.file for case in head.failing if case.loading}
    newcomers = [case for case in head.cases if case.name in run_now - run_before]
    places = Counter(case.file for case in newcomers)
    names = Counter(_own_name(case) for case in newcomers)
    found: list[Case] = []
    for case in base.cases:
        file = renames.get(case.file, case.file)
        if case.outcome is not Outcome.PASSED or _renamed(case.name, renames) in run_now or file in unloadable:
            continue
        if _take(places, file) or _take(names, _own_name(case)):
            continue
        found.append(case)
    return tuple(found)


def _own_name(case: Case) -> str:
    return case.name.rpartition("::")[2].rpartition(".")[2]


def _take(supply: Counter[str], key: str) -> bool:
    supply[key] -= 1
    return supply[key] >= 0


def settled(comparison: Comparison, again: TestResult, command: str) -> Comparison:
    """After what failed was run once more: what passed then is flaky."""
    passed = {case.name for case in again.cases if case.outcome is Outcome.PASSED}
    flaky = tuple(case for case in comparison.new_failures if case.name in passed)
    new = tuple(case for case in comparison.new_failures if case.name not in passed)
    whole = comparison.whole
    if whole is Ended.EXITED and again.passed:
        whole, flaky = None, (*flaky, Case(name=command, outcome=Outcome.FAILED))
    return replace(comparison, new_failures=new, flaky=flaky, whole=whole)
