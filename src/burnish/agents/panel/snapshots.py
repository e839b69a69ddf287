"""What the embedded panel looks at: the files of a change before and after, without a clone where files are enough.

A linter that follows the project's own configuration is given the base's: a change must not weaken its own gate. Only
eslint, whose configuration is a program, needs the whole tree around a file, which is a clone.
"""

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path, PurePosixPath

from burnish.agents.census import Marks, is_data
from burnish.agents.panel.doubts.project import Project
from burnish.agents.panel.interface import Hit, SourceFile, Task, ToolName
from burnish.agents.panel.own_checks.credentials import without_known_examples
from burnish.agents.panel.own_checks.dockerfiles import is_dockerfile, missing_files
from burnish.agents.panel.own_checks.imports import FileVersions, import_hits
from burnish.agents.panel.own_checks.links import link_hit, submodule_hit
from burnish.agents.panel.own_checks.looking import look_into
from burnish.agents.panel.own_checks.scripts import script_hits
from burnish.agents.panel.own_checks.workflows import is_workflow, lost_script, lost_tests
from burnish.agents.panel.own_configuration import configuration_of, configured_tools, is_configuration, landmarks
from burnish.agents.panel.places import (
    FOLDER_ITSELF,
    ProgramTexts,
    References,
    Surroundings,
    may_be_only_read,
    program_of_rust,
    runs_tools,
    surroundings,
)
from burnish.agents.panel.project_tests.reach import PythonImports
from burnish.agents.panel.suppressions import disarmed, without_padding
from burnish.agents.panel.tools import ty
from burnish.agents.panel.tools.kingfisher import given_files, scanned_name
from burnish.agents.panel.tools.registry import takes_code
from burnish.agents.services import Services
from burnish.core.reviews import Failure, FailureKind
from burnish.core.values import Value
from burnish.workspace.clones import Clone
from burnish.workspace.diffs import overview
from burnish.workspace.errors import UnsafeResultError
from burnish.workspace.folders import remove_folder, write_inside
from burnish.workspace.repository import Repository
from burnish.workspace.slices import TreeFile, link_targets, read_slice, tree_files, words_in, write_object, write_slice

OPENING = 4096
MOST_BYTES = 4 * 1024 * 1024
"""In a longer file nothing but secrets is looked for: as code it was not examined."""
MOST_MODULES = 2_000
"""Where files import more of the repository than these, types are not checked: that would take too long."""
_DECLARES_PACKAGES = re.compile(
    r"(?:^|/)(?:pyproject\.toml|setup\.(?:py|cfg)|Pipfile|[^/]*requirements[^/]*|[^/]*\.lock)$"
)
_LEAST_PYTHON = re.compile(r"""^requires-python\s*=\s*["'][^"']*>=\s*3\.(?P<minor>\d{1,2})\b""", re.MULTILINE)
_DELETED = "D"


