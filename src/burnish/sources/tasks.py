"""A task list in markdown: each check box of the outermost level is a ticket, and the boxes inside it its criteria.

Ids come from the tasks themselves and never from their order, so that they stay when others are added or ticked.
"""

import re
import shlex
import textwrap
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from burnish.core.brief_text import (
    MAX_BRIEF_BYTES,
    MarkdownLine,
    acceptance_criteria,
    is_about_acceptance,
    markdown_lines,
    one_line,
)
from burnish.core.epics.plan import EpicPlan, Ticket
from burnish.core.text import clean_text
from burnish.core.values import Value
from burnish.settings.documents import Problem, SourcePlace
from burnish.sources.checks import PlacedTicket, problems_of, same_branch
from burnish.sources.interface import read_text, refuse, slug, source_error

KIND = "tasks"
_BOX = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[(?P<box>[ xX]|[-~/>!?]?)\]\s+(?P<text>\S.*)$")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?P<text>\S.*)$")
_NESTED = 2
"""How far a line is indented, at least, that belongs to the task above it."""
_MARKED_ID = re.compile(
    r"""(?:
        \*\*(?P<bold>\w[\w.-]*+):?\*\*:?     # **T1** do, **T1:** do
        | \[(?P<square>\w[\w.-]*+)\](?!\():? # [T1] do, but no link
        | \((?P<round>\w[\w.-]*+)\):?        # (T1) do
        | `(?P<code>\w[\w.-]*+)`:            # `T1`: do
        | (?P<colon>\w[\w.-]*+):             # T1: do
        | (?P<bare>[A-Z]{1,9}-?\d+|\d+(?:\.\d+)+|\d+(?=\.\s))\.?  # T1 do, 1.2 do, 1. do
    )\s+(?=\S)""",
    re.VERBOSE,
)
_LIKE_AN_ID = re.compile(r"\w[\w.]*[-_]\w|\w*\d")
"""What tells an id from a word before a colon: a digit, or a hyphen inside it."""
_DEPENDENCIES = re.compile(
    r"\( ?(?:after|depends on|blocked by)(?P<strict>:)? (?P<names>[^()]+)\)"
    r"|\b(?:(?:depends on|blocked by)(?P<strict_end>:)?|after:) "
    r"(?P<names_end>(?:(?!depends on|blocked by|after:)[^;()])+)$",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r",|&|\band\b")


class _Box(Value):
    line: MarkdownLine
    mark: str
    text: str

    @property
    def ticked(self) -> bool:
        return self.mark in ("x", "X")


class _Group:
    """The lines of one task, as they are collected."""

    def __init__(self, box: _Box, headings: Sequence[str]) -> None:
        self.box = box
        self.headings = tuple(headings)
        self.lines: list[MarkdownLine] = []


class _Task(Value):
    """A task as it is written, before it has an id that no other has."""

    box: _Box
    headings: tuple[str, ...]
    named: str
    """The id that it has in the text, if any."""
    is_sure: bool
    """Whether that is marked as an id; else it may be the first word of a sentence."""
    title: str
    words: str
    """The same without what it depends on, which may change."""
    body: str
    criteria: tuple[_Box, ...]
    dependencies: tuple[tuple[str, bool, int], ...]
    """Names, whether they are certainly meant as such, and their lines."""


def read_tasks(path: Path) -> EpicPlan:
    """The plan that a task list holds. Raises `SourceError` with everything that is wrong with it."""
    text, file = read_text(path), str(path)
    lines = tuple(markdown_lines(text))
    tasks = tuple(_task(group) for group in _groups(lines))
    if not tasks:
        hint = "Write each task as '- [ ] text'. To build what the file describes as a whole, type: burnish fix --build"
        raise source_error(file, "The file has no task list.", f"{hint} --brief {shlex.quote(file)}")
    tickets = tuple(_tickets(tasks, file))
    refuse([*_unclear_boxes(tasks, file), *_too_large(tickets), *problems_of(tickets)])
    return EpicPlan(
        id=slug(path.stem) or KIND,
        title=one_line(next((line.title for line in lines if line.level), "")),
        description=_introduction(lines, tasks[0].box.line.number),
        acceptance=tuple(criterion.text for criterion in acceptance_criteria(text)),
        tickets=tuple(placed.ticket for placed in tickets),
        source=file,
        kind=KIND,
    )


