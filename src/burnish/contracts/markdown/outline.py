"""From lines to sections: what each heading announces, and which lines stand under it.

A heading may be a `#` heading, an underlined one, or a line in bold or with a colon at its end. Headings of single
items stay lines of their section; `items` takes them apart.
"""

from enum import Enum

from burnish.contracts.markdown.denials import says_none
from burnish.contracts.markdown.former import is_former, is_open, rounds_in
from burnish.contracts.markdown.labels import Field, field_of_label
from burnish.contracts.markdown.lines import Line, LineKind, MarkdownDocument, list_mark
from burnish.contracts.markdown.patterns import Pattern, any_of, search, words
from burnish.contracts.markdown.severities import bare_severity, heading_count, heading_severity, plain
from burnish.contracts.markdown.tags import item_lead, leading_tag
from burnish.core.findings import Severity

_BOLD_LEVEL = 7
_LIST_LEVEL = 8
_MAX_PSEUDO_HEADING = 90


class SectionKind(Enum):
    """What the lines under a heading are about."""

    TITLE = "title"
    """The document's own head, and whatever stands before the first heading."""
    SEVERITY = "severity"
    FINDINGS = "findings"
    """A list of findings without a severity of its own."""
    OPEN = "open"
    """Findings of an earlier round that are not fixed."""
    FORMER = "former"
    """What an earlier round found, or what was fixed since."""
    SUMMARY = "summary"
    VERDICT = "verdict"
    CRITERIA = "criteria"
    """A table or list of acceptance criteria."""
    OTHER = "other"


LISTING = (SectionKind.SEVERITY, SectionKind.FINDINGS, SectionKind.OPEN)


class Section:
    """A heading and its lines. Built once by `outline`, read by everything after it."""

    def __init__(self, kind: SectionKind, heading: str = "", severity: Severity | None = None, level: int = 0) -> None:
        self.kind = kind
        self.heading = heading
        self.severity = severity
        self.level = level
        self.lines: list[Line] = []
        self.item_level = 0
        """The level of the headings of single items in it; 0 where it has none."""
        self.numbered = False
        """Its own heading has a number, as all headings of such a document have."""
        self.has_sections = False
        """Other sections of the same sort stand below it, so that it may well have no line of its own."""

    @property
    def promised(self) -> int | None:
        """How many findings the heading itself announces."""
        return heading_count(self.heading) if self.severity is not None and self.kind in LISTING else None


_SUMMARY = search(
    rf"\b{words('summary totals? overview statistics tally counts breakdown scorecard')}\b", r"\bat a glance\b"
)
_VERDICT = Pattern(
    r"(?:final |overall |review |merge |my )*"
    + any_of(
        words("verdict recommendations? decision conclusion outcome assessment result status approval"), "next steps"
    )
    + r"\b"
)
_CRITERIA = Pattern(rf"\b{any_of('acceptance criteria', 'criteria', 'requirements?', 'checklist', 'acs?')}\b")
_FINDINGS = Pattern(
    rf"(?:(?:{words('detailed new code review all the current')}|list of|round \d+) )*"
    + any_of(words("findings? issues? problems? bugs defects concerns"), "action items", "review comments")
    + r"(?: found| identified| list| by severity| to fix| details?)?(?: ?\(\d+\)| ?: ?\d+| ?[-–—:] round \d+)?"
)
_NEW = Pattern(r"(?:new|current) (?:findings|issues)(?: in this round)?")
_CHANGES = Pattern(r"(?:required|requested|necessary) (?:changes|fixes)")
_BENIGN = Pattern(
    any_of(
        r"what (?:was|i|we|went|is)\b",
        r"(?:positive|strengths?|good|praise|scope|methodology|context|background)\b",
        r"files (?:reviewed|changed)",
        r"(?:review scope|acceptance criteria|checks? performed|passed checks|non-issues)\b",
        r"tests? (?:results?|execution)",
        r"(?:hardcoded )?secrets? scan",
        r"verified (?:correct|ok|working)",
        r"(?:review )?notes?$",
    )
)
_CLOSING = frozenset(
    ("summary", "review summary", "summary table", "totals", "verdict", "final verdict", "recommendation", "conclusion")
)


