"""Names of files between git's bytes and text. Every name survives the way to text and back, whatever its bytes."""

import os
import posixpath
from collections.abc import Mapping

_LINKS_FOLLOWED = 40
_GIT_FOLDERS = frozenset({".git", "git~1"})


def to_text(raw: bytes) -> str:
    """A name as text; bytes that are not UTF-8 are kept as surrogates, so that `to_bytes` gives the same name."""
    return raw.decode("utf-8", errors="surrogateescape")


def to_bytes(name: str) -> bytes:
    return name.encode("utf-8", errors="surrogateescape")


def shown(name: str) -> str:
    """A name for people, prompts and JSON, which cannot hold surrogates: a byte that is not UTF-8 is written `\\xff`.

    Two files never get the same name this way, so that none can stand in for another in a census or a seal.
    """
    return to_bytes(name).replace(b"\\x", b"\\\\x").decode("utf-8", errors="backslashreplace")


def fields(raw: bytes) -> list[bytes]:
    """The fields of an output that ends each of them with NUL."""
    return raw.split(b"\0")[:-1]


def records(names: list[bytes]) -> bytes:
    """Names as git reads them with `-z`."""
    return b"".join(name + b"\0" for name in names)


def argument(value: str | bytes) -> str:
    """An argument for a process: bytes as the file system's own text."""
    return os.fsdecode(value) if isinstance(value, bytes) else value


def stays_inside(path: str, links: Mapping[str, str]) -> bool:
    """Whether a link ends inside of the tree, followed component by component as the system does."""
    todo, place = path.split("/")[::-1], list[str]()
    followed = 0
    while todo:
        part = todo.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not place:
                return False
            place.pop()
            continue
        if part.lower() in _GIT_FOLDERS:
            return False
        place.append(part)
        target = links.get("/".join(place))
        if target is not None:
            followed += 1
            if followed > _LINKS_FOLLOWED or posixpath.isabs(target):
                return False
            place.pop()
            todo += target.split("/")[::-1]
    return True
