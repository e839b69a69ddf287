"""What is written in sprint statuses and story files: ids, statuses, action items.

Other tools and people write these files, too. So a change replaces one word and leaves every other byte as it is:
comments, order, quotes, line ends, and values that nothing here knows.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from burnish.core.findings import Finding
from burnish.core.text import clean_text
from burnish.core.values import Value

SPRINT_STATUS_FILES = ("sprint-status.yaml", "sprint-status.yml")
ACTION_ITEMS = "## Review Action Items"
_BLOCK = "development_status"
_ENTRY = re.compile(
    r"""^(?P<indent>\s*)(?P<quote>["']?)(?P<key>[^\s:"'#-][^:"']*)(?P=quote)\s*:(?P<rest>\s+(?P<value>.*)|)$"""
)
_VALUE = re.compile(r"""(?P<quote>["']?)(?P<word>[^"'#]*?)(?P=quote)\s*(?:#.*)?""")
_STATUS_LINE = re.compile(r"^[^\w\n]*status[^\w\n]*:[^\w\n]*(?P<word>[A-Za-z-]+)", re.IGNORECASE | re.MULTILINE)
_STATUS_HEADING = re.compile(r"^#+[ \t]*status[ \t]*\r?\n\s*(?P<word>[A-Za-z-]+)", re.IGNORECASE | re.MULTILINE)
_ID_PART = re.compile(r"\d+[A-Za-z]?|[A-Z]\d+")
_NO_STORY = re.compile(r"epic-.*|.*-?retrospective", re.IGNORECASE)
_FINDINGS = "-review-findings"
_PREFIX = re.compile(r"^story[-_ ]", re.IGNORECASE)
_MAX_TITLE = 300


class _Name(NamedTuple):
    """`1-2-some-slug`, taken apart: the id is compared as a whole, never by its beginning."""

    id: tuple[str, ...]
    slug: str


def _taken_apart(name: str) -> _Name:
    parts = name.replace(".", "-").split("-")
    length = next((at for at, part in enumerate(parts) if not _ID_PART.fullmatch(part)), len(parts))
    return _Name(tuple(parts[:length]), "-".join(parts[length:]))


def is_story(name: str, story: str) -> bool:
    """Whether a key or file name is that of a story: `1.2`, `1-2` and `1-2-some-slug` are one, `1-2-1-other` is not."""
    one, other = _taken_apart(name), _taken_apart(story)
    if not one.id:
        return one == other
    return one.id == other.id and (not one.slug or not other.slug or one.slug == other.slug)


def is_of_same_epic(one: str, other: str) -> bool:
    first = _taken_apart(one).id[:1]
    return bool(first) and first == _taken_apart(other).id[:1]


def story_id(key: str) -> str:
    """The id of a story as people write it: `1.2` for `1-2-some-slug`; the whole key where it has no numbers."""
    parts = _taken_apart(key).id
    joined = "".join(f"{'.' if part[0].isdigit() else '-'}{part}" for part in parts)
    return joined[1:] or key


def slug_words(key: str) -> str:
    """`some slug` for `1-2-some-slug`."""
    return _taken_apart(key).slug.replace("-", " ")


def is_story_key(key: str) -> bool:
    """Whether a line of a sprint status is about a story: not about an epic or its retrospective."""
    return not _NO_STORY.fullmatch(key)


def is_story_file(path: str, story: str) -> bool:
    """`1-2-some-slug.md`, `1.2.story.md` and `story-1.2.md` are files of story 1.2; findings of its reviews are not."""
    name = path.rpartition("/")[2]
    if not name.endswith(".md") or _FINDINGS in name:
        return False
    return is_story(_PREFIX.sub("", name.removesuffix(".md").removesuffix(".story")), story)


def is_sprint_status(path: str) -> bool:
    return path.rpartition("/")[2] in SPRINT_STATUS_FILES


class SprintEntry(Value):
    """One line of a sprint status."""

    key: str
    status: str
    line: int


class _Placed(NamedTuple):
    entry: SprintEntry
    start: int
    """Where its word begins in the text, and where it ends."""
    end: int


def sprint_entries(text: str) -> tuple[SprintEntry, ...]:
    """All lines with a status, those of epics too; a key that is there twice comes twice."""
    return tuple(placed.entry for placed in _placed(text))


def _placed(text: str) -> Iterator[_Placed]:
    lines: list[tuple[int, int, re.Match[str]]] = []
    begin = 0
    for number, line in enumerate(text.split("\n"), start=1):
        entry = _ENTRY.match(line.removesuffix("\r").removeprefix("\ufeff"))
        if entry:
            lines.append((number, begin + line.startswith("\ufeff"), entry))
        begin += len(line) + 1
    has_block = any(not entry["indent"] and entry["key"].strip() == _BLOCK for _, _, entry in lines)
    inside = not has_block
    for number, begin, entry in lines:
        if not entry["indent"] and has_block:
            inside = entry["key"].strip() == _BLOCK
        elif inside and entry["value"] is not None:
            value = _VALUE.fullmatch(entry["value"].rstrip())
            word = (value["word"] if value else entry["value"]).strip()
            start = begin + entry.start("value") + (value.start("word") if value else 0)
            yield _Placed(SprintEntry(key=entry["key"].strip(), status=word, line=number), start, start + len(word))


def with_statuses(text: str, statuses: Mapping[str, str]) -> str:
    """A sprint status in which these keys have these statuses. Every other byte stays; keys that are not there, too."""
    parts: list[str] = []
    end = 0
    for placed in _placed(text):
        wanted = statuses.get(placed.entry.key)
        if wanted is not None and wanted != placed.entry.status:
            parts += (text[end : placed.start], wanted)
            end = placed.end
    return "".join((*parts, text[end:]))


def file_status(text: str) -> str:
    """The status in a story's own file: a line `Status: done`, also as front matter, or a heading `Status`."""
    found = _status_in(text)
    return found["word"] if found else ""


def with_file_status(text: str, status: str) -> str:
    """A story's text with another status, where it has one. Every other byte stays."""
    found = _status_in(text)
    if found is None or found["word"] == status:
        return text
    # BMAD writes `Status: Done` in some versions and `Status: done` in others: the same word is left alone.
    if found["word"].lower() == status:
        return text
    return f"{text[: found.start('word')]}{status}{text[found.end('word') :]}"


def neutral_text(text: str) -> str:
    """What a story asks for, without what changes while it is worked on: its status, and the action items of reviews.

    So a story that is asked for again is known to be the same.
    """
    found = _status_in(text)
    if found is not None:
        text = f"{text[: found.start('word')]}in-progress{text[found.end('word') :]}"
    lines = text.splitlines(keepends=True)
    heading = next((at for at, line in enumerate(lines) if line.strip() == ACTION_ITEMS), None)
    if heading is None:
        return text
    end = next((at for at in range(heading + 1, len(lines)) if lines[at].startswith("#")), len(lines))
    return "".join([*lines[:heading], *lines[end:]]).rstrip() + "\n"


def _status_in(text: str) -> re.Match[str] | None:
    return _STATUS_LINE.search(text) or _STATUS_HEADING.search(text)


def with_action_items(story: str, findings: Sequence[Finding]) -> str:
    """A story's text with each of these findings as a task to be done. What it has already is not added again."""
    lines = story.splitlines(keepends=True)
    ends = [line.endswith("\r\n") for line in lines if line.endswith("\n")]
    end_of_line = "\r\n" if ends and all(ends) else "\n"
    items = dict.fromkeys(_action_item(finding) for finding in findings)
    new = [f"- [ ] {item}{place}{end_of_line}" for item, place in items if item not in story]
    if not new:
        return story
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += end_of_line
    heading = next((at for at, line in enumerate(lines) if line.strip() == ACTION_ITEMS), None)
    if heading is None:
        lines += [end_of_line, f"{ACTION_ITEMS}{end_of_line}", end_of_line, *new]
    else:
        end = next((at for at in range(heading + 1, len(lines)) if lines[at].startswith("#")), len(lines))
        last = max(at for at in range(heading, end) if at == heading or lines[at].strip())
        lines[last + 1 : last + 1] = [end_of_line, *new] if last == heading else new
    return "".join(lines)


def _action_item(finding: Finding) -> tuple[str, str]:
    """What is to be done, by which it is known again, and where, which moves with every change."""
    title = " ".join(clean_text(finding.title).split())[:_MAX_TITLE]
    where = finding.location
    line = "" if where is None or where.line is None else f":{where.line}"
    return f"[{finding.severity.value.upper()}] {title}", "" if where is None else f" ({where.file}{line})"
