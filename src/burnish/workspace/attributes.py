"""What `.gitattributes` says of files, read from a commit.

git itself also asks `.git/info/attributes` and the user's settings, which an agent under review can write. Here only
the tree counts. Macros and quoted patterns are not understood, so that they mark nothing.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import PurePosixPath

from burnish.core.values import Value
from burnish.workspace.repository import Repository
from burnish.workspace.slices import tree_files

NAME = ".gitattributes"
SET, UNSET = "set", "unset"
_MOST_BYTES = 1024 * 1024
_PART = re.compile(r"\*\*/|/\*\*|\*|\?|[^*?/]+|/")
_MEANINGS = {"**/": "(?:.*/)?", "/**": "/.*", "*": "[^/]*", "?": "[^/]"}


class _Line(Value):
    folder: str
    pattern: str
    words: tuple[str, ...]


class Attributes:
    """The attributes of some files of one commit. Only their folders are looked at: a tree may have thousands more."""

    def __init__(self, repository: Repository, commit: str, paths: Iterable[str]) -> None:
        folders = {folder for path in paths for folder in PurePosixPath(path).parents}
        names = {str(folder / NAME) for folder in folders}
        # Where something of this name is a folder, git lists what is in it.
        found = (file for file in tree_files(repository, commit, sorted(names), _MOST_BYTES) if file.path in names)
        # What stands deeper in the tree counts more.
        ordered = sorted(found, key=lambda file: file.path.count("/"))
        self._lines = tuple(line for file in ordered for line in _lines(file.path, file.content or b""))

    def of(self, path: str) -> dict[str, str]:
        """By name: `set`, `unset` or its value."""
        found: dict[str, str] = {}
        for line in self._lines:
            if _fits(path, line):
                found |= dict(_values(line.words))
        return {name: value for name, value in found.items() if value}


def _lines(name: str, content: bytes) -> Iterator[_Line]:
    folder = str(PurePosixPath(name).parent)
    for raw in content.decode("utf-8", errors="surrogateescape").splitlines():
        pattern, *words = raw.split() or ("#",)
        if not pattern.startswith(("#", "!", '"', "[attr]")):
            yield _Line(folder="" if folder == "." else f"{folder}/", pattern=pattern, words=tuple(words))


def _values(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    for word in words:
        name, equals, value = word.partition("=")
        if word.startswith("-"):
            yield word[1:], UNSET
        elif word.startswith("!"):
            yield word[1:], ""
        else:
            yield name, value if equals else SET


def _fits(path: str, line: _Line) -> bool:
    if not path.startswith(line.folder):
        return False
    below = path.removeprefix(line.folder)
    if "/" in line.pattern:
        return _compiled(line.pattern.removeprefix("/")).fullmatch(below) is not None
    return _compiled(line.pattern).fullmatch(PurePosixPath(below).name) is not None


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile("".join(_MEANINGS.get(part) or re.escape(part) for part in _PART.findall(pattern)), re.DOTALL)
