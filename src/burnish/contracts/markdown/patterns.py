"""How the patterns of this package are put together, so that long lists of words stay readable."""

import re
from collections.abc import Callable, Iterator
from functools import cached_property


class Pattern:
    """A pattern that is compiled when it is first used.

    The long ones take tens of milliseconds, and most commands read no answer.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._text)

    def search(self, text: str, position: int = 0) -> re.Match[str] | None:
        return self._compiled.search(text, position)

    def match(self, text: str, position: int = 0) -> re.Match[str] | None:
        return self._compiled.match(text, position)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self._compiled.fullmatch(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self._compiled.finditer(text)

    def split(self, text: str) -> list[str]:
        return [part or "" for part in self._compiled.split(text)]

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
        return self._compiled.sub(replacement, text)


def any_of(*alternatives: str) -> str:
    return f"(?:{'|'.join(alternatives)})"


def words(text: str) -> str:
    """A group that matches any of these words, given with blanks between them."""
    return any_of(*text.split())


def search(*alternatives: str) -> Pattern:
    return Pattern(any_of(*alternatives))
