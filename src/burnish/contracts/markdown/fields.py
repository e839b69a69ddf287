"""From one listed item to one finding: title, category, places, and the labelled parts, each of them bounded."""

import re

from burnish.contracts.markdown.denials import says_none
from burnish.contracts.markdown.former import is_settled_status, is_settled_title
from burnish.contracts.markdown.items import Item
from burnish.contracts.markdown.labels import Field, field_of_label, labelled
from burnish.contracts.markdown.lines import Line, LineKind
from burnish.contracts.markdown.places import Places, find_place, read_lines, read_places
from burnish.contracts.markdown.severities import severity_of_word
from burnish.contracts.markdown.tags import Tag, item_lead, leading_tag
from burnish.contracts.paths import IsFile
from burnish.contracts.text import bounded
from burnish.core.findings import Finding, Location, Severity
from burnish.core.values import Value

UNCATEGORISED = "General"
"""What stands for a category where a finding has none, in documents that always name one."""

_TITLE_LIMIT = 300
_MAX_BODY_LINES = 400
_CATEGORY = re.compile(r"\*{0,2}\[([^\[\]\n]{1,60})\]\s?:?\*{0,2}\s?:?\s*")
_FILE_IN_BRACKETS = re.compile(r"\[[^\[\]]*(?:/|\.\w{1,9}:\d|\.\w{1,9}\])")
_TOO_LONG_FOR_A_TITLE = 160


class Reading(Value):
    """One item, read. `finding` is None where the item says "none"."""

    finding: Finding | None
    settled: bool = False
    tagged: bool = False
    """It carries a severity of its own, in a form that can hardly be chance."""
    refused: tuple[str, ...] = ()


class _Head(Value):
    """The first line of an item, taken apart."""

    title: str
    tag: Tag | None
    category: str = ""
    bracketed: bool = False
    """It names a category, if only "General": it is an item, whatever its title says."""


class _Parts:
    """The labelled parts of an item while they are collected."""

    def __init__(self) -> None:
        self.texts: dict[Field, list[str]] = {}
        self.free: list[str] = []
        self._field: Field | None = None

    def start(self, field: Field, value: str) -> None:
        self._field = field
        self.texts.setdefault(field, []).append(value)

    def go_on(self, text: str) -> None:
        if self._field is None:
            self.free.append(text)
        else:
            self.texts[self._field].append(text)

    def text(self, field: Field) -> str:
        return bounded("\n".join(self.texts.get(field, ())).strip("\n"))

    def first(self, field: Field) -> str:
        return next(iter(self.texts.get(field, ())), "").strip("* ")


def read_item(item: Item, severity: Severity | None, is_file: IsFile, *, in_full: bool = True) -> Reading:
    """Read an item of a section of this severity; where the item names a worse one, that holds.

    Not in full, only what decides whether and how it counts.
    """
    head = _head(item)
    title, tag = head.title, head.tag
    parts = _parts(item, title)
    own = _own_severity(item, tag, parts)
    has_fields = bool(parts.texts.keys() & {Field.LOCATION, Field.PROBLEM, Field.SUGGESTION, Field.IMPACT})
    if not head.bracketed and not has_fields and item.row is None and _denies(item, title):
        return Reading(finding=None)
    severities = [found for found in (severity, own) if found is not None]
    settled, tagged = _is_settled(item, title, parts), _is_tagged(item, tag, parts)
    worst = Severity.worst(severities) if severities else Severity.HIGH
    if not in_full:
        return Reading(finding=Finding(severity=worst, title=""), settled=settled, tagged=tagged)
    places = _places(item, parts, title, is_file)
    finding = Finding(
        severity=worst,
        title=_title(title, parts, tagged=tag is not None),
        category=head.category or bounded(parts.first(Field.CATEGORY), 80),
        location=places.locations[0] if places.locations else None,
        also_at=places.locations[1:],
        problem=_problem(item, title, parts),
        impact=parts.text(Field.IMPACT),
        evidence=parts.text(Field.EVIDENCE),
        suggestion=parts.text(Field.SUGGESTION),
    )
    return Reading(finding=finding, settled=settled, tagged=tagged, refused=places.refused)


def _head(item: Item) -> _Head:
    """The title behind number, severity and category."""
    lead, text = item_lead(item.title)
    text = text if lead else item.title
    tag = leading_tag(text)
    if tag is not None and (tag.rest or not item.prose):
        text = item_lead(tag.rest)[1]
    found = _CATEGORY.match(text)
    is_link = found is not None and text[found.end() - 1 : found.end() + 1] == "]("
    if found is None or is_link or _FILE_IN_BRACKETS.match(text):
        return _Head(title=text, tag=tag)
    name = found.group(1).strip()
    is_box = name.lower() in ("x", "")
    category = "" if is_box or name == UNCATEGORISED or _is_mark(name) else name
    return _Head(title=text[found.end() :], tag=tag, category=category, bracketed=not is_box)


