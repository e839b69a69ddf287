"""What a branch changes, and where lines go between two trees.

Attributes are left aside: a change that marks its own files as binary is shown all the same. Only git's own look at
the content makes a file binary, or its size: past eight megabytes it is not read line by line.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from burnish.core.line_changes import FileChange, Hunk
from burnish.core.values import Value
from burnish.workspace.errors import SubjectError
from burnish.workspace.names import fields, shown, to_text
from burnish.workspace.repository import Repository

_TREES = ("diff-tree", "-r", "-M", "--no-color", "--no-relative", "--submodule=short")
_SECTION = b"diff --git "
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_LINK, SUBMODULE = "120000", "160000"


class RawEntry(Value):
    """How one file differs between two trees. Names keep bytes that are not UTF-8 as surrogates."""

    status: str
    """A added, D deleted, M modified, T of another type, R renamed."""
    old_mode: str
    new_mode: str
    old_object: str
    new_object: str
    old_path: str
    path: str

    @property
    def shown_path(self) -> str:
        """The path as it can be printed."""
        return shown(self.path)

    @property
    def is_link(self) -> bool:
        return self.new_mode == _LINK

    @property
    def is_submodule(self) -> bool:
        return SUBMODULE in (self.old_mode, self.new_mode)


class ChangedFile(RawEntry):
    """The same, with the number of its lines."""

    added: int = 0
    deleted: int = 0
    binary: bool = False


class Difference(Value):
    """A branch's own changes: from the commit where it left its base to its head."""

    merge_base: str
    head: str
    patch: bytes
    files: tuple[ChangedFile, ...]

    @property
    def empty(self) -> bool:
        return not self.files


class Overview(Value):
    """Which files a branch changes, without their lines."""

    merge_base: str
    entries: tuple[RawEntry, ...]


def overview(repository: Repository, base_commit: str, head_commit: str, paths: Sequence[str] = ()) -> Overview:
    """Which files `base...head` shows: three dots, so that what happened on the base meanwhile is left aside.

    `paths` are the files and folders that are looked at; all, where there are none.
    """
    merge_base = repository.merge_base(base_commit, head_commit)
    if merge_base is None:
        raise SubjectError(
            f"{base_commit[:12]} and {head_commit[:12]} have no common history.", hint="Use another base."
        )
    listing = repository.objects.about(*_TREES, "--raw", "-z", "--full-index", merge_base, head_commit, "--", *paths)
    return Overview(merge_base=merge_base, entries=read_raw(listing))


def difference(repository: Repository, base_commit: str, head_commit: str, paths: Sequence[str] = ()) -> Difference:
    """What `base...head` shows, with every line."""
    seen = overview(repository, base_commit, head_commit, paths)
    git, merge_base = repository.objects, seen.merge_base
    numbers = read_numbers(git.about(*_TREES, "--numstat", "-z", merge_base, head_commit, "--", *paths))
    patch = git.about(*_TREES, "-p", "--src-prefix=a/", "--dst-prefix=b/", merge_base, head_commit, "--", *paths)
    files = tuple(_with_numbers(entry, numbers.get(entry.path)) for entry in seen.entries)
    return Difference(merge_base=merge_base, head=head_commit, patch=patch, files=files)


def _with_numbers(entry: RawEntry, numbers: tuple[int, int] | None) -> ChangedFile:
    added, deleted = numbers or (0, 0)
    return ChangedFile(**msgspec.structs.asdict(entry), added=added, deleted=deleted, binary=numbers is None)


def changes(repository: Repository, old: str, new: str) -> tuple[FileChange, ...]:
    """Where the lines of each file of the old tree are in the new one: two dots. New files have no old lines."""
    git = repository.objects
    # What was deleted needs no lines, and what was added has no old ones: neither may cost memory.
    both = ("--diff-filter=a", "--irreversible-delete", old, new)
    entries = read_raw(git.about(*_TREES, "--raw", "-z", "--full-index", *both))
    patch = git.about(*_TREES, "-p", "-U0", "--src-prefix=a/", "--dst-prefix=b/", *both)
    return file_changes(entries, patch)


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
