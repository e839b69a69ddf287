"""The brief of a change: a ticket, story or page with requirements, and what can be read from it.

That is its title, the acceptance criteria with their check boxes, and the coordination requirements: those of its own
section, and those of the epic that it belongs to.
"""

import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import msgspec

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.text import clean_text
from burnish.core.values import Value

MAX_BYTES = 256 * 1024
_TITLE_LENGTH = 120
_HEADING = re.compile(r"^(?P<level>#{1,6})\s+(?P<title>.*?)\s*#*\s*$")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[(?P<box>[ xX])\]\s+)?(?P<text>.+?)\s*$")
_KIND_OF_BRIEF = re.compile(r"^(?:story|ticket|bead|issue|task)\b[^:]*:\s*(?=\S)", re.IGNORECASE)
_FRONT_MATTER = re.compile(r"\A(?:#\s*)?---[ \t]*\n(?P<body>.*?)\n(?:#\s*)?---[ \t]*(?:\n|\Z)", re.DOTALL)
_EPIC_SUFFIXES = (".yaml", ".yml")
_COORDINATION = "coordination requirements"
_COORDINATION_KEY = re.compile(r"^coordination_requirements\s*:[ \t]*(?P<value>.*)$")

ReadFile = Callable[[str], bytes | None]


class BriefError(BurnishError):
    kind = ErrorKind.USAGE


class Brief(Value):
    path: str = ""
    """As it was named."""
    file: str = ""
    """The same below the root of the repository; empty where it is elsewhere."""
    title: str = ""
    text: str = ""
    acceptance: tuple[str, ...] = ()
    ticked: dict[str, bool] = msgspec.field(default_factory=dict[str, bool])
    """The criteria that have a check box, and whether it is ticked."""
    coordination: str = ""
    epic: str = ""
    """The epic that it belongs to, below the root of the repository."""


def read_brief(path: str, root: Path, story: str, base_file: ReadFile) -> Brief:
    """Read a brief; no path is no brief. `base_file` reads files of the base, by their path below the root."""
    if not path:
        return Brief()
    text = _whole_text(path)
    epic = _epic(Path(path), root, text, story)
    requirements = (_epic_requirements(_epic_text(root, epic, base_file)), section(text, _COORDINATION))
    criteria = _criteria(text)
    return Brief(
        path=path,
        file=_below(root, Path(path)),
        title=title_of(text),
        text=text,
        acceptance=tuple(criterion for criterion, _ in criteria),
        ticked={criterion: ticked for criterion, ticked in criteria if ticked is not None},
        coordination="\n\n".join(part for part in requirements if part),
        epic=epic,
    )


def _whole_text(path: str) -> str:
    """A brief as it is written. One that agents would only get in part is refused: they could not judge by it."""
    try:
        with Path(path).open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise BriefError(f"The brief '{path}' cannot be read: {error.strerror}.", hint="Check the path.") from None
    if len(raw) > MAX_BYTES:
        raise BriefError(
            f"The brief '{path}' is larger than {MAX_BYTES:,} bytes.",
            hint="Put the part that describes this change into a file of its own.",
        )
    return raw.decode("utf-8", errors="replace")


def acceptance_criteria(text: str) -> tuple[str, ...]:
    """The items of the section that is called so, each with the lines that go on with it."""
    return tuple(criterion for criterion, _ in _criteria(text))


def _criteria(text: str) -> list[tuple[str, bool | None]]:
    """The acceptance criteria, and whether the box of each is ticked; None for one without a box."""
    inside = goes_on = ended = False
    found: list[tuple[str, bool | None]] = []
    for line in text.splitlines():
        heading = _HEADING.match(line)
        if heading:
            inside, goes_on = "acceptance criteria" in heading["title"].lower(), False
        elif inside and (item := _ITEM.match(line)):
            found.append((item["text"], None if item["box"] is None else item["box"] != " "))
            goes_on = True
        elif goes_on and line.strip() and (line[0] in " \t" or not ended):
            criterion, ticked = found[-1]
            found[-1] = (f"{criterion} {line.strip()}", ticked)
        elif line.strip():
            goes_on = False
        ended = not line.strip()
    return found


def title_of(text: str) -> str:
    """The title of a brief: that of its front matter, else its first heading without the kind and number before it."""
    named = _front_matter(text).get("title", "")
    headings = (_HEADING.match(line) for line in text.splitlines())
    first = next((heading["title"] for heading in headings if heading), "")
    words = named or _KIND_OF_BRIEF.sub("", first)
    return " ".join(clean_text(words).split())[:_TITLE_LENGTH]


def section(text: str, title: str) -> str:
    """The text below the heading of this title, with the sections inside it; empty where there is none."""
    level = 0
    found: list[str] = []
    for line in text.splitlines():
        heading = _HEADING.match(line)
        if level and heading and len(heading["level"]) <= level:
            break
        if level:
            found.append(line)
        elif heading and heading["title"].strip().lower() == title:
            level = len(heading["level"])
    return "\n".join(found).strip("\n")


def _front_matter(text: str) -> dict[str, str]:
    """The plain `key: value` lines before the text. Some projects comment them out."""
    matter = _FRONT_MATTER.match(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    lines = matter["body"].splitlines() if matter else []
    pairs = (line.removeprefix("#").strip().partition(":") for line in lines)
    return {key.strip(): value.strip().strip("\"'") for key, _, value in pairs}


def _epic(path: Path, root: Path, text: str, story: str) -> str:
    """The epic that a brief names in its front matter; else the nearest one above it that lists the ticket."""
    named = _front_matter(text).get("epic", "")
    if named.endswith(_EPIC_SUFFIXES):  # other projects give their epic a number here
        places = (place for place in (path.parent / named, root / named) if place.is_file())
        found = next((below for place in places if (below := _below(root, place))), "")
        if not found:
            raise BriefError(
                f"The brief '{path}' names the epic '{named}', which is not in the repository.",
                hint=(
                    "Set 'epic:' in the brief to its path, relative to the brief's folder or to the root of the "
                    "repository."
                ),
            )
        return found
    names = {name for name in (story, path.stem, title_of(text)) if name}
    folder = PurePosixPath(_below(root, path)).parent if _below(root, path) else None
    for place in () if folder is None else (folder, *folder.parents):
        for file in sorted((root / place).glob("*.y*ml")):
            below = _below(root, file)
            if below and _is_epic_name(file.name) and _lists(_read(file), names):
                return below
    return ""


def _is_epic_name(name: str) -> bool:
    return name in ("epic.yaml", "epic.yml") or name.endswith((".epic.yaml", ".epic.yml"))


def _lists(epic: str, tickets: set[str]) -> bool:
    found = re.findall(r"^\s*(?:-\s+)?(?:id|name):\s*[\"']?(.*?)[\"']?\s*(?:#.*)?$", epic, re.MULTILINE)
    return not tickets.isdisjoint(found)


def _epic_text(root: Path, epic: str, base_file: ReadFile) -> str:
    """The base's version where it has one: a change must not rewrite what it is measured against."""
    if not epic:
        return ""
    raw = base_file(epic)
    return _read(root / epic) if raw is None else raw[:MAX_BYTES].decode("utf-8", errors="replace")


def _epic_requirements(epic: str) -> str:
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


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return ""


def _below(root: Path, path: Path) -> str:
    """The path from the root of the repository, where that is where it leads."""
    resolved, top = path.resolve(), root.resolve()
    return resolved.relative_to(top).as_posix() if resolved.is_relative_to(top) else ""
