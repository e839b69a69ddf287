"""Changed lines that no test runs."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from burnish.agents.panel.project_tests.findings import CATEGORY
from burnish.agents.panel.project_tests.pythons import is_test_file
from burnish.agents.panel.project_tests.values import FileLines
from burnish.core.findings import Finding, Location, Severity

_MOST_RANGES = 20


def can_be_measured(path: str) -> bool:
    """Whether it is Python that tests are there to run."""
    return path.endswith(".py") and not is_test_file(path) and path not in ("setup.py", "noxfile.py", "docs/conf.py")


def uncovered(
    measured: Mapping[str, FileLines], changed: Mapping[str, Iterable[int]], severity: Severity
) -> tuple[Finding, ...]:
    """One finding for each file with changed lines that could have run, and did not."""
    findings: list[Finding] = []
    for path, lines in changed.items():
        if path in measured:
            idle = sorted(set(lines) & (measured[path].statements - measured[path].executed))
            if idle:
                findings.append(_finding(path, idle, sorted(measured[path].statements), severity))
    return tuple(findings)


def _finding(path: str, idle: Sequence[int], statements: Sequence[int], severity: Severity) -> Finding:
    ranges = _ranges(idle, statements)
    listed = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges[:_MOST_RANGES])
    more = f" and {len(ranges) - _MOST_RANGES} more places" if len(ranges) > _MOST_RANGES else ""
    return Finding(
        severity=severity,
        title=f"No test runs {len(idle)} of the changed lines of `{path}`"
        if len(idle) > 1
        else f"No test runs a changed line of `{path}`",
        category=CATEGORY,
        rule="tests:uncovered",
        location=Location(file=path, line=ranges[0][0], end_line=ranges[0][1]),
        also_at=tuple(Location(file=path, line=first, end_line=last) for first, last in ranges[1:_MOST_RANGES]),
        problem=f"The tests do not run these lines: {listed}{more}.",
        impact="No test would fail if this code were wrong.",
        suggestion="Add a test that runs it and checks what it does.",
        confidence=0.9,
    )


def _ranges(idle: Sequence[int], statements: Sequence[int]) -> list[tuple[int, int]]:
    """Lines as ranges. Lines between two consecutive statements belong to neither and do not split a range."""
    following = dict(pairwise(statements))
    ranges: list[tuple[int, int]] = []
    for line in idle:
        if ranges and following.get(ranges[-1][1]) == line:
            ranges[-1] = (ranges[-1][0], line)
        else:
            ranges.append((line, line))
    return ranges