def outline(document: MarkdownDocument) -> list[Section]:
    """The sections of a document, in order. The first one holds what stands before any heading."""
    return _Walk(document).sections


class _Walk:
    """One pass over the lines with the stack of headings that are open."""

    def __init__(self, document: MarkdownDocument) -> None:
        self.sections = [Section(SectionKind.TITLE)]
        self._stack = [self.sections[0]]
        self._titled = False
        self._lines = document.lines
        self._round = max(
            (number for line in document.lines if line.kind is LineKind.HEADING for number in rounds_in(line.text)),
            default=0,
        )
        for place, line in enumerate(document.lines):
            self._take(place, line)

    @property
    def _current(self) -> Section:
        return self._stack[-1]

    def _take(self, place: int, line: Line) -> None:
        if line.kind is LineKind.HEADING:
            self._heading(line)
        elif line.kind is LineKind.FRONT_MATTER:
            self._front_matter(line)
        elif not self._pseudo_heading(place, line):
            self._current.lines.append(line)

    def _front_matter(self, line: Line) -> None:
        if self.sections[-1].kind is not SectionKind.SUMMARY:
            self.sections.append(Section(SectionKind.SUMMARY, "front matter"))
        self.sections[-1].lines.append(Line(text=line.text, kind=LineKind.TEXT))

    def _heading(self, line: Line) -> None:
        if self._current.kind in LISTING and self._heads_an_item(line):
            self._add_item_heading(line)
            return
        self._close(line.level)
        section = self._classified(line)
        if section is None:
            self._add_item_heading(line)
        else:
            self._open(section)

    def _close(self, level: int) -> None:
        """Leave the sections that a heading of this level ends."""
        while len(self._stack) > 1 and self._current.level >= level:
            self._stack.pop()

    def _heads_an_item(self, line: Line) -> bool:
        """Whether a heading belongs to an item of the current list although it does not stand below the list's own.

        Below a line in bold its level says nothing. Elsewhere a numbered heading beside one without a number can only
        go on with what that one announced.
        """
        lead, rest = item_lead(line.text)
        if bare_severity(rest) is not None:
            return False
        tag = leading_tag(rest)
        if self._current.level >= _BOLD_LEVEL and (lead or (tag is not None and tag.rest)):
            return True
        is_empty = not any(other.kind is not LineKind.BLANK for other in self._current.lines[:8])
        is_beside = line.level == self._current.level or (is_empty and line.level < self._current.level)
        return bool(lead) and is_beside and not self._current.numbered

    def _add_item_heading(self, line: Line) -> None:
        self._current.lines.append(line)
        self._current.item_level = min(line.level, self._current.item_level or line.level)

    def _open(self, section: Section) -> None:
        self._current.has_sections = True
        self.sections.append(section)
        self._stack.append(section)

    def _classified(self, line: Line) -> Section | None:
        """The section that a heading opens, or `None` where it is the heading of one item of the current section."""
        text, parent = line.text, self._current.kind
        if line.level == 1 and not self._titled:
            self._titled = True
            if heading_severity(text) is None:
                return Section(SectionKind.TITLE, text, level=1)
        if parent is SectionKind.FORMER:
            return self._inside_former(line)
        lead, rest = item_lead(text)
        if lead and parent in LISTING:
            return None
        tag = leading_tag(rest)
        if tag is not None and tag.rest and bare_severity(rest) is None:
            return None
        return self._named(line, rest)

    def _inside_former(self, line: Line) -> Section | None:
        if is_open(line.text):
            return Section(SectionKind.OPEN, line.text, bare_severity(line.text), line.level)
        severity = bare_severity(item_lead(line.text)[1])
        return Section(SectionKind.FORMER, line.text, severity, line.level) if severity else None

    def _named(self, line: Line, text: str) -> Section | None:
        name = plain(text).strip(" :.-–—")
        severity = heading_severity(text)
        if _CRITERIA.search(name) and severity is None:
            kind = SectionKind.CRITERIA
        elif is_former(text, self._round):
            kind = SectionKind.FORMER
        elif severity is not None:
            kind = self._kind_around(line.level)
        elif self._current.kind in LISTING:
            return self._inside_listing(line, text, name)
        else:
            kind = _plain_kind(text, name)
        section = Section(kind, text, severity, line.level)
        section.numbered = bool(item_lead(line.text)[0])
        return section

    def _inside_listing(self, line: Line, text: str, name: str) -> Section | None:
        """Under a list of findings a heading is an item, unless it is surely something else."""
        if self._current.item_level and self._current.item_level < line.level:
            return None
        if _BENIGN.match(name):
            return Section(SectionKind.OTHER, text, level=line.level)
        if name in _CLOSING:
            return Section(_plain_kind(text, name), text, level=line.level)
        if name.endswith("s") and _FINDINGS.fullmatch(name):
            return Section(self._current.kind, text, self._current.severity, line.level)
        return None

    def _pseudo_heading(self, place: int, line: Line) -> bool:
        """Take in a line in bold, or one that ends in a colon, as a heading where its words leave no doubt."""
        text = self._pseudo_text(place, line)
        if not text:
            return False
        mark = list_mark(line.text)[0]
        in_list = mark is not None or self._current.kind in LISTING
        level = _LIST_LEVEL + line.indent if mark else _BOLD_LEVEL
        severity = bare_severity(text) if in_list else heading_severity(text)
        name = plain(text).strip(" :")
        if _NEW.fullmatch(name) and self._current.level >= _BOLD_LEVEL:
            self._stack.pop()
            return True
        if not in_list and self._current.kind is not SectionKind.FORMER and is_former(text, self._round):
            kind = SectionKind.FORMER
        elif not in_list and is_open(text):
            kind = SectionKind.OPEN
        elif severity is not None:
            kind = self._kind_around(level)
        elif name in _CLOSING:
            kind = _plain_kind(text, name)
        else:
            return False
        self._close(level)
        self._open(Section(kind, text, severity, level))
        return True

    def _kind_around(self, level: int) -> SectionKind:
        """A list under a former round is former; one under the summary repeats what is listed elsewhere."""
        around = [section.kind for section in self._stack if section.level < level]
        if SectionKind.FORMER in around:
            return SectionKind.FORMER
        return SectionKind.OPEN if SectionKind.SUMMARY in around else SectionKind.SEVERITY

    def _pseudo_text(self, place: int, line: Line) -> str:
        """The words of a line that could be a heading; empty where it cannot be one."""
        if line.kind is not LineKind.TEXT or len(line.text) > _MAX_PSEUDO_HEADING:
            return ""
        mark, text = list_mark(line.text)
        text = text.strip()
        if mark and not self._has_nested(place, line):
            return ""
        bold = text.startswith(("**", "__")) and text.rstrip(":").endswith(("**", "__")) and text.count("**") <= 2
        alone = place == 0 or self._lines[place - 1].kind in (LineKind.BLANK, LineKind.RULE, LineKind.HEADING)
        titled = alone and not mark and text[:1].isupper() and ":" not in text and text[-1] not in ".!?"
        marked = bold or text.endswith(":")
        if not (marked or titled) or field_of_label(text) not in (None, Field.SEVERITY):
            return ""
        inner = text.strip("*_ :")
        return inner if bare_severity(inner) is not None or (marked and not says_none(inner)) else ""

    def _has_nested(self, place: int, line: Line) -> bool:
        following = next(
            (other for other in self._lines[place + 1 : place + 3] if other.kind is not LineKind.BLANK), line
        )
        return following.kind is LineKind.TEXT and following.indent > line.indent


def _plain_kind(text: str, name: str) -> SectionKind:
    if is_open(text):
        return SectionKind.OPEN
    if _FINDINGS.fullmatch(name) or _CHANGES.match(name):
        return SectionKind.FINDINGS
    if _SUMMARY.search(name):
        return SectionKind.SUMMARY
    return SectionKind.VERDICT if _VERDICT.match(name) else SectionKind.OTHER
