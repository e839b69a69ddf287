"""Paths that an agent names, confined to the repository."""

import re
from collections.abc import Callable

IsFile = Callable[[str], bool]
"""Whether a path, relative to the repository's root and with forward slashes, is a file of the repository."""

MAX_PATH_LENGTH = 1_024
_DRIVE = re.compile(r"^[A-Za-z]:/")


def no_repository(_path: str) -> bool:
    """The `IsFile` of an answer that is read outside any repository."""
    return False


def confine(raw: str, is_file: IsFile) -> str | None:
    """The path inside the repository that an agent meant, or None where it points outside.

    An absolute path of another machine is made relative where it ends in a file of the repository; the longest
    such ending wins. A relative path that climbs out with `..` is refused.
    """
    path = raw.strip().strip("`'\"<>").strip().replace("\\", "/").removeprefix("file://")
    if not path or len(path) > MAX_PATH_LENGTH or "\n" in path:
        return None
    if path.startswith("/") or _DRIVE.match(path):
        parts = [part for part in path.split("/") if part not in ("", ".")]
        return None if ".." in parts else _known_ending(parts, is_file)
    return _normalised(path)


def _known_ending(parts: list[str], is_file: IsFile) -> str | None:
    for start in range(1, len(parts) + 1):
        candidate = "/".join(parts[start - 1 :])
        if candidate and is_file(candidate):
            return candidate
    return None


def _normalised(path: str) -> str | None:
    kept: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part != "..":
            kept.append(part)
        elif kept:
            kept.pop()
        else:
            return None
    return "/".join(kept) or None
