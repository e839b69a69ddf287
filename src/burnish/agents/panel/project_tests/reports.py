"""Reads what `inside/burnish_witness.py` wrote. A report that is not understood is an error, never an empty one.

Hostile tests can write a report as they like: it is data, bounded and cleaned, and cannot be worse than a test that
lies about itself.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from burnish.agents.panel.interface import ToolError
from burnish.agents.panel.project_tests.values import (
    Case,
    CaseOutcome,
    Described,
    FileLines,
    ReachedLines,
    RecordedCall,
    RecordedCalls,
)
from burnish.core.text import clean_text
from burnish.core.values import Value, replace

MOST_BYTES = 64 * 1024 * 1024
MOST_NAME = 300


class Record(Value):
    """One line."""

    kind: Literal[
        "listed",
        "units",
        "start",
        "finish",
        "case",
        "broken",
        "ended",
        "end",
        "lines",
        "reached",
        "calls",
        "unmeasured",
    ]
    name: str = ""
    names: tuple[str, ...] = ()
    outcome: CaseOutcome = CaseOutcome.PASSED
    file: str = ""
    line: int = 0
    text: str = ""
    message: str = ""
    code: int | None = None
    statements: tuple[int, ...] = ()
    executed: tuple[int, ...] = ()
    tests: tuple[str, ...] = ()
    reached: dict[int, tuple[int, ...]] = msgspec.field(default_factory=dict[int, tuple[int, ...]])
    """By line, the places in `tests` of those that run it."""
    calls: tuple[RecordedCall, ...] = ()


class SuiteReport(Value):
    """Everything that a report says."""

    cases: tuple[Case, ...] = ()
    listed: tuple[str, ...] = ()
    """The tests that were found, whether they were run or not."""
    units: frozenset[str] = frozenset()
    """The files of tests that are to be run, where the framework tells them."""
    ended_units: frozenset[str] = frozenset()
    """Those of which all tests have run."""
    running: tuple[str, ...] = ()
    code: int | None = None
    """The exit code that the framework meant to give; None where it never came that far."""
    lines: dict[str, FileLines] = msgspec.field(default_factory=dict[str, FileLines])
    reached: ReachedLines = msgspec.field(default_factory=ReachedLines)
    calls: RecordedCalls = msgspec.field(default_factory=RecordedCalls)
    unmeasured: str = ""


def read_report(raw: bytes) -> SuiteReport:
    """Read a report, which may end in the middle of a line where its process was ended."""
    if len(raw) > MOST_BYTES:
        raise ToolError(f"The tests reported more than {MOST_BYTES:,} bytes.", hint="Are there that many tests?")
    *whole, _ = raw.split(b"\n")
    decoder = msgspec.json.Decoder(Record)
    try:
        records = [decoder.decode(line) for line in whole]
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ToolError(f"The report of the tests is damaged: {error}", hint="Does a test write to it?") from None
    begun = [record.name for record in records if record.kind == "start"]
    ended = {record.name for record in records if record.kind == "finish"}
    return SuiteReport(
        cases=_cases(record for record in records if record.kind in ("case", "broken")),
        listed=tuple(dict.fromkeys(clean_name(name) for name in _names(records, "listed"))),
        units=frozenset(clean_text(name) for name in _names(records, "units")),
        ended_units=frozenset(clean_text(record.name) for record in records if record.kind == "ended"),
        running=tuple(clean_name(name) for name in dict.fromkeys(begun) if name not in ended),
        code=next((record.code for record in reversed(records) if record.kind == "end"), None),
        lines=_lines(record for record in records if record.kind == "lines"),
        reached=_reached(record for record in records if record.kind == "reached"),
        calls={
            clean_name(record.name): tuple(map(_clean_call, record.calls))
            for record in records
            if record.kind == "calls"
        },
        unmeasured=next((clean_text(record.text) for record in records if record.kind == "unmeasured"), ""),
    )


def _names(records: Iterable[Record], kind: str) -> Iterator[str]:
    return (name for record in records if record.kind == kind for name in record.names)


def clean_name(name: str) -> str:
    """A name on one line, of a length that people can bear."""
    name = " ".join(clean_text(name).split())
    return name if len(name) <= MOST_NAME else f"{name[:MOST_NAME]}…"


def worst_of_each(cases: Iterable[Case]) -> tuple[Case, ...]:
    """One case a name: a test that failed in any of its parts has failed."""
    found: dict[str, Case] = {}
    for case in cases:
        if case.name not in found or (
            case.outcome is CaseOutcome.FAILED and found[case.name].outcome is not case.outcome
        ):
            found[case.name] = case
    return tuple(found.values())


def _cases(records: Iterable[Record]) -> tuple[Case, ...]:
    return worst_of_each(
        Case(
            name=clean_name(record.name),
            outcome=record.outcome,
            file=clean_text(record.file),
            line=record.line or None,
            text=clean_text(record.text),
            message=clean_text(record.message),
            loading=record.kind == "broken",
        )
        for record in records
    )


def _lines(records: Iterable[Record]) -> dict[str, FileLines]:
    """Several processes may have measured the same file: what ran in one of them has run."""
    found: dict[str, FileLines] = {}
    for record in records:
        executed = frozenset(record.executed)
        if record.file in found:
            executed |= found[record.file].executed
        found[record.file] = FileLines(statements=frozenset(record.statements), executed=executed)
    return found


def _reached(records: Iterable[Record]) -> ReachedLines:
    """Which tests run a line, in all processes together."""
    found: ReachedLines = {}
    for record in records:
        names = [clean_name(name) for name in record.tests]
        lines = found.setdefault(clean_text(record.file), {})
        for line, numbers in record.reached.items():
            tests = (names[number] for number in numbers if 0 <= number < len(names))
            lines[line] = tuple(dict.fromkeys((*lines.get(line, ()), *tests)))
    return found


def _clean_call(call: RecordedCall) -> RecordedCall:
    return replace(
        call,
        text=clean_name(call.text),
        file=clean_name(call.file),
        outcome=_clean_description(call.outcome),
        left={clean_name(name): _clean_description(value) for name, value in call.left.items()},
    )


def _clean_description(value: Described) -> Described:
    return replace(value, text=" ".join(clean_text(value.text).split()))
