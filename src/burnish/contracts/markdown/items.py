"""From the lines of a section to its items: what is listed, as headings, list items, leads, table rows or prose.

An item is only cut out here; `fields` reads it. What says "none" or belongs to an earlier round is told apart, because
a section may be empty only for such a reason.
"""

from collections.abc import Sequence

from burnish.contracts.markdown.denials import says_none, sentences
from burnish.contracts.markdown.former import announces_former, is_former, says_not_settled
from burnish.contracts.markdown.labels import Field, label_of, labelled
from burnish.contracts.markdown.lines import Line, LineKind, ListMark, list_mark
from burnish.contracts.markdown.severities import heading_count
from burnish.contracts.markdown.tables import Row, counts_in, read_table
from burnish.contracts.markdown.tags import item_lead, leading_tag
from burnish.core.findings import Severity

_OBJECTIONS = ("however", "but ", "although", "except", "that said", "nevertheless", "still,")
"""How a paragraph after "None." begins that takes it back."""


class Item:
    """One listed thing: its first line without marks, and the lines below it."""

    def __init__(
        self,
        title: str,
        body: Sequence[Line] = (),
        *,
        row: Row | None = None,
        prose: bool = False,
        numbered: bool = False,
    ) -> None:
        self.title = title
        self.body = list(body)
        self.row = row
        self.prose = prose
        """Not marked as an item: a paragraph that stands in a list of findings."""
        self.numbered = numbered


