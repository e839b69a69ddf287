"""ty: the types of Python. It follows imports, so that it is given the modules around its files, and knows most where
the packages of the project are installed. What it cannot resolve it knows nothing of, and it says nothing then.

Only chosen rules are asked for: those that were quiet on real projects. It is the one tool whose failure is none of the
review: ruff has looked at the same files, and a note says that types were not checked (see `runner`).
"""

import ast
import json
import re
import sys
import sysconfig
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

import msgspec

from burnish.agents.panel.interface import Hit, RuleSelection, SourceFile, ToolInvocation, ToolName
from burnish.agents.panel.places import may_import_from
from burnish.agents.panel.project_tests.reach import PythonImports
from burnish.agents.panel.python_source import parse_python
from burnish.agents.panel.tools import reading
from burnish.core.values import replace
from burnish.system.process import Finished

SECONDS = 60.0
NO_IMPORT = "import-not-found"
NO_PACKAGES = ".no-packages"
WITHIN = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
"""An environment without packages, beside the files: where ty is given none, it takes its own."""
_CONFIGURATION = Path(__file__).with_name("ty.toml")
"""Given by name, so that none is looked for in the tree: it could switch rules off."""
_NEWEST = 15
"""The last minor version of Python that it knows."""
SUFFIXES = (".py", ".pyi", ".pyw")
_FORMAT = "--output-format=gitlab"
_OPTIONS = ("check", _FORMAT, "--no-progress", "--no-respect-ignore-files")
_OF_CALLS = frozenset(
    {
        "call-non-callable",
        "missing-argument",
        "parameter-already-assigned",
        "too-many-positional-arguments",
        "unknown-argument",
    }
)
_EXPLAINED = re.compile(
    r"^error\[(?P<rule>[\w-]+)\]: (?P<message>.*)\n *--> (?P<file>.+):(?P<line>\d+):\d+$", re.MULTILINE
)
_DOUBTS = ("info: Attempted to call union type", "info: The member may be available on other Python versions")
_SOURCES = ("", "src", "lib", "python")
"""Where the packages of a project stand."""
_NO_MEMBER = re.compile(r"Module `(?P<module>[\w.]+)` has no member `(?P<name>\w+)`")
_CALLED = re.compile(r"\b(?:function|method) `(?:\w+\.)*?(?:(?P<owner>\w+)\.)?(?P<name>\w+)`")
_MADE = re.compile(r"`(?:\w+\.)*?(?P<owner>\w+)\.__(?:init|new)__`")
_MAKES_NAMES = re.compile(
    r"\b(?:globals|locals|vars)\(\)|^\s*exec\(|\bsys\.modules\[|^def __getattr__\b|^\s*from\s+\S+\s+import\s+\*"
    r"|\bModuleType\b|\b\w*current_module\(\)",
    re.MULTILINE,
)
_GIVES = re.compile(r"\.(\w+)\s*=[^=]|setattr\(\s*\w+,\s*['\"](\w+)['\"]")
_UNRESOLVED = re.compile(r"Cannot resolve imported module `(?P<top>[^.`]*)(?P<rest>[^`]*)`")


class _Point(msgspec.Struct, frozen=True):
    line: reading.Place


class _Span(msgspec.Struct, frozen=True):
    begin: _Point
    end: _Point


class _Location(msgspec.Struct, frozen=True):
    path: str
    positions: _Span


class _Problem(msgspec.Struct, frozen=True):
    check_name: str
    description: str
    severity: str
    location: _Location


class Ty:
    """Python files and stubs."""

    name = ToolName.TY

    def takes(self, file: SourceFile) -> bool:
        return PurePosixPath(file.path).suffix in SUFFIXES

    def invocation(self, files: Sequence[str], choice: RuleSelection) -> ToolInvocation:
        rules = (f"--error={rule}" for rule in reading.without_own_rules(choice.select))
        options = (*_OPTIONS, f"--config-file={_CONFIGURATION}", "--ignore=all", *rules)
        return ToolInvocation(arguments=(*options, "--", *reading.as_arguments(self.name, files)))

    def read(self, finished: Finished, files: Sequence[str]) -> tuple[Hit, ...]:
        found = reading.decoded(self.name, reading.output_of(self.name, finished, (0, 1)), tuple[_Problem, ...])
        reading.must_name_something(self.name, finished, found)
        places = reading.located(self.name, (one.location.path for one in found), files)
        return (*(_hit(one, places[one.location.path]) for one in found), *reading.nameless(self.name, files))

    def passed_over(self, finished: Finished, files: Sequence[str]) -> frozenset[str]:  # noqa: ARG002 - as below
        return frozenset(files)  # it claims nothing: which modules it could not resolve is not told


def with_packages(call: ToolInvocation, python: str, roots: Collection[str], minor: int = 0) -> ToolInvocation:
    """The same, with the environment of the project, or an empty one, and the folders that its modules are in.

    `minor` is that of the Python which the project needs at least, if it says so.
    """
    check, *rest = call.arguments
    newer = minor > sys.version_info.minor
    version = (f"--python-version=3.{min(minor, _NEWEST)}",) if newer and not python else ()
    installed = (*version, "--python", python or NO_PACKAGES)
    # A folder without an `__init__.py` is a package, too, where it is imported from the top of the repository.
    searched = list(dict.fromkeys((*sorted(roots), ".")))
    return replace(call, arguments=(check, *installed, f"--config=environment.root={json.dumps(searched)}", *rest))


