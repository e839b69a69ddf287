"""What git prints about two trees, read: the raw list of files, and the hunks of a patch. Nothing here calls git."""

import re
from collections.abc import Iterator, Sequence

from burnish.core.line_changes import FileChange, Hunk
from burnish.core.values import Value
from burnish.workspace.names import fields, shown, to_text

_SECTION = b"diff --git "
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_LINK, SUBMODULE = "120000", "160000"


class RawEntry(Value):
    """One line of `--raw -z`: how one file differs between two trees."""

    status: str
    """A, D, M, T (its type changed) or R (renamed)."""
    old_mode: str
    new_mode: str
    old_object: str
    new_object: str
    old_path: str
    path: str

    @property
    def is_link(self) -> bool:
        return self.new_mode == _LINK

    @property
    def is_submodule(self) -> bool:
        return SUBMODULE in (self.old_mode, self.new_mode)


def read_raw(listing: bytes) -> tuple[RawEntry, ...]:
    """The entries of `--raw -z`, in git's order."""
    parts = iter(fields(listing))
    found: list[RawEntry] = []
    for head in parts:
        old_mode, new_mode, old_object, new_object, status = head.decode().removeprefix(":").split(" ")
        old_path = path = to_text(next(parts))
        if status[0] in "RC":
            path = to_text(next(parts))
        found.append(
            RawEntry(
                status=status[0],
                old_mode=old_mode,
                new_mode=new_mode,
                old_object=old_object,
                new_object=new_object,
                old_path=old_path,
                path=path,
            )
        )
    return tuple(found)


def read_numbers(listing: bytes) -> dict[str, tuple[int, int] | None]:
    """Lines added and deleted by path, from `--numstat -z`; None for what git does not count by lines."""
    parts = iter(fields(listing))
    found: dict[str, tuple[int, int] | None] = {}
    for part in parts:
        added, deleted, name = part.split(b"\t", 2)
        if not name:  # a rename: both names follow
            next(parts)
            name = next(parts)
        found[to_text(name)] = None if added == b"-" else (int(added), int(deleted))
    return found


class _Section(Value):
    hunks: tuple[Hunk, ...]
    binary: bool


def file_changes(entries: Sequence[RawEntry], patch: bytes) -> tuple[FileChange, ...]:
    """How the lines of each old file went, from the raw list and the patch with no context, in the same order.

    Names are as people and findings write them. Where two of them fall together, or the patch does not fit the list,
    every line counts as changed.
    """
    sections = tuple(_sections(patch))
    lengths = [2 if entry.status == "T" else 1 for entry in entries]
    fits = sum(lengths) == len(sections)
    found: dict[str, FileChange] = {}
    position = 0
    for entry, length in zip(entries, lengths, strict=True):
        section = sections[position] if fits else None
        position += length
        change = _file_change(entry, section)
        if change.path in found:
            change = FileChange(path=change.path, new_path=change.new_path, whole=True)
        found[change.path] = change
    return tuple(found.values())


def _file_change(entry: RawEntry, section: _Section | None) -> FileChange:
    path = shown(entry.old_path)
    if entry.status == "D":
        return FileChange(path=path, new_path=None)
    if section is None or section.binary or entry.status == "T" or entry.is_link or entry.is_submodule:
        # The mode alone changes no line, nor does a new name.
        whole = entry.old_object != entry.new_object
        return FileChange(path=path, new_path=shown(entry.path), whole=whole)
    return FileChange(path=path, new_path=shown(entry.path), hunks=section.hunks)


def _sections(patch: bytes) -> Iterator[_Section]:
    """Content begins with '+', '-' or a backslash, and names are quoted: nothing in a file can pass as a header."""
    hunks: list[Hunk] = []
    binary = begun = False
    for line in patch.split(b"\n"):
        if line.startswith(_SECTION):
            if begun:
                yield _Section(hunks=tuple(hunks), binary=binary)
            hunks, binary, begun = [], False, True
        elif match := _HUNK.match(line):
            hunks.append(_hunk(match))
        elif line.startswith(b"Binary files "):
            binary = True
    if begun:
        yield _Section(hunks=tuple(hunks), binary=binary)


def _hunk(match: re.Match[bytes]) -> Hunk:
    old_start, old_lines, new_start, new_lines = (1 if text is None else int(text) for text in match.groups())
    return Hunk(old_start=old_start, old_lines=old_lines, new_start=new_start, new_lines=new_lines)
