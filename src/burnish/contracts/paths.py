"""Paths that an agent names, confined to the repository."""

import re
from collections.abc import Callable

from burnish.core.text import clean_text

IsFile = Callable[[str], bool]
"""Whether a path, relative to the repository's root and with forward slashes, is a file of the repository."""

MAX_PATH_LENGTH = 1_024
_ABSOLUTE = re.compile(r"/|[A-Za-z]:/|~[^/]*/")
_FILE_URI = re.compile(r"file:(?://[^/]*(?=/))?", re.IGNORECASE)
_OTHER_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def no_repository(_path: str) -> bool:
    """The `IsFile` of an answer that is read outside any repository."""
    return False


def confine(raw: str, is_file: IsFile) -> str | None:
    """The path inside the repository that an agent meant, or None where it points outside.

    An absolute path of another machine is made relative where it ends in a file of the repository; the longest
    such ending wins. A relative path that climbs out with `..` is refused.
    """
    if len(raw) > 2 * MAX_PATH_LENGTH:
        return None
    path = clean_text(raw).strip().strip("`'\"<>").strip()
    if "\\" in path and is_file(path):  # part of the name, or a byte of it that is not UTF-8, as we show it
        return path
    path = path.replace("\\", "/")
    uri = _FILE_URI.match(path)
    path = path[uri.end() :] if uri else path
    if not path or len(path) > MAX_PATH_LENGTH or "\n" in path or _OTHER_URI.match(path):
        return None
    if _ABSOLUTE.match(path):
        parts = [part for part in path.split("/") if part not in ("", ".")]
        return None if ".." in parts else _known_ending(parts, is_file)
    return _without_diff_prefix(_normalised(path), is_file)


def _known_ending(parts: list[str], is_file: IsFile) -> str | None:
    for start in range(len(parts)):
        candidate = "/".join(parts[start:])
        if is_file(candidate):
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


def _without_diff_prefix(path: str | None, is_file: IsFile) -> str | None:
    """A diff names files `a/…` and `b/…`; the prefix goes where only the rest is a file of the repository."""
    if path and path.startswith(("a/", "b/")) and not is_file(path) and is_file(path[2:]):
        return path[2:]
    return path
