"""TOML documents that know where each of their values stands. Nothing here knows what the values mean."""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any, TypeVar

from burnish.core.values import Value
from burnish.protocols.errors import DocumentError, Problem
from burnish.protocols.positions import KeyPath, key_lines

MAX_DOCUMENT_BYTES = 1024 * 1024
"""Far more than a page of settings; a longer file was named by mistake."""

Known = TypeVar("Known")

_PLACE = re.compile(
    r"^(?P<message>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$", re.DOTALL
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_HINTS = (
    ("Invalid value", 'Text stands in quotes: key = "text".'),
    ("Unescaped '\\'", "Write \\\\ for a backslash, or put the text in single quotes."),
    ("Cannot overwrite", "A key may be given only once; remove one of the two."),
    ("Cannot declare", "A table may be opened only once; bring its keys together."),
    ("Cannot mutate", "A table written in { } is complete; add its keys there."),
    ("Expected newline", "Put each key on a line of its own."),
    ("Expected '='", "Every key has a value: key = value."),
    ("Unclosed array", "Close the array with ]."),
)


class Document(Value):
    """The plain values of a document, and the line of every key path in it."""

    file: str
    values: dict[str, Any]
    lines: Mapping[KeyPath, int]

    def line_of(self, path: KeyPath) -> int:
        """The line of a key, or of the nearest table around it that is written down."""
        return nearest(self.lines, path) or 1


def read_document(raw: bytes, file: str) -> Document:
    """Read a document; `file` is the name that messages give it. Raises `DocumentError` with the place."""
    if len(raw) > MAX_DOCUMENT_BYTES:
        hint = "Is it the file that you meant?"
        raise _error(file, None, f"The file is longer than {MAX_DOCUMENT_BYTES:,} bytes.", hint)
    text = _decode(raw, file)
    try:
        return Document(file=file, values=tomllib.loads(text), lines=key_lines(text))
    except RecursionError:
        raise _error(file, None, "The values are nested too deeply.", "Settings need a few levels only.") from None
    except ValueError as error:
        # Not only its own class: the reader lets Python's complaint about endless numbers through.
        raise _syntax_error(str(error), text, file) from None


def nearest(places: Mapping[KeyPath, Known], path: KeyPath) -> Known | None:
    """What is known of a path, else of the closest table around it."""
    for length in range(len(path), 0, -1):
        if path[:length] in places:
            return places[path[:length]]
    return None


def key_text(path: KeyPath) -> str:
    """A path as one would write it: `exhausted.choices[0].key`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = part if _BARE_KEY.fullmatch(part) else json.dumps(part)
            text += f".{name}" if text else name
    return text


def _decode(raw: bytes, file: str) -> str:
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise _error(file, line, "The file is not UTF-8 text.", "Save it as UTF-8.") from None


def _syntax_error(complaint: str, text: str, file: str) -> DocumentError:
    hint = next(
        (hint for start, hint in _HINTS if complaint.startswith(start)), "Look at this line and at the one above."
    )
    match = _PLACE.match(complaint)
    if match is None:
        return _error(file, None, f"{complaint}.", hint)
    if match["line"] is None:
        return _error(file, text.rstrip().count("\n") + 1, f"{match['message']}, at the end of the file.", hint)
    return _error(file, int(match["line"]), f"{match['message']}, at column {match['column']}.", hint)


def _error(file: str, line: int | None, message: str, hint: str) -> DocumentError:
    return DocumentError([Problem(file=file, line=line, message=message, hint=hint)])
