"""What all readers of sources share: their error, how a file is read, and names made from words."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from burnish.core.errors import ErrorKind
from burnish.settings.documents import DocumentError, Problem

MAX_SOURCE_BYTES = 4 * 1024 * 1024
_MOST_PROBLEMS = 40
_SLUG_BYTES = 60
_DIGITS = 6


class SourceError(DocumentError):
    """A source that cannot be used, with every problem that was found in it."""

    kind = ErrorKind.USAGE


def refuse(problems: Iterable[Problem]) -> None:
    """Raise `SourceError` where there are problems, in the order of files and lines."""
    found = sorted(dict.fromkeys(problems), key=lambda problem: (problem.file, problem.line or 0))
    if not found:
        return
    if len(found) > _MOST_PROBLEMS:
        left = len(found) - _MOST_PROBLEMS
        found[_MOST_PROBLEMS:] = [Problem(file=found[0].file, message=f"There are {left:,} more errors.")]
    raise SourceError(found)


def source_error(file: Path | str, message: str, hint: str, line: int | None = None) -> SourceError:
    return SourceError([Problem(file=str(file), line=line, message=message, hint=hint)])


def read_text(path: Path, most: int = MAX_SOURCE_BYTES) -> str:
    """A text file as a whole. Raises `SourceError`."""
    try:
        if not path.is_file():  # a pipe would never end
            raise source_error(path, "It is not a regular file.", "Name a text file.")
        with path.open("rb") as stream:
            raw = stream.read(most + 1)
    except OSError as error:
        raise source_error(path, f"The file cannot be read: {error.strerror}.", "Check its permissions.") from None
    if len(raw) > most:
        raise source_error(path, f"The file is larger than {most:,} bytes.", "Split it into several files.")
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise source_error(path, "The file is not UTF-8 text.", "Save it as UTF-8.", line) from None


def slug(text: str) -> str:
    """A text as a name of small letters, digits and hyphens; empty where it has none of them.

    Of a long one, the beginning and digits that depend on all of it, so that two that begin alike keep their names.
    """
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFC", text.casefold()))
    whole = "-".join(words)
    if len(whole.encode()) <= _SLUG_BYTES:
        return whole
    cut = whole.encode()[: _SLUG_BYTES - _DIGITS - 1].decode(errors="ignore")
    digits = hashlib.sha256(whole.encode()).hexdigest()[:_DIGITS]
    return f"{cut.rpartition('-')[0] or cut}-{digits}"
