"""Turns the fuzzer's bytes into choices, texts and JSON values, so that a mutated byte changes one decision.

When the bytes run out every choice is the first one and every text is empty: any input makes a document.
"""

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Item = TypeVar("Item")

_WORDS = ("clean", "pass", "0", "none", "critical", "error", "info", "src/app.py", "../app.py", "null")
_NUMBERS = (0, 1, -1, 100, 0.5, 10**20, -(10**400))


class Draw:
    """Reads the fuzzer's bytes from front to back."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def number(self, below: int) -> int:
        """A number from 0 to below `below`, which is at most 256."""
        if self._at >= len(self._data):
            return 0
        byte = self._data[self._at]
        self._at += 1
        return byte % below

    def flag(self) -> bool:
        return self.number(2) == 1

    def choice(self, options: Sequence[Item]) -> Item:
        return options[self.number(len(options))]

    def text(self, most: int = 60) -> str:
        length = self.number(most + 1)
        taken = self._data[self._at : self._at + length]
        self._at += len(taken)
        return taken.decode("utf-8", errors="replace")

    def rest(self) -> str:
        taken, self._at = self._data[self._at :], len(self._data)
        return taken.decode("utf-8", errors="replace")

    def json(self, depth: int = 3) -> Json:
        """Any JSON value, not deeper than `depth`."""
        match self.number(9 if depth > 0 else 6):
            case 0:
                return self.choice(_WORDS)
            case 1:
                return self.text()
            case 2:
                return self.choice(_NUMBERS)
            case 3:
                return self.flag()
            case 4:
                return None
            case 5:
                return self.number(256)
            case 6:
                return [self.json(depth - 1) for _ in range(self.number(4))]
            case _:
                return self.members(depth)

    def members(self, depth: int = 2, names: Sequence[str] = ()) -> dict[str, Json]:
        """The members of an object; some have one of the names given."""
        return {self.choice((*names, "")) or self.text(12): self.json(depth - 1) for _ in range(self.number(5))}
