"""Compares what the tests said on the base with what they say on the change. It knows nothing of findings.

Only what the change brought counts: what fails on both sides is not its doing, and where the base could not be tested,
nothing can be said of the change. What a base did not come to say (it had to be ended) is held against no change.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from burnish.agents.panel.project_tests.values import (
    Case,
    CaseOutcome,
    NoTests,
    SuiteEnd,
    TestResult,
    function_of,
    parts_of,
)
from burnish.core.values import Value, replace
from burnish.settings.globs import matches

LEAST_SECONDS, TIMES_THE_BASE = 60.0, 20.0
"""How long the tests of a change may take where those of its base have ended: at least, and as a multiple."""
NO_RENAMES: Mapping[str, str] = MappingProxyType({})


class NoEvidence(Value):
    """Why the tests say nothing about the change, and what a person could do about it."""

    reason: str
    hint: str = ""
    excused: bool = False
    """There are no tests at all, which is not the change's doing."""


class Reach(Value):
    """How much of what reaches the change a run has run."""

    ran: int
    found: int
    """All tests that were found; 0 where that is not known."""
    reaching_ran: int = 0
    reaching: int = 0
    all_ran: bool = False
    """Whether every test that reaches the change has run."""
    waiting: tuple[str, ...] = ()
    """The files or packages of those that have not."""


class SuiteComparison(Value):
    """What is different on the change."""

    new_failures: tuple[Case, ...] = ()
    """They fail on the change, and did not on the base."""
    flaky: tuple[Case, ...] = ()
    """They failed on the change once, and passed when they were run again."""
    known_flaky: tuple[Case, ...] = ()
    """They fail on the change, and the policy of the base says that they do so at random."""
    limited: str = ""
    """What had run when the time was up, in words."""
    old_failures: int = 0
    """Tests that fail on both sides."""
    gone: tuple[Case, ...] = ()
    """Tests that passed on the base, and are not run any more under their names."""
    replaced: frozenset[str] = frozenset()
    """The names of those in whose place others came: they may only have new names."""
    whole: SuiteEnd | None = None
    """Where it is the tests as a whole that do not come to their end any more: how they end now.

    `EXITED` stands for a command that fails without naming a test.
    """
    first: bool = False
    """The base has no tests to compare with."""
    missing: NoEvidence | None = None
    """Why all this is no evidence that the change works, where it is none."""


def compare(
    base: TestResult | NoTests,
    head: TestResult,
    renames: Mapping[str, str] = NO_RENAMES,
    touched: Collection[str] | None = None,
) -> SuiteComparison:
    """What the change did to the tests.

    The base may have been asked for some tests only: those that fail on the change, or are not run there. `renames`
    maps a path of the base to its path now; `touched` are the files that the change edits, where that is known.
    """
    match base:
        case NoTests(unfit=True):
            # The base cannot be run here, and not by its own fault: what passes on the change still counts.
            return SuiteComparison(
                missing=_from_head(head) or (None if head.passed else _unknown(base.reason, base.hint))
            )
        case NoTests(absent=False):
            return SuiteComparison(missing=_unknown(base.reason, base.hint))
        case NoTests() | TestResult(ended=SuiteEnd.NOTHING):
            return _without_base(head)
        case TestResult(ended=SuiteEnd.COULD_NOT_RUN):
            return SuiteComparison(missing=_unknown(f"the tests cannot run on the base: {base.message}"))
        case TestResult(ended=SuiteEnd.EXITED, code=code) if code != 0 and not base.cases:
            reason = f"the test command fails on the base (exit code {code}){_first_error(base.output)}"
            return SuiteComparison(missing=_unknown(reason))
        case TestResult() if not base.passing and _all_loading(base) and not (base.partial and head.passing):
            return SuiteComparison(missing=_unknown(f"the tests cannot be loaded on the base: {_first_reason(base)}"))
        case TestResult():
            return _with_base(base, head, renames, touched)


_ERROR = re.compile(r"\b\w*Error\b[^:]*: \S")
_LONGEST_REASON = 300
_MOST_WAITING = 5
INSTALL_HINT = (
    "Install what they need ([workspace] prepare or seed in burnish.toml), or set the command: [validate] tests."
)
_SLOW_HINT = (
    "Give them more time ([analysers] test_seconds in burnish.toml), or set a faster command: [validate] tests."
)


def _unknown(reason: str, hint: str = INSTALL_HINT) -> NoEvidence:
    return NoEvidence(reason=reason, hint=hint or INSTALL_HINT)


def _all_loading(result: TestResult) -> bool:
    return bool(result.failing) and all(case.loading for case in result.failing)


def _first_error(output: str) -> str:
    """The first line that tells of an error, if one does, as the end of a sentence."""
    found = next((line.strip() for line in output.splitlines() if _ERROR.search(line)), "")
    return f": {found[:_LONGEST_REASON]}" if found else ""