class Modules(Value):
    """Some files of a tree with the modules that they import."""

    folder: Path
    roots: frozenset[str]
    """Below the folder: where the names of modules begin."""
    imports: PythonImports
    """Of the repository's own modules and packages, also those that are not here."""
    complete: bool
    """Whether all imported modules of the repository are here."""

    def texts(self) -> Iterator[tuple[str, str]]:
        """The path and the source of every module and stub here, read when they are asked for."""
        files = (path for path in self.folder.rglob("*.py*") if path.suffix in (".py", ".pyi") and path.is_file())
        return ((path.relative_to(self.folder).as_posix(), path.read_text(errors="replace")) for path in files)


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
        given: dict[str, bytes] = {}
        for path, content in self._lines.items():
            given.update(given_files(path, without_known_examples(content)))
        write_slice(folder, given)
        for file in self.files:
            if file.content is None:
                write_object(self._services.repository, self.commit, file.path, folder / scanned_name(file.path))
        return folder

    @cached_property
    def _configuration(self) -> dict[str, bytes]:
        """The base's configuration of linters and test tools."""
        repository = self._services.repository

        def read(paths: Collection[str]) -> dict[str, bytes]:
            files = tree_files(repository, self._base, sorted(paths), MOST_BYTES)
            return {file.path: file.content or b"" for file in files}

        return configuration_of(repository.files(self._base), read)

    @cached_property
    def configured(self) -> Path:
        """The files and the base's configuration. How many others the tree has makes no difference.

        The names of other modules decide which imports belong to the project, so that some are there, empty.
        """
        folder = self._services.attempt_dirs / f"configured-{self._name}"
        remove_folder(folder)
        own = {path: content for path, content in self._disarmed.items() if not is_configuration(path)}
        others = dict.fromkeys(landmarks(self._services.repository.files(self.commit)), b"")
        write_slice(folder, _side_by_side(own, self._configuration, others))
        return folder

    @cached_property
    def whole(self) -> Clone:
        """The files in their tree, with the base's own configuration: eslint loads what stands beside it."""
        clone = self._services.clones.make(f"tree-{self._name}", self._base, self.commit, writable=True)
        repository = self._services.repository
        before = self._configuration
        for path in {path for path in repository.files(self.commit) if is_configuration(path)} - before.keys():
            (clone.path / path).unlink(missing_ok=True)
        for path, content in before.items():
            # Where the change has no such folder any more, nothing is left there to be looked at.
            with suppress(UnsafeResultError):
                write_inside(clone.path, path, content)
        for path, content in self._disarmed.items():
            if content != self._lines[path] and not is_configuration(path):
                write_inside(clone.path, path, content)
        self._services.clones.seed(clone, self._services.settings.workspace.seed)
        return clone

    @cached_property
    def modules(self) -> "Modules":
        """The files, and every module of the repository that they import, for a tool that follows imports."""
        repository = self._services.repository
        # What Cython compiles is imported like any other module; that it cannot be read is no reason to miss it.
        paths = repository.files(self.commit)
        every = [path.removesuffix("x") for path in paths if path.endswith((".py", ".pyx"))]
        # Nothing else: a folder of pages that is called like a package would be taken for it.
        changed = {path: content for path, content in self._disarmed.items() if path.endswith(ty.SUFFIXES)}
        imports, texts = PythonImports(every), changed
        waiting = {path for path in texts if path.endswith(".py")}
        while waiting and len(texts) < MOST_MODULES:
            imported = {one for path in waiting for one in imports.targets(path, texts[path].decode(errors="replace"))}
            wanted = sorted(imported - texts.keys())
            found = {file.path: file.content or b"" for file in tree_files(repository, self.commit, wanted, MOST_BYTES)}
            texts |= found
            waiting = set(found)
        folder = self._services.attempt_dirs / f"modules-{self._name}"
        remove_folder(folder)
        write_slice(folder, {**texts, f"{ty.NO_PACKAGES}/{ty.WITHIN}/.keep": b""})
        roots = frozenset(imports.root(path) for path in texts if path.endswith(".py"))
        return Modules(folder=folder, roots=roots, imports=imports, complete=not waiting)

    @property
    def can_be_scanned(self) -> bool:
        """Whether the files to scan are there."""
        return "to_scan" in self.__dict__

    def folder_for(self, task: Task) -> Path:
        """Where a tool finds the files. It is made when it is asked for, by one thread at a time."""
        if task.tool is ToolName.KINGFISHER:
            return self.to_scan
        if task.choice.own_configuration:
            return self.whole.path if task.tool is ToolName.ESLINT else self.configured
        return self.slice

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
        for name in ("slice", "to_scan", "configured"):
            if name in self.__dict__:
                remove_folder(getattr(self, name))
        if "modules" in self.__dict__:
            remove_folder(self.modules.folder)
        if "whole" in self.__dict__:
            self._services.clones.remove(self.whole)


