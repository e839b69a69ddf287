"""Where a finding is: every way to write a path with its lines, confined to the repository."""

import re

from burnish.contracts.paths import MAX_PATH_LENGTH, IsFile, confine
from burnish.core.findings import Location
from burnish.core.values import Value

_LINES = r"(\d{1,7})(?:\s?(?:-|–|—|to)\s?L?(\d{1,7}))?"
_SUFFIX = re.compile(rf"(?::|#L|\(L|@L){_LINES}(?::\d{{1,5}})?\)?$")
_AFTER = re.compile(rf"[\s,;:`(]{{0,4}}(?:\b(?:lines?|ll?\.?|L)\s?|:|#L){_LINES}", re.IGNORECASE)
_NO_LINE = re.compile(r":(?:<?lines?(?:[-_ ]?(?:number|no))?>?|\{line\}|<n>|n|x{1,3}|\?{1,3})$", re.IGNORECASE)
"""The word for a line where its number should be, as the form of the document shows it."""
_EXAMPLE = "path/to/"
_BARE_LINES = re.compile(rf"^(?:lines?\s|L)?{_LINES}", re.IGNORECASE)
_CODE = re.compile(r"`([^`]{1,1024})`")
_LINK = re.compile(r"\[([^\]]{1,512})\]\(([^)]{1,1024})\)")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}$")
_WELL_KNOWN = frozenset(
    ("Dockerfile", "Makefile", "Jenkinsfile", "LICENSE", "README", "Procfile", "Gemfile", "Rakefile")
)
_NOWHERE = frozenset(
    ("n/a", "na", "none", "-", "—", "unknown", "general", "not applicable", "various", "multiple files")
)
_WORD = re.compile(r"[^\s,;()\[\]]+")
_MAX_PLACES = 50


class Places(Value):
    """The places that a text names, and the paths that had to be dropped."""

    locations: tuple[Location, ...] = ()
    refused: tuple[str, ...] = ()


def read_places(value: str, is_file: IsFile) -> Places:
    """The places that the value of a `File:` line names."""
    value = value.strip()
    if value.lower().strip("`*_. ") in _NOWHERE:
        return Places()
    whole = _whole(value)
    return _confined(whole or _parts(_LINK.sub(_link_text, value)), is_file)


def find_place(text: str, is_file: IsFile) -> Places:
    """The first place that running text names, where it gives a path with a line; prose names many files in passing."""
    for word in _WORD.findall(text[:2_000]):
        token = word.strip("`*_()[]<>,;\"'").rstrip(".:")
        path, lines = _split(token)
        if lines and _is_path(path):
            return _confined([(path, lines)], is_file)
    return Places()


def read_lines(value: str) -> tuple[int, int | None] | None:
    """The lines that a `Lines:` field gives."""
    found = _BARE_LINES.match(value.strip("`* "))
    return _span(found) if found else None


def _whole(value: str) -> list[tuple[str, tuple[int, int | None] | None]]:
    """A value that is nothing but one path, which may hold blanks."""
    if any(mark in value for mark in "`,;()[]<>"):
        return []
    path, lines = _split(value)
    is_one = " " not in path or (lines is not None and _EXTENSION.search(path) is not None and path.count(" ") <= 3)
    return [(path, lines)] if is_one and (_is_path(path) or (lines and " " not in path)) else []


def _parts(value: str) -> list[tuple[str, tuple[int, int | None] | None]]:
    """Each path of a longer value, in code marks or as a word, with the lines that follow it."""
    found: list[tuple[str, tuple[int, int | None] | None]] = []
    quoted = list(_CODE.finditer(value[:8_000]))
    spans = [(match.group(1).strip(), match.end()) for match in quoted] or _words(value)
    for text, end in spans[:_MAX_PLACES]:
        path, lines = _split(text)
        if not _is_path(path) and not (quoted and not found and " " not in path):
            continue
        after = _AFTER.match(value, end)
        if lines is None and after is not None:
            lines = _span(after)
        found.append((path, lines))
    return found


def _words(value: str) -> list[tuple[str, int]]:
    return [(match.group().rstrip(".:,;"), match.end()) for match in re.finditer(r"[^\s,;()`]{1,1024}", value[:8_000])]


def _split(text: str) -> tuple[str, tuple[int, int | None] | None]:
    """A path and the lines at its end: `a.py:10`, `a.py:10-20`, `a.py#L10-L20`."""
    if len(text) > MAX_PATH_LENGTH + 32:
        return "", None
    found = _SUFFIX.search(text[-40:])
    if not found:
        return _NO_LINE.sub("", text), None
    return text[: len(text) - len(text[-40:]) + found.start()], _span(found)


def _span(found: re.Match[str]) -> tuple[int, int | None] | None:
    first = int(found.group(1))
    last = int(found.group(2)) if found.group(2) else None
    if first < 1:
        return None
    return first, (last if last is not None and last > first else None)


def _is_path(text: str) -> bool:
    if not text or text.endswith("/") or "://" in text.removeprefix("file://"):
        return False
    return _EXTENSION.search(text) is not None or text in _WELL_KNOWN or ("/" in text and " " not in text)


def _link_text(match: re.Match[str]) -> str:
    """A link to a file: its target says the lines, its text may not."""
    target = match.group(2)
    return f"`{target}`" if _split(target)[1] or _split(match.group(1))[1] is None else f"`{match.group(1)}`"


def _confined(raw: list[tuple[str, tuple[int, int | None] | None]], is_file: IsFile) -> Places:
    locations: dict[Location, None] = {}
    refused: list[str] = []
    for path, lines in raw:
        if path.startswith(_EXAMPLE) and not is_file(path):  # copied from the form: it names no file
            continue
        inside = confine(path, is_file)
        if inside is None:
            refused.append(path)
            continue
        first, last = lines or (None, None)
        locations[Location(file=inside, line=first, end_line=last)] = None
    return Places(locations=tuple(locations), refused=tuple(refused))