def explaining(call: ToolInvocation) -> ToolInvocation:
    """The same, with words for people: only they tell what else a value may be."""
    return replace(call, arguments=tuple("--output-format=full" if one == _FORMAT else one for one in call.arguments))


def need_explaining(hits: Iterable[Hit]) -> bool:
    return any(hit.rule in _OF_CALLS or _NO_MEMBER.search(hit.message) for hit in hits)


def with_explanations(hits: Sequence[Hit], finished: Finished) -> tuple[Hit, ...]:
    """The hits; doubtful are calls that are right for another of the values that may be called, and members of the
    standard library that other versions of Python have."""
    told = finished.stdout.decode("utf-8", "replace")
    found = list(_EXPLAINED.finditer(told))
    ends = [*(one.start() for one in found[1:]), len(told)]
    doubted = {
        (one["rule"], PurePosixPath(one["file"]).as_posix(), int(one["line"]), reading.text(one["message"]))
        for one, end in zip(found, ends, strict=True)
        if any(doubt in told[one.end() : end] for doubt in _DOUBTS)
    }
    return tuple(
        replace(hit, doubtful=hit.doubtful or (hit.rule, hit.file, hit.line, hit.message) in doubted) for hit in hits
    )


def with_given_members(hits: Sequence[Hit], modules: Iterable[tuple[str, str]]) -> tuple[Hit, ...]:
    """The hits; doubtful is what the project itself gives to a module (`logging.NOTICE = 25`), in one of its modules.

    So are members of modules that make their names when they are imported, and what the library has for itself. A stub
    may know less than what it describes: so are its members, and calls of its functions.
    """
    missing = {hit: found for hit in hits if (found := _NO_MEMBER.search(hit.message))}
    called = {hit: found for hit in hits if hit.rule in _OF_CALLS and (found := _CALLED.search(hit.message))}
    made = {hit: found["owner"] for hit in hits if hit.rule in _OF_CALLS and (found := _MADE.search(hit.message))}
    if not missing and not called and not made:
        return tuple(hits)
    sources = dict(modules)
    stubs = "\n".join(source for path, source in sources.items() if path.endswith(".pyi"))
    texts = "\n".join(sources.values())
    names_given = {found[1] or found[2] for found in _GIVES.finditer(texts)}

    def is_given(member: re.Match[str]) -> bool:
        module, name = member["module"], member["name"]
        owner = module.rpartition(".")[2]
        if name.startswith("_") and module.partition(".")[0] in sys.stdlib_module_names:
            return True
        ends = tuple(f"/{module.replace('.', '/')}{end}" for end in (".py", "/__init__.py"))
        if any(f"/{path}".endswith(tuple(f"{end}i" for end in ends)) for path in sources):
            return True
        # A stub beside a module may know less than the module.
        there = re.compile(rf"^\s*(?:class|def|async def)?\s*{name}\b", re.MULTILINE)
        mine = [source for path, source in sources.items() if f"/{path}".endswith(ends)]
        if any(_MAKES_NAMES.search(source) or there.search(source) for source in mine):
            return True
        if re.search(rf"\bsetattr\(\s*{owner}\s*,\s*[^'\"\s]", texts):
            return True
        if name not in names_given:
            return False
        return re.search(rf"\b{owner}\.{name}\s*=[^=]|setattr\(\s*{owner},\s*['\"]{name}['\"]", texts) is not None

    given = {hit for hit, member in missing.items() if is_given(member)}
    given |= {hit for hit, found in called.items() if re.search(rf"\bdef {found['name']}\b", stubs)}
    # `Rules = Rules()`: the name of the class stands for its only object from there on.
    named = {hit: found["owner"] for hit, found in called.items() if found["owner"]}
    given |= {hit for hit, owner in named.items() if re.search(rf"^{owner}\s*=\s*{owner}\(", texts, re.MULTILINE)}
    given |= {hit for hit, owner in made.items() if _is_made_otherwise(owner, texts)}
    # Of a method that several classes have, the object may have another one.
    given |= {
        hit
        for hit in named
        if "bound method" in hit.message and len(re.findall(rf"\bdef {called[hit]['name']}\b", texts)) > 1
    }
    return tuple(replace(hit, doubtful=hit.doubtful or hit in given) for hit in hits)


def _is_made_otherwise(owner: str, texts: str) -> bool:
    """Whether a class says in another way than by `__init__` what it is called with."""
    found = re.search(rf"^class {owner}\b(?P<rest>.*(?:\n(?:[ \t)].*)?)*)", texts, re.MULTILINE)
    return found is not None and re.search(r"\bmetaclass\s*=|\bdef __new__\b", found["rest"]) is not None


