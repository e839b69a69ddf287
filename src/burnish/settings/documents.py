"""TOML documents: values that know the file and line they were written in, and errors that say so.

Nothing here knows what the values mean.
"""

import difflib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from burnish.core.errors import BurnishError, ErrorKind, KeyPath, Violation
from burnish.core.values import Value
from burnish.settings.positions import key_lines

MAX_DOCUMENT_BYTES = 1024 * 1024
"""Far more than a page of settings; a longer file was named by mistake."""

ReadFile = Callable[[str], bytes | None]
"""Gives the bytes of a file by its path from the root of the repository, or None where there is none."""

Known = TypeVar("Known")

_POSITION = re.compile(
    r"^(?P<message>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$", re.DOTALL
)
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")
_HINTS = (
    ("Invalid value", 'Put text in quotes: key = "text".'),
    ("Unescaped '\\'", "Write \\\\ for a backslash, or put the text in single quotes."),
    ("Cannot overwrite", "A key may be given only once; remove one of the two."),
    ("Cannot declare", "A table may be opened only once; put its keys together."),
    ("Cannot mutate", "A table written in { } is complete; add its keys there."),
    ("Expected newline", "Put each key on a line of its own."),
    ("Expected '='", "Every key needs a value: key = value."),
    ("Unclosed array", "Close the array with ]."),
)


class Problem(Value, omit_defaults=False):
    """One thing that is wrong in one document. Line and key are set where they are known."""

    file: str
    line: int | None = None
    key: str = ""
    message: str
    hint: str = ""

    @property
    def sentence(self) -> str:
        """Place, key and message in one line, without the hint."""
        place = SourcePlace(file=self.file, line=self.line).text
        return ": ".join(part for part in (place, self.key, self.message) if part)

    @property
    def text(self) -> str:
        return f"{self.sentence} Hint: {self.hint}" if self.hint else self.sentence


class DocumentError(BurnishError):
    """Settings, or another document, that cannot be used, with every problem that was found."""

    kind = ErrorKind.CONFIGURATION

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        if len(self.problems) == 1:
            super().__init__(self.problems[0].sentence, hint=self.problems[0].hint)
        else:
            lines = "".join(f"\n  {problem.text}" for problem in self.problems)
            super().__init__(f"There are {len(self.problems)} errors.{lines}")


