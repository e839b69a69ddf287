"""Some files of a commit, without a clone, for tools that look at files alone; and where words stand in them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from burnish.core.values import Value
from burnish.workspace.errors import GitError
from burnish.workspace.git import Git, tree_entries
from burnish.workspace.names import to_bytes, to_text
from burnish.workspace.repository import Repository

_AT_ONCE = 500
"""Names on one command line."""
_FOUND_NOTHING = 1
_FEW_WORDS = 40
_WORD = re.compile(rb"\w+")
_MOST_TEXT = 8 * 1024 * 1024
_LOOKED_AT = 8_000
"""By so much of a file git tells a text from other data."""


class TreeFile(Value):
    """A regular file of a commit. Its content is left out where it is larger than was asked for."""

    path: str
    size: int
    content: bytes | None


def tree_files(repository: Repository, commit: str, paths: Iterable[str], most_bytes: int) -> tuple[TreeFile, ...]:
    """Those of the paths that are regular files, with their content. Links and submodules are none."""
    listed = tuple(_listed(repository, commit, paths))
    wanted = [identity for _, identity, size in listed if size <= most_bytes]
    contents = repository.objects.contents(wanted)
    return tuple(TreeFile(path=path, size=size, content=contents.get(identity)) for path, identity, size in listed)


def link_targets(repository: Repository, commit: str) -> dict[str, str]:
    """Where every symbolic link of a commit points to, by its path."""
    listing = repository.objects.about("ls-tree", "-r", "-z", "--full-tree", commit)
    links = {to_text(name): entry.identity for name, entry in tree_entries(listing) if entry.mode == b"120000"}
    contents = repository.objects.contents(list(links.values()))
    return {path: to_text(contents[identity]) for path, identity in links.items()}


def write_object(repository: Repository, commit: str, path: str, target: Path) -> None:
    """Write a file of a commit as its object holds it, however large: its content never is in our memory."""
    target.parent.mkdir(parents=True, exist_ok=True)
    ((_, identity, _),) = _listed(repository, commit, [path])
    # git writes a new file into the folder that it is told is the work tree.
    made = Git(target.parent, repository.common_dir).text("unpack-file", identity)
    (target.parent / made).rename(target)


def write_slice(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder of our own, by their paths in the tree. git itself has checked these names."""
    folder.mkdir(mode=0o700, parents=True)
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def read_slice(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, to be compared with what was written there."""
    files = (path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())
    return {str(path.relative_to(folder)): b"" if path.is_symlink() else path.read_bytes() for path in files}


def _listed(repository: Repository, commit: str, paths: Iterable[str]) -> Iterator[tuple[str, bytes, int]]:
    names = iter(paths)
    while batch := list(islice(names, _AT_ONCE)):
        asked = (to_bytes(name) for name in batch)
        yield from _regular_files(repository, commit, "--", *asked)


def _regular_files(repository: Repository, commit: str, *paths: bytes | str) -> Iterator[tuple[str, bytes, int]]:
    listing = repository.objects.about("ls-tree", "-r", "-l", "-z", "--full-tree", commit, *paths)
    for name, entry in tree_entries(listing):
        if entry.mode.startswith(b"100"):
            yield to_text(name), entry.identity, int(entry.size)


def words_in(repository: Repository, commit: str, words: Iterable[str]) -> dict[str, set[str]]:
    """By word: the text files of a commit that hold it, as a word of its own."""
    wanted = sorted(set(words))
    if not wanted:
        return {}
    if len(wanted) > _FEW_WORDS:
        return _words_read(repository, commit, wanted)
    patterns = [part for word in wanted for part in ("-e", word)]
    arguments = ("grep", "-I", "--only-matching", "--word-regexp", "--fixed-strings", "--null", *patterns, commit)
    finished = repository.objects.finish(*arguments)
    if finished.code not in (0, _FOUND_NOTHING):
        raise GitError("git grep", finished.code, finished.stderr_tail[-300:])
    found: dict[str, set[str]] = {}
    for line in finished.stdout.split(b"\n"):
        place, separator, word = line.partition(b"\0")
        if separator:
            found.setdefault(to_text(word), set()).add(to_text(place).removeprefix(f"{commit}:"))
    return found


def _words_read(repository: Repository, commit: str, words: Sequence[str]) -> dict[str, set[str]]:
    """The same by reading the commit once: for git, every word is a search of its own."""
    by_part: dict[bytes, list[tuple[str, re.Pattern[bytes]]]] = {}
    for word in words:
        encoded = to_bytes(word)
        whole = re.compile(rb"(?<!\w)%s(?!\w)" % re.escape(encoded))
        by_part.setdefault(max(_WORD.findall(encoded), key=len, default=b""), []).append((word, whole))
    found: dict[str, set[str]] = {}
    listed = iter([*_regular_files(repository, commit)])
    while batch := list(islice(listed, _AT_ONCE)):
        contents = repository.objects.contents([identity for _, identity, size in batch if size <= _MOST_TEXT])
        for path, identity, _ in batch:
            content = contents.get(identity, b"")
            parts = {b"", *_WORD.findall(content)} if b"\0" not in content[:_LOOKED_AT] else set[bytes]()
            for word, whole in (one for part in by_part.keys() & parts for one in by_part[part]):
                if whole.search(content):
                    found.setdefault(word, set()).add(path)
    return found
