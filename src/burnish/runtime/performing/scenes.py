"""What the embedded panel looks at: the files of a change before and after, without a clone where files are enough.

A linter that follows the project's own configuration needs the whole tree around a file. It is given a clone in which
every file that steers linters is the base's own: a change must not weaken its own gate.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from burnish.agents.analysers.generated import why_left_out
from burnish.agents.analysers.interface import Choice, SourceFile, ToolName
from burnish.agents.analysers.own_configuration import configured_tools, is_configuration
from burnish.config.globs import ignored
from burnish.config.settings import Settings
from burnish.core.reviews import Failure, FailureKind
from burnish.runtime.performing.workshop import Workshop
from burnish.workspace.clones import Clone
from burnish.workspace.diffs import overview
from burnish.workspace.errors import UnsafeResultError
from burnish.workspace.inside import write_inside
from burnish.workspace.patches import RawEntry
from burnish.workspace.removal import remove_folder
from burnish.workspace.slices import TreeFile, read_slice, tree_files, write_slice

OPENING = 4096
MOST_BYTES = 4 * 1024 * 1024
"""Nobody writes longer files by hand."""
_DELETED = "D"


class Side:
    """One side of a change: some files of a commit, and the folders in which tools find them."""

    def __init__(self, shop: Workshop, commit: str, name: str, paths: Sequence[str], base: str) -> None:
        self._shop = shop
        self._base = base
        self._name = name
        self.commit = commit
        self.files = tree_files(shop.repository, commit, paths, MOST_BYTES)
        self._lines = {file.path: file.content for file in self.files if file.content is not None}

    @cached_property
    def slice(self) -> Path:
        """The files alone."""
        folder = self._shop.desks / f"slice-{self._name}"
        remove_folder(folder)
        write_slice(folder, self._lines)
        return folder

    @cached_property
    def whole(self) -> Clone:
        """The files in their tree, with the base's own configuration."""
        clone = self._shop.clones.make(f"tree-{self._name}", self._base, self.commit, writable=True)
        repository = self._shop.repository
        before = {path for path in repository.files(self._base) if is_configuration(path)}
        for path in {path for path in repository.files(self.commit) if is_configuration(path)} - before:
            (clone.path / path).unlink(missing_ok=True)
        for file in tree_files(repository, self._base, sorted(before), MOST_BYTES):
            # Where the change has no such folder any more, nothing is left there to be looked at.
            with suppress(UnsafeResultError):
                write_inside(clone.path, file.path, file.content or b"")
        self._shop.clones.seed(clone, self._shop.inputs.settings.workspace.seed)
        return clone

    def folder_for(self, choice: Choice) -> Path:
        """Where a tool finds the files. It is made when it is asked for, by one thread at a time."""
        return self.whole.path if choice.own_configuration else self.slice

    def lines(self, path: str) -> Sequence[str] | None:
        content = self._lines.get(path)
        return None if content is None else content.decode("utf-8", errors="replace").split("\n")

    def was_written_to(self) -> Failure | None:
        """Whatever a tool did to its files: its answer would be about something else."""
        if "slice" not in self.__dict__ or read_slice(self.slice) == self._lines:
            return None
        return Failure(kind=FailureKind.WROTE_TO_TREE, message="an analyser wrote to the files that it was given")

    def discard(self) -> None:
        if "slice" in self.__dict__:
            remove_folder(self.slice)
        if "whole" in self.__dict__:
            self._shop.clones.remove(self.whole)


class Scene:
    """A change, as the analysers see it."""

    def __init__(self, shop: Workshop, base_commit: str, commit: str) -> None:
        settings = shop.inputs.settings
        self.shown = overview(shop.repository, base_commit, commit)
        self.base_commit, self.commit = base_commit, commit
        present = tuple(file for file in self.shown.entries if file.status != _DELETED and not file.is_submodule)
        kept = set(_not_ignored(settings, present))
        self.head = Side(shop, commit, f"head-{commit[:12]}", sorted(kept), base_commit)
        looked_at = [_source_file(file) for file in self.head.files]
        reasons = [(file, why_left_out(file, settings.analysers.generated)) for file in looked_at]
        self.files: tuple[SourceFile, ...] = tuple(file for file, reason in reasons if reason is None)
        self.left_out: tuple[tuple[str, str], ...] = tuple((file.path, reason) for file, reason in reasons if reason)
        self.old_paths = {file.path: file.old_path for file in present if file.status != "A" and file.path in kept}
        self._shop = shop

    @cached_property
    def base(self) -> Side:
        """The same files before the change, under their names of that time."""
        merge_base = self.shown.merge_base
        paths = sorted(set(self.old_paths.values()))
        return Side(self._shop, merge_base, f"base-{self.commit[:12]}", paths, self.base_commit)

    @cached_property
    def configured(self) -> frozenset[ToolName]:
        """The tools that the project itself configures, in the base."""
        repository = self._shop.repository
        paths = repository.files(self.base_commit)
        return configured_tools(paths, lambda path: repository.read_file(self.base_commit, path))

    def discard(self) -> None:
        self.head.discard()
        if "base" in self.__dict__:
            self.base.discard()


def _not_ignored(settings: Settings, files: Sequence[RawEntry]) -> list[str]:
    left_out = set(ignored(settings.review, tuple(file.path for file in files)))
    return [file.path for file in files if file.path not in left_out]


def _source_file(file: TreeFile) -> SourceFile:
    return SourceFile(path=file.path, opening=(file.content or b"")[:OPENING], size=file.size)
