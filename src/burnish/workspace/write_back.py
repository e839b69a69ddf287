"""Write fixes of uncommitted work into the working tree they came from: all of them or none, and never the index.

Everything is prepared beside a journal first: what each file will be, and what it was. From the moment the journal
exists, a killed process leaves a state that the next one completes, or takes back where a file was changed meanwhile.
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path

import msgspec

from burnish.core.values import Value, replace
from burnish.system.files import (
    make_private_directory,
    remove_half_written,
    sync_directory,
    temporary_for,
    write_atomically,
)
from burnish.workspace.diffs import RawEntry, read_raw
from burnish.workspace.errors import WorkspaceError
from burnish.workspace.folders import remove_folder
from burnish.workspace.git import Git
from burnish.workspace.names import to_bytes
from burnish.workspace.repository import Repository

PATCH = "fix.patch"
"""The fixes of a run as a patch, in the run's folder."""
_JOURNAL_FOLDER, _JOURNAL = "write-back", "journal.json"
_LINK, _EXECUTABLE, _ABSENT = "120000", "100755", "000000"
_HASHED_AT_ONCE = 200


class _FileState(Value):
    """A file or link of the working tree, exactly as it is there; or that there is none."""

    exists: bool = False
    link: bool = False
    mode: int = 0
    """The permission bits of a file."""
    digest: str = ""


class _Change(Value):
    """One path, before and after. Its contents are beside the journal, as `NUMBER.old` and `NUMBER.new`."""

    number: int
    path: bytes
    old: _FileState
    new: _FileState


class _Journal(Value):
    root: str
    changes: tuple[_Change, ...]


class _Now(Enum):
    """What a path is at this moment."""

    OLD = "old"
    NEW = "new"
    OTHER = "other"


def write_back(repository: Repository, root: Path, folder: Path, before: str, after: str) -> tuple[str, ...]:
    """Make the working tree in `root` what `after` is, where it still is what `before` was.

    The paths that keep it from being done; none where all is written. `folder` is the run's own.
    """
    place = folder / _JOURNAL_FOLDER
    if (place / _JOURNAL).exists():
        return _complete(place)
    remove_folder(place)
    entries = _entries(repository, before, after)
    in_the_way = _in_the_way(Git(root), root, entries)
    if in_the_way:
        return in_the_way
    make_private_directory(place)
    changes = tuple(_prepared(repository, root, place, number, entry) for number, entry in enumerate(entries))
    # Once more, for preparing takes time: what was just copied must be what was reviewed.
    in_the_way = _in_the_way(Git(root), root, entries)
    if in_the_way:
        remove_folder(place)
        return in_the_way
    write_atomically(place / _JOURNAL, msgspec.json.encode(_Journal(root=str(root), changes=changes)))
    return _complete(place)


def is_half_written(folder: Path) -> bool:
    """Whether a process was ended while it wrote into the working tree."""
    return (folder / _JOURNAL_FOLDER / _JOURNAL).exists()


def is_written(repository: Repository, root: Path, before: str, after: str) -> bool:
    """Whether the working tree holds the fixes."""
    reversed_entries = [_reversed(entry) for entry in _entries(repository, before, after)]
    return root.is_dir() and not _in_the_way(Git(root), root, reversed_entries)


def save_patch(repository: Repository, folder: Path, before: str, after: str) -> Path:
    """Keep the fixes as a patch that `git apply` takes."""
    patch = repository.objects.run("diff", "--binary", "--full-index", "--no-renames", "--no-color", before, after)
    make_private_directory(folder)
    write_atomically(folder / PATCH, patch)
    return folder / PATCH


def applies(root: Path, patch: Path) -> bool:
    """Whether a patch fits a working tree as it is."""
    return root.is_dir() and patch.is_file() and Git(root).finish("apply", "--check", str(patch)).code == 0


def _entries(repository: Repository, before: str, after: str) -> tuple[RawEntry, ...]:
    listing = repository.objects.run("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", before, after)
    return read_raw(listing)


def _reversed(entry: RawEntry) -> RawEntry:
    return replace(
        entry,
        old_mode=entry.new_mode,
        new_mode=entry.old_mode,
        old_object=entry.new_object,
        new_object=entry.old_object,
    )


