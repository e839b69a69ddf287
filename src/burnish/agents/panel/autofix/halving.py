"""Which of several parts can be kept, found by trying: a group that does harm is halved, any other is kept whole.

What is tried, and how, is the caller's business. Each part ends as kept or as refused.
"""

from collections.abc import Iterable
from typing import Generic, TypeVar

_Part = TypeVar("_Part")


class Halving(Generic[_Part]):
    """The search, step by step: look at `group`, try it together with what is kept, and say whether it holds."""

    def __init__(self, parts: Iterable[_Part] = ()) -> None:
        self.kept: tuple[_Part, ...] = ()
        self.refused: tuple[_Part, ...] = ()
        whole = tuple(parts)
        self._waiting = [whole] if whole else []

    @property
    def group(self) -> tuple[_Part, ...]:
        """What is to be tried now; empty when all is decided."""
        return self._waiting[-1] if self._waiting else ()

    @property
    def undecided(self) -> tuple[_Part, ...]:
        return tuple(part for group in self._waiting for part in group)

    def holds(self) -> None:
        """The group, with what was kept before, does no harm."""
        self.kept += self._waiting.pop()

    def fails(self) -> None:
        """It does harm: its halves are tried, the first one first."""
        group = self._waiting.pop()
        if len(group) == 1:
            self.refused += group
            return
        middle = len(group) // 2
        self._waiting += [group[middle:], group[:middle]]

    def give_up(self) -> None:
        """Nothing more is tried; what was not decided is refused."""
        self.refused += self.undecided
        self._waiting.clear()
