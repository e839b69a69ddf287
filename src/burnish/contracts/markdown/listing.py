"""All sections of a review together: what is listed, what is denied, what is left open, and what is in doubt."""

import re
from collections import Counter

from burnish.contracts.markdown.claims import is_count
from burnish.contracts.markdown.denials import says_none, says_nothing_at_all, says_unread, sentences
from burnish.contracts.markdown.fields import Reading, read_item
from burnish.contracts.markdown.former import is_let_be, says_not_settled
from burnish.contracts.markdown.items import Item, read_items
from burnish.contracts.markdown.labels import Field, label_of
from burnish.contracts.markdown.lines import Line, LineKind, list_mark
from burnish.contracts.markdown.outline import Section, SectionKind
from burnish.contracts.markdown.patterns import words
from burnish.contracts.markdown.severities import named_severity, number_of, plain
from burnish.contracts.markdown.tables import read_table
from burnish.contracts.paths import IsFile
from burnish.contracts.text import bounded
from burnish.core.findings import Finding, Severity

MAX_FINDINGS = 1_000
"""Findings that are read in full. More are only counted: no reader and no fixer could use them."""

_META = re.compile(
    words("reviewer date branch base commit story round files? scope author pr head title ticket epic verdict status")
    + r"\b|(?:recommendation|decision|conclusion)\b",
    re.IGNORECASE,
)
_REVIEW_WORDS = re.compile(
    r"\b(?:review|findings?|issues?|problems?|bugs?|defects?|concerns?|must be fixed)\b", re.IGNORECASE
)
_UNCHECKED = (SectionKind.OPEN, SectionKind.FORMER)


class Gathered:
    """Everything that the sections of one review say about findings."""

    def __init__(self, is_file: IsFile) -> None:
        self.is_file = is_file
        self.findings: list[Finding] = []
        self.overflow = Counter[Severity]()
        self.repeated: list[Finding] = []
        """Findings that the summary names; as a rule they are listed elsewhere as well."""
        self.unsettled: list[Finding] = []
        """Findings of an earlier round that the text calls unfixed; they may be listed as new ones as well."""
        self.failed_criteria: list[Finding] = []
        self.denied: set[Severity] = set()
        """Severities of which a section says that there is nothing."""
        self.denies_all = False
        self.empty: set[Severity] = set()
        """Severities whose section holds nothing at all, not even a "None"."""
        self.counts: list[tuple[Severity, int]] = []
        self.refused: list[str] = []
        self.has_sections = False

    @property
    def has_room(self) -> bool:
        return len(self.findings) < MAX_FINDINGS

    def add(self, reading: Reading) -> None:
        if reading.finding is not None and self.has_room:
            self.findings.append(reading.finding)
            self.refused += reading.refused
        elif reading.finding is not None:
            self.overflow[reading.finding.severity] += 1


def gather(sections: list[Section], is_file: IsFile) -> Gathered:
    gathered = Gathered(is_file)
    for section in sections:
        _READERS.get(section.kind, _tagged)(section, gathered)
    return gathered


def _listed(section: Section, gathered: Gathered) -> None:
    """A list of findings: each item counts, unless it denies or carries the mark of a settled one."""
    gathered.has_sections = True
    listing = read_items(section.lines)
    gathered.counts += listing.counts
    found = 0
    for item in listing.items:
        reading = read_item(item, section.severity, gathered.is_file, in_full=gathered.has_room)
        if reading.is_open:
            found += 1
            gathered.add(reading)
    if found:
        return
    denied = listing.says_none or section.promised == 0 or bool(listing.items)
    if section.severity is None:
        gathered.denies_all |= denied
    elif denied:
        gathered.denied.add(section.severity)
    elif not section.has_sections and not listing.counts:
        gathered.empty.add(section.severity)


def _still_open(section: Section, gathered: Gathered) -> None:
    listing = read_items(section.lines)
    items = [(item, section.severity or named_severity(item.title[:60])) for item in listing.items]
    readings = [read_item(item, severity, gathered.is_file) for item, severity in items]
    found = [reading.finding for reading in readings if reading.finding and reading.is_open]
    _hold(gathered.unsettled if section.severity is None else gathered.repeated, *found)
    if section.severity is not None and listing.says_none and not found:
        gathered.denied.add(section.severity)


def _hold(findings: list[Finding], *more: Finding) -> None:
    findings += more[: max(MAX_FINDINGS - len(findings), 0)]


