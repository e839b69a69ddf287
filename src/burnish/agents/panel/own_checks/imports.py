"""Imports of what is not there: packages that are declared nowhere, and modules of the project that do not exist.

Only new ones count, and only where the project declares packages at all. Where it cannot be told (names that a build
replaces, optional imports, packages that the base already imports), nothing is reported.
"""

import ast
import json
import posixpath
import re
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import PurePosixPath
from typing import Protocol, cast

from burnish.agents.panel.interface import Hit
from burnish.agents.panel.own_checks.reporting import OwnRule, hit, rule_data
from burnish.agents.panel.places import may_import_from
from burnish.agents.panel.python_source import parse_python
from burnish.agents.panel.tools.reading import text
from burnish.core.values import Value, replace
from burnish.settings.globs import matches


class FilesOfTree(Protocol):
    """The files of a commit, as much of them as this check asks for."""

    @property
    def paths(self) -> frozenset[str]:
        """All of them."""
        ...

    def read(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """The contents of those of the paths that are regular files of bearable size."""
        ...

    def holding(self, words: Iterable[str]) -> Mapping[str, set[str]]:
        """By word: the files that hold it."""
        ...


class Imported(Value):
    """Something that a file imports."""

    name: str
    """`shop.prices`, `.prices`, `@scope/package/part`."""
    line: int


class FileVersions(Value):
    """A file of a change, now and before it; empty where there was none."""

    path: str
    now: bytes
    before: bytes = b""


def import_hits(changed: Iterable[FileVersions], head: FilesOfTree, base: FilesOfTree) -> Iterator[Hit]:
    """What the changed files import now, and the tree neither has nor declares."""
    files = list(changed)
    for language in (_Python(), _JavaScript()):
        mine = [file for file in files if file.path.endswith(language.suffixes)]
        yield from _Check(language, head, base).hits(mine)


def comes_from_a_build(path: str, head: FilesOfTree, base: FilesOfTree) -> bool:
    """Whether a module that is not in the tree may be written by a build. It may also be what the author forgot to add.

    Git is told to ignore it, its source is in another language, code of the base names the file in a text, or the base
    compiles modules of Python.
    """
    stem, suffix = posixpath.splitext(path)
    # In TypeScript, `a.js` means `a.ts`.
    if any(_is_ignored(f"{stem}{one}", head) for one in _WRITTEN_AS.get(suffix, (suffix, *_LEFT_OUT))):
        return True
    if any(f"/{stem}." in f"/{one}" and one.endswith(_SOURCES) for one in head.paths):
        return True
    if not path.endswith(".py"):
        return _is_named_in_code(PurePosixPath(path).name, base)
    if any(PurePosixPath(one).name == "meson.build" for one in base.paths):
        return True
    return any(_COMPILES.search(content) for content in base.read(_BUILT_BY).values())


def _is_named_in_code(name: str, tree: FilesOfTree) -> bool:
    """Whether a script of the tree has the name of a file in a text, as one that writes it does, not in an import."""
    scripts = sorted(path for path in tree.holding([name]).get(name, ()) if path.endswith(_SCRIPTS))
    quoted = re.compile(
        rb"^(?!.*\b(?:import|require|from)\b).*[/'\"`]%s['\"`]" % re.escape(name).encode(), re.MULTILINE
    )
    return any(map(quoted.search, tree.read(scripts[:_MOST_FILES]).values()))


_SCRIPTS = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".py", ".sh")
_SOURCES = (
    ".c", ".cc", ".cpp", ".pyx", ".pxd", ".rs", ".f", ".f90", ".pyf", ".i", ".in", ".j2", ".jinja", ".tmpl",
    ".template", ".y", ".g4", ".peg", ".pegjs", ".coffee", ".elm", ".ls", ".proto",
)  # fmt: skip
"""What compilers, and makers of parsers and of texts, read."""
_WRITTEN_AS = {
    ".py": (".py",), ".js": (".js", ".ts", ".tsx", ".d.ts"), ".mjs": (".mjs", ".mts"), ".cjs": (".cjs", ".cts")
}  # fmt: skip
_LEFT_OUT = (".js", ".ts", ".d.ts", ".json")
"""What an import in JavaScript need not say."""
_BUILT_BY = ("setup.py", "pyproject.toml", "setup.cfg")
_COMPILES = re.compile(
    rb"\bext[_-]modules\b|\bExtension\(|\bcythonize\b|\brust_extensions\b"
    rb"|\b(?:maturin|scikit[_-]build(?:-core)?|meson-python|setuptools-rust|pybind11|nanobind|cffi|extension-helpers)\b"
)


