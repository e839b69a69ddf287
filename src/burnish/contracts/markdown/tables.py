"""Tables in a review: rows of findings, or counts by severity. Which of both is for the caller to ask."""

import re

from burnish.contracts.markdown.labels import Field, field_of_label
from burnish.contracts.markdown.severities import number_of, plain, severity_of_word
from burnish.core.findings import Severity
from burnish.core.values import Value

_DIVIDER = re.compile(r"[\s|:+-]*")
_MAX_CELLS = 40
_SETTLED_CELL = re.compile(r"(?:✅.*|(?:fixed|resolved|closed|verified|done|addressed)\b.*)")
_FAILED_CELL = re.compile(r"❌?\s*(?:❌|fail(?:s|ed)?|not (?:met|satisfied|implemented|done)|unmet|missing)[\s.!]*")


class Row(Value):
    """A row with what its columns are about, where the head of the table says so."""

    cells: tuple[str, ...]
    fields: tuple[Field | None, ...]

    def of(self, field: Field) -> str:
        """The first cell that stands under a heading for this field."""
        return next((cell for cell, known in zip(self.cells, self.fields, strict=False) if known is field), "")

    @property
    def severity(self) -> Severity | None:
        """The severity that the row names: in its column, or as the whole text of any cell."""
        named = severity_of_word(self.of(Field.SEVERITY))
        return named or next((found for cell in self.cells[:8] if (found := severity_of_word(cell))), None)

    @property
    def title(self) -> str:
        """The cell that says what is wrong: under its heading, or else the longest one."""
        return self.of(Field.TITLE) or self.of(Field.PROBLEM) or max(self.cells, key=len, default="")

    @property
    def is_settled(self) -> bool:
        return any(_SETTLED_CELL.fullmatch(plain_mark(cell)) for cell in self.cells[1:])

    @property
    def is_failed(self) -> bool:
        """Whether a cell says no more than that something is not met."""
        return any(_FAILED_CELL.fullmatch(plain_mark(cell)) for cell in self.cells[1:])


class Table(Value):
    """The rows of a table below its head."""

    head: tuple[str, ...]
    rows: tuple[Row, ...]


def plain_mark(cell: str) -> str:
    """A cell in lower case that keeps its ✅ or ❌."""
    return cell.replace("*", "").replace("_", " ").replace("`", "").strip().lower()


def read_table(lines: list[str]) -> Table:
    """Read the lines of one table. Without a dividing line there is no head."""
    has_head = len(lines) > 1 and _DIVIDER.fullmatch(lines[1]) is not None
    head = tuple(plain(cell) for cell in _cells(lines[0])) if has_head else ()
    fields = tuple(_column(cell) for cell in head)
    body = lines[2:] if has_head else lines
    rows = [Row(cells=_cells(line), fields=fields) for line in body if not _DIVIDER.fullmatch(line)]
    return Table(head=head, rows=tuple(rows))


def _column(cell: str) -> Field | None:
    return Field.PROBLEM if cell in ("issues", "findings", "notes", "message") else field_of_label(cell)


def _cells(line: str) -> tuple[str, ...]:
    inner = line.strip().removeprefix("|").removesuffix("|").replace("\\|", "¦")
    return tuple(cell.strip().replace("¦", "|") for cell in inner.split("|", _MAX_CELLS))


def counts_in(table: Table) -> list[tuple[Severity, int]]:
    """Counts by severity that a table gives, one severity to a row or one to a column."""
    columns = [severity_of_word(cell) for cell in table.head]
    if sum(column is not None for column in columns) < 2:
        return [count for row in table.rows if (count := _row_count(table, row))]
    pairs = [pair for row in table.rows for pair in zip(columns, row.cells, strict=False)]
    counts = ((column, number_of(plain(cell))) for column, cell in pairs)
    return [(column, number) for column, number in counts if column and number is not None]


def _row_count(table: Table, row: Row) -> tuple[Severity, int] | None:
    """`| HIGH | 3 | … |`: a severity and its count; a line number beside a severity is none."""
    severity = severity_of_word(row.cells[0]) if row.cells else None
    if severity is None or len(row.cells) < 2 or (len(row.fields) > 1 and row.fields[1] is not None):
        return None
    number = number_of(plain(row.cells[1]).partition(" ")[0])
    is_counts = len(row.cells) <= 3 or (len(table.head) > 1 and table.head[1] in ("count", "number", "total", "found"))
    return (severity, number) if number is not None and is_counts else None
