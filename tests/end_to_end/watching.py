"""Waiting for something to become true, for a bounded time."""

import time
from collections.abc import Callable
from typing import TypeVar

_Found = TypeVar("_Found")
_SECONDS = 60.0
_PAUSE = 0.004


def eventually(look: Callable[[], _Found | None]) -> _Found:
    """Look again and again until there is something to see. What another process writes to a file has no event."""
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        found = look()
        if found is not None:
            return found
        time.sleep(_PAUSE)
    raise AssertionError("It did not happen.")