def _groups(lines: Sequence[MarkdownLine]) -> list[_Group]:
    """The tasks with the lines that belong to each: indented ones, and those that go on with a paragraph."""
    groups: list[_Group] = []
    group: _Group | None = None
    headings: list[tuple[int, str]] = []
    before = MarkdownLine(number=0, text="")
    for line in _shown_lines(lines):
        box = _box(line)
        if line.level:
            headings = [*((level, title) for level, title in headings if level < line.level), (line.level, line.title)]
        if group and _belongs(line, before, group):
            group.lines.append(line)
        elif box and not (headings and is_about_acceptance(headings[-1][1])):
            group = _Group(box, [title for _, title in headings if title])
            groups.append(group)
        elif line.text.strip():
            group = None
        before = line
    return groups


def _shown_lines(lines: Sequence[MarkdownLine]) -> Iterator[MarkdownLine]:
    """All lines but those of comments, where templates keep their examples."""
    hidden = False
    for line in lines:
        begins = not line.in_code and line.text.lstrip().startswith("<!--")
        if not (hidden or begins):
            yield line
        hidden = (hidden or begins) and "-->" not in line.text


def _belongs(line: MarkdownLine, before: MarkdownLine, group: _Group) -> bool:
    if not line.text.strip():
        return True
    if line.in_code and before.in_code:  # code is not always indented like its fence
        return before in group.lines[-1:]
    if _indent(line) >= _indent(group.box.line) + _NESTED:
        return True
    goes_on = bool(before.text.strip()) and not line.in_code and not line.level
    return goes_on and not _BULLET.match(line.text)


def _indent(line: MarkdownLine) -> int:
    text = line.text.expandtabs(4)
    return len(text) - len(text.lstrip())


def _box(line: MarkdownLine) -> _Box | None:
    found = None if line.in_code else _BOX.match(line.text)
    return _Box(line=line, mark=found["box"], text=clean_text(found["text"]).strip()) if found else None


def _task(group: _Group) -> _Task:
    first, body, criteria = _parts(group)
    # A task that is done may be struck through as well.
    text = " ".join(first[0].replace("~~", "").split())
    marked = _MARKED_ID.match(text)
    named = next((name for name in marked.groups() if name), "") if marked else ""
    if not _LIKE_AN_ID.match(named) and not (marked and marked["bare"]):
        marked, named = None, ""
    rest = text[marked.end() :] if marked else text
    places = [
        (" ".join(first), group.box.line.number),
        *((line.text, line.number) for line in body if not line.in_code),
    ]
    inside = clean_text(textwrap.dedent("\n".join(line.text for line in body))).strip("\n")
    return _Task(
        box=group.box,
        headings=group.headings,
        named=named.rstrip("."),
        is_sure=bool(marked and not marked["bare"]),
        title=rest,
        words=_DEPENDENCIES.sub("", rest),
        body="\n\n".join(part for part in ("\n".join(first[1:]), inside) if part),
        criteria=tuple(criteria),
        dependencies=tuple((*found, number) for text, number in places for found in _names(text)),
    )


def _parts(group: _Group) -> tuple[list[str], list[MarkdownLine], list[_Box]]:
    """The lines of the first paragraph, those that are no boxes, and the boxes with the lines that go on with them."""
    first, body, criteria = [group.box.text], list[MarkdownLine](), list[_Box]()
    in_first = True
    for line in group.lines:
        written = clean_text(line.text).strip()
        box = _box(line)
        in_first = in_first and bool(written) and not line.in_code and not line.level and not _BULLET.match(line.text)
        if in_first:
            first.append(written)
        elif box:
            criteria.append(box)
        elif criteria and written and not line.in_code and _indent(line) > _indent(criteria[-1].line):
            last = criteria[-1]
            criteria[-1] = _Box(line=last.line, mark=last.mark, text=f"{last.text} {written}")
        else:
            body.append(line)
    return first, body, criteria


