"""What a run of the tests came to: its exit, its report and its output, read together. Doubt is never a pass."""

import re

import msgspec

from burnish.agents.panel.interface import ToolError
from burnish.agents.panel.project_tests.commands import can_choose
from burnish.agents.panel.project_tests.compiled import dependency_files, listed_files, profile_lines, v8_lines
from burnish.agents.panel.project_tests.outputs import cargo_cases, go_cases, go_packages, tap_cases, unittest_cases
from burnish.agents.panel.project_tests.reports import SuiteReport, read_report
from burnish.agents.panel.project_tests.values import Case, Framework, SuiteEnd, TestPlan, TestResult
from burnish.core.text import clean_text
from burnish.core.values import Value
from burnish.system.process import Finished, How

MOST_OUTPUT = 8_000
NO_TESTS, USAGE_ERROR, INTERNAL_ERROR = 5, 4, 3
"""Exit codes of pytest; burnish's own runner of unittest uses the first, too."""


_REPORTING = (Framework.PYTEST, Framework.UNITTEST, Framework.MOCHA, Framework.JEST, Framework.VITEST)
"""Frameworks that report through `inside`."""


class Left(Value):
    """What go, cargo and node left behind of what they compiled and ran."""

    profile: str = ""
    listing: str = ""
    go_mod: str = ""
    dependencies: tuple[str, ...] = ()
    counts: tuple[bytes, ...] = ()
    """What node counted."""
    related: bool = False
    """jest only listed files."""
    texts: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """The files of which that is to be told."""


NOTHING_LEFT = Left()


class _Read(Value):
    """What was understood of a report or an output."""

    cases: tuple[Case, ...] = ()
    lists_passed: bool = False
    report: SuiteReport | None = None
    """The report of pytest or unittest, where there is one."""


def result_of(
    plan: TestPlan, finished: Finished, raw: bytes | None, root: str, left: Left = NOTHING_LEFT
) -> TestResult:
    """What the tests said. `root` is where they saw the repository."""
    printed = clean_text(finished.stdout.decode("utf-8", errors="replace"))
    output = f"{printed}{finished.stderr_tail}".strip()[-MOST_OUTPUT:]
    try:
        read = _read(plan, finished, raw or b"", root, left)
    except ToolError as error:
        return TestResult(ended=SuiteEnd.COULD_NOT_RUN, code=finished.code, output=output, message=error.message)
    ended = _ended(plan, finished, read)
    report = read.report or SuiteReport()
    return TestResult(
        ended=ended,
        code=0 if finished.code == NO_TESTS and report.listed else finished.code,
        seconds=finished.seconds,
        cases=read.cases,
        lists_passed=read.lists_passed,
        listed=report.listed,
        units=report.units,
        ended_units=go_packages(printed) if plan.framework is Framework.GO else report.ended_units,
        choosable=can_choose(plan) or read.report is not None,
        running=report.running,
        output=output,
        message=_reason(finished, output) if ended is SuiteEnd.COULD_NOT_RUN else "",
        lines={
            **report.lines,
            **profile_lines(left.profile, left.go_mod, plan.project),
            **v8_lines(left.counts, left.texts, root),
        },
        compiled=listed_files(left.listing, root) | dependency_files(left.dependencies, root, plan.project),
        reached=report.reached,
        calls=report.calls,
        unmeasured=report.unmeasured,
    )


def _read(plan: TestPlan, finished: Finished, raw: bytes, root: str, left: Left) -> _Read:
    printed = clean_text(finished.stdout.decode("utf-8", errors="replace"))
    match plan.framework:
        case Framework.NODE:
            cases = tap_cases(clean_text(raw.decode("utf-8", errors="replace")))
        case Framework.GO:
            cases = go_cases(printed, left.go_mod, plan.project)
        case Framework.CARGO:
            cases = cargo_cases(printed)
        case Framework.JEST if left.related:
            return _Read(report=SuiteReport(listed=_listed_files(printed, root), code=0))
        case Framework.PYTEST | Framework.UNITTEST | Framework.MOCHA | Framework.JEST | Framework.VITEST:
            return _from_report(raw)
        case Framework.COMMAND:
            named = cargo_cases(printed) or go_cases(printed) or unittest_cases(f"{printed}\n{finished.stderr_tail}\n")
            return _from_report(raw) if raw else _Read(cases=named)
    return _Read(cases=cases, lists_passed=bool(cases))


def _listed_files(printed: str, root: str) -> tuple[str, ...]:
    """The files of tests that jest lists."""
    lines = (line.strip() for line in printed.splitlines())
    return tuple(line.removeprefix(f"{root}/") for line in lines if line.startswith(f"{root}/"))


def _from_report(raw: bytes) -> _Read:
    report = read_report(raw) if raw else None
    return _Read(cases=report.cases if report else (), lists_passed=report is not None, report=report)


def _ended(plan: TestPlan, finished: Finished, read: _Read) -> SuiteEnd:
    if finished.how in (How.TIMED_OUT, How.SILENT):
        return SuiteEnd.ENDLESS
    if finished.how is not How.EXITED or finished.cannot_run:
        return SuiteEnd.COULD_NOT_RUN if finished.signal is None else SuiteEnd.CRASHED
    if finished.signal is not None or finished.code is None:
        return SuiteEnd.CRASHED
    if read.report is not None:
        return _by_report(read.report)
    # Without a report there was no framework to write one: it is not installed, or did not come to its start.
    return SuiteEnd.COULD_NOT_RUN if plan.framework in _REPORTING else SuiteEnd.EXITED


def _by_report(report: SuiteReport) -> SuiteEnd:
    match report.code:
        case None:
            return SuiteEnd.CRASHED
        case code if code == NO_TESTS and not report.cases and not report.listed:
            return SuiteEnd.NOTHING
        case code if code in (USAGE_ERROR, INTERNAL_ERROR):
            return SuiteEnd.COULD_NOT_RUN
        case _:
            return SuiteEnd.EXITED


_NO_REASON = re.compile(
    r"\W*(?:npm (?:error|ERR!|warn).*|ELIFECYCLE.*|error Command failed.*|info Visit .*|Ran all test suites.*|Time:.*"
    r"|Snapshots:.*|undefined|\W*)",
    re.IGNORECASE,
)
_TELLING = re.compile(r"fail|error|cannot|not found|missing|denied|invalid", re.IGNORECASE)


def _reason(finished: Finished, output: str) -> str:
    """The last line that says what went wrong, not those that package managers and runners end with."""
    lines = [line.strip() for line in output.splitlines()]
    lines = [line for line in lines if not _NO_REASON.fullmatch(line)] or lines
    telling = [line for line in lines if _TELLING.search(line)] or lines
    return finished.message or (telling[-1][:300].rstrip(".") if telling else f"exit code {finished.code}")
