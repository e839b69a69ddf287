"""What the embedded panel looks at: the files of a change before and after, without a clone where files are enough.

A linter that follows the project's own configuration needs the whole tree around a file. It is given a clone in which
every file that steers linters is the base's own: a change must not weaken its own gate.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path, PurePosixPath

from burnish.agents.census import Marks, is_data
from burnish.agents.panel.interface import Hit, SourceFile, Task, ToolName
from burnish.agents.panel.own_checks import link_hit, look_into, submodule_hit, without_known_examples
from burnish.agents.panel.own_configuration import configured_tools, is_configuration
from burnish.agents.panel.places import FOLDER_ITSELF, Surroundings, names_in, surroundings
from burnish.agents.panel.suppressions import disarmed, without_padding
from burnish.agents.panel.tools.kingfisher import scanned_name
from burnish.agents.panel.tools.registry import takes_code
from burnish.agents.services import Services
from burnish.core.reviews import Failure, FailureKind
from burnish.workspace.clones import Clone
from burnish.workspace.diffs import overview
from burnish.workspace.errors import UnsafeResultError
from burnish.workspace.folders import remove_folder
from burnish.workspace.inside import write_inside
from burnish.workspace.searching import words_in
from burnish.workspace.slices import TreeFile, link_targets, read_slice, tree_files, write_object, write_slice

OPENING = 4096
MOST_BYTES = 4 * 1024 * 1024
"""In a longer file nothing but secrets is looked for: as code it was not examined."""
_DELETED = "D"


class TreeSnapshot:
    """One side of a change: some files of a commit, and the folders in which tools find them."""

    def __init__(self, services: Services, commit: str, name: str, paths: Sequence[str], base: str) -> None:
        self._services = services
        self._base = base
        self._name = name
        self.commit = commit
        self.files = tree_files(services.repository, commit, paths, MOST_BYTES)
        self._lines = {file.path: file.content for file in self.files if file.content is not None}

    @cached_property
    def _disarmed(self) -> dict[str, bytes]:
        """The files as linters see them: no comment in them silences one."""
        return {path: without_padding(path, disarmed(content)) for path, content in self._lines.items()}

    @cached_property
    def slice(self) -> Path:
        """The files alone."""
        folder = self._services.attempt_dirs / f"slice-{self._name}"
        remove_folder(folder)
        write_slice(folder, self._disarmed)
        return folder

    @cached_property
    def to_scan(self) -> Path:
        """The files as the search for secrets sees them: large ones too, under names that hide nothing."""
        folder = self._services.attempt_dirs / f"scan-{self._name}"
        remove_folder(folder)
        known = {scanned_name(path): without_known_examples(content) for path, content in self._lines.items()}
        write_slice(folder, known)
        for file in self.files:
            if file.content is None:
                write_object(self._services.repository, self.commit, file.path, folder / scanned_name(file.path))
        return folder

    @cached_property
    def whole(self) -> Clone:
        """The files in their tree, with the base's own configuration."""
        clone = self._services.clones.make(f"tree-{self._name}", self._base, self.commit, writable=True)
        repository = self._services.repository
        before = {path for path in repository.files(self._base) if is_configuration(path)}
        for path in {path for path in repository.files(self.commit) if is_configuration(path)} - before:
            (clone.path / path).unlink(missing_ok=True)
        for file in tree_files(repository, self._base, sorted(before), MOST_BYTES):
            # Where the change has no such folder any more, nothing is left there to be looked at.
            with suppress(UnsafeResultError):
                write_inside(clone.path, file.path, file.content or b"")
        for path, content in self._disarmed.items():
            if content != self._lines[path] and not is_configuration(path):
                write_inside(clone.path, path, content)
        self._services.clones.seed(clone, self._services.settings.workspace.seed)
        return clone

    @property
    def can_be_scanned(self) -> bool:
        """Whether the files to scan are there."""
        return "to_scan" in self.__dict__

    def folder_for(self, task: Task) -> Path:
        """Where a tool finds the files. It is made when it is asked for, by one thread at a time."""
        if task.tool is ToolName.KINGFISHER:
            return self.to_scan
        return self.whole.path if task.choice.own_configuration else self.slice

    def own_hits(self, paths: Sequence[str]) -> tuple[Hit, ...]:
        """What burnish itself finds in some of the files."""
        wanted = frozenset(paths)
        return tuple(
            hit
            for file in self.files
            if file.content is not None and file.path in wanted
            for hit in look_into(file.path, file.content, is_code=takes_code(_source_file(file)))
        )

    def lines(self, path: str) -> Sequence[str] | None:
        content = self._lines.get(path)
        return None if content is None else content.decode("utf-8", errors="replace").split("\n")

    def was_written_to(self) -> Failure | None:
        """Whatever a tool did to its files: its answer would be about something else."""
        if "slice" not in self.__dict__ or read_slice(self.slice) == self._disarmed:
            return None
        return Failure(kind=FailureKind.WROTE_TO_TREE, message="an analyser wrote to its input files")

    def discard(self) -> None:
        for name in ("slice", "to_scan"):
            if name in self.__dict__:
                remove_folder(getattr(self, name))
        if "whole" in self.__dict__:
            self._services.clones.remove(self.whole)


