"""What a branch changes, and where lines go between two trees.

Attributes are left aside: a change that marks its own files as binary is shown all the same. Only git's own look at
the content makes a file binary, or its size: past eight megabytes it is not read line by line.
"""

from burnish.core.line_changes import FileChange
from burnish.core.values import Value
from burnish.workspace.errors import SubjectError
from burnish.workspace.names import shown
from burnish.workspace.patches import RawEntry, file_changes, read_numbers, read_raw
from burnish.workspace.repository import Repository

_TREES = ("diff-tree", "-r", "-M", "--no-color", "--no-relative", "--submodule=short")


class ChangedFile(Value):
    """One file of a difference. Names keep bytes that are not UTF-8 as surrogates; `shown_path` can be printed."""

    path: str
    old_path: str
    status: str
    """A added, D deleted, M modified, T of another type, R renamed."""
    added: int = 0
    deleted: int = 0
    binary: bool = False
    mode: str = ""
    old_mode: str = ""

    @property
    def shown_path(self) -> str:
        return shown(self.path)

    @property
    def is_submodule(self) -> bool:
        return "160000" in (self.mode, self.old_mode)


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


def overview(repository: Repository, base_commit: str, head_commit: str) -> Overview:
    """Which files `base...head` shows: three dots, so that what happened on the base meanwhile is left aside."""
    merge_base = repository.merge_base(base_commit, head_commit)
    if merge_base is None:
        raise SubjectError(
            f"{base_commit[:12]} and {head_commit[:12]} have no common history.", hint="Use another base."
        )
    listing = repository.objects.about(*_TREES, "--raw", "-z", "--full-index", merge_base, head_commit)
    return Overview(merge_base=merge_base, entries=read_raw(listing))


def difference(repository: Repository, base_commit: str, head_commit: str) -> Difference:
    """What `base...head` shows, with every line."""
    seen = overview(repository, base_commit, head_commit)
    git, merge_base = repository.objects, seen.merge_base
    numbers = read_numbers(git.about(*_TREES, "--numstat", "-z", merge_base, head_commit))
    patch = git.about(*_TREES, "-p", "--src-prefix=a/", "--dst-prefix=b/", merge_base, head_commit)
    files = tuple(_changed_file(entry, numbers.get(entry.path)) for entry in seen.entries)
    return Difference(merge_base=merge_base, head=head_commit, patch=patch, files=files)


def changes(repository: Repository, old: str, new: str) -> tuple[FileChange, ...]:
    """Where the lines of each file of the old tree are in the new one: two dots. New files have no old lines."""
    git = repository.objects
    # What was deleted needs no lines, and what was added has no old ones: neither may cost memory.
    both = ("--diff-filter=a", "--irreversible-delete", old, new)
    entries = read_raw(git.about(*_TREES, "--raw", "-z", "--full-index", *both))
    patch = git.about(*_TREES, "-p", "-U0", "--src-prefix=a/", "--dst-prefix=b/", *both)
    return file_changes(entries, patch)


def _changed_file(entry: RawEntry, numbers: tuple[int, int] | None) -> ChangedFile:
    added, deleted = numbers or (0, 0)
    return ChangedFile(
        path=entry.path,
        old_path=entry.old_path,
        status=entry.status,
        added=added,
        deleted=deleted,
        binary=numbers is None,
        mode=entry.new_mode,
        old_mode=entry.old_mode,
    )
