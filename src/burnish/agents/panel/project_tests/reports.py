"""Reads what `inside/burnish_witness.py` wrote. A report that is not understood is an error, never an empty one.

Hostile tests can write a report as they like: it is data, bounded and cleaned, and cannot be worse than a test that
lies about itself.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec

from burnish.agents.panel.interface import ToolError
from burnish.agents.panel.project_tests.values import Case, CaseOutcome, FileLines
from burnish.core.text import clean_text
from burnish.core.values import Value

MOST_BYTES = 64 * 1024 * 1024
MOST_NAME = 300


class Record(Value):
    """One line."""

    kind: Literal["start", "finish", "case", "broken", "end", "lines", "unmeasured"]
    name: str = ""
    outcome: CaseOutcome = CaseOutcome.PASSED
    file: str = ""
    line: int = 0
    text: str = ""
    code: int | None = None
    statements: tuple[int, ...] = ()
    executed: tuple[int, ...] = ()


class SuiteReport(Value):
    """Everything that a report says."""

    cases: tuple[Case, ...] = ()
    running: tuple[str, ...] = ()
    code: int | None = None
    """The exit code that the framework meant to give; None where it never came that far."""
    lines: dict[str, FileLines] = msgspec.field(default_factory=dict[str, FileLines])
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
        running=tuple(clean_name(name) for name in dict.fromkeys(begun) if name not in ended),
        code=next((record.code for record in reversed(records) if record.kind == "end"), None),
        lines=_lines(record for record in records if record.kind == "lines"),
        unmeasured=next((clean_text(record.text) for record in records if record.kind == "unmeasured"), ""),
    )


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
