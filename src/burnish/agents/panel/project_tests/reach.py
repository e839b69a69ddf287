"""Which tests reach a change, from the text of the files alone: they are run first.

It decides an order, and whether a run that was cut short says enough; it never leaves a test out. What it cannot decide
counts as reaching: code that is imported by computed names, processes that are started, data files.
"""

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import PurePosixPath

import msgspec

from burnish.agents.panel.project_tests.node_imports import (
    SUFFIXES,
    is_wanted,
    node_importers,
    shared_files,
)
from burnish.agents.panel.project_tests.projects import is_test
from burnish.agents.panel.project_tests.pythons import is_test_file
from burnish.agents.panel.project_tests.values import Framework, TestPlan
from burnish.core.values import Value

MOST_FILES = 5_000
Reader = Callable[[Collection[str]], dict[str, str]]
"""Gives the texts of files; those that are too large are left out."""

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<module>\.*[\w.]*)[ \t]+import[ \t]*(?P<names>\([^)]*\)|(?:[^\n\\]|\\\n)*)"
    r"|import[ \t]+(?P<modules>(?:[^\n\\]|\\\n)*))",
    re.MULTILINE,
)
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_QUOTED = re.compile(r"""['"]([A-Za-z_]\w*(?:\.\w+)+)['"]""")
_OPAQUE = re.compile(
    r"\b(?:import_module|__import__|spec_from_file_location|runpy|exec|execfile|eval|subprocess|Popen|os\.system|spawn\w*"
    r"|entry_points|iter_modules|walk_packages|pytester|testdir|multiprocessing|load_module|create_subprocess\w*)\b"
)


def reaching_units(
    plan: TestPlan, files: Collection[str], changed: Collection[str], read: Reader
) -> frozenset[str] | None:
    """The files of tests (for Go packages, for Rust crates) that reach changed files; None where all count as reaching.

    `files` are all files of the change, `changed` the paths of what it changed, also the former ones.
    """
    inside = f"{plan.project}/" if plan.project else ""
    match plan.framework:
        case Framework.PYTEST | Framework.UNITTEST:
            sources = [path for path in files if path.endswith(".py") and path.startswith(inside)]
            if len(sources) > MOST_FILES or not all(path.endswith(".py") for path in changed):
                return None
            return _python_tests(sources, changed, read)
        case Framework.GO:
            sources = [path for path in files if path.endswith(".go") and path.startswith(inside)]
            if len(sources) > MOST_FILES or not all(path.endswith(".go") for path in changed):
                return None
            return _go_packages(plan, sources, changed, read)
        case Framework.MOCHA | Framework.VITEST:
            sources = [path for path in files if is_wanted(path)]
            if len(sources) > MOST_FILES or not all(path.endswith(SUFFIXES) for path in changed):
                return None
            return _node_tests(plan, sources, files, changed, read)
        case Framework.CARGO if all(path.endswith(".rs") for path in changed):
            manifests = [path for path in files if posixpath.basename(path) == "Cargo.toml" and path.startswith(inside)]
            return _crates(plan, manifests, changed, read)
        case _:
            return None


def _python_tests(sources: list[str], changed: Collection[str], read: Reader) -> frozenset[str] | None:
    texts = read(sources)
    graph = PythonImports([*sources, *changed])
    importers: defaultdict[str, set[str]] = defaultdict(set)
    opaque = {path for path in sources if path not in texts}
    for path, text in texts.items():
        for target in graph.targets(path, text):
            importers[target].add(path)
        if _OPAQUE.search(text):
            opaque.add(path)
    reaching = _closure({*changed, *opaque}, importers)
    tests = frozenset(path for path in sources if is_test_file(path))
    return frozenset(reaching) if tests - reaching else None


def _node_tests(
    plan: TestPlan, sources: list[str], files: Collection[str], changed: Collection[str], read: Reader
) -> frozenset[str] | None:
    texts, every = read(sources), {*files, *changed}
    importers, opaque = node_importers(every, texts, is_test)
    if shared_files(plan.project, plan.text, every, texts) & _closure(changed, importers):
        return None
    if all(is_test(path) or not texts.keys().isdisjoint(importers.get(path, ())) for path in changed):
        opaque = {path for path in opaque if is_test(path)}
    reaching = _closure({*changed, *opaque, *(set(sources) - texts.keys())}, importers)
    tests = frozenset(path for path in sources if is_test(path) and path.endswith(SUFFIXES))
    return tests & reaching if tests - reaching else None