def _first_reason(result: TestResult) -> str:
    text = next((case.text for case in result.failing if case.text.strip()), result.output).strip()
    lines = text.splitlines()
    # pytest marks what was raised; the last line only says where.
    raised = [line.removeprefix("E").strip() for line in lines if line.startswith("E ")]
    return (raised or lines)[-1].strip()[:_LONGEST_REASON] if lines else "no reason given"


def _without_base(head: TestResult) -> SuiteComparison:
    """The change brings the first tests: every failure is new, but for those that nothing could have loaded."""
    if head.ended is SuiteEnd.NOTHING:
        return SuiteComparison(missing=NoEvidence(reason="no tests were found", excused=True))
    if head.ended is SuiteEnd.COULD_NOT_RUN:
        return SuiteComparison(missing=_unknown(head.message or "the tests cannot run"))
    if head.ended is SuiteEnd.CRASHED and not head.cases and not head.running:
        return SuiteComparison(missing=_unknown(f"the tests crash before any of them runs{_first_error(head.output)}"))
    if _all_loading(head) and not head.passing:
        return SuiteComparison(missing=_unknown(f"the tests cannot be loaded here: {_first_reason(head)}"))
    return SuiteComparison(new_failures=head.failing, whole=_whole(None, head), missing=_from_head(head), first=True)


def _with_base(
    base: TestResult, head: TestResult, renames: Mapping[str, str], touched: Collection[str] | None
) -> SuiteComparison:
    failing_before = {renamed(case.name, renames) for case in base.failing}
    known = {renamed(case.name, renames) for case in base.cases}
    fair = [case for case in head.failing if case.name not in failing_before]
    new = tuple(case for case in fair if base.complete or case.name in known)
    whole = _whole(base, head) if not new or head.ended is not SuiteEnd.EXITED else None
    gone = _gone(base, head, renames)
    old = len(head.failing) - len(fair)
    return SuiteComparison(
        new_failures=new,
        old_failures=old,
        gone=gone,
        replaced=_replaced(gone, base, head, renames, touched),
        whole=whole,
        missing=_from_base(base, head, old) or _from_head(head),
    )


def _from_base(base: TestResult, head: TestResult, old: int) -> NoEvidence | None:
    """Why tests that ran on the base say too little there to be compared with."""
    if not base.complete:
        endless = base.ended is SuiteEnd.ENDLESS
        reason = f"the tests {'time out' if endless else 'crash'} on the base"
        return _unknown(reason, _SLOW_HINT if endless else INSTALL_HINT)
    number = len(head.failing) + len(head.passing)
    if not head.lists_passed or not old or old * 2 < number:
        return None
    return _unknown(f"{old} of {number} tests fail on the base: {_first_reason(base)}")


def _from_head(head: TestResult) -> NoEvidence | None:
    """Why tests that ran on the change are no evidence that it works, beyond what they found."""
    match head.ended:
        case SuiteEnd.NOTHING:
            return NoEvidence(reason="no test is left to run", hint="Restore tests that run the changed code.")
        case SuiteEnd.ENDLESS:
            return _unknown("the tests timed out", _SLOW_HINT)
        case SuiteEnd.CRASHED:
            return _unknown("the tests crashed")
        case SuiteEnd.COULD_NOT_RUN:
            return _unknown(f"the tests cannot run: {head.message}")
        case SuiteEnd.EXITED if head.cases and not head.passing and not head.failing:
            return _unknown(f"no test ran: all {len(head.cases)} are skipped")
        case SuiteEnd.EXITED:
            return None


def _whole(base: TestResult | None, head: TestResult) -> SuiteEnd | None:
    """What is wrong with the tests as a whole that was not before."""
    if head.ended is SuiteEnd.EXITED:
        explained = head.code == 0 or head.failing
        return None if explained or (base is not None and not base.passed) else SuiteEnd.EXITED
    known = base is not None and not base.complete
    return None if head.ended is SuiteEnd.NOTHING or known else head.ended


def renamed(name: str, renames: Mapping[str, str]) -> str:
    """The name of a test, with the file under its other name."""
    file, separator, rest = parts_of(name)
    return f"{renames.get(file, file)}{separator}{rest}"


def _gone(base: TestResult, head: TestResult, renames: Mapping[str, str]) -> tuple[Case, ...]:
    """Tests that are not run any more under their names."""
    ended = head.ended in (SuiteEnd.EXITED, SuiteEnd.NOTHING)
    if not ended or not base.lists_passed or not (head.lists_passed or head.ended is SuiteEnd.NOTHING):
        return ()
    run_now = {case.name for case in head.cases if case.outcome is not CaseOutcome.SKIPPED}
    unloadable = {case.file for case in head.failing if case.loading}
    return tuple(
        case
        for case in base.passing
        if renamed(case.name, renames) not in run_now and renames.get(case.file, case.file) not in unloadable
    )


