"""The brief of a change: a ticket, story or page with requirements, and what can be read from it.

That is its title, the acceptance criteria with their check boxes, and the coordination requirements: those of its own
section, and those of the epic that it belongs to.
"""

import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import msgspec

from burnish.core.brief_text import (
    MAX_BRIEF_BYTES,
    acceptance_criteria,
    coordination_requirements,
    front_matter_values,
    is_epic_name,
    section,
    title_of,
)
from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.values import Value

_EPIC_SUFFIXES = (".yaml", ".yml")
_COORDINATION = "coordination requirements"

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
    requirements = (coordination_requirements(_epic_text(root, epic, base_file)), section(text, _COORDINATION))
    criteria = acceptance_criteria(text)
    return Brief(
        path=path,
        file=_below(root, Path(path)),
        title=title_of(text),
        text=text,
        acceptance=tuple(criterion.text for criterion in criteria),
        ticked={criterion.text: criterion.ticked for criterion in criteria if criterion.ticked is not None},
        coordination="\n\n".join(part for part in requirements if part),
        epic=epic,
    )


def _whole_text(path: str) -> str:
    """A brief as it is written. One that agents would only get in part is refused: they could not judge by it."""
    try:
        with Path(path).open("rb") as file:
            raw = file.read(MAX_BRIEF_BYTES + 1)
    except OSError as error:
        raise BriefError(f"The brief '{path}' cannot be read: {error.strerror}.", hint="Check the path.") from None
    if len(raw) > MAX_BRIEF_BYTES:
        raise BriefError(
            f"The brief '{path}' is larger than {MAX_BRIEF_BYTES:,} bytes.",
            hint="Put the part that describes this change into a file of its own.",
        )
    return raw.decode("utf-8", errors="replace")


def _epic(path: Path, root: Path, text: str, story: str) -> str:
    """The epic that a brief names in its front matter; else the nearest one above it that lists the ticket."""
    named = front_matter_values(text).get("epic", "")
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
            if below and is_epic_name(file.name) and _lists(_read(file), names):
                return below
    return ""


def _lists(epic: str, tickets: set[str]) -> bool:
    found = re.findall(r"^\s*(?:-\s+)?(?:id|name):\s*[\"']?(.*?)[\"']?\s*(?:#.*)?$", epic, re.MULTILINE)
    return not tickets.isdisjoint(found)


def _epic_text(root: Path, epic: str, base_file: ReadFile) -> str:
    """The base's version where it has one: a change must not rewrite what it is measured against."""
    if not epic:
        return ""
    raw = base_file(epic)
    return _read(root / epic) if raw is None else raw[:MAX_BRIEF_BYTES].decode("utf-8", errors="replace")


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BRIEF_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return ""


def _below(root: Path, path: Path) -> str:
    """The path from the root of the repository, where that is where it leads."""
    resolved, top = path.resolve(), root.resolve()
    return resolved.relative_to(top).as_posix() if resolved.is_relative_to(top) else ""