class SourcePlace(Value):
    """Where a value was written. What comes with burnish has no line, as users cannot edit it there."""

    file: str
    line: int | None = None

    @property
    def text(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


class Document(Value):
    """Plain values, and the place of every key path in them: one file, or several merged into one."""

    file: str
    values: Mapping[str, Any]
    places: Mapping[KeyPath, SourcePlace]

    def place_of(self, path: KeyPath) -> SourcePlace:
        """The place of a key, or of the nearest table around it that is written down, or the top of the file."""
        return nearest(self.places, path) or SourcePlace(file=self.file, line=1)

    def problem(self, violation: Violation) -> Problem:
        place, key = self.place_of(violation.path), key_text(violation.path)
        return Problem(file=place.file, line=place.line, key=key, message=violation.message, hint=violation.hint)


def read_file(path: str | Path) -> bytes:
    """The bytes of a document, at most a little more than may be read. Raises `DocumentError`."""
    path = Path(path)
    try:
        with path.open("rb") as stream:
            return stream.read(MAX_DOCUMENT_BYTES + 1)
    except FileNotFoundError:
        message, hint = "There is no such file.", _missing_file_hint(path)
    except IsADirectoryError:
        message, hint = "It is a directory.", "Name the protocol's .toml file in it."
    except PermissionError:
        message, hint = "You may not read the file.", "Check its permissions."
    except (OSError, ValueError) as error:
        message, hint = f"The file cannot be read: {error}.", "Check its path."
    raise DocumentError([Problem(file=str(path), message=message, hint=hint)])


def read_document(raw: bytes, file: str, *, builtin: bool = False) -> Document:
    """Read a document; `file` is the name that messages give it. Raises `DocumentError` with the place."""
    if len(raw) > MAX_DOCUMENT_BYTES:
        hint = "Is this the right file?"
        raise _error(file, None, f"The file is longer than {MAX_DOCUMENT_BYTES:,} bytes.", hint)
    try:
        text = raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise _error(file, line, "The file is not UTF-8 text.", "Save it as UTF-8.") from None
    try:
        values, lines = tomllib.loads(text), key_lines(text)
    except RecursionError:
        raise _error(file, None, "The values are nested too deeply.", "A few levels are enough for settings.") from None
    except ValueError as error:
        # Not only tomllib's own class: Python's complaint about endless numbers comes through as well.
        raise _syntax_error(str(error), text, file) from None
    places = {path: SourcePlace(file=file, line=None if builtin else line) for path, line in lines.items()}
    return Document(file=file, values=values, places=places)


def overlay(lower: Document, upper: Document, tags: Mapping[KeyPath, str]) -> Document:
    """The upper document over the lower one: tables are merged, everything else is replaced.

    `tags` names the tables whose kind is told by one of their keys, by patterns as in `matching`. Where the upper
    document changes the kind, the table is replaced as a whole: keys of the former kind would have no meaning in it.
    """
    places: dict[KeyPath, SourcePlace] = {}

    def keep(path: KeyPath, value: object, origin: Document) -> object:
        """Take a value over as it is, with the places of everything in it."""
        if path in origin.places:
            places[path] = origin.places[path]
        for key, inner in children(value):
            keep((*path, key), inner, origin)
        return value

    def merge(path: KeyPath, below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for key in {**below, **above}:
            here = (*path, key)
            if key not in above:
                merged[key] = keep(here, below[key], lower)
            elif _are_merged(below.get(key), above[key], matching(tags, here)):
                if here in upper.places:
                    places[here] = upper.places[here]
                merged[key] = merge(here, below[key], above[key])
            else:
                merged[key] = keep(here, above[key], upper)
        return merged

    return Document(file=upper.file, values=merge((), lower.values, upper.values), places=places)


def _are_merged(lower: object, upper: object, tag: str | None) -> bool:
    if not (isinstance(lower, dict) and isinstance(upper, dict)):
        return False
    tables = cast("dict[str, object]", lower), cast("dict[str, object]", upper)
    return tag is None or tag not in tables[1] or tables[0].get(tag) == tables[1][tag]


def children(value: object) -> list[tuple[str | int, object]]:
    """What a table or an array holds, with its keys or indices; nothing for a plain value."""
    if isinstance(value, dict):
        return list(cast("dict[str | int, object]", value).items())
    return list(enumerate(cast("list[object]", value))) if isinstance(value, list) else []


def table_at(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The table of a key; an empty one where there is none."""
    found = values.get(key)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def refuse(problems: Iterable[Problem]) -> None:
    """Raise `DocumentError` where there are problems, in the order of files and lines."""
    found = sorted(problems, key=lambda problem: (problem.file, problem.line or 0))
    if found:
        raise DocumentError(found)


def nearest(places: Mapping[KeyPath, Known], path: KeyPath) -> Known | None:
    """What is known of a path, else of the closest table around it."""
    for length in range(len(path), 0, -1):
        if path[:length] in places:
            return places[path[:length]]
    return None


def matching(patterns: Mapping[KeyPath, Known], path: KeyPath) -> Known | None:
    """What the first pattern that fits a path stands for; `*` fits any one key."""
    for pattern, meaning in patterns.items():
        if len(pattern) == len(path) and all(part in ("*", key) for part, key in zip(pattern, path, strict=True)):
            return meaning
    return None


def key_text(path: KeyPath) -> str:
    """A path as one would write it: `exhausted.choices[0].key`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = part if _PLAIN_KEY.fullmatch(part) else json.dumps(part)
            text += f".{name}" if text else name
    return text


def did_you_mean(word: str, known: Iterable[str], *, alike: float = 0.6) -> str:
    """A question with the closest known word, or nothing."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=alike)
    return f"Did you mean '{close[0]}'?" if close else ""


def quoted(words: Iterable[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)


def _missing_file_hint(path: Path) -> str:
    try:
        siblings = sorted(sibling.name for sibling in path.parent.glob("*.toml"))
    except OSError:
        siblings = []
    return did_you_mean(path.name, siblings, alike=0.75) or "Check the path; it is relative to the current folder."


def _syntax_error(complaint: str, text: str, file: str) -> DocumentError:
    hint = next((hint for start, hint in _HINTS if complaint.startswith(start)), "Check this line and the one above.")
    match = _POSITION.match(complaint)
    if match is None:
        return _error(file, None, f"{complaint}.", hint)
    if match["line"] is None:
        return _error(file, text.rstrip().count("\n") + 1, f"{match['message']}, at the end of the file.", hint)
    return _error(file, int(match["line"]), f"{match['message']}, at column {match['column']}.", hint)


def _error(file: str, line: int | None, message: str, hint: str) -> DocumentError:
    return DocumentError([Problem(file=file, line=line, message=message, hint=hint)])
