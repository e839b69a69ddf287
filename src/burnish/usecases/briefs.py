"""The brief of a change: a ticket, story or page with requirements, and the acceptance criteria in it."""

import re
from pathlib import Path

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.values import Value

MAX_BYTES = 256 * 1024
_HEADING = re.compile(r"^#{1,6}\s+(?P<title>.*?)\s*#*\s*$")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(?P<text>.+?)\s*$")


class BriefError(BurnishError):
    """A brief that cannot be read."""

    kind = ErrorKind.USAGE


class Brief(Value):
    """A brief as reviewers and fixers get it."""

    path: str = ""
    text: str = ""
    acceptance: tuple[str, ...] = ()


def read_brief(path: str) -> Brief:
    """Read a brief; no path is no brief."""
    if not path:
        return Brief()
    try:
        text = Path(path).read_bytes()[:MAX_BYTES].decode("utf-8", errors="replace")
    except OSError as error:
        raise BriefError(f"The brief '{path}' cannot be read: {error.strerror}.", hint="Look at the path.") from None
    return Brief(path=path, text=text, acceptance=acceptance_criteria(text))


def acceptance_criteria(text: str) -> tuple[str, ...]:
    """The items of the section that is called so."""
    inside = False
    found: list[str] = []
    for line in text.splitlines():
        heading = _HEADING.match(line)
        if heading:
            inside = "acceptance criteria" in heading["title"].lower()
        elif inside and (item := _ITEM.match(line)):
            found.append(item["text"])
    return tuple(found)
