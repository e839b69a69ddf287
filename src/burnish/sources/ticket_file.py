"""The markdown file of a ticket: its front matter, and what its sections say about files and dependencies."""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from burnish.core.brief_text import MAX_BRIEF_BYTES, MarkdownLine, front_matter, section_lines
from burnish.core.epics.plan import Ticket
from burnish.core.values import Value
from burnish.settings.documents import Problem, SourcePlace
from burnish.settings.yaml_nodes import NOTHING
from burnish.sources.fields import Fields, read_yaml
from burnish.sources.interface import read_text

_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(?P<text>\S.*)$")
_NONE = re.compile(r"^[*_(]*(?:none|nothing|no|n/?a|[-–—]+)[*_).,:;]*(?:\s|$)", re.IGNORECASE)
_BEFORE = re.compile(r"^[*_]*(?:depends on|blocked by|requires|needs|after|upstream)[*_]*\s*:[*_]*\s*", re.IGNORECASE)
_AFTERWARDS = re.compile(r"^[*_]*(?:blocks|unblocks|enables|required by|needed by|downstream)\b", re.IGNORECASE)
# `a`, **a**, [a](a.md), a: reason, a - reason, a (reason)
_NAME = re.compile(
    r"^[`*\[]*+(?P<name>[^\s`*\[\](),:]++)[`*\]]*+(?:\([^)]*+\))?:?[`*]*+(?:\s+[-–—(].*|(?<=[:`*])\s.*)?$"
)
_CODE = re.compile(r"^[*_]*`(?P<path>[^`]+)`")


class TicketFile(Value):
    path: str
    """Below the root of the repository, or the whole path."""
    name: str
    """What messages call it."""
    text: str
    dependencies: Mapping[str, SourcePlace]
    prose: tuple[MarkdownLine, ...] = ()
    """Lines on dependencies that do not name one alone."""
    touches: tuple[str, ...] = ()
    critical: bool | None = None
    reviewed: bool | None = None


def read_ticket_file(path: Path, shown: str, problems: list[Problem]) -> TicketFile:
    """Read the file of a ticket. Raises `SourceError`; what is wrong with single fields is added to the problems."""
    text, file = read_text(path, MAX_BRIEF_BYTES), str(path)
    matter = front_matter(text)
    # Text between two rulers is no mapping, and no front matter.
    fields = Fields(read_yaml(matter, file) if matter.strip() else NOTHING, file, problems)
    dependencies = fields.names("depends_on", "dependencies")
    prose: list[MarkdownLine] = []
    for line in _lines_on_dependencies(text):
        names = _names_in(line)
        prose += () if names else (line,)
        for name in names:
            dependencies.setdefault(name, SourcePlace(file=file, line=line.number))
    bullets = (_BULLET.match(line.text) for line in section_lines(text, "files to modify") if not line.in_code)
    touched = (
        *fields.sentences("touches", "files_to_modify"),
        *(bullet["text"] for bullet in bullets if bullet),
    )
    return TicketFile(
        path=shown,
        name=file,
        text=text,
        dependencies=dependencies,
        prose=tuple(prose),
        touches=tuple(dict.fromkeys(path for path in map(touched_path, touched) if path)),
        critical=fields.flag("critical"),
        reviewed=fields.flag("review"),
    )


def touched_path(item: str) -> str:
    """The path or glob that an item begins with; empty for words."""
    code = _CODE.match(item)
    if code:
        return code["path"].strip()
    first = item.split(maxsplit=1)[0].rstrip(",:;") if item.split() else ""
    if first.startswith("**") and not first.startswith("**/"):
        first = first.removeprefix("**").removesuffix("**").rstrip(":")
    return first if first == item.strip() or any(sign in first for sign in "/.*") else ""


def prose_problems(file: TicketFile, ticket: Ticket, known: Collection[str]) -> Iterator[Problem]:
    """Dependencies in sentences: one that is not declared anywhere would be lost without a word."""
    undeclared = set(known) - {ticket.id, *ticket.depends_on}
    for line in file.prose:
        words = {word.strip("`*_.,:;()[]\"'") for word in re.split(r"[\s,/]+", line.text)}
        for name in sorted(words & undeclared):
            message = f"The sentence names the ticket '{name}', which is not listed as a dependency of '{ticket.id}'."
            hint = f"Write '- {name}' on a line of its own, or leave the name out."
            yield Problem(file=file.name, line=line.number, message=message, hint=hint)


def _lines_on_dependencies(text: str) -> Iterator[MarkdownLine]:
    """The lines that say what a ticket waits for, not what waits for it."""
    is_about_others = False
    for line in section_lines(text, "dependencies"):
        bullet = _BULLET.match(line.text)
        written = bullet["text"] if bullet else line.text.strip()
        if line.level:
            is_about_others = bool(_AFTERWARDS.match(line.title))
        elif written and not is_about_others and not _AFTERWARDS.match(written) and not _NONE.match(written):
            yield line


def _names_in(line: MarkdownLine) -> tuple[str, ...]:
    """The ids that a line consists of; none where it is a sentence."""
    bullet = _BULLET.match(line.text)
    written = _BEFORE.sub("", (bullet["text"] if bullet else line.text).strip())
    if line.in_code or not written or _NONE.match(written):
        return ()
    names = [_NAME.match(part.strip()) for part in written.split(",")]
    found = [name["name"].rpartition("/")[2].removesuffix(".md").rstrip(".") for name in names if name]
    return tuple(found) if len(found) == len(names) and all(found) else ()