class ChangeSnapshot:
    """A change, as the analysers see it."""

    def __init__(self, services: Services, base_commit: str, commit: str, paths: Sequence[str] = ()) -> None:
        self.shown = overview(services.repository, base_commit, commit, paths)
        self.base_commit, self.commit = base_commit, commit
        present = tuple(file for file in self.shown.entries if file.status != _DELETED and not file.is_submodule)
        self.head = TreeSnapshot(
            services, commit, f"head-{commit[:12]}", sorted(file.path for file in present), base_commit
        )
        named = [file.path for file in self.head.files]
        marks = Marks(services.repository, services.settings, base_commit, named)
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
        """What burnish itself finds in the tree, and not in that of the base."""
        entries = [file for file in self.shown.entries if file.status != _DELETED]
        linked = [file.path for file in entries if file.is_link]
        links = link_targets(self._services.repository, self.commit) if linked else {}
        found = [link_hit(path, links) for path in linked]
        found += [submodule_hit(file.path, is_new=file.status == "A") for file in entries if file.is_submodule]
        head = _CommitFiles(self._services.repository, self.commit)
        base = _CommitFiles(self._services.repository, self.shown.merge_base)
        changed = tuple(self._changed_files())
        found += import_hits(changed, head, base)
        found += script_hits(changed, head)
        for file in changed:
            if is_dockerfile(file.path):
                found += missing_files(file.path, file.now, file.before, head.paths)
            if PurePosixPath(file.path).name == "package.json":
                found += lost_script(file.path, file.before, file.now)
        if any(is_workflow(file.path) for file in self.shown.entries):
            before, now = (tree.read(filter(is_workflow, tree.paths)) for tree in (base, head))
            found += lost_tests(before, now)
        return tuple(hit for hit in found if hit is not None)

    @cached_property
    def least_python(self) -> int:
        """The minor version of Python 3 that the project needs at least, as the base says; 0 where it does not."""
        name = "pyproject.toml"
        if not any(file.path.endswith(".py") for file in self.files):
            return 0
        content = _CommitFiles(self._services.repository, self.shown.merge_base).read([name]).get(name, b"")
        found = _LEAST_PYTHON.search(content.decode("utf-8", "replace"))
        return int(found["minor"]) if found else 0

    @cached_property
    def project(self) -> Project:
        """The project that is changed."""
        repository = self._services.repository
        return Project(_CommitFiles(repository, self.commit), _CommitFiles(repository, self.shown.merge_base))

    def _changed_files(self) -> Iterator[FileVersions]:
        former = {file.path: file.content for file in self.base.files}
        known = {file.path for file in self.files if not file.only_secrets}
        for file in self.head.files:
            if file.content is not None and file.path in known:
                before = former.get(self.old_paths.get(file.path, ""))
                yield FileVersions(path=file.path, now=file.content, before=before or b"")

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

    def places_of(self, paths: Iterable[str]) -> Mapping[str, Surroundings]:
        """Where some changed files stand, if more is known than their path tells."""
        asked = frozenset(paths)
        program = self._in_program(asked)
        material = self._only_read(asked - program)
        return dict.fromkeys(material, Surroundings.MATERIAL) | dict.fromkeys(program, Surroundings.PROGRAM)

    def _only_read(self, paths: Iterable[str]) -> frozenset[str]:
        """Files of Python that only tests read, as text."""
        asked = {path for path in paths if may_be_only_read(path, "\n".join(self.head.lines(path) or ()))}
        head = _CommitFiles(self._services.repository, self.commit)
        naming = head.holding({PurePosixPath(path).stem for path in asked})
        contents = head.read({path for found in naming.values() for path in found})
        texts = {path: content.decode("utf-8", "replace") for path, content in contents.items()}

        def is_imported(path: str) -> bool:
            by = (naming.get(PurePosixPath(path).stem, set()) - {path}) & texts.keys()
            near = {one for one in by if posixpath.dirname(one) == posixpath.dirname(path)}
            to_it = References(path)
            return any(to_it.are_in(texts[one], one) for one in by) or any(to_it.are_beside(texts[one]) for one in near)

        return frozenset(path for path in asked if not is_imported(path))

    def _in_program(self, paths: Collection[str]) -> frozenset[str]:
        """Those that stand among tests, examples or material, and belong to the program all the same.

        Code that the change moved there, or that code of the program names, is not judged more mildly for its place.
        """
        mild = {path for path in paths if surroundings(path) is not Surroundings.PROGRAM}
        moved = {path for path in mild if surroundings(self.old_paths.get(path, path)) is Surroundings.PROGRAM}
        return frozenset(moved | {path for path in mild - moved if self._program.names(path)})

    @cached_property
    def _program(self) -> ProgramTexts:
        """The code of the change that belongs to the program by its place."""
        code = {file.path for file in self.files if takes_code(file)}
        program = {path for path in code if surroundings(path) is Surroundings.PROGRAM and not runs_tools(path)}
        texts = {path: "\n".join(self.head.lines(path) or ()) for path in program}
        return ProgramTexts(
            {path: program_of_rust(text) if path.endswith(".rs") else text for path, text in texts.items()}, code
        )

    @cached_property
    def changes_packages(self) -> bool:
        """Whether the change may need other packages than those that are installed."""
        return any(_DECLARES_PACKAGES.search(file.path) for file in self.shown.entries)

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


class _CommitFiles:
    """The files of a whole commit, for checks that ask for a few of them."""

    def __init__(self, repository: Repository, commit: str) -> None:
        self._repository = repository
        self._commit = commit

    @property
    def paths(self) -> frozenset[str]:
        return self._paths

    @cached_property
    def _paths(self) -> frozenset[str]:
        return self._repository.files(self._commit)

    def read(self, paths: Iterable[str]) -> dict[str, bytes]:
        files = tree_files(self._repository, self._commit, sorted(paths), MOST_BYTES)
        return {file.path: file.content for file in files if file.content is not None}

    def holding(self, words: Iterable[str]) -> dict[str, set[str]]:
        return words_in(self._repository, self._commit, words)


def _side_by_side(*groups: Mapping[str, bytes]) -> dict[str, bytes]:
    """Files of several trees in one. A path that is a folder to an earlier group is left out, and the reverse."""
    files: dict[str, bytes] = {}
    folders: set[str] = set()
    for group in groups:
        for path, content in group.items():
            above = {str(parent) for parent in PurePosixPath(path).parents}
            if path not in files and path not in folders and above.isdisjoint(files):
                files[path] = content
                folders |= above
    return files


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
