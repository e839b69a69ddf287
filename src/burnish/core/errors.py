"""Errors that a user may see: each has a kind, which fixes the exit code, and a hint, which says what to do."""

from enum import Enum
from typing import NamedTuple

KeyPath = tuple[str | int, ...]
"""The way to a value in a document: keys of tables and indices of arrays, from the top."""


class ErrorKind(Enum):
    """Why something went wrong, in terms of who can put it right. Each kind has its exit code."""

    USAGE = "usage"
    CONFIGURATION = "configuration"
    WAITING = "waiting"
    """A person must decide first."""
    UNREADABLE = "unreadable"
    INFRASTRUCTURE = "infrastructure"

    @property
    def exit_code(self) -> int:
        return _EXIT_CODES[self]


_EXIT_CODES = {
    ErrorKind.USAGE: 2,
    ErrorKind.CONFIGURATION: 2,
    ErrorKind.WAITING: 3,
    ErrorKind.UNREADABLE: 4,
    ErrorKind.INFRASTRUCTURE: 4,
}


class BurnishError(Exception):
    """An error with a kind and a hint; one handler at the surface turns it into a message and an exit code."""

    kind: ErrorKind = ErrorKind.INFRASTRUCTURE

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class RefusedError(Exception):
    """The event is legal in this phase, but not in this state. The loop turns it into an `IllegalEventError`."""


# No Value: every command loads this module, also one that only prints its help.
class Violation(NamedTuple):
    """A rule that a value breaks: its key, as the path in a document, what is wrong, and what to do."""

    path: KeyPath
    message: str
    hint: str