def _is_mark(name: str) -> bool:
    return severity_of_word(name) is not None or name.isdecimal() or is_settled_status(name)


def _parts(item: Item, title: str) -> _Parts:
    parts = _Parts()
    label = labelled(title)
    if label is not None:
        parts.start(label.field, label.value)
    for line in item.body[:_MAX_BODY_LINES]:
        _add_line(parts, line)
    return parts


def _add_line(parts: _Parts, line: Line) -> None:
    if line.kind is LineKind.HEADING:
        field = field_of_label(line.text)
        if field is not None:
            parts.start(field, "")
        else:
            parts.go_on(line.text)
        return
    label = labelled(line.text) if line.kind is LineKind.TEXT else None
    if label is not None:
        parts.start(label.field, label.value)
    else:
        parts.go_on(line.text if line.kind is not LineKind.RULE else "")


def _own_severity(item: Item, tag: Tag | None, parts: _Parts) -> Severity | None:
    named = severity_of_word(parts.first(Field.SEVERITY).partition(" ")[0])
    row = item.row.severity if item.row is not None else None
    found = [severity for severity in (tag.severity if tag else None, named, row) if severity is not None]
    return Severity.worst(found) if found else None


def _is_tagged(item: Item, tag: Tag | None, parts: _Parts) -> bool:
    if item.row is not None:
        return item.row.severity is not None
    return (tag is not None and tag.strict and bool(tag.rest)) or Field.SEVERITY in parts.texts


def _is_settled(item: Item, title: str, parts: _Parts) -> bool:
    if item.row is not None:
        return item.row.is_settled
    status = parts.first(Field.STATUS)
    return is_settled_title(title) or is_settled_title(item.title) or bool(status and is_settled_status(status))


def _denies(item: Item, title: str) -> bool:
    """Whether an item is no more than a "None", and nothing below it takes that back."""
    return says_none(title) and says_none("\n".join([title, *(line.text for line in item.body[:40])]).strip())


def _title(title: str, parts: _Parts, *, tagged: bool) -> str:
    label = labelled(title)
    if label is not None:
        title = parts.first(Field.TITLE) or parts.text(Field.PROBLEM).partition("\n")[0] or label.value
    text = _bold_part(title)[0].replace("**", "").strip()
    text = text or parts.text(Field.PROBLEM) or next((line for line in parts.free if line.strip()), "")
    limit = _TITLE_LIMIT if tagged or label is None else _TOO_LONG_FOR_A_TITLE
    return bounded(" ".join(text.split()), limit) or "A finding without a title"


def _bold_part(title: str) -> tuple[str, str]:
    """`**Title** — text`: the title is in bold, and the text behind it says what is wrong."""
    text = title.strip()
    end = text.find("**", 2) if text.startswith("**") else -1
    rest = text[end + 2 :].lstrip() if end > 0 else ""
    if not rest.startswith(("—", "–", "--", "- ", ":")):
        return text, ""
    return text[2:end].rstrip(":"), rest.lstrip("—–-: ")


def _problem(item: Item, title: str, parts: _Parts) -> str:
    """What is wrong: the labelled problem, else what stands below the title without a label."""
    labelled_text = parts.text(Field.PROBLEM)
    free = bounded("\n".join(parts.free).strip("\n"))
    if item.row is not None:
        return bounded(item.row.of(Field.PROBLEM))
    if labelled_text:
        return labelled_text
    behind = _bold_part(title)[1] if labelled(title) is None else ""
    whole = "\n".join(part for part in (behind, free) if part)
    return bounded(whole) or (bounded(title) if len(title) > _TITLE_LIMIT else "")


def _places(item: Item, parts: _Parts, title: str, is_file: IsFile) -> Places:
    if item.row is not None:
        cell = item.row.of(Field.LOCATION)
        found = read_places(cell, is_file) if cell else find_place(" ".join(item.row.cells), is_file)
        return _with_lines(found, item.row.of(Field.LINES))
    values = parts.texts.get(Field.LOCATION)
    if not values:
        return find_place(" ".join((title, *parts.free[:10])), is_file)
    read = [read_places(value, is_file) for value in values[:50]]
    locations = dict.fromkeys(location for places in read for location in places.locations)
    refused = tuple(path for places in read for path in places.refused)
    return _with_lines(Places(locations=tuple(locations), refused=refused), parts.first(Field.LINES))


def _with_lines(places: Places, lines: str) -> Places:
    """Add the lines of a field of their own to a single place that has none."""
    span = read_lines(lines) if lines else None
    if span is None or len(places.locations) != 1 or places.locations[0].line is not None:
        return places
    located = Location(file=places.locations[0].file, line=span[0], end_line=span[1])
    return Places(locations=(located,), refused=places.refused)