class ChangeSnapshot:
    """A change, as the analysers see it."""

    def __init__(self, services: Services, base_commit: str, commit: str) -> None:
        self.shown = overview(services.repository, base_commit, commit)
        self.base_commit, self.commit = base_commit, commit
        present = tuple(file for file in self.shown.entries if file.status != _DELETED and not file.is_submodule)
        self.head = TreeSnapshot(
            services, commit, f"head-{commit[:12]}", sorted(file.path for file in present), base_commit
        )
        marks = Marks(services.repository, services.settings, base_commit)
        self.files: tuple[SourceFile, ...] = tuple(
            _source_file(file, marks.why_only_secrets(file.path)) for file in self.head.files
        )
        self.old_paths = {file.path: file.old_path for file in present if file.status != "A"}
        self._services = services

    @cached_property
    def base(self) -> TreeSnapshot:
        """The same files before the change, under their names of that time."""
        merge_base = self.shown.merge_base
        paths = sorted(set(self.old_paths.values()))
        return TreeSnapshot(self._services, merge_base, f"base-{self.commit[:12]}", paths, self.base_commit)

    @cached_property
    def tree_hits(self) -> tuple[Hit, ...]:
        """What burnish itself finds in the tree: links that lead out of it, and submodules."""
        entries = [file for file in self.shown.entries if file.status != _DELETED]
        linked = [file.path for file in entries if file.is_link]
        links = link_targets(self._services.repository, self.commit) if linked else {}
        found = [link_hit(path, links) for path in linked]
        found += [submodule_hit(file.path, is_new=file.status == "A") for file in entries if file.is_submodule]
        return tuple(hit for hit in found if hit is not None)

    @cached_property
    def deleted(self) -> dict[str, frozenset[str]]:
        """Deleted files of code, each with the files of code that name it still."""
        paths = [file.path for file in self.shown.entries if file.status == _DELETED and not file.is_submodule]
        names = {path: _module(path) for path in paths if not is_data(path, None, executable=False)}
        words = words_in(self._services.repository, self.commit, names.values())
        return {
            path: frozenset(file for file in words.get(name, ()) if not is_data(file, None, executable=False))
            for path, name in names.items()
        }

    @cached_property
    def in_program(self) -> frozenset[str]:
        """Files that stand among tests, examples or material, and belong to the program all the same.

        Code that the change moved there, or that code of the program names, is not judged more mildly for its place.
        """
        mild = {file.path for file in self.files if surroundings(file.path) is not Surroundings.PROGRAM}
        moved = {path for path in mild if surroundings(self.old_paths.get(path, path)) is Surroundings.PROGRAM}
        program = [file for file in self.files if file.path not in mild and takes_code(file)]
        texts = ["\n".join(self.head.lines(file.path) or ()) for file in program] if mild else []
        return frozenset(moved | {path for path in mild if any(names_in(text, path) for text in texts)})

    @cached_property
    def configured(self) -> frozenset[ToolName]:
        """The tools that the project itself configures, in the base."""
        repository = self._services.repository
        paths = repository.files(self.base_commit)
        return configured_tools(paths, lambda path: repository.read_file(self.base_commit, path))

    def discard(self) -> None:
        self.head.discard()
        if "base" in self.__dict__:
            self.base.discard()


def _module(path: str) -> str:
    """The name by which other code knows a file."""
    file = PurePosixPath(path)
    return file.parent.name if file.stem in FOLDER_ITSELF and file.parent.name else file.stem


def _source_file(file: TreeFile, only_secrets: str = "") -> SourceFile:
    if file.content is None:
        only_secrets = only_secrets or f"longer than {MOST_BYTES:,} bytes"
    return SourceFile(
        path=file.path, opening=(file.content or b"")[:OPENING], size=file.size, only_secrets=only_secrets
    )
