"""Which files a change touches, and how closely each of them must be examined before it can be approved."""

import tomllib
from functools import cache
from pathlib import Path, PurePosixPath

from burnish.agents.panel.own_checks import stays_inside
from burnish.core.evidence import CensusFile, Need
from burnish.core.values import Value
from burnish.settings.globs import ignored, matches
from burnish.settings.types import Settings
from burnish.workspace.attributes import SET, UNSET, Attributes
from burnish.workspace.diffs import overview
from burnish.workspace.names import shown
from burnish.workspace.patches import RawEntry
from burnish.workspace.repository import Repository
from burnish.workspace.slices import link_targets, tree_files

_OPENING = 8_000
"""As far as git itself looks to tell a binary file from a text."""
_READ_BYTES = 4 * 1024 * 1024
_DELETED = "D"
_EXECUTABLE = "100755"
_LFS = b"version https://git-lfs.github.com/spec/"
_GENERATED = ("linguist-generated", "linguist-vendored")
_TRUE = (SET, "true", "1")
_REWRITING = ("working-tree-encoding", "filter")
"""Attributes by which a checkout holds other bytes than the repository."""
_BY_LFS = "filter=lfs"
"""Leaves a file alone that is no pointer, and pointers are known."""
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


class Marks:
    """What the base says of files: which are left out or generated, and how a checkout of them comes about.

    `settings` are the policy of the base. Nothing that the change itself says counts: it could silence its own gate.
    """

    def __init__(self, repository: Repository, settings: Settings, base_commit: str) -> None:
        self._settings = settings
        self.attributes = Attributes(repository, base_commit)

    def why_only_secrets(self, path: str) -> str:
        """Why nothing but secrets is looked for in a file; empty where it is examined like every other."""
        if ignored(self._settings.review, (path,)):
            return "left out by the policy of the base"
        if any(matches(path, pattern) for pattern in self._settings.analysers.generated):
            return "generated, says the policy of the base"
        found = self.attributes.of(path)
        mark = next((name for name in _GENERATED if found.get(name) in _TRUE), "")
        return f"{mark}, says the base" if mark else ""


def changed_files(repository: Repository, settings: Settings, base_commit: str, commit: str) -> tuple[CensusFile, ...]:
    """The files that differ between the merge base and a commit. `settings` are the policy of the base."""
    return _Census(repository, settings, base_commit, commit).files()


class _Census:
    def __init__(self, repository: Repository, settings: Settings, base_commit: str, commit: str) -> None:
        self._entries = overview(repository, base_commit, commit).entries
        self._marks = Marks(repository, settings, base_commit)
        self._now = Attributes(repository, commit)
        present = [entry.path for entry in self._entries if entry.status != _DELETED]
        self._openings = {
            file.path: None if file.content is None else file.content[:_OPENING]
            for file in tree_files(repository, commit, present, _READ_BYTES)
        }
        has_links = any(entry.is_link for entry in self._entries)
        self._links = link_targets(repository, commit) if has_links else {}

    def files(self) -> tuple[CensusFile, ...]:
        return tuple(self._file(entry) for entry in self._entries)

    def _file(self, entry: RawEntry) -> CensusFile:
        need, why = self._need(entry)
        before, after = _object(entry.old_object), _object(entry.new_object)
        return CensusFile(path=shown(entry.path), need=need, before=before, after=after, why=why)

    def _need(self, entry: RawEntry) -> tuple[Need, str]:
        deleted = entry.status == _DELETED
        if entry.is_submodule and not deleted:
            return Need.OPAQUE, "a submodule, whose content is not in this repository"
        if entry.is_link:
            return self._need_of_link(entry.path)
        if why := self._why_opaque(entry.path):
            return Need.OPAQUE, why
        if why := self._marks.why_only_secrets(entry.path):
            return Need.NOTHING if deleted else Need.DATA, why
        opening = self._openings.get(entry.path)
        # A file of data that always could be run, as some systems mark all of them, is data all the same.
        newly_executable = entry.new_mode == _EXECUTABLE and entry.old_mode != _EXECUTABLE
        if entry.is_submodule or is_data(shown(entry.path), opening, executable=newly_executable):
            return (Need.NOTHING, "deleted") if deleted else (Need.DATA, "")
        if deleted:
            return Need.CODE, "deleted"
        return Need.CODE, "binary" if opening is not None and b"\0" in opening else ""

    def _need_of_link(self, path: str) -> tuple[Need, str]:
        """What a link leads to is examined under its own name, unless the link makes a program of it."""
        if not stays_inside(path, self._links):
            return Need.OPAQUE, "a link out of the repository"
        if is_data(path, None, executable=False) or not is_data(self._links[path], None, executable=False):
            return Need.NOTHING, "a symbolic link"
        return Need.CODE, "a link that gives data the name of a program"

    def _why_opaque(self, path: str) -> str:
        opening = self._openings.get(path)
        if opening is not None and opening.startswith(_LFS):
            return "a Git LFS pointer"
        if opening is not None and opening.startswith(_ENCRYPTED):
            return "encrypted"
        now, before = self._now.of(path), self._marks.attributes.of(path)
        rewritten = [
            f"{name}={now[name]}" for name in _REWRITING if now.get(name, UNSET) not in (UNSET, before.get(name))
        ]
        if rewritten and rewritten != [_BY_LFS]:
            return f"a checkout of it holds other text: {rewritten[0]}"
        return ""


def _object(name: str) -> str:
    return "" if not name.strip("0") else name


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
