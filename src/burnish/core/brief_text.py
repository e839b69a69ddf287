"""What is written in briefs, tickets and epics for people: titles, sections, criteria, coordination requirements."""

import re
from collections.abc import Iterator

from burnish.core.text import clean_text
from burnish.core.values import Value

MAX_BRIEF_BYTES = 256 * 1024
"""Agents are given a brief as a whole; they could not judge by a part of it."""
_TITLE_LENGTH = 120
_HEADING = re.compile(r"^(?P<level>#{1,6})\s+(?P<title>.*)$")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[(?P<box>[ xX])\]\s+)?(?P<text>\S.*)$")
_FENCE = re.compile(r"^\s*(?:[-*+]\s+)?(?P<sign>`{3,}+(?!.*`)|~{3,})")
_KIND_OF_BRIEF = re.compile(r"^(?:story|ticket|bead|issue|task)\b[^:]*:\s*(?=\S)", re.IGNORECASE)
_FRONT_MATTER = re.compile(r"\A(?P<mark>#\s*)?---[ \t]*\n(?P<body>.*?)\n(?:#\s*)?---[ \t]*(?:\n|\Z)", re.DOTALL)
_COMMENT_MARK = re.compile(r"^# ?", re.MULTILINE)
_COORDINATION_KEY = re.compile(r"^([\"']?)coordination_requirements\1\s*:[ \t]*(?P<value>.*)$")


class BriefCriterion(Value):
    text: str
    ticked: bool | None = None
    """Whether its box is ticked; None for one without a box."""


class MarkdownLine(Value):
    number: int
    text: str
    level: int = 0
    """That of a heading; 0 for all other lines."""
    title: str = ""
    in_code: bool = False
    """Whether it belongs to a block of code between fences: nothing in it has a meaning."""


def markdown_lines(text: str) -> Iterator[MarkdownLine]:
    """The lines of a text after its front matter, with the numbers they have in the whole."""
    text = _with_plain_ends(text)
    matter = _FRONT_MATTER.match(text)
    begin = matter.end() if matter else 0
    fence = ""
    for number, line in enumerate(text[begin:].split("\n"), start=text.count("\n", 0, begin) + 1):
        sign = _FENCE.match(line)
        if fence:
            yield MarkdownLine(number=number, text=line, in_code=True)
            if sign and sign["sign"].startswith(fence) and line.strip() == sign["sign"]:
                fence = ""
        elif sign:
            fence = sign["sign"]
            yield MarkdownLine(number=number, text=line, in_code=True)
        elif heading := _HEADING.match(line):
            title = heading["title"].rstrip().rstrip("#").rstrip()
            yield MarkdownLine(number=number, text=line, level=len(heading["level"]), title=title)
        else:
            yield MarkdownLine(number=number, text=line)


def is_about_acceptance(heading: str) -> bool:
    return "acceptance criteria" in heading.lower()


def acceptance_criteria(text: str) -> tuple[BriefCriterion, ...]:
    """The items of the section that is called so, each with the lines that go on with it."""
    inside = goes_on = ended = False
    found: list[BriefCriterion] = []
    for line in markdown_lines(text):
        written = line.text.strip()
        if line.level:
            inside, goes_on = is_about_acceptance(line.title), False
        elif inside and not line.in_code and (item := _ITEM.match(line.text)):
            found.append(
                BriefCriterion(text=item["text"].rstrip(), ticked=None if item["box"] is None else item["box"] != " ")
            )
            goes_on = True
        elif goes_on and written and (line.text[0] in " \t" or not ended):
            found[-1] = BriefCriterion(text=f"{found[-1].text} {written}", ticked=found[-1].ticked)
        elif written:
            goes_on = False
        ended = not written
    return tuple(found)


def title_of(text: str) -> str:
    """The title of a brief: that of its front matter, else its first heading without the kind and number before it."""
    first = next((line.title for line in markdown_lines(text) if line.level), "")
    return one_line(front_matter_values(text).get("title", "") or _KIND_OF_BRIEF.sub("", first))


def one_line(text: str) -> str:
    """A text as a title: without control characters and line ends, not too long."""
    return " ".join(clean_text(text).split())[:_TITLE_LENGTH]


def section(text: str, title: str) -> str:
    """The text below the heading of this title, with the sections inside it; empty where there is none."""
    return "\n".join(line.text for line in section_lines(text, title)).strip("\n")


def section_lines(text: str, title: str) -> tuple[MarkdownLine, ...]:
    """The lines below the heading of this title, which is given in small letters."""
    level = 0
    found: list[MarkdownLine] = []
    for line in markdown_lines(text):
        if level and 0 < line.level <= level:
            break
        if level:
            found.append(line)
        elif line.level and line.title.strip().lower() == title:
            level = line.level
    return tuple(found)


def front_matter(text: str) -> str:
    """The YAML before the text, below an empty line for its fence. Some projects comment it out."""
    matter = _FRONT_MATTER.match(_with_plain_ends(text))
    if matter is None:
        return ""
    body = matter["body"]
    return "\n" + (_COMMENT_MARK.sub("", body) if matter["mark"] else body)


def front_matter_values(text: str) -> dict[str, str]:
    """The plain `key: value` lines before the text."""
    pairs = (line.strip().partition(":") for line in front_matter(text).splitlines())
    return {key.strip(): value.strip().strip("\"'") for key, _, value in pairs}


def coordination_requirements(epic: str) -> str:
    """The `coordination_requirements` of an epic, as they are written: they are for reading, not for a program."""
    found: list[str] = []
    for line in epic.splitlines():
        key = _COORDINATION_KEY.match(line)
        if key:
            found = [key["value"]]
        elif found:
            if line[:1] not in ("", " ", "\t", "#", "-"):
                break
            found.append(line)
    return "\n".join(found).strip("\n")


def is_epic_name(name: str) -> bool:
    return name in ("epic.yaml", "epic.yml") or name.endswith((".epic.yaml", ".epic.yml"))


def _with_plain_ends(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
