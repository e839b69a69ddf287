"""From one listed item to one finding: title, category, places, and the labelled parts, each of them bounded."""

import re

from burnish.contracts.markdown.denials import says_none
from burnish.contracts.markdown.former import is_settled_status, is_settled_title
from burnish.contracts.markdown.items import Item
from burnish.contracts.markdown.labels import Field, field_of_label, label_of, labelled
from burnish.contracts.markdown.lines import Line, LineKind
from burnish.contracts.markdown.severities import severity_of_word, worst
from burnish.contracts.markdown.tags import Tag, item_lead, leading_tag
from burnish.contracts.paths import MAX_PATH_LENGTH, IsFile, confine
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

    @property
    def is_open(self) -> bool:
        return self.finding is not None and not self.settled


class Places(Value):
    """The places that a text names, and the paths that had to be dropped."""

    locations: tuple[Location, ...] = ()
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
    named = severity_of_word(parts.first(Field.SEVERITY).partition(" ")[0])
    counted = worst(severity, named, tag.severity if tag else None, item.row.severity if item.row else None)
    has_fields = bool(parts.texts.keys() & {Field.LOCATION, Field.PROBLEM, Field.SUGGESTION, Field.IMPACT})
    if not head.bracketed and not has_fields and item.row is None and _denies(item, title):
        return Reading(finding=None)
    counted = counted or Severity.HIGH
    settled, tagged = _is_settled(item, title, parts), _is_tagged(item, tag, parts)
    if not in_full:
        return Reading(finding=Finding(severity=counted, title=""), settled=settled, tagged=tagged)
    places = _places(item, parts, title, is_file)
    finding = Finding(
        severity=counted,
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
    text = item_lead(item.title)[1]
    tag = leading_tag(text)
    if tag is not None and (tag.rest or not item.prose):
        text = item_lead(tag.rest)[1]
    found = _CATEGORY.match(text)
    is_link = found is not None and text[found.end() - 1 : found.end() + 1] == "]("
    if found is None or is_link or _FILE_IN_BRACKETS.match(text):
        return _Head(title=text, tag=tag)
    name = found.group(1).strip()
    is_box = name.lower() in ("x", "")
    is_mark = severity_of_word(name) is not None or name.isdecimal() or is_settled_status(name)
    category = "" if is_box or is_mark or name == UNCATEGORISED else name
    return _Head(title=text[found.end() :], tag=tag, category=category, bracketed=not is_box)


def _parts(item: Item, title: str) -> _Parts:
    parts = _Parts()
    label = labelled(title)
    if label is not None:
        parts.start(label.field, label.value)
    for line in item.body[:_MAX_BODY_LINES]:
        _add_line(parts, line)
    return parts


def _add_line(parts: _Parts, line: Line) -> None:
    if line.kind is LineKind.HEADING and (field := field_of_label(line.text)):
        parts.start(field, "")
    elif label := label_of(line):
        parts.start(label.field, label.value)
    else:
        parts.go_on(line.text if line.kind is not LineKind.RULE else "")


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
    if item.row is not None:
        return bounded(item.row.of(Field.PROBLEM))
    behind = _bold_part(title)[1] if labelled(title) is None else ""
    free = bounded("\n".join(parts.free).strip("\n"))
    whole = parts.text(Field.PROBLEM) or bounded("\n".join(filter(None, (behind, free))))
    return whole or (bounded(title) if len(title) > _TITLE_LIMIT else "")


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


# --- Where a finding is: every way to write a path with its lines, confined to the repository.


_LINES = r"(\d{1,7})(?:\s?(?:-|–|—|to)\s?L?(\d{1,7}))?"
_SUFFIX = re.compile(rf"(?::|#L|\(L|@L){_LINES}(?::\d{{1,5}})?\)?$")
_AFTER = re.compile(rf"[\s,;:`(]{{0,4}}(?:\b(?:lines?|ll?\.?|L)\s?|:|#L){_LINES}", re.IGNORECASE)
_NO_LINE = re.compile(r":(?:<?lines?(?:[-_ ]?(?:number|no))?>?|\{line\}|<n>|n|x{1,3}|\?{1,3})$", re.IGNORECASE)
"""The word for a line where its number should be, as the form of the document shows it."""
_EXAMPLE = "path/to/"
_BARE_LINES = re.compile(rf"^(?:lines?\s|L)?{_LINES}", re.IGNORECASE)
_CODE = re.compile(r"`([^`]{1,1024})`")
_LINK = re.compile(r"\[([^\]]{1,512})\]\(([^)]{1,1024})\)")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}$")
_WELL_KNOWN = frozenset(
    ("Dockerfile", "Makefile", "Jenkinsfile", "LICENSE", "README", "Procfile", "Gemfile", "Rakefile")
)
_NOWHERE = frozenset(
    ("n/a", "na", "none", "-", "—", "unknown", "general", "not applicable", "various", "multiple files")
)
_WORD = re.compile(r"[^\s,;()\[\]]+")
_MAX_PLACES = 50