def without_unknown_packages(hits: Sequence[Hit], imports: PythonImports) -> tuple[Hit, ...]:
    """The hits without imports of packages that may be missing here only: they are not installed.

    Doubtful are imports of packages that the repository shares with others: `twisted`, where it adds a plugin. Of a
    folder that is no package, nothing but modules can be imported: who imports something else means another one.

    An import can be wrong for certain where its package is one of the repository's own, or of the standard library. The
    repository's modules and packages all exist, wherever ty looked for them. What ty knows of the library are its
    documented names: its own source has the others, and those of other platforms.
    """
    own = imports.names

    # An example that is called like a package is not that package for the program, nor is a module for itself.
    def is_hidden(top: str, file: str) -> bool:
        places = imports.begins(top)
        folders = [folder for folder in places if may_import_from(folder, file)]
        return bool(places) and (len(folders) != 1 or PurePosixPath(file).stem == top)

    def is_certain(hit: Hit) -> bool:
        if member := _NO_MEMBER.search(hit.message):
            known = member["name"] in _names_of_library(member["module"])
            if f"{member['module']}.{member['name']}" in own:
                return False  # a module that is compiled
            return not known and not is_hidden(member["module"].partition(".")[0], hit.file)
        found = _UNRESOLVED.search(hit.message) if hit.rule == NO_IMPORT else None
        if found is None:
            return True
        top = found["top"]
        if top and top + found["rest"] in own:
            return False
        if not top:
            # A folder in one of the same name (`shop/shop`) is taken for the outer one. What is above the repository,
            # or is its top, may be a package of any name.
            meant = _absolute(hit.file, found["rest"])
            return bool(meant) and meant not in own
        if top in own:
            return not is_hidden(top, hit.file)
        return top in sys.stdlib_module_names and found["rest"] != "" and _library_file(top + found["rest"]) is None

    return tuple(
        replace(hit, doubtful=hit.doubtful or _may_be_of_others(hit, imports)) for hit in hits if is_certain(hit)
    )


def _may_be_of_others(hit: Hit, imports: PythonImports) -> bool:
    if member := _NO_MEMBER.search(hit.message):
        return imports.is_folder(member["module"])
    found = _UNRESOLVED.search(hit.message) if hit.rule == NO_IMPORT else None
    top = found["top"] if found else ""
    # Python takes an installed package rather than a folder that is none, wherever that stands.
    makes_names = found is not None and found["rest"].endswith("six.moves")
    return makes_names or (bool(top) and (imports.is_shared(top) or _is_folder_inside(top, imports)))


def _is_folder_inside(top: str, imports: PythonImports) -> bool:
    return imports.is_folder(top) and all(folder not in _SOURCES for folder in imports.begins(top))


def file_of_import(hit: Hit) -> str | None:
    """The file that an import which cannot be resolved would mean, from the top of the repository."""
    found = _UNRESOLVED.search(hit.message) if hit.rule == NO_IMPORT else None
    if found is None:
        return None
    name = found["top"] + found["rest"] if found["top"] else _absolute(hit.file, found["rest"])
    return f"{name.replace('.', '/')}.py" if name else None


def _absolute(file: str, relative: str) -> str:
    """The name from the top of the repository of what a file imports as `.name`; empty where it is not below it."""
    name = relative.lstrip(".")
    level = len(relative) - len(name)
    parts = PurePosixPath(file).parts
    return "" if level > len(parts) else ".".join((*parts[:-level], *filter(None, [name])))


def _library_file(module: str) -> Path | None:
    """The source of a module of the standard library."""
    place = Path(sysconfig.get_path("stdlib"), *module.split("."))
    found = (place.with_name(f"{place.name}.py"), place / "__init__.py")
    return next((file for file in found if file.is_file()), None)


@cache
def _names_of_library(module: str) -> frozenset[str]:
    """Every name that the source of a module of the standard library gives to something."""
    if module.partition(".")[0] not in sys.stdlib_module_names:
        return frozenset()
    file = _library_file(module)
    if file is None:
        with suppress(ImportError):  # `os.path` is no module of its own, and a compiled one may miss a library
            return frozenset(dir(import_module(module)))
    tree = parse_python(file.read_bytes()) if file else None
    nodes = list(ast.walk(tree)) if tree else []
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    imported = {node.asname or node.name for node in nodes if isinstance(node, ast.alias)}
    # `from .decoder import …` in `json` makes `json.decoder` known, too.
    imported |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and node.level}
    assigned = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    # Such as `tty`, which has everything of `termios`. What the library itself imports does nothing else when imported.
    everything = {
        name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module and not node.level and node.names[0].name == "*"
        if find_spec(node.module)
        for name in dir(import_module(node.module))
    }
    return frozenset(defined | imported | assigned | everything)


def _hit(one: _Problem, file: str) -> Hit:
    first, last = one.location.positions.begin.line, one.location.positions.end.line
    return Hit(
        tool=ToolName.TY,
        rule=reading.text(one.check_name),
        file=file,
        line=first,
        end_line=max(first, last),
        message=reading.text(one.description.removeprefix(f"{one.check_name}: ")),
        level=one.severity.lower(),
        link=f"https://ty.dev/rules#{reading.text(one.check_name)}",
    )
