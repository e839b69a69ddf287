"""Which tests of JavaScript and TypeScript reach a change, from the text of the files alone.

A file reaches what it names by a relative path, and every package of the repository that it imports. Tests with imports
that cannot be resolved count as reaching everything: aliases of bundlers, computed names, processes that are started.
So does such code of the program, for a change of files that no other file names.
"""

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping

import msgspec

from burnish.core.values import Value

SUFFIXES = (".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx", ".vue", ".svelte")
_ENDINGS = ("", *SUFFIXES, ".json", *(f"/index{suffix}" for suffix in SUFFIXES))
_MANIFEST = "package.json"
_RELATIVE = re.compile(r"""['"`](\.{1,2}(?:/[^'"`\n$?#]*)?)['"`?#]""")
_IMPORTED = re.compile(
    r"""(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire(?:\.\w+)?\s*\(\s*|\b(?:vi|jest)\.\w+\(\s*)['"]([^'"\n]+)['"]"""
)
_PATH = re.compile(r"[\w@./-]+")
_OPAQUE = re.compile(
    r"\b(?:import|require)\s*\(\s*[^'\"\s)]|import\.meta\.glob|\b(?:child_process|execa\w*|worker_threads|createRequire"
    r"|runInContext|runInNewContext|readdirSync|spawn(?:Sync)?|fork)\b"
)
_CONFIGURATION = re.compile(r"(?:vitest|jest)\.(?:config|workspace)\.[cm]?[jt]s|\.mocharc\.\w+")
_OF_PROJECT = re.compile(r"vite\.config\.[cm]?[jt]s")
_STARTS = re.compile(r"\b(?:npm|pnpm|yarn|bun)\s+(?:run\s+|run-script\s+)?(?:-s\s+|--silent\s+)?([\w:.-]+)")
_TEST_NAMES = tuple(f".{kind}{suffix}" for kind in ("test", "spec") for suffix in SUFFIXES)
_BUILT_IN = re.compile(
    r"assert|async_hooks|buffer|child_process|cluster|console|constants|crypto|dgram|diagnostics_channel|dns|domain|events"
    r"|fs|http2?|https|inspector|module|net|os|path|perf_hooks|process|punycode|querystring|readline|repl|stream"
    r"|string_decoder|timers|tls|tty|url|util|v8|vm|wasi|worker_threads|zlib"
)


class _Package(Value, forbid_unknown_fields=False, rename="camel"):
    name: str = ""
    scripts: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    jest: msgspec.Raw = msgspec.Raw()
    mocha: msgspec.Raw = msgspec.Raw()
    dependencies: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    dev_dependencies: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    peer_dependencies: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    optional_dependencies: dict[str, str] = msgspec.field(default_factory=dict[str, str])

    @property
    def settings(self) -> tuple[msgspec.Raw, msgspec.Raw]:
        return self.jest, self.mocha

    @property
    def declared(self) -> set[str]:
        tables = (self.dependencies, self.dev_dependencies, self.peer_dependencies, self.optional_dependencies)
        return {name for table in tables for name in table}


def is_wanted(path: str) -> bool:
    """Whether the text of a file says something here."""
    name = posixpath.basename(path)
    return path.endswith(SUFFIXES) or name == _MANIFEST or name.startswith(".mocharc.")


def node_importers(
    files: Collection[str], texts: Mapping[str, str], is_test: Callable[[str], bool]
) -> tuple[dict[str, set[str]], set[str]]:
    """What imports each file, and the files that may import anything."""
    packages = dict(_packages(texts))
    names = {package.name: folder for folder, package in packages.items() if package.name}
    declared = {name for package in packages.values() for name in package.declared}
    importers: defaultdict[str, set[str]] = defaultdict(set)
    opaque: set[str] = set()
    for path, text in texts.items():
        if not path.endswith(SUFFIXES):
            continue
        for target in _resolved(path, _RELATIVE.findall(text), files):
            importers[target].add(path)
        imported = {package_of(name) for name in _IMPORTED.findall(text) if not name.startswith((".", "/", "node:"))}
        own = _folder_above(path, packages)
        for name in imported & names.keys():
            if names[name] != own or is_test(path):
                importers[_node(names[name])].add(path)
        unknown = (name for name in imported - names.keys() - declared if not _BUILT_IN.fullmatch(name))
        if _OPAQUE.search(text) or any(unknown):
            opaque.add(path)
        if not is_test(path):
            importers[path].add(_node(own))
    return importers, opaque


def shared_files(project: str, command: str, files: Collection[str], texts: Mapping[str, str]) -> set[str]:
    """What all tests of a project run: their configuration, and files that it or their command names."""
    names = {path: posixpath.basename(path) for path in texts}
    found = {path for path, name in names.items() if _CONFIGURATION.fullmatch(name)}
    found |= {
        path for path, name in names.items() if posixpath.dirname(path) == project and _OF_PROJECT.fullmatch(name)
    }
    package = dict(_packages(texts)).get(project, _Package())
    said = [command, *started_scripts(command, package.scripts), *(bytes(part).decode() for part in package.settings)]
    for path, text in [(posixpath.join(project, _MANIFEST), " ".join(said)), *((one, texts[one]) for one in found)]:
        found |= {one for one in _resolved(path, _PATH.findall(text), files) if not one.endswith(_TEST_NAMES)}
    return found


def started_scripts(line: str, scripts: Mapping[str, str]) -> tuple[str, ...]:
    """The scripts of a package that a command starts by their names, and those that they start."""
    found: dict[str, str] = {}
    waiting = [line]
    while waiting:
        for name in _STARTS.findall(waiting.pop()):
            if name in scripts and name not in found:
                found[name] = scripts[name]
                waiting.append(scripts[name])
    return tuple(found.values())


def package_of(name: str) -> str:
    """The package that an import names: `@scope/name/part` is a part of `@scope/name`."""
    parts = name.split("/")
    return "/".join(parts[:2]) if name.startswith("@") else parts[0]


def _packages(texts: Mapping[str, str]) -> Iterator[tuple[str, _Package]]:
    for path, text in texts.items():
        if posixpath.basename(path) == _MANIFEST:
            try:
                yield posixpath.dirname(path), msgspec.json.decode(text, type=_Package)
            except (msgspec.DecodeError, UnicodeError):
                yield posixpath.dirname(path), _Package()


def _node(folder: str) -> str:
    """Stands for whatever a package exports."""
    return f"package:{folder}"


def _folder_above(path: str, folders: Collection[str]) -> str:
    folder = posixpath.dirname(path)
    while folder and folder not in folders:
        folder = posixpath.dirname(folder)
    return folder


def _resolved(path: str, names: Collection[str], files: Collection[str]) -> Iterator[str]:
    """The files that relative names can mean: without an ending, as folders, and `.js` where the source is `.ts`."""
    for name in names:
        place = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        places = (place, re.sub(r"\.([cm]?)js(x?)$", r".\1ts\2", place))
        bare = "" if place == "." else place
        found = (f"{one}{ending}".lstrip("/") for one in (bare, *places) for ending in _ENDINGS)
        yield from {one for one in found if one in files}