def _is_ignored(path: str, tree: FilesOfTree) -> bool:
    names = [".gitignore", *(f"{folder}/.gitignore" for folder in PurePosixPath(path).parents)]
    for name, content in tree.read(one.removeprefix("./") for one in names).items():
        below = path.removeprefix(posixpath.dirname(name)).lstrip("/")
        lines = [line.strip() for line in content.decode("utf-8", "replace").splitlines()]
        if any(line and line[0] not in "#!" and matches(below, line.lstrip("/")) for line in lines):
            return True
    return False


class _Language(Protocol):
    @property
    def suffixes(self) -> tuple[str, ...]: ...

    def imports(self, content: bytes) -> Iterator[Imported]: ...

    def package(self, name: str) -> str | None:
        """The package that a name belongs to, or None where it is none from outside."""
        ...

    def is_local(self, package: str, tree: FilesOfTree) -> bool: ...

    def is_declared(self, package: str, path: str, tree: FilesOfTree) -> bool: ...

    def missing(self, path: str, name: str, tree: FilesOfTree) -> bool:
        """Whether a name means a file of the project that is not there."""
        ...

    def file(self, path: str, name: str) -> str:
        """The file that a name would mean."""
        ...


class _Check:
    """One language of a change."""

    def __init__(self, language: _Language, head: FilesOfTree, base: FilesOfTree) -> None:
        self._language = language
        self._head = head
        self._base = base

    def hits(self, changed: Sequence[FileVersions]) -> Iterator[Hit]:
        # Most changes import nothing new, and cost no more.
        imported = [(file.path, one) for file in changed for one in self._added(file)]
        unknown = [(path, one) for path, one in imported if self._is_unknown(path, one.name)]
        missing = [(path, one) for path, one in imported if self._language.missing(path, one.name, self._head)]
        undeclared = list(self._new(unknown, self._package))
        mentioned = self._mentioned({self._package(one.name) for _, one in undeclared})
        new_files = {file.path for file in changed if not file.before}
        for path, one in undeclared:
            package = self._package(one.name)
            said = f"`{text(package)}` is imported, but the project does not declare it."
            found = hit(OwnRule.UNDECLARED_PACKAGE, path, one.line, said)
            yield replace(found, doubtful=package in mentioned or path in new_files)
        for path, one in self._new(missing, str):
            said = f"There is no `{text(one.name)}` in the project."
            found = hit(OwnRule.MISSING_MODULE, path, one.line, said)
            file = self._language.file(path, one.name)
            yield replace(found, doubtful=comes_from_a_build(file, self._head, self._base))

    def _added(self, file: FileVersions) -> Iterator[Imported]:
        known = {one.name for one in self._language.imports(file.before)}
        return (one for one in self._language.imports(file.now) if one.name not in known)

    def _is_unknown(self, path: str, name: str) -> bool:
        package = self._language.package(name)
        return (
            package is not None
            and not self._language.is_local(package, self._head)
            and not self._language.is_declared(package, path, self._head)
        )

    def _new(self, found: Sequence[tuple[str, Imported]], key: Callable[[str], str]) -> Iterator[tuple[str, Imported]]:
        """Those of which the base imports nothing alike: how they get there is not for this change to say."""
        known = self._imported_before({key(one.name) for _, one in found}, key)
        return ((path, one) for path, one in found if key(one.name) not in known)

    def _package(self, name: str) -> str:
        return self._language.package(name) or name

    def _mentioned(self, packages: set[str]) -> set[str]:
        """Those that a document tells users or developers of: a part of the program may be for who has them.

        Only a document of the base counts: a change that invents a package often praises it in the README, too.
        """
        places = self._base.holding(packages)
        return {one for one in packages if any(path.endswith(_DOCUMENTS) for path in places.get(one, ()))}

    def _imported_before(self, wanted: set[str], key: Callable[[str], str]) -> set[str]:
        places = self._base.holding({re.split(r"[./]", name.rstrip("/"))[-1] or name for name in wanted})
        files = {path for found in places.values() for path in found if path.endswith(self._language.suffixes)}
        contents = self._base.read(sorted(files)[:_MOST_FILES])
        return {key(one.name) for content in contents.values() for one in self._language.imports(content)} & wanted


