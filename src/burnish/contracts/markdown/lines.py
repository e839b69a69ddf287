"""From text to lines: which are code, which are headings, how deep they are indented. Knows markdown, not reviews."""

import re
from bisect import bisect_right
from enum import Enum

from burnish.contracts.text import UnreadableError
from burnish.core.values import Value

MAX_LINE = 16_000
"""Characters of a line that are looked at. Longer lines are cut, and the document says so."""

MAX_LINES = 250_000
"""A text of more lines is not read at all: it is not a review, and half of one could look clean."""
_FRONT_MATTER_KEY = re.compile(r"[A-Za-z][\w -]{0,40}:(?:\s|$)")
_COMMENT = re.compile(r"<!--.*?-->|(<!--.*)")
_ORDERED = re.compile(r"(?:\(\d{1,4}\)|\d{1,9}[.)])(?:\s+|$)")
_BULLETS = ("- ", "* ", "+ ", "• ", "– ", "— ")
_MAX_FRONT_MATTER = 200


class LineKind(Enum):
    """What a line is, before anything is known about its words."""

    BLANK = "blank"
    TEXT = "text"
    HEADING = "heading"
    QUOTE = "quote"
    TABLE = "table"
    RULE = "rule"
    CODE = "code"
    FRONT_MATTER = "front-matter"


class Line(Value):
    """One line without its indentation. `level` is that of a heading."""

    text: str
    kind: LineKind
    indent: int = 0
    level: int = 0


class MarkdownDocument(Value):
    """All lines of a text. Where a fence never closes, its lines are text: nothing may hide behind it."""

    lines: tuple[Line, ...]
    unclosed: bool = False
    cut: bool = False


class ListMark(Enum):
    """How an item of a list is marked."""

    BULLET = "bullet"
    NUMBER = "number"


def list_mark(text: str) -> tuple[ListMark | None, str]:
    """The mark of a list item and the text behind it; `None` where the line is no item."""
    if text.startswith(_BULLETS):
        return ListMark.BULLET, text[2:].lstrip()
    if text in ("-", "*", "+"):
        return ListMark.BULLET, ""
    found = _ORDERED.match(text)
    return (ListMark.NUMBER, text[found.end() :]) if found else (None, text)


def plain_fences(document: MarkdownDocument) -> list[str]:
    """The texts of the fences that hold no code, without fences inside them: those that name no language, or text."""
    texts: list[list[str]] = []
    opened = ""
    is_plain = False
    for line in document.lines:
        stripped = line.text.strip()
        if line.kind is not LineKind.CODE:
            opened = ""
        elif not opened:
            opened = stripped[: len(stripped) - len(stripped.lstrip(stripped[:1]))]
            is_plain = stripped[len(opened) :].strip().lower() in _NO_CODE
            texts += [[]] if is_plain else []
        elif stripped == opened:
            opened = ""
        elif is_plain and not stripped.startswith(("```", "~~~")):
            texts[-1].append(line.text)
    return ["\n".join(lines) for lines in texts if any(line.strip() for line in lines)]


_NO_CODE = frozenset({"", "text", "txt", "plain", "plaintext", "md", "markdown", "none"})


def scan(text: str) -> MarkdownDocument:
    raw = text.split("\n")
    if len(raw) > MAX_LINES:
        raise UnreadableError(
            f"The answer has {len(raw):,} lines; at most {MAX_LINES:,} are read.",
            hint="Ask the reviewer for its findings only, not for its transcript.",
        )
    cut = any(len(line) > MAX_LINE for line in raw)
    if cut:
        raw = [line[:MAX_LINE] for line in raw]
    raw = _without_comments(raw)
    matter = _front_matter_end(raw)
    lines = [Line(text=line.strip(), kind=LineKind.FRONT_MATTER) for line in raw[:matter]]
    body, unclosed = _body(raw[matter:])
    return MarkdownDocument(lines=(*lines, *_with_setext(body)), unclosed=unclosed, cut=cut)


def _without_comments(raw: list[str]) -> list[str]:
    """Drop comments that end in their line, and those that fill whole lines. One that never ends is text."""
    ends = [number for number, line in enumerate(raw) if line.rstrip().endswith("-->")]
    kept: list[str] = []
    skip_to, fenced = -1, False
    for number, line in enumerate(raw):
        if number <= skip_to:
            continue
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        part = line if fenced else _COMMENT.sub(r"\1", line)
        if not fenced and part.lstrip().startswith("<!--") and ends and ends[-1] > number:
            skip_to = ends[bisect_right(ends, number)]
        else:
            kept.append(part)
    return kept


def _front_matter_end(raw: list[str]) -> int:
    """How many lines belong to YAML front matter; 0 where there is none."""
    first = next((number for number, line in enumerate(raw[:20]) if line.strip()), 0)
    if not raw or raw[first].strip() != "---":
        return 0
    for number in range(first + 1, min(len(raw), first + _MAX_FRONT_MATTER)):
        line = raw[number].rstrip()
        if line == "---":
            return number + 1 if number > first + 1 else 0
        is_yaml = not line or line[0] in " \t-#" or _FRONT_MATTER_KEY.match(line)
        if not is_yaml or line.startswith("##"):
            return 0
    return 0