def _unsettled(section: Section, gathered: Gathered) -> None:
    """What a report on a former round calls not fixed: in a heading, in its status, in an item or in a row."""
    heading, pending = section.heading, False
    for line in section.lines:
        if line.kind is LineKind.HEADING:
            _hold_heading(gathered, heading, pending=pending)
            heading, pending = line.text, says_not_settled(line.text)
            continue
        label = label_of(line)
        if label is not None and label.field is Field.STATUS:
            pending = says_not_settled(label.value) and not is_let_be(label.value)
        elif _lists_unsettled(line):
            severity = named_severity(heading) or section.severity or named_severity(line.text[:60]) or Severity.HIGH
            title = bounded(list_mark(line.text)[1].strip("|* "), 300)
            _hold(gathered.unsettled, Finding(severity=severity, title=title, problem=bounded(line.text)))
    _hold_heading(gathered, heading, pending=pending)


def _hold_heading(gathered: Gathered, heading: str, *, pending: bool) -> None:
    if pending:
        severity = named_severity(heading) or Severity.HIGH
        _hold(gathered.unsettled, Finding(severity=severity, title=bounded(heading, 300)))


def _lists_unsettled(line: Line) -> bool:
    if line.kind is not LineKind.TABLE and (line.kind is not LineKind.TEXT or list_mark(line.text)[0] is None):
        return False
    return says_not_settled(line.text) and not is_let_be(line.text)


def _criteria(section: Section, gathered: Gathered) -> None:
    """Acceptance criteria that are marked as not met."""
    _tagged(section, gathered)
    rows = [line.text for line in section.lines if line.kind is LineKind.TABLE]
    failed = [" · ".join(row.cells) for row in read_table(rows).rows if row.is_failed] if rows else []
    marked = (list_mark(line.text)[1] for line in section.lines if line.kind is LineKind.TEXT)
    failed += [text for text in marked if text.startswith("❌")]
    for text in failed[:MAX_FINDINGS]:
        title = bounded(f"Not met: {text.strip('❌ *')}", 300)
        gathered.failed_criteria.append(Finding(severity=Severity.HIGH, title=title, category="acceptance criteria"))


def _tagged(section: Section, gathered: Gathered) -> None:
    """Anywhere else only what carries a severity of its own is a finding; in a summary it is one more mention."""
    listing = read_items(section.lines)
    gathered.counts += listing.counts
    repeats = section.kind in (SectionKind.SUMMARY, SectionKind.VERDICT)
    for item in listing.items:
        # `**Critical:** 2` and `**Critical:** none` say how many, not what.
        if not item.title or is_count(item.title) or number_of(plain(item.title)) is not None:
            continue
        reading = read_item(item, None, gathered.is_file, in_full=gathered.has_room)
        if reading.finding is None or not reading.tagged or reading.settled:
            continue
        if repeats:
            _hold(gathered.repeated, reading.finding)
        else:
            gathered.add(reading)
    if section.kind in (SectionKind.TITLE, SectionKind.SUMMARY, SectionKind.VERDICT):
        gathered.denies_all |= any(_denies_all(line) for line in section.lines)


def _denies_all(line: Line) -> bool:
    return line.kind is LineKind.TEXT and len(line.text) < 600 and says_nothing_at_all(list_mark(line.text)[1])


def says_that_it_did_not_read(sections: list[Section]) -> bool:
    """Whether the reviewer says outside its findings that it did not see the change."""
    lines = (line for section in sections if section.kind not in _UNCHECKED for line in section.lines)
    texts = (line.text[:2_000] for line in lines if line.kind is LineKind.TEXT)
    return any(says_unread(sentence) for text in texts for sentence in sentences(text))


def loose_items(sections: list[Section], is_file: IsFile) -> list[Finding]:
    """The list of a review that has no sections at all, where its title or its first words call it one."""
    heads = [section for section in sections if section.kind is SectionKind.TITLE]
    first_lines = [line.text[:300] for section in heads for line in section.lines[:5]]
    if not _REVIEW_WORDS.search(" ".join([*(section.heading for section in heads), *first_lines])):
        return []
    items = [item for section in heads for item in read_items(section.lines).items if _is_loose(item)]
    readings = (read_item(item, None, is_file) for item in items[:MAX_FINDINGS])
    return [reading.finding for reading in readings if reading.finding and reading.is_open]


def _is_loose(item: Item) -> bool:
    return not item.prose and not _META.match(item.title.strip("*_ ")) and not says_none(item.title)


_READERS = {
    SectionKind.SEVERITY: _listed,
    SectionKind.FINDINGS: _listed,
    SectionKind.OPEN: _still_open,
    SectionKind.FORMER: _unsettled,
    SectionKind.CRITERIA: _criteria,
}
"""Any other section is read for what carries a severity of its own."""