_OF_PYTHON_2 = frozenset(
    {
        "BaseHTTPServer", "ConfigParser", "Cookie", "HTMLParser", "Queue", "SimpleHTTPServer", "SocketServer",
        "StringIO", "Tkinter", "UserDict", "cPickle", "cStringIO", "commands", "cookielib", "httplib", "md5", "thread",
        "urllib2", "urlparse", "xmlrpclib",
    }
)  # fmt: skip
_MOST_FILES = 200
_DOCUMENTS = (".md", ".rst", ".txt", ".yml", ".yaml", ".toml", ".cfg", ".ini")
_OPTIONAL = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")
_SEPARATORS = re.compile(r"[-_.]+")
_SCRIPT = re.compile(rb"^# /// script$(?:\r?\n#.*)+", re.MULTILINE)
"""What a script declares for itself (PEP 723)."""


class _Packages(Value):
    manifests: tuple[str, ...]
    names: dict[str, tuple[str, ...]]
    builtins: frozenset[str]
    replaced: tuple[str, ...]
    built: frozenset[str]


@cache
def _packages() -> _Packages:
    table = rule_data("packages")
    script = table["javascript"]
    return _Packages(
        manifests=tuple(table["python_manifests"]),
        names={name: tuple(several) for name, several in table["python_packages"].items()},
        builtins=frozenset(script["builtins"]),
        replaced=tuple(script["replaced"]),
        built=frozenset(script["built"]),
    )


class _Python:
    suffixes = (".py",)

    def __init__(self) -> None:
        self._declared: str | None = None

    def imports(self, content: bytes) -> Iterator[Imported]:
        module = parse_python(content)
        return _imports(module.body) if module else iter(())

    def package(self, name: str) -> str | None:
        top = name.partition(".")[0]
        known = top in sys.stdlib_module_names or top in _OF_PYTHON_2
        return None if not top or known or top.startswith("__") else top

    def is_local(self, package: str, tree: FilesOfTree) -> bool:
        return package in _python_names(tree.paths)

    def is_declared(self, package: str, path: str, tree: FilesOfTree) -> bool:
        if self._declared is None:
            patterns = _packages().manifests
            files = [name for name in tree.paths if any(matches(name, pattern) for pattern in patterns)]
            self._declared = "\n".join(
                _plain(content.decode("utf-8", "replace")) for content in tree.read(files).values()
            )
        if not self._declared:
            return True
        names = _packages().names.get(package, (package,))
        own = _SCRIPT.search(tree.read([path]).get(path, b""))
        declared = self._declared + (_plain(own[0].decode("utf-8", "replace")) if own else "")
        # Without separators: `discord` is in `discord.py`, `jwt` in `pyjwt`. A miss costs less than a false alarm.
        return any(_plain(name) in declared for name in names)

    def missing(self, path: str, name: str, tree: FilesOfTree) -> bool:
        parts = name.split(".")
        if (
            len(parts) == 1
            or self.package(name) is None
            or any(part.startswith("_") for part in parts)
            or _GENERATED.search(name)
        ):
            return False
        roots = [root for root in _package_roots(parts[0], tree.paths) if may_import_from(root.rstrip("/"), path)]
        return bool(roots) and not any(_has_module(f"{root}{'/'.join(parts)}", tree.paths) for root in roots)

    def file(self, path: str, name: str) -> str:
        del path
        return f"{name.replace('.', '/')}.py"


_GENERATED = re.compile(r"_pb2|generated|version|\bgen\b|proto|\bsix\.moves\b")


def _plain(name: str) -> str:
    return _SEPARATORS.sub("", name.lower())


def _imports(body: Sequence[ast.stmt]) -> Iterator[Imported]:
    """Every import that must succeed: none that is tried, or that only a type checker sees."""
    for node in body:
        match node:
            case ast.Import():
                yield from (Imported(name=alias.name, line=node.lineno) for alias in node.names)
            case ast.ImportFrom(level=0, module=str(name)):
                yield Imported(name=name, line=node.lineno)
            case ast.Try() if any(map(is_optional, node.handlers)):
                yield from _imports(node.finalbody)
            case ast.If():
                pass  # a platform, a version, a type checker
            case _:
                for field in ("body", "orelse", "finalbody"):
                    yield from _imports(_statements(getattr(node, field, ())))