def _names(text: str) -> Iterator[tuple[str, bool]]:
    """The tasks that a text says to wait for, and whether they are certainly meant: `(after lunch)` names none."""
    for found in _DEPENDENCIES.finditer(" ".join(text.split())):
        names = (name.strip("`*[]. ") for name in _SEPARATOR.split(found["names"] or found["names_end"]))
        is_sure = bool(found["strict"] or found["strict_end"] or found[0].lower().startswith("after:"))
        for name in names:
            if name and name.lower() != "none":
                yield name, is_sure


def _tickets(tasks: Sequence[_Task], file: str) -> Iterator[PlacedTicket]:
    ids = _ids(tasks)
    known = set(ids)
    for name, task in zip(ids, tasks, strict=True):
        depends_on: dict[str, SourcePlace] = {}
        for written, is_sure, line in task.dependencies:
            # A task may be named by its words, too.
            other = slug(written) if written not in known and slug(written) in known else written
            if is_sure or other in known or _looks_like_an_id(other):
                depends_on.setdefault(other, SourcePlace(file=file, line=line))
        criteria = dict.fromkeys(box.text for box in task.criteria)
        ticket = Ticket(
            id=name,
            title=one_line(task.title),
            text=_text(task),
            depends_on=tuple(depends_on),
            acceptance=tuple(criteria),
            ticked=tuple(dict.fromkeys(box.text for box in task.criteria if box.ticked)),
            boxes=tuple(criteria),
            done=task.box.ticked,
        )
        place = SourcePlace(file=file, line=task.box.line.number)
        yield PlacedTicket(ticket=ticket, place=place, dependencies=depends_on)


def _looks_like_an_id(word: str) -> bool:
    return " " not in word and bool(_LIKE_AN_ID.match(word))


def _ids(tasks: Sequence[_Task]) -> tuple[str, ...]:
    """The id that a task has, else a name made of its words; a number where another has the same words.

    `S3 upload` and `S3 download` show that a first word is no id.
    """
    often = Counter(same_branch(task.named) for task in tasks)
    named = [task.named if task.is_sure or often[same_branch(task.named)] == 1 else "" for task in tasks]
    taken = {same_branch(name) for name in named}
    numbers: Counter[str] = Counter()
    ids: list[str] = []
    for name, task in zip(named, tasks, strict=True):
        wanted = slug(f"{task.named} {task.words}") or slug(task.title) or "task"
        free = name or wanted
        while not name and same_branch(free) in taken:
            numbers[wanted] += 1
            free = f"{wanted}-{numbers[wanted] + 1}"
        taken.add(same_branch(free))
        ids.append(free)
    return tuple(ids)


def _text(task: _Task) -> str:
    """What is asked for, in the form of a ticket's file."""
    criteria = "\n".join(f"- [{'x' if box.ticked else ' '}] {box.text}" for box in task.criteria)
    parts = (
        f"# {task.title}",
        f"Part of: {' / '.join(map(one_line, task.headings))}" if task.headings else "",
        task.body,
        f"## Acceptance Criteria\n\n{criteria}" if criteria else "",
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _introduction(lines: Sequence[MarkdownLine], first_task: int) -> str:
    """What is said before the first section and the first task."""
    found: list[str] = []
    for line in _shown_lines(lines):
        if line.number >= first_task or (line.level and found and any(text.strip() for text in found)):
            break
        if not line.level:
            found.append(line.text)
    return clean_text("\n".join(found)).strip("\n")


def _unclear_boxes(tasks: Collection[_Task], file: str) -> Iterator[Problem]:
    for box in (box for task in tasks for box in (task.box, *task.criteria)):
        if box.mark not in (" ", "x", "X"):
            message = f"The check box '[{box.mark}]' is neither open nor ticked."
            hint = "Write '- [ ]' for what is open and '- [x]' for what is done."
            yield Problem(file=file, line=box.line.number, message=message, hint=hint)


def _too_large(tickets: Collection[PlacedTicket]) -> Iterator[Problem]:
    for placed in tickets:
        if len(placed.ticket.text.encode()) > MAX_BRIEF_BYTES:
            message = f"The task is larger than {MAX_BRIEF_BYTES:,} bytes."
            yield Problem(file=placed.place.file, line=placed.place.line, message=message, hint="Split it.")
