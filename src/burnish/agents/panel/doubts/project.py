"""Doubts about hits that no single file shows: what the whole project does, mostly as its base says.

What only the change says of the project's tools excuses nothing: a change could have added it for that.
"""

import posixpath
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import PurePosixPath

import msgspec

from burnish.agents.panel.interface import Hit, ToolName
from burnish.agents.panel.own_checks.imports import FilesOfTree, comes_from_a_build
from burnish.agents.panel.own_checks.reporting import OwnRule
from burnish.agents.panel.tools import ty
from burnish.agents.panel.tools.reading import INVALID_SYNTAX
from burnish.core.values import replace

UNDEFINED = "F821"
"""What ruff says of a name that is defined nowhere."""
_NO_NAME = "no-undef"
_SCRIPTS = (".js", ".jsx", ".mjs", ".cjs")
_BUILTINS = ("builtins", "__builtin__", "__builtins__")
_TO_BUILTINS = re.compile(
    r"\b_*builtins?_*(?:\.__dict__)?(?:\[\s*['\"](\w+)['\"]\s*\]|\.(\w+))\s*=[^=]|\bsetattr\(_*builtins?_*,\s*['\"](\w+)['\"]"
)
_NAMES_FLOW = ("package.json", ".babelrc", "babel.config.js")
_FLOW = re.compile(rb"\bflow-(?:bin|parser|remove-types)\b|\bpreset-flow\b|flow-strip-types|\bhermes-parser\b")
_KNOWN = re.compile(r"^\s*(?:from|import)\s+(\w+)", re.MULTILINE)
_MISSING = re.compile(r"There is no `([\w.]+)`")
_NAME_OF_PACKAGE = re.compile(r"(?:@[\w.-]+/)?(\w+?)(?:[.-]?js)?")
_MODULES_OF_GO = ("go.mod", "vendor.mod")
_MODULE_OF_GO = re.compile(rb"^\s*(?:require\s+)?([\w.~-]+\.[\w.~-]+/[\w./~-]+)\s+v\d", re.MULTILINE)


class Project:
    """The project of a change."""

    def __init__(self, head: FilesOfTree, base: FilesOfTree) -> None:
        self._head = head
        self._base = base

    def with_doubts(self, hits: Iterable[Hit]) -> tuple[Hit, ...]:
        """The hits; those that the project makes doubtful say so."""
        return tuple(replace(hit, doubtful=hit.doubtful or self._is_doubtful(hit)) for hit in hits)

    def _is_doubtful(self, hit: Hit) -> bool:
        if hit.rule == UNDEFINED:
            return any(f"`{name}`" in hit.message for name in self._builtins)
        if hit.rule == INVALID_SYNTAX:
            # The folder has declarations of types, which nothing runs.
            return hit.file.endswith(_SCRIPTS) and (hit.file.startswith("flow-typed/") or self._is_typed_by_flow)
        if hit.rule == _NO_NAME:
            found = re.search(r"[`'](\w+)[`']", hit.message)
            return found is not None and found[1].lower() in self._packages
        if hit.rule == ty.NO_IMPORT:
            file = ty.file_of_import(hit)
            return file is not None and (
                comes_from_a_build(file, self._head, self._base) or self._is_below_another(file, hit.file)
            )
        if hit.rule == OwnRule.MISSING_MODULE.value and (named := _MISSING.search(hit.message)):
            return self._is_below_another(named[1].replace(".", "/"), hit.file)
        # A secret is one wherever it stands.
        is_vendored = "vendor/" in hit.file and hit.tool not in (ToolName.KINGFISHER, ToolName.BURNISH)
        return is_vendored and hit.file.startswith(self._vendored)

    def _is_below_another(self, module: str, file: str) -> bool:
        """Whether all packages of a name stand in one without an `__init__.py`, by which the file knows the others.

        `localstack/dns` is `localstack.dns`: who imports `dns` there means another package.
        """
        ending = f"/{module.partition('/')[0]}/__init__.py"
        found = (path.removesuffix(ending) for path in self._head.paths if path.endswith(ending))
        parents = {folder.rpartition("/")[2] for folder in found}
        text = self._head.read([file]).get(file, b"").decode("utf-8", "replace")
        known = set(_KNOWN.findall(text))
        return bool(parents) and f"{ending[1:]}" not in self._head.paths and parents <= known

    @cached_property
    def _builtins(self) -> frozenset[str]:
        """The names that the program gives to every module of Python: `builtins.T = …`."""
        files = {path for found in self._head.holding(_BUILTINS).values() for path in found if path.endswith(".py")}
        texts = (content.decode("utf-8", "replace") for content in self._head.read(files).values())
        return frozenset(
            name for text in texts for found in _TO_BUILTINS.finditer(text) if (name := found[found.lastindex or 0])
        )

    @cached_property
    def _is_typed_by_flow(self) -> bool:
        """Whether JavaScript of the project is written in Flow, which oxlint does not know."""
        names = [path for path in self._base.paths if PurePosixPath(path).name in _NAMES_FLOW]
        return ".flowconfig" in self._base.paths or any(map(_FLOW.search, self._base.read(names).values()))

    @cached_property
    def _packages(self) -> frozenset[str]:
        """The names of the project's packages of JavaScript, as pages have them that load them by a script."""
        manifests = [path for path in self._base.paths if PurePosixPath(path).name == "package.json"]
        names = (_NAME_OF_PACKAGE.fullmatch(_name_in(content)) for content in self._base.read(manifests).values())
        return frozenset(found[1].lower() for found in names if found)

    @cached_property
    def _vendored(self) -> tuple[str, ...]:
        """The folders in which `go mod vendor` puts the modules that the project requires."""
        manifests = self._base.read(path for path in self._base.paths if PurePosixPath(path).name in _MODULES_OF_GO)
        return tuple(
            f"{posixpath.join(posixpath.dirname(path), 'vendor', module.decode())}/"
            for path, content in manifests.items()
            for module in _MODULE_OF_GO.findall(content)
        )


def _name_in(manifest: bytes) -> str:
    try:
        return msgspec.json.decode(manifest, type=_Manifest).name
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""


class _Manifest(msgspec.Struct):
    name: str = ""