class FindingList:
    """What a run of lines lists, and whether it says that there is nothing."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.says_none = False
        self.counts: list[tuple[Severity, int]] = []
        """What tables count by severity, instead of listing it."""


def read_items(lines: list[Line]) -> FindingList:
    first = next((place for place, line in enumerate(lines) if line.kind is LineKind.HEADING), None)
    listing = _Reader(lines[:first]).listing
    if first is None:
        return listing
    level = min(line.level for line in lines if line.kind is LineKind.HEADING)
    # Text between the heading of the section and that of its first item introduces; it lists nothing.
    listing.items = [item for item in listing.items if not item.prose]
    for block in _blocks(lines[first:], level):
        _read_block(block, listing)
    return listing


def _blocks(lines: list[Line], level: int) -> list[list[Line]]:
    blocks: list[list[Line]] = []
    for line in lines:
        if not blocks or (line.kind is LineKind.HEADING and line.level <= level):
            blocks.append([])
        blocks[-1].append(line)
    return blocks


def _read_block(block: list[Line], listing: FindingList) -> None:
    """One heading below a section: an item, or a group of items where its list shows that."""
    heading, body = block[0].text, block[1:]
    lead = item_lead(heading)[0]
    if says_none(heading):
        listing.says_none = True
        return
    if not lead and is_former(heading, 0):
        return
    if not lead and leading_tag(heading) is None:
        inner = _Reader([line for line in body if line.kind is not LineKind.HEADING]).listing
        items = [item for item in inner.items if not item.prose]
        listing.counts += inner.counts
        if _is_group(heading, items):
            listing.items += items
            return
        if inner.says_none and not any(labelled(line.text) for line in body):
            listing.says_none = True
            return
    listing.items.append(Item(heading, body, numbered=bool(lead)))


def _is_group(heading: str, items: list[Item]) -> bool:
    tags = [leading_tag(item.title) for item in items]
    if any(tag.strict for tag in tags if tag):
        return True
    if len(items) < 2 or any(labelled(item.title) for item in items):
        return False
    promised = heading_count(heading) or 0
    return promised >= 2 or all(item.numbered and item.title.startswith(("**", "[")) for item in items)


class _Reader:
    """One pass over lines that hold no headings."""

    def __init__(self, lines: list[Line]) -> None:
        self.listing = FindingList()
        self._lines = lines
        self._indent: int | None = None
        self._mark: ListMark | None = None
        self._item: Item | None = None
        self._paragraph: list[str] = []
        self._quotes: list[str] = []
        self._prose: list[Item] = []
        self._seen: set[Field] = set()
        self._is_former_list = False
        self._leads = _first_is_lead(lines)
        place = 0
        while place < len(lines):
            place = self._take(place)
        self._end_paragraph()
        self._keep_prose()

    def _take(self, place: int) -> int:
        line = self._lines[place]
        if self._is_alone(place, line) and (self._is_former_list or announces_former(line.text)):
            # What introduces a list of settled findings, and what follows such a list, belongs to no item.
            self._item, self._is_former_list = None, False
        if line.kind is LineKind.TABLE and (self._item is None or self._item.row is not None):
            return self._table(place)
        if line.kind in (LineKind.BLANK, LineKind.RULE):
            self._end_paragraph()
        if line.kind is LineKind.TEXT and self._starts_item(place, line):
            self._start(line)
        elif self._item is not None:
            self._item.body.append(line)
            self._seen |= {label.field} if (label := label_of(line)) else set()
        elif line.kind is LineKind.TEXT:
            self._paragraph.append(line.text)
        elif line.kind is LineKind.QUOTE:
            self._quotes.append(line.text)
        elif line.kind is LineKind.CODE and self._prose:
            self._prose[-1].body.append(line)
        return place + 1

    def _is_alone(self, place: int, line: Line) -> bool:
        """Whether a line begins a paragraph at the margin."""
        at_margin = line.kind is LineKind.TEXT and line.indent < 2 and list_mark(line.text)[0] is None
        return at_margin and self._begins_paragraph(place)

    def _begins_paragraph(self, place: int) -> bool:
        return place == 0 or self._lines[place - 1].kind is not LineKind.TEXT

    def _starts_item(self, place: int, line: Line) -> bool:
        mark, text = list_mark(line.text)
        if mark is None:
            return self._starts_without_mark(place, line)
        if self._item is not None and self._leads and not leading_tag(text):
            return False
        if self._indent is None or self._item is None:
            return True
        if line.indent >= self._indent + 2:
            return False
        if label := labelled(line.text):
            # An item without a title begins anew where its first label comes again after others.
            first = labelled(self._item.title)
            repeats = first is not None and label.field is first.field and bool(self._seen - {label.field})
            return repeats and mark is self._mark
        return mark is self._mark or self._mark is ListMark.BULLET or leading_tag(text) is not None

    def _starts_without_mark(self, place: int, line: Line) -> bool:
        tag = leading_tag(line.text)
        if tag is not None and tag.strict and tag.rest:
            return True
        alone = self._leads or self._begins_paragraph(place)
        if not alone or labelled(line.text) is not None or line.indent >= 4:
            return False
        return bool(item_lead(line.text)[0]) or (self._leads and line.text.startswith("**"))

    def _start(self, line: Line) -> None:
        self._end_paragraph()
        mark, text = list_mark(line.text)
        if self._indent is None or line.indent < self._indent or self._item is None:
            self._indent, self._mark = line.indent, mark
        self._seen = set()
        self._item = Item(text, numbered=mark is ListMark.NUMBER or bool(item_lead(text)[0]))
        if not self._is_former_list or says_not_settled(text):
            self.listing.items.append(self._item)

    def _end_paragraph(self) -> None:
        if not self._paragraph:
            return
        text = "\n".join(self._paragraph)
        first, *more = lines = [Line(text=line, kind=LineKind.TEXT) for line in self._paragraph]
        self._paragraph = []
        self._is_former_list = announces_former(text)
        if self._is_former_list:
            self.listing.says_none |= says_none(sentences(text)[0])
        elif says_none(text):
            self.listing.says_none = True
        elif self._prose and labelled(first.text) is not None:
            self._prose[-1].body += lines
        else:
            self._prose.append(Item(first.text, more, prose=True))

    def _keep_prose(self) -> None:
        """Prose is a finding where nothing is listed and nothing denies it; a quotation, where there is no more."""
        listing = self.listing
        if listing.items:
            return
        listing.items += [
            item for item in self._prose if not listing.says_none or item.title.lower().startswith(_OBJECTIONS)
        ]
        if self._quotes and not self._prose and not listing.says_none and not listing.counts:
            listing.says_none = says_none("\n".join(self._quotes))
            listing.items += [] if listing.says_none else [Item(self._quotes[0], prose=True)]

    def _table(self, place: int) -> int:
        self._end_paragraph()
        end = place
        while end < len(self._lines) and self._lines[end].kind is LineKind.TABLE:
            end += 1
        table = read_table([line.text for line in self._lines[place:end]])
        counts = counts_in(table)
        self.listing.counts += counts
        for row in () if counts else table.rows:
            if all(not cell.strip(" -–—") or says_none(cell) for cell in row.cells):
                self.listing.says_none = True
            else:
                self.listing.items.append(Item(row.title, row=row))
        return end


def _first_is_lead(lines: list[Line]) -> bool:
    """Whether the items are paragraphs that begin with a name or in bold, and lists only belong to them."""
    written = (line for line in lines if line.kind is not LineKind.BLANK)
    first, following = next(written, None), next(written, None)
    if first is None or first.kind is not LineKind.TEXT or list_mark(first.text)[0]:
        return False
    text = first.text
    if says_none(text) or labelled(text) is not None:
        return False
    if item_lead(text)[0] or leading_tag(text):
        return True
    has_fields = following is None or following.kind is not LineKind.TEXT or labelled(following.text) is not None
    return has_fields and text.startswith("**") and not text.rstrip("*").endswith(":")
