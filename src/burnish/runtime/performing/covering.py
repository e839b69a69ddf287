"""The coverage that the project's own commands measured, held against the floor of the policy."""

import os
from pathlib import Path

from burnish.contracts.coverage import REPORTS, Coverage, coverage_of
from burnish.core.values import Value
from burnish.workspace.inside import read_inside

_MOST_BYTES = 256 * 1024 * 1024

Stamps = dict[str, tuple[int, int] | None]
"""Which file has each report's name, if one has."""


class Verdict(Value):
    """What is said of the coverage, and whether it suffices."""

    words: str = ""
    fails: bool = False


def stamps(folder: Path) -> Stamps:
    """The reports that are there before the commands run: a committed one says nothing of this tree."""
    return {name: _stamp(folder / name) for name in REPORTS}


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def judge(folder: Path, before: Stamps, floor: float | None) -> Verdict:
    """Where several reports were left, the lowest counts. What was not measured is said, and is no failure."""
    if floor is None:
        return Verdict()
    reports = [coverage_of(name, content) for name, content in _left_behind(folder, before)]
    measured = [report for report in reports if report.percent is not None]
    if not measured:
        return Verdict(words=_unmeasured(reports, floor))
    lowest = min(measured, key=_percent)
    below = _percent(lowest) < floor
    relation = "below" if below else "not below"
    words = f"Coverage: {_percent(lowest):.2f} % ({lowest.report}), {relation} the floor of {floor:g} %."
    return Verdict(words=words, fails=below)


def _left_behind(folder: Path, before: Stamps) -> list[tuple[str, bytes]]:
    changed = [name for name in REPORTS if _stamp(folder / name) not in (None, before[name])]
    contents = ((name, read_inside(folder, name, _MOST_BYTES)) for name in changed)
    return [(name, content) for name, content in contents if content is not None]


def _unmeasured(reports: list[Coverage], floor: float) -> str:
    names = ", ".join(report.report for report in reports)
    why = f"{names} cannot be read" if reports else f"the commands left none of {', '.join(REPORTS)}"
    return f"Coverage: not measured, though the floor is {floor:g} %: {why}."


def _percent(report: Coverage) -> float:
    return report.percent if report.percent is not None else 0.0