class _Fence:
    """Whether the scan is inside a code fence. A fence inside a fence counts, so that a forgotten end shows up."""

    def __init__(self) -> None:
        self.mark = ""
        self.depth = 0

    def closes_or_opens(self, stripped: str) -> bool:
        """Take in one line; whether it is a fence's own line."""
        if not stripped.startswith(("```", "~~~")):
            return False
        length = len(stripped) - len(stripped.lstrip(stripped[0]))
        info = stripped[length:].strip()
        if stripped[0] == "`" and "`" in info:
            return False
        if not self.depth:
            self.mark, self.depth = stripped[0] * length, 1
        elif stripped.startswith(self.mark):
            self.depth += 1 if info else -1
        else:
            return False
        return True


def _body(raw: list[str]) -> tuple[list[Line], bool]:
    raw, unclosed_wrapper = _unwrapped(raw)
    lines: list[Line] = []
    fence = _Fence()
    opened_at = 0
    for number, line in enumerate(raw):
        was_inside = fence.depth > 0
        is_fence = fence.closes_or_opens(line.strip())
        if is_fence and not was_inside:
            opened_at = number
        lines.append(Line(text=line, kind=LineKind.CODE) if is_fence or was_inside else _line(line))
    if fence.depth:
        # The end is missing: from there on all is read as text, because a finding must not hide in it.
        lines[opened_at:] = map(_line, raw[opened_at:])
    return lines, unclosed_wrapper or fence.depth > 0


def _unwrapped(raw: list[str]) -> tuple[list[str], bool]:
    """The document inside a fence that is marked as markdown, with what stands before and after it."""
    opener = next((number for number, line in enumerate(raw) if line.strip()), None)
    first = next((number for number, line in enumerate(raw) if line.startswith(("```", "~~~"))), None)
    if first is None:
        return raw, False
    info = raw[first].strip().strip("`~").strip().lower()
    wraps = info in ("markdown", "md") or (info == "" and first == opener)
    following = next((line for line in raw[first + 1 :] if line.strip()), "")
    if not wraps or not following.startswith("#") or any(line.startswith("## ") for line in raw[:first]):
        return raw, False
    mark = raw[first][:3]
    last = next((number for number in range(len(raw) - 1, first, -1) if raw[number].strip().startswith(mark)), None)
    if last is None or raw[last].strip().strip(mark[0]):
        return raw[:first] + raw[first + 1 :], True
    if info == "" and any(line.strip() for line in raw[last + 1 :]):
        return raw, False
    return raw[:first] + raw[first + 1 : last] + raw[last + 1 :], False


def _line(raw: str) -> Line:
    stripped = raw.strip()
    if not stripped:
        return Line(text="", kind=LineKind.BLANK)
    expanded = raw.expandtabs(4) if "\t" in raw[:64] else raw
    indent = len(expanded) - len(expanded.lstrip())
    first = stripped[0]
    if first == "#":
        level = len(stripped[:8]) - len(stripped[:8].lstrip("#"))
        if level <= 6 and stripped[level : level + 1] in ("", " ", "\t"):
            return Line(text=stripped[level:].strip().rstrip("#").rstrip(), kind=LineKind.HEADING, level=level)
    elif first == ">":
        return Line(text=stripped.lstrip("> "), kind=LineKind.QUOTE, indent=indent)
    elif first == "|" and stripped.count("|", 0, 2_000) >= 2:
        return Line(text=stripped, kind=LineKind.TABLE, indent=indent)
    elif first in "-*_=" and len(stripped) >= 3 and not stripped.replace(" ", "").strip(first):
        return Line(text=stripped, kind=LineKind.RULE, indent=indent)
    return Line(text=stripped, kind=LineKind.TEXT, indent=indent)


def _with_setext(lines: list[Line]) -> list[Line]:
    """Turn a line underlined with `===` or `---` into a heading, where it stands alone and is no list item."""
    for number in range(1, len(lines)):
        under, over = lines[number], lines[number - 1]
        if under.kind is not LineKind.RULE or over.kind is not LineKind.TEXT or under.text[0] not in "=-":
            continue
        alone = number < 2 or lines[number - 2].kind in (LineKind.BLANK, LineKind.RULE, LineKind.FRONT_MATTER)
        if alone and len(over.text) <= 120 and list_mark(over.text)[0] is None and not over.text.startswith("**"):
            level = 1 if under.text[0] == "=" else 2
            if level == 1 or _looks_like_a_heading(over.text, under.text):
                lines[number - 1] = Line(text=over.text, kind=LineKind.HEADING, level=level)
                lines[number] = Line(text="", kind=LineKind.BLANK)
    return lines


def _looks_like_a_heading(text: str, underline: str) -> bool:
    """A sentence above `---` is a sentence; a heading has no full stop, and a colon only above a longer line."""
    if text.endswith((".", "!", "?", ",", ";")) or len(text.split()) > 10:
        return False
    return ": " not in text or len(underline) > 3