def read_places(value: str, is_file: IsFile) -> Places:
    value = value.strip()
    if value.lower().strip("`*_. ") in _NOWHERE:
        return Places()
    whole = _whole(value)
    return _confined(whole or _paths_in(_LINK.sub(_link_text, value)), is_file)


def find_place(text: str, is_file: IsFile) -> Places:
    """The first place that running text names, where it gives a path with a line; prose names many files in passing."""
    for word in _WORD.findall(text[:2_000]):
        token = word.strip("`*_()[]<>,;\"'").rstrip(".:")
        path, lines = _split(token)
        if lines and _is_path(path):
            return _confined([(path, lines)], is_file)
    return Places()


def read_lines(value: str) -> tuple[int, int | None] | None:
    found = _BARE_LINES.match(value.strip("`* "))
    return _span(found) if found else None


def _whole(value: str) -> list[tuple[str, tuple[int, int | None] | None]]:
    """A value that is nothing but one path, which may hold blanks."""
    if any(mark in value for mark in "`,;()[]<>"):
        return []
    path, lines = _split(value)
    is_one = " " not in path or (lines is not None and _EXTENSION.search(path) is not None and path.count(" ") <= 3)
    return [(path, lines)] if is_one and (_is_path(path) or (lines and " " not in path)) else []


def _paths_in(value: str) -> list[tuple[str, tuple[int, int | None] | None]]:
    """Each path of a longer value, in code marks or as a word, with the lines that follow it."""
    found: list[tuple[str, tuple[int, int | None] | None]] = []
    quoted = list(_CODE.finditer(value[:8_000]))
    spans = [(match.group(1).strip(), match.end()) for match in quoted] or _words(value)
    for text, end in spans[:_MAX_PLACES]:
        path, lines = _split(text)
        if not _is_path(path) and not (quoted and not found and " " not in path):
            continue
        after = _AFTER.match(value, end)
        if lines is None and after is not None:
            lines = _span(after)
        found.append((path, lines))
    return found


def _words(value: str) -> list[tuple[str, int]]:
    return [(match.group().rstrip(".:,;"), match.end()) for match in re.finditer(r"[^\s,;()`]{1,1024}", value[:8_000])]


def _split(text: str) -> tuple[str, tuple[int, int | None] | None]:
    """A path and the lines at its end: `a.py:10`, `a.py:10-20`, `a.py#L10-L20`."""
    if len(text) > MAX_PATH_LENGTH + 32:
        return "", None
    found = _SUFFIX.search(text[-40:])
    if not found:
        return _NO_LINE.sub("", text), None
    return text[: len(text) - len(text[-40:]) + found.start()], _span(found)


def _span(found: re.Match[str]) -> tuple[int, int | None] | None:
    first = int(found.group(1))
    last = int(found.group(2)) if found.group(2) else None
    if first < 1:
        return None
    return first, (last if last is not None and last > first else None)


def _is_path(text: str) -> bool:
    if not text or text.endswith("/") or "://" in text.removeprefix("file://"):
        return False
    return _EXTENSION.search(text) is not None or text in _WELL_KNOWN or ("/" in text and " " not in text)


def _link_text(match: re.Match[str]) -> str:
    """A link to a file: its target says the lines, its text may not."""
    target = match.group(2)
    return f"`{target}`" if _split(target)[1] or _split(match.group(1))[1] is None else f"`{match.group(1)}`"


def _confined(raw: list[tuple[str, tuple[int, int | None] | None]], is_file: IsFile) -> Places:
    locations: dict[Location, None] = {}
    refused: list[str] = []
    for path, lines in raw:
        if path.startswith(_EXAMPLE) and not is_file(path):  # copied from the form: it names no file
            continue
        inside = confine(path, is_file)
        if inside is None:
            refused.append(path)
            continue
        first, last = lines or (None, None)
        locations[Location(file=inside, line=first, end_line=last)] = None
    return Places(locations=tuple(locations), refused=tuple(refused))