def _in_the_way(git: Git, root: Path, entries: Sequence[RawEntry]) -> tuple[str, ...]:
    """The paths that are not what they were: changed, there although they should not be, or no file at all."""
    removed = frozenset(entry.path for entry in entries if entry.old_mode != _ABSENT)
    # Where the file system knows no such bit, git does not look at it either.
    modes = git.text("config", "--type=bool", "--get", "core.fileMode", check=False) != "false"
    wrong = {entry.path for entry in entries if not _has_form(root, entry, removed, modes=modes)}
    files = [entry for entry in entries if entry.old_mode not in (_ABSENT, _LINK) and entry.path not in wrong]
    objects = _hashed(git, [entry.path for entry in files])
    wrong |= {entry.path for entry in files if objects[entry.path] != entry.old_object}
    return tuple(sorted(wrong))


def _has_form(root: Path, entry: RawEntry, removed: frozenset[str], *, modes: bool) -> bool:
    """Whether a path is the kind of file that it was, in folders that are folders."""
    if entry.is_submodule:
        return False
    path = root / entry.path
    parts = entry.path.split("/")
    parents = ["/".join(parts[:number]) for number in range(1, len(parts))]
    for parent in parents:
        if os.path.lexists(root / parent) and parent not in removed and not _is_folder(root / parent):
            return False
    if entry.old_mode == _ABSENT:
        # A folder takes the place of a file or link that goes: whatever is seen below a link is not this path.
        below_a_removed = not removed.isdisjoint(parents)
        return not os.path.lexists(path) or _only_holds(root, path, removed) or below_a_removed
    try:
        about = path.lstat()
    except OSError:
        return False
    if entry.old_mode == _LINK:
        return stat.S_ISLNK(about.st_mode) and _blob_name(os.fsencode(path.readlink()), entry) == entry.old_object
    if not stat.S_ISREG(about.st_mode):
        return False
    return not modes or bool(about.st_mode & 0o100) == (entry.old_mode == _EXECUTABLE)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _only_holds(root: Path, path: Path, removed: frozenset[str]) -> bool:
    """Whether a folder holds nothing but files that go, so that a file can take its place."""
    if not _is_folder(path):
        return False
    for place, folders, files in os.walk(path):
        links = [name for name in folders if Path(place, name).is_symlink()]
        if any(str(Path(place, name).relative_to(root)) not in removed for name in (*files, *links)):
            return False
    return True


def _blob_name(content: bytes, entry: RawEntry) -> str:
    kind = hashlib.sha256 if len(entry.old_object) == 64 else hashlib.sha1
    return kind(b"blob %d\0" % len(content) + content).hexdigest()


def _hashed(git: Git, paths: Sequence[str]) -> dict[str, str]:
    """What git would store of files, as its attributes say."""
    found: dict[str, str] = {}
    for start in range(0, len(paths), _HASHED_AT_ONCE):
        some = paths[start : start + _HASHED_AT_ONCE]
        names = git.text("hash-object", "--", *map(to_bytes, some)).split("\n")
        found.update(zip(some, names, strict=True))
    return found


def _prepared(repository: Repository, root: Path, place: Path, number: int, entry: RawEntry) -> _Change:
    path = root / entry.path
    old = _kept(path, place / f"{number}.old")
    new = _made(repository, root, place / f"{number}.new", entry, old)
    return _Change(number=number, path=to_bytes(entry.path), old=old, new=new)


def _kept(path: Path, copy: Path) -> _FileState:
    state = _state(path)
    if state.exists:
        write_atomically(copy, _content(path, state))
    return state


def _made(repository: Repository, root: Path, copy: Path, entry: RawEntry, old: _FileState) -> _FileState:
    if entry.new_mode == _ABSENT:
        return _FileState()
    if entry.new_mode == _LINK:
        content = repository.objects.run("cat-file", "blob", entry.new_object)
        write_atomically(copy, content)
        return _FileState(exists=True, link=True, digest=_digest(content))
    # As a checkout writes it: line ends and filters are the user's.
    path = os.fsdecode(to_bytes(entry.path))
    content = Git(root).run("cat-file", "--filters", f"--path={path}", entry.new_object)
    write_atomically(copy, content)
    mode = old.mode if old.exists and not old.link else 0o666 & ~_umask()
    bits = (mode & 0o444) >> 2
    mode = mode | bits if entry.new_mode == _EXECUTABLE else mode & ~0o111
    return _FileState(exists=True, mode=mode, digest=_digest(content))


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _state(path: Path) -> _FileState:
    try:
        about = path.lstat()
    except OSError:
        return _FileState()
    if stat.S_ISLNK(about.st_mode):
        return _FileState(exists=True, link=True, digest=_digest(os.fsencode(path.readlink())))
    if not stat.S_ISREG(about.st_mode):
        # A folder does not count as a file, and is never removed unless it is empty.
        return _FileState()
    return _FileState(exists=True, mode=stat.S_IMODE(about.st_mode), digest=_digest(path.read_bytes()))