def _replaced(
    gone: tuple[Case, ...],
    base: TestResult,
    head: TestResult,
    renames: Mapping[str, str],
    touched: Collection[str] | None,
) -> frozenset[str]:
    """Those of them in whose place others came, in the same file or under the same name in another."""
    run_before = {renamed(case.name, renames) for case in base.cases if case.outcome is not CaseOutcome.SKIPPED}
    run_before |= {renamed(name, renames) for name in base.listed}
    newcomers = [
        case
        for case in head.cases
        if case.outcome is not CaseOutcome.SKIPPED
        and case.name not in run_before
        and (touched is None or not case.file or case.file in touched)
    ]
    places = Counter(case.file for case in newcomers)
    names = Counter(_own_name(case) for case in newcomers)
    return frozenset(
        case.name for case in gone if _take(places, renames.get(case.file, case.file)) or _take(names, _own_name(case))
    )


def _own_name(case: Case) -> str:
    return case.name.rpartition("::")[2].rpartition(".")[2]


def _take(supply: Counter[str], key: str) -> bool:
    supply[key] -= 1
    return supply[key] >= 0


def settled(comparison: SuiteComparison, again: TestResult, command: str) -> SuiteComparison:
    """After what failed was run once more: what passed then is flaky."""
    passed = {case.name for case in again.cases if case.outcome is CaseOutcome.PASSED}
    flaky = tuple(case for case in comparison.new_failures if case.name in passed)
    new = tuple(case for case in comparison.new_failures if case.name not in passed)
    whole = comparison.whole
    if whole is SuiteEnd.EXITED and again.passed:
        whole, flaky = None, (*flaky, Case(name=command, outcome=CaseOutcome.FAILED))
    return replace(comparison, new_failures=new, flaky=flaky, whole=whole)


def without_known_flaky(comparison: SuiteComparison, patterns: Sequence[str]) -> SuiteComparison:
    """Failures of tests that the policy of the base calls flaky are told apart: they block nothing."""
    known = tuple(case for case in comparison.new_failures if _is_known(case, patterns))
    new = tuple(case for case in comparison.new_failures if case not in known)
    return replace(comparison, new_failures=new, known_flaky=known) if known else comparison


def _is_known(case: Case, patterns: Sequence[str]) -> bool:
    names = (case.name, function_of(case.name), case.name.partition("::")[0])
    return not case.loading and any(matches(name, pattern) for pattern in patterns for name in names)


def hangs(head: TestResult, base: TestResult | NoTests) -> bool:
    """Whether tests that were ended hang; else there are too many of them, or they are slow on the base, too."""
    if not isinstance(base, TestResult) or not base.complete:
        return False
    waited = head.quiet_seconds if head.running else head.seconds
    return waited >= allowed_seconds(base.seconds)


def allowed_seconds(base_seconds: float) -> float:
    """How long something may take on the change that ends on the base."""
    return max(LEAST_SECONDS, TIMES_THE_BASE * base_seconds)


def reach_of(head: TestResult, reaching: Collection[str] | None) -> Reach:
    """How much of what reaches the change had run when the time was up. All tests reach it where none are named."""
    ran = {case.name for case in head.cases}
    named = [name for name in head.listed if reaching is None or parts_of(name)[0] in reaching]
    done = sum(name in ran for name in named)
    left = {parts_of(name)[0] for name in named if name not in ran}
    counted = reaching is not None
    # Of files that look like tests, some may be no tests of this suite: those are never run.
    units = frozenset(reaching or ()) & (head.units or frozenset(reaching or ()))
    return Reach(
        ran=len(ran),
        found=len(head.listed),
        reaching_ran=done if counted else 0,
        reaching=len(named) if counted else 0,
        all_ran=done == len(named) if named else bool(units) and head.ended_units >= units,
        waiting=tuple(sorted(left if named else units - head.ended_units)),
    )


def within_limit(comparison: SuiteComparison, reach: Reach, limit: float) -> SuiteComparison:
    """For tests that reached their time limit without hanging: what ran is evidence if it is all that reaches."""
    if comparison.whole is None and not reach.all_ran:
        return comparison  # it is the base that says too little
    of = f" of {reach.found}" if reach.found else ""
    among = f", {reach.reaching_ran} of the {reach.reaching} that reach the change among them" if reach.reaching else ""
    named = ", ".join(reach.waiting[:_MOST_WAITING])
    more = f" and {len(reach.waiting) - _MOST_WAITING} more" if len(reach.waiting) > _MOST_WAITING else ""
    waiting = f"; not run: {named}{more}" if named else ""
    said = f"the tests reached their limit of {limit:.0f} s: {reach.ran}{of} ran{among}{waiting}"
    missing = None if reach.all_ran else NoEvidence(reason=said, hint=_SLOW_HINT)
    return replace(comparison, whole=None, limited=said, missing=missing)