def _statements(value: object) -> list[ast.stmt]:
    parts = cast("list[object]", value) if isinstance(value, list) else []
    return [one for one in parts if isinstance(one, ast.stmt)]


def is_optional(handler: ast.ExceptHandler) -> bool:
    """Whether a handler is there for an import that fails."""
    return handler.type is None or any(name in ast.unparse(handler.type) for name in _OPTIONAL)


@cache
def _python_names(paths: frozenset[str]) -> frozenset[str]:
    """Every name under which a file or folder of the tree could be imported."""
    code = (path.split("/") for path in paths if path.endswith((".py", ".pyi", ".pyx", ".so", ".rs", ".c", ".cpp")))
    return frozenset(part for *folders, name in code for part in (*folders, name.partition(".")[0]))


def _package_roots(package: str, paths: frozenset[str]) -> tuple[str, ...]:
    """The folders, each with its slash, in which a package of this name is; empty where it may go on elsewhere.

    A package inside of another one (`shop/contrib/django`) is never imported by its last name.
    """
    return tuple(root for root in _python_packages(paths).get(package, ()) if f"{root}__init__.py" not in paths)


@cache
def _python_packages(paths: frozenset[str]) -> Mapping[str, Sequence[str]]:
    """By the last name of each package: the folders that it is in, each with its slash."""
    found: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder and name == "__init__.py":
            above, slash, package = folder.rpartition("/")
            found.setdefault(package, []).append(f"{above}{slash}")
    return found


def _has_module(place: str, paths: frozenset[str]) -> bool:
    """Whether something is called so, or stands below a path that is no folder here: a submodule."""
    above = (str(folder) for folder in PurePosixPath(place).parents)
    return not paths.isdisjoint((place, *above)) or any(_begins(f"{place}{mark}", paths) for mark in "./")


def _begins(prefix: str, paths: frozenset[str]) -> bool:
    """Whether any of the paths begins so. To look at each of them for each import would take minutes."""
    ordered = _in_order(paths)
    place = bisect_left(ordered, prefix)
    return place < len(ordered) and ordered[place].startswith(prefix)


@cache
def _in_order(paths: frozenset[str]) -> Sequence[str]:
    return sorted(paths)