def _content(path: Path, state: _FileState) -> bytes:
    return os.fsencode(path.readlink()) if state.link else path.read_bytes()


def _complete(place: Path) -> tuple[str, ...]:
    """Do what is left of a journal; where a file is neither what it was nor what it will be, take all of it back."""
    journal = _read(place)
    root = Path(journal.root)
    names = [os.fsdecode(change.path) for change in journal.changes]
    if not root.is_dir():
        return tuple(names)
    remove_half_written(root, [name for name in names if _is_reachable(root, root / name)])
    others = _not(root, journal.changes, _Now.OLD, _Now.NEW)
    if not others:
        _apply(root, place, journal.changes, new=True)
        others = _not(root, journal.changes, _Now.NEW)
    if others:
        _apply(root, place, journal.changes, new=False)
    remove_folder(place)
    return tuple(os.fsdecode(change.path) for change in others)


def _read(place: Path) -> _Journal:
    try:
        return msgspec.json.decode((place / _JOURNAL).read_bytes(), type=_Journal)
    except (OSError, msgspec.DecodeError) as error:
        raise WorkspaceError(
            f"The journal {place / _JOURNAL} cannot be read: {error}.",
            hint=f"The original files are in {place}; their names end in '.old'.",
        ) from None


def _not(root: Path, changes: Iterable[_Change], *states: _Now) -> list[_Change]:
    return [change for change in changes if _now(root, change) not in states]


def _now(root: Path, change: _Change) -> _Now:
    path = root / os.fsdecode(change.path)
    state = _state(path) if _is_reachable(root, path) else _FileState()
    return _Now.NEW if state == change.new else _Now.OLD if state == change.old else _Now.OTHER


def _is_reachable(root: Path, path: Path) -> bool:
    """Whether no link on the way leads elsewhere."""
    return not any((root / parent).is_symlink() for parent in path.relative_to(root).parents)


def _apply(root: Path, place: Path, changes: Sequence[_Change], *, new: bool) -> None:
    """Bring paths into their new state, or back into the old one. What goes makes room first.

    A path that is in neither state was changed by the user just now, and is left alone.
    """
    expected = _Now.OLD if new else _Now.NEW
    targets = [(change, root / os.fsdecode(change.path), change.new if new else change.old) for change in changes]
    for change, path, target in targets:
        if not target.exists:
            if _now(root, change) is expected:
                path.unlink()
            _remove_empty_parents(root, path)
    for change, path, target in targets:
        if target.exists and _now(root, change) is expected and _is_reachable(root, path) and _has_room(path):
            _put(path, place / f"{change.number}.{'new' if new else 'old'}", target)


def _remove_empty_parents(root: Path, path: Path) -> None:
    """As git does: a folder goes with its last file."""
    for parent in path.relative_to(root).parents[:-1]:
        if not _is_reachable(root, root / parent):
            return
        try:
            (root / parent).rmdir()
        except FileNotFoundError:
            continue
        except OSError:  # it holds something else
            return


def _has_room(path: Path) -> bool:
    """Whether a file can be put there: a folder makes room where it holds nothing but empty folders."""
    if not _is_folder(path):
        return True
    for place, _, _ in os.walk(path, topdown=False):
        try:
            Path(place).rmdir()
        except OSError:
            return False
    return True


def _put(path: Path, source: Path, state: _FileState) -> None:
    with suppress(FileExistsError):
        path.parent.mkdir(parents=True, exist_ok=True)
    if not state.link:
        write_atomically(path, source.read_bytes(), state.mode)
        return
    temporary = temporary_for(path)
    temporary.symlink_to(os.fsdecode(source.read_bytes()))
    temporary.replace(path)
    sync_directory(path.parent)