def _closure(begin: Iterable[str], importers: dict[str, set[str]]) -> set[str]:
    found, waiting = set[str](), list(begin)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += importers.get(path, ())
    return found


class PythonImports:
    """The modules of a repository, by each name that they may be imported by."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self._modules: defaultdict[str, set[str]] = defaultdict(set)
        for path in self._paths:
            for name in self._names(path):
                self._modules[name].add(path)

    def _names(self, path: str) -> Iterator[str]:
        """`src/a/b.py` is `a.b`, and `src.a.b`; it is `b` only where `src/a` is no package."""
        stem = path.removesuffix(".py").removesuffix("/__init__")
        dotted = stem.replace("/", ".")
        yield dotted
        slash = stem.find("/")
        while slash >= 0:
            if f"{stem[:slash]}/__init__.py" not in self._paths:
                yield dotted[slash + 1 :]
            slash = stem.find("/", slash + 1)

    @property
    def names(self) -> frozenset[str]:
        """All names of modules, and of the packages that they are in."""
        split = (name.split(".") for name in self._modules)
        return frozenset(".".join(parts[:end]) for parts in split for end in range(1, len(parts) + 1))

    def begins(self, name: str) -> frozenset[str]:
        """The folders in which a module or package of this name may be imported by it."""
        paths = (path.removesuffix(".py").removesuffix("/__init__").split("/") for path in self._paths)
        above = {"/".join(parts[:place]) for parts in paths for place, part in enumerate(parts) if part == name}
        return frozenset(one for one in above if not one or f"{one}/__init__.py" not in self._paths)

    def is_folder(self, name: str) -> bool:
        """Whether modules are in a folder of this name that is neither a module nor a package with an `__init__.py`."""
        return name not in self._modules and name in self.names

    def is_shared(self, name: str) -> bool:
        """Whether other projects may add to a package (`google`, `twisted`): it holds folders, and no module."""
        places = {posixpath.join(folder, name) for folder in self.begins(name)} - {"app", "lib", "src", "test", "tests"}
        modules = {posixpath.dirname(path) for path in self._paths} | {path.removesuffix(".py") for path in self._paths}
        return bool(places) and places.isdisjoint(modules)

    def root(self, path: str) -> str:
        """The folder that the names of a module begin in."""
        folder = posixpath.dirname(path)
        while folder and posixpath.join(folder, "__init__.py") in self._paths:
            folder = posixpath.dirname(folder)
        return folder or "."

    def targets(self, path: str, text: str) -> Iterator[str]:
        """Files that are run when this one is: what it imports, the packages around, and for tests the conftest."""
        around = ("__init__.py", "conftest.py") if is_test_file(path) else ("__init__.py",)
        for folder in PurePosixPath(path).parents:
            yield from (str(folder / name) for name in around)
        for match in _IMPORT.finditer(text):
            yield from self._imported(posixpath.dirname(path), match)
        for name in _QUOTED.findall(text):
            yield from self._with_parents(name)

    def _imported(self, folder: str, match: re.Match[str]) -> Iterator[str]:
        if match["modules"] is not None:
            for part in match["modules"].replace("\\\n", " ").split(","):
                name = _NAME.search(part)
                yield from self._with_parents(name[0] if name else "")
            return
        module, names = match["module"], [part for part in _NAME.findall(match["names"]) if part != "as"]
        level = len(module) - len(module.lstrip("."))
        if not level:
            for name in names or ("",):
                yield from self._with_parents(f"{module}.{name}")
            return
        for _ in range(level - 1):
            folder = posixpath.dirname(folder)
        inner = module.lstrip(".").replace(".", "/")
        place = posixpath.join(folder, inner) if inner else folder
        for name in ("", *names):
            below = posixpath.join(place, name) if name else place
            # The top of the repository may be a package itself; it has no name here.
            yield from (f"{below}.py", f"{below}/__init__.py") if below else ("__init__.py",)

    def _with_parents(self, name: str) -> Iterator[str]:
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            yield from self._modules.get(".".join(parts[:end]), ())


_GO_MODULE = re.compile(r'^module\s+"?([^\s"]+)', re.MULTILINE)
_GO_IMPORTS = re.compile(r"^import\s+(?:\((?P<many>[^)]*)\)|(?P<one>[^\n(]+))", re.MULTILINE)
_GO_QUOTED = re.compile(r'["`]([^"`\n]+)["`]')


def _go_packages(plan: TestPlan, sources: list[str], changed: Collection[str], read: Reader) -> frozenset[str] | None:
    """The packages whose tests run code of a changed package: import paths."""
    manifest = posixpath.join(plan.project, "go.mod")
    texts = read([*sources, manifest])
    module = _GO_MODULE.search(texts.get(manifest, ""))
    if module is None:
        return None

    def package(path: str) -> str:
        folder = posixpath.relpath(posixpath.dirname(path) or ".", plan.project or ".")
        return posixpath.normpath(posixpath.join(module[1], folder))

    importers: defaultdict[str, set[str]] = defaultdict(set)
    for path, text in texts.items():
        for match in _GO_IMPORTS.finditer(text) if path.endswith(".go") else ():
            for name in _GO_QUOTED.findall(match["many"] or match["one"] or ""):
                importers[name].add(package(path))
    reaching = _closure({package(path) for path in changed}, importers)
    tested = frozenset(package(path) for path in sources if path.endswith("_test.go"))
    return tested & reaching if tested - reaching else None


class _Dependency(Value, forbid_unknown_fields=False):
    path: str = ""
    workspace: bool = False


class _Package(Value, forbid_unknown_fields=False):
    name: str


class _Manifest(Value, forbid_unknown_fields=False, rename="kebab"):
    package: _Package | None = None
    workspace: "_Manifest | None" = None
    dependencies: dict[str, _Dependency | str] = msgspec.field(default_factory=dict[str, _Dependency | str])
    dev_dependencies: dict[str, _Dependency | str] = msgspec.field(default_factory=dict[str, _Dependency | str])
    build_dependencies: dict[str, _Dependency | str] = msgspec.field(default_factory=dict[str, _Dependency | str])


def _crates(plan: TestPlan, manifests: list[str], changed: Collection[str], read: Reader) -> frozenset[str] | None:
    """The crates of a workspace whose tests run code of a changed one."""
    try:
        found = {posixpath.dirname(path): _manifest(text) for path, text in read(manifests).items()}
    except msgspec.DecodeError:
        return None
    root = found.get(plan.project)
    if root is None or root.workspace is None:
        return None
    shared = _paths(root.workspace, plan.project)
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for folder, manifest in found.items():
        for name, path in _paths(manifest, folder).items():
            importers[path or shared.get(name, "")].add(folder)
    begin = [_nearest(path, found) for path in changed]
    if None in begin:
        return None
    reaching = _closure([folder for folder in begin if folder is not None], importers)
    named = {folder: manifest.package.name for folder, manifest in found.items() if manifest.package}
    return frozenset(named[one] for one in named.keys() & reaching) if named.keys() - reaching else None


def _manifest(text: str) -> _Manifest:
    return msgspec.toml.decode(text, type=_Manifest)


def _paths(manifest: _Manifest, folder: str) -> dict[str, str]:
    """What a crate depends on, by name: its folder, or none where the workspace says it."""
    tables = (manifest.dependencies, manifest.dev_dependencies, manifest.build_dependencies)
    return {
        name: posixpath.normpath(posixpath.join(folder, wanted.path)) if wanted.path else ""
        for table in tables
        for name, wanted in table.items()
        if isinstance(wanted, _Dependency) and (wanted.path or wanted.workspace)
    }


def _nearest(path: str, folders: Collection[str]) -> str | None:
    above = ("" if str(folder) == "." else str(folder) for folder in PurePosixPath(path).parents)
    return next((folder for folder in above if folder in folders), None)
