"""Where each key of a TOML document stands: its path and its line.

The standard library's reader gives values without positions. This scanner gives positions without values, and only
for text that the reader has already accepted: it looks for keys and steps over everything else. It must not judge.
"""

import re
import tomllib
from bisect import bisect_right

from burnish.core.errors import KeyPath

_BLANK = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[^\s.=\]\"']+")
_SCALAR = re.compile(r"[^,\]}#\n]+")
_STRINGS = (
    re.compile(r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})', re.DOTALL),
    re.compile(r"'''.*?'''(?:'{0,2})", re.DOTALL),
    re.compile(r'"(?:[^"\\]|\\.)*"'),
    re.compile(r"'[^']*'"),
)
"""The long forms first: a short one would match the first two of three quotes."""


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line (1-based) of every key path in a valid document; of a table or array, where it is first named."""
    return _Scanner(text).scan()


class _Scanner:
    """One pass over the text. `_at` is the next character; `_table` is the path of the header that holds."""

    def __init__(self, text: str) -> None:
        self._text = text.replace("\r\n", "\n")
        self._at = 0
        self._table: KeyPath = ()
        self._lines: dict[KeyPath, int] = {}
        self._array_tables: dict[KeyPath, int] = {}
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", self._text))]

    def scan(self) -> dict[KeyPath, int]:
        while self._skip(_BLANK) < len(self._text):
            if self._take("[["):
                self._header(of_array=True)
            elif self._take("["):
                self._header(of_array=False)
            else:
                self._pair(self._table)
        return self._lines

    def _header(self, *, of_array: bool) -> None:
        line = self._line()
        *parents, last = self._key()
        path: KeyPath = ()
        for part in parents:
            # A header below an array of tables speaks of the table that was opened last.
            path = self._in_last_table((*path, part), line)
        path = (*path, last)
        if of_array:
            self._array_tables[path] = self._array_tables.get(path, 0) + 1
        self._table = self._in_last_table(path, line)
        self._take("]]" if of_array else "]")

    def _in_last_table(self, path: KeyPath, line: int) -> KeyPath:
        self._lines.setdefault(path, line)
        if path not in self._array_tables:
            return path
        path = (*path, self._array_tables[path] - 1)
        self._lines.setdefault(path, line)
        return path

    def _pair(self, table: KeyPath) -> None:
        line = self._line()
        path = table
        for part in self._key():
            path = (*path, part)
            self._lines.setdefault(path, line)
        self._take("=")
        self._skip(_SPACE)
        self._value(path)

    def _key(self) -> list[str]:
        parts: list[str] = []
        while True:
            self._skip(_SPACE)
            parts.append(self._key_part())
            self._skip(_SPACE)
            if not self._take("."):
                return parts

    def _key_part(self) -> str:
        start = self._at
        if self._skip_string():
            # The reader itself resolves quotes and escapes, so that both agree on the name.
            return tomllib.loads(f"key = {self._text[start : self._at]}")["key"]
        return self._text[start : self._skip(_BARE_KEY)]

    def _value(self, path: KeyPath) -> None:
        if self._take("["):
            self._array(path)
        elif self._take("{"):
            self._inline_table(path)
        elif not self._skip_string():
            self._skip(_SCALAR)

    def _array(self, path: KeyPath) -> None:
        index = 0
        while True:
            self._skip(_BLANK)
            if self._take("]"):
                return
            self._lines[*path, index] = self._line()
            self._value((*path, index))
            self._skip(_BLANK)
            self._take(",")
            index += 1

    def _inline_table(self, path: KeyPath) -> None:
        while True:
            self._skip(_BLANK)
            if self._take("}"):
                return
            self._pair(path)
            self._skip(_BLANK)
            self._take(",")

    def _skip_string(self) -> bool:
        if not self._text.startswith(('"', "'"), self._at):
            return False
        return any(self._skip(pattern) for pattern in _STRINGS if pattern.match(self._text, self._at))

    def _skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self._text, self._at)
        if match is not None:
            self._at = match.end()
        return self._at

    def _take(self, token: str) -> bool:
        found = self._text.startswith(token, self._at)
        if found:
            self._at += len(token)
        return found

    def _line(self) -> int:
        return bisect_right(self._line_starts, self._at)