SCRIPT_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|`(?:[^`\\]|\\.)*`|"(?P<double>(?:[^"\\\n]|\\.)*)"|'(?P<single>(?:[^'\\\n]|\\.)*)'""",
    re.DOTALL,
)
_IMPORTS = re.compile(r"(?:\bimport|\bfrom|\bimport\s*\(|\brequire\s*\()\s*$")
_STARTS = re.compile(
    r"^[ \t]*(?:import|export)\b|\}[ \t]*from[ \t]*$|(?:^|[=(,:?&|>])\s*(?:await\s+)?(?:import|require)\s*\(\s*$",
    re.MULTILINE,
)
_GOES_ON = re.compile(r"\s*\+")
"""The name is put together: `require("./languages/" + name)`."""
_TRIED = re.compile(r"\btry\b|\bcatch\b|\?\s*$")
_TRY = re.compile(r"\btry\s*\{")
_BEFORE = 300
_ENDINGS = (
    "", ".ts", ".tsx", ".mts", ".cts", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".json", ".vue", ".svelte", ".astro",
    "/index.ts", "/index.tsx", "/index.mts", "/index.js", "/index.jsx", "/index.mjs", "/index.cjs", "/index.d.ts",
    "/index.json", "/package.json", "/index.vue",
)  # fmt: skip
_COMPILED = {
    ".js": (".ts", ".tsx", ".d.ts", ".jsx"),
    ".mjs": (".mts",),
    ".cjs": (".cts",),
    ".jsx": (".tsx",),
    ".ts": (".js",),
    ".tsx": (".jsx",),
}


class _JavaScript:
    suffixes = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")

    def __init__(self) -> None:
        self._projects: _Projects | None = None

    def imports(self, content: bytes) -> Iterator[Imported]:
        source = content.decode("utf-8", "replace")
        for token in SCRIPT_TOKEN.finditer(source):
            name = token["double"] or token["single"]
            before = source[max(0, token.start() - _BEFORE) : token.start()]
            line = before[before.rfind("\n") + 1 :]
            if not name or "${" in name or _GOES_ON.match(source, token.end()):
                continue  # the name is put together
            if _IMPORTS.search(before) and _STARTS.search(line) and not _is_tried(before):
                yield Imported(name=name.partition("?")[0], line=source.count("\n", 0, token.start()) + 1)

    def package(self, name: str) -> str | None:
        words = _packages()
        if name.startswith((".", "/", *words.replaced)) or ":" in name or "!" in name or not name.isprintable():
            return None
        first, *rest = name.split("/")
        package = f"{first}/{rest[0]}" if first.startswith("@") and rest else first
        return None if first in words.builtins or not _PACKAGE.fullmatch(package) else package

    def is_local(self, package: str, tree: FilesOfTree) -> bool:
        return package.partition("/")[0] in _folders(tree.paths)

    def is_declared(self, package: str, path: str, tree: FilesOfTree) -> bool:
        if self._projects is None:
            self._projects = _Projects(tree)
        return self._projects.declare(package, path)

    def missing(self, path: str, name: str, tree: FilesOfTree) -> bool:
        if not name.startswith(("./", "../")) or "!" in name:
            return False  # `./a.ttf!url-loader`: webpack makes it
        place = _place(path, name)
        if place.startswith("..") or not _packages().built.isdisjoint(place.split("/")) or _GENERATED.search(place):
            return False
        return script_file(path, name, tree.paths) is None and not _has_module(place, tree.paths)

    def file(self, path: str, name: str) -> str:
        return _place(path, name)


def _is_tried(before: str) -> bool:
    """Whether an import with this text before it may fail."""
    *_, block = _TRY.split(before)
    return bool(_TRIED.search(before[-80:])) or (block != before and block.count("}") <= block.count("{"))


def script_file(path: str, name: str, paths: frozenset[str]) -> str | None:
    """The file of the project that a file means by `./name`, if it is there."""
    place = _place(path, name)
    stem, ending = posixpath.splitext(place)
    # The folder at the top has no name.
    places = [(place + suffix).removeprefix("./") for suffix in _ENDINGS] + [
        stem + suffix for suffix in _COMPILED.get(ending, ())
    ]
    return next((one for one in places if one in paths), None)


def _place(path: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), name))


_PACKAGE = re.compile(r"(?:@[\w.~-]+/)?[a-z0-9][\w.~-]*")


@cache
def _folders(paths: frozenset[str]) -> frozenset[str]:
    return frozenset(part for path in paths for part in PurePosixPath(path).parts[:-1])


class _Projects:
    """What the packages of a tree declare, each for the files below it."""

    def __init__(self, tree: FilesOfTree) -> None:
        self._manifests = tree.read(path for path in tree.paths if PurePosixPath(path).name == "package.json")
        self._tree = tree

    @cached_property
    def _names(self) -> frozenset[str]:
        """The packages of the tree itself, of which each may import the others."""
        return frozenset(str(_object(content).get("name")) for content in self._manifests.values())

    @cached_property
    def _configurations(self) -> dict[str, bytes]:
        """By path: files in which names are given to folders, or packages are declared in another way."""
        wanted = (path for path in self._tree.paths if _CONFIGURATION.search(path))
        return dict(self._tree.read(wanted))

    def declare(self, package: str, path: str) -> bool:
        above = [str(folder) for folder in PurePosixPath(path).parents]
        mine = [content for place, content in self._manifests.items() if (posixpath.dirname(place) or ".") in above]
        if not mine or package in self._names:
            return True
        # Dependencies of every kind, and what the manifest says of other tools: jest's names for folders, for example.
        if any(
            f'"{name}' in content.decode("utf-8", "replace")
            for name in (package, f"@types/{package}")
            for content in mine
        ):
            return True
        scope = package.partition("/")[0]
        said = (
            content.decode("utf-8", "replace")
            for place, content in self._configurations.items()
            if (posixpath.dirname(place) or ".") in above
        )
        return any(f"{quote}{name}" in one for one in said for name in (package, f"{scope}/") for quote in "\"'^")


_CONFIGURATION = re.compile(
    r"(?:^|/)(?:[tj]sconfig[^/]*\.json|deno\.jsonc?|import_?map\.json|[^/]*\.config\.[cm]?[jt]s|\.babelrc|pnpm-workspace\.yaml)$"
)


def _object(content: bytes) -> dict[str, object]:
    try:
        value = json.loads(content)
    except ValueError:
        return {}
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
