"""The reports of coverage tools: the share of lines that tests ran, in percent. Only totals are read."""

import re
from collections.abc import Callable, Mapping

import msgspec

from burnish.core.values import Value

_ROOT = re.compile(rb"<coverage\b[^>]*>")
_ATTRIBUTE = re.compile(rb"""\b([a-z-]+)\s*=\s*["']([0-9.]{1,20})["']""")
_LINES = re.compile(rb"^(LF|LH):(\d{1,12})\s*$", re.MULTILINE)


class _Totals(msgspec.Struct):
    percent_covered: float


class _Report(msgspec.Struct):
    totals: _Totals


class Coverage(Value):
    """What one report says."""

    report: str
    percent: float | None
    """None where the report cannot be read, or counts no line."""


def coverage_of(report: str, content: bytes) -> Coverage:
    percent = REPORTS[report](content)
    return Coverage(report=report, percent=percent if percent is not None and 0 <= percent <= 100 else None)


def _python(content: bytes) -> float | None:
    """The JSON of coverage.py."""
    try:
        return msgspec.json.decode(content, type=_Report).totals.percent_covered
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _cobertura(content: bytes) -> float | None:
    """Cobertura's XML, of which only the first tag matters: no parser of XML need meet the rest."""
    root = _ROOT.search(content)
    given: dict[bytes, bytes] = dict(_ATTRIBUTE.findall(root[0] if root else b""))
    lines = _share(_number(given.get(b"lines-covered")), _number(given.get(b"lines-valid")))
    return lines if lines is not None else _share(_number(given.get(b"line-rate")), 1.0)


def _lcov(content: bytes) -> float | None:
    """The trace file of lcov: lines found and lines hit, file by file."""
    sums = {b"LF": 0, b"LH": 0}
    for key, number in _LINES.findall(content):
        sums[key] += int(number)
    return _share(sums[b"LH"], sums[b"LF"])


def _number(text: bytes | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _share(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else 100.0 * part / whole


REPORTS: Mapping[str, Callable[[bytes], float | None]] = {
    "coverage.json": _python,
    "coverage.xml": _cobertura,
    "cobertura.xml": _cobertura,
    "coverage/cobertura-coverage.xml": _cobertura,
    "lcov.info": _lcov,
    "coverage.lcov": _lcov,
    "coverage/lcov.info": _lcov,
}
"""Where tools leave their reports by default, and how each is read."""
