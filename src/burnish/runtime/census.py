"""Which files a change touches, and how closely each of them must be examined before it can be approved."""

import tomllib
from functools import cache
from pathlib import Path, PurePosixPath

from burnish.config.globs import ignored, matches
from burnish.config.settings import Settings
from burnish.core.evidence import CensusFile, Need
from burnish.core.values import Value
from burnish.workspace.diffs import overview
from burnish.workspace.names import shown
from burnish.workspace.patches import RawEntry
from burnish.workspace.repository import Repository
from burnish.workspace.slices import tree_files

_OPENING = 8_000
"""As far as git itself looks to tell a binary file from a text."""
_READ_BYTES = 4 * 1024 * 1024
_DELETED = "D"
_EXECUTABLE = "100755"
_LFS = b"version https://git-lfs.github.com/spec/"
_ENCRYPTED = (b"\0GITCRYPT\0", b"Salted__", b"$ANSIBLE_VAULT;", b"age-encryption.org/", b"-----BEGIN PGP MESSAGE-----")


class _FileTypes(Value):
    data_suffixes: frozenset[str]
    data_names: frozenset[str]
    media_suffixes: frozenset[str]
    code_globs: tuple[str, ...]


@cache
def _file_types() -> _FileTypes:
    table = tomllib.loads(Path(__file__).with_name("file_types.toml").read_text(encoding="utf-8"))
    return _FileTypes(
        data_suffixes=frozenset(table["data_suffixes"]),
        data_names=frozenset(table["data_names"]),
        media_suffixes=frozenset(table["media_suffixes"]),
        code_globs=tuple(table["code_globs"]),
    )


def changed_files(repository: Repository, settings: Settings, base_commit: str, commit: str) -> tuple[CensusFile, ...]:
    """The files that differ between the merge base and a commit. `settings` are the policy of the base."""
    seen = overview(repository, base_commit, commit)
    present = [entry.path for entry in seen.entries if entry.status != _DELETED]
    openings = {
        file.path: None if file.content is None else file.content[:_OPENING]
        for file in tree_files(repository, commit, present, _READ_BYTES)
    }
    marked = set(ignored(settings.review, [shown(entry.path) for entry in seen.entries]))
    return tuple(_census_file(entry, openings.get(entry.path), marked) for entry in seen.entries)


def _census_file(entry: RawEntry, opening: bytes | None, marked: set[str]) -> CensusFile:
    path = shown(entry.path)
    need, why = _need(entry, path, opening, ignored=path in marked)
    return CensusFile(path=path, need=need, before=_object(entry.old_object), after=_object(entry.new_object), why=why)


def _object(name: str) -> str:
    return "" if not name.strip("0") else name


def _need(entry: RawEntry, path: str, opening: bytes | None, *, ignored: bool) -> tuple[Need, str]:
    deleted = entry.status == _DELETED
    if ignored:
        return Need.NOTHING if deleted else Need.DATA, "left out by the policy of the base"
    if entry.is_submodule:
        return (Need.NOTHING, "") if deleted else (Need.OPAQUE, "a submodule, whose content is not in this repository")
    if entry.is_link:
        return Need.NOTHING, "a symbolic link"
    if opening is not None and opening.startswith(_LFS):
        return Need.OPAQUE, "a Git LFS pointer"
    if opening is not None and opening.startswith(_ENCRYPTED):
        return Need.OPAQUE, "encrypted"
    if is_data(path, opening, executable=entry.new_mode == _EXECUTABLE):
        return (Need.NOTHING, "deleted") if deleted else (Need.DATA, "")
    return Need.CODE, "binary" if opening is not None and b"\0" in opening else ""


def is_data(path: str, opening: bytes | None, *, executable: bool) -> bool:
    """Whether a file holds no program: by its name, unless its content or mode says that a tool runs it."""
    types = _file_types()
    name = PurePosixPath(path).name
    suffix = PurePosixPath(name.lower()).suffix
    if executable or any(matches(path, pattern) for pattern in types.code_globs):
        return False
    if opening is not None and opening.startswith(b"#!"):
        return False
    if opening is not None and b"\0" in opening:
        return suffix in types.media_suffixes
    stem = name.partition(".")[0] if suffix in ("", ".md", ".txt", ".rst") else name
    return suffix in types.data_suffixes or name in types.data_names or stem in types.data_names
