"""The coverage that the project's own commands measured, held against the floor of the policy."""

import os
from pathlib import Path

from burnish.contracts.coverage import REPORTS, Coverage, coverage_of
from burnish.core.values import Value
from burnish.workspace.inside import read_inside

_MOST_BYTES = 256 * 1024 * 1024

Stamps = dict[str, tuple[int, int, int] | None]
"""Which file has each report's name, if one has."""


class Verdict(Value):
    """What is said of the coverage, and whether it suffices."""

    words: str = ""
    fails: bool = False


def stamps(folder: Path) -> Stamps:
    """The reports that are there before the commands run: a committed one says nothing of this tree."""
    return {name: _stamp(folder / name) for name in REPORTS}


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def judge(folder: Path, before: Stamps, floor: float | None) -> Verdict:
    """Where several reports were left, the lowest counts. What was not measured does not reach a floor."""
    if floor is None:
        return Verdict()
    reports = [_report(folder, name) for name in REPORTS if _stamp(folder / name) not in (None, before[name])]
    unread = [report.report for report in reports if report.percent is None]
    percents = {report.report: report.percent for report in reports if report.percent is not None}
    if unread or not percents:
        return Verdict(words=_unmeasured(unread, floor), fails=True)
    name, lowest = min(percents.items(), key=lambda measured: measured[1])
    below = lowest < floor
    relation = "below" if below else "not below"
    return Verdict(words=f"Coverage: {lowest:.2f} % ({name}), {relation} the floor of {floor:g} %.", fails=below)


def _report(folder: Path, name: str) -> Coverage:
    """What a report says. A link, a pipe and half of a report say nothing."""
    content = read_inside(folder, name, _MOST_BYTES + 1)
    if content is None or len(content) > _MOST_BYTES:
        return Coverage(report=name, percent=None)
    return coverage_of(name, content)


def _unmeasured(unread: list[str], floor: float) -> str:
    """Why nothing was measured, and what to do about it."""
    if unread:
        why = f"{', '.join(unread)} cannot be read as a report of lines that were run"
        advice = "Let the commands of [validate] write a regular file with a total from 0 to 100 %"
    else:
        why = f"the commands left none of {', '.join(REPORTS)}"
        advice = "Let a command of [validate] write one (pytest: --cov --cov-report=json)"
    return f"Coverage: not measured, though the floor is {floor:g} %: {why}. {advice}, or remove coverage_floor."
