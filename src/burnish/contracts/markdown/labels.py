"""The labels that reviewers put before the parts of a finding: `**File:** …`, `Impact: …`, `- Suggested fix — …`."""

from enum import Enum
from functools import lru_cache

from burnish.contracts.markdown.lines import Line, LineKind, list_mark
from burnish.contracts.markdown.severities import plain
from burnish.core.values import Value

_MAX_LABEL = 48


class Field(Enum):
    """The parts of a finding that a label can name."""

    LOCATION = "location"
    LINES = "lines"
    PROBLEM = "problem"
    IMPACT = "impact"
    SUGGESTION = "suggestion"
    EVIDENCE = "evidence"
    SEVERITY = "severity"
    CATEGORY = "category"
    STATUS = "status"
    CONFIDENCE = "confidence"
    TITLE = "title"


_LABELS = {
    Field.LOCATION: "file, files, file(s), location, locations, where, path, paths, affected file, affected files, at",
    Field.LINES: "line, lines, line(s), line number, line numbers",
    Field.PROBLEM: (
        "problem, issue, description, details, detail, finding, what, bug, observation, root cause, concern, "
        "what's wrong, current behavior, current behaviour, explanation, what is wrong"
    ),
    Field.IMPACT: (
        "impact, why, why it matters, why this matters, risk, consequence, consequences, effect, rationale, "
        "production consequence, failure scenario, scenario"
    ),
    Field.SUGGESTION: (
        "fix, suggestion, suggestions, recommendation, suggested fix, recommended fix, proposed fix, solution, "
        "remediation, required fix, action, how to fix, suggested change, suggested improvement, improvement, "
        "recommended action, required action, resolution, required change, expected, expected behavior"
    ),
    Field.EVIDENCE: "evidence, example, proof, code, current code, reproduction, snippet, steps to reproduce",
    Field.SEVERITY: "severity, priority, level, severity level",
    Field.CATEGORY: "category, type, dimension, area",
    Field.STATUS: "status, state",
    Field.CONFIDENCE: "confidence",
    Field.TITLE: "title, summary, headline",
}
_BY_LABEL = {label: field for field, labels in _LABELS.items() for label in labels.split(", ")}


class Labelled(Value):
    """A line that begins with a known label."""

    field: Field
    value: str


@lru_cache(maxsize=1_024)
def field_of_label(text: str) -> Field | None:
    """The field that a bare label names, with or without its colon and emphasis."""
    words = plain(text).strip(" :")
    return _BY_LABEL.get(words) or _BY_LABEL.get(words.partition(" (")[0])


@lru_cache(maxsize=1_024)
def labelled(text: str) -> Labelled | None:
    """The label and the value of a line such as `- **File:** a.py`; `None` where it has no known label."""
    _, text = list_mark(text)
    if ":" not in text[:_MAX_LABEL] and not text.startswith(("**", "__")):
        return None
    opened = next((mark for mark in ("**", "__", "*", "_") if text.startswith(mark)), "")
    head = text[len(opened) : len(opened) + _MAX_LABEL]
    colon = head.find(":")
    if colon < 0 or (opened and 0 <= head.find(opened) < colon - len(opened) - 1):
        return _dashed(text, opened, head)
    field = field_of_label(head[:colon])
    if field is None:
        return None
    value = text[len(opened) + colon + 1 :]
    if opened and opened not in head[:colon]:
        value = value.lstrip().removeprefix(opened)
    return Labelled(field=field, value=value.strip())


def label_of(line: Line) -> Labelled | None:
    return labelled(line.text) if line.kind is LineKind.TEXT else None


def _dashed(text: str, opened: str, head: str) -> Labelled | None:
    """`**File** — a.py`: a label in bold needs no colon."""
    end = head.find(opened) if len(opened) == 2 else -1
    field = field_of_label(head[:end]) if end > 0 else None
    rest = text[2 * len(opened) + end :].lstrip() if field else ""
    if field is None or (rest and rest[0] not in "—–-"):
        return None
    return Labelled(field=field, value=rest.lstrip("—–- "))
