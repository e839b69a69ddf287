"""Which linters a project configures itself, and which files steer linters and test tools. Reads no disk of its own."""

import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, cast

from burnish.agents.panel.interface import ToolName
from burnish.settings.globs import matches

_NAMES = {
    "ruff.toml": ToolName.RUFF,
    ".ruff.toml": ToolName.RUFF,
    ".oxlintrc.json": ToolName.OXLINT,
    ".oxlintrc.jsonc": ToolName.OXLINT,
}
"""Files that configure a linter by being there."""

_ESLINT_BEGINNINGS = ("eslint.config.", ".eslintrc")

_STEERING = (
    *_NAMES, "oxlint.config.*", "eslint.config.*", ".eslintrc", ".eslintrc.*", ".eslintignore",
    "pyproject.toml", "setup.cfg", "tox.ini", ".flake8", "pytest.ini", ".pytest.ini", "pytest.toml", ".coveragerc",
    "package.json", "biome.json", "biome.jsonc", ".shellcheckrc", "shellcheckrc", ".hadolint.yaml", ".hadolint.yml",
    "zizmor.yml", "zizmor.yaml", "sgconfig.yml", ".prettierrc", ".prettierrc.*", ".editorconfig",
)  # fmt: skip


_OF_PACKAGES = frozenset(
    {
        "setup.py", "meson.build", "Pipfile", "Cargo.toml", "go.mod", "go.sum", "go.work",
        "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "pnpm-workspace.yaml",
    }
)  # fmt: skip
_MAY_EXTEND = (".toml", ".json", ".jsonc", ".cfg", ".ini")
_SHALLOW = 2
"""How deep in the tree all modules of a folder count, not one."""
_QUOTED = re.compile(rb"[\"']([^\"'\n]{1,200}\.[A-Za-z0-9]{1,8})[\"']")


def configured_tools(paths: Collection[str], read: Callable[[str], bytes | None]) -> frozenset[ToolName]:
    """Which linters a project configures, in its root or in any folder. `read` gives a file of the same tree.

    An `oxlint.config.ts` needs the project's own node to be read, so that it counts as nothing here.
    """
    found = {tool for path in paths if (tool := _by_name(_name(path)))}
    for path in paths:
        name = _name(path)
        if name == "pyproject.toml" and ToolName.RUFF not in found and "ruff" in _table(_toml(read(path)), "tool"):
            found.add(ToolName.RUFF)
        if name == "package.json" and ToolName.ESLINT not in found and "eslintConfig" in _json(read(path)):
            found.add(ToolName.ESLINT)
    return frozenset(found)


def is_configuration(path: str) -> bool:
    """Whether a file steers linters or test tools, so that a change of it could weaken the change's own gate."""
    return _is_steering(_name(path))


def declares_packages(path: str) -> bool:
    """Whether a file says which packages a project has, or keeps their versions."""
    name = _name(path)
    return name in _OF_PACKAGES or name.endswith(".lock") or ("requirements" in name and name.endswith(".txt"))


def configuration_of(
    paths: Collection[str], read: Callable[[Collection[str]], Mapping[str, bytes]]
) -> dict[str, bytes]:
    """The files of a tree that steer linters and test tools, and those that they name. `read` gives several at once."""
    found: dict[str, bytes] = {}
    wanted = {path for path in paths if is_configuration(path)}
    while wanted:
        read_now = read(wanted)
        found |= read_now
        wanted = {
            name
            for path, content in read_now.items()
            if path.endswith(_MAY_EXTEND)
            for word in _QUOTED.findall(content)
            if (name := _beside(path, word)) in paths and name not in found
        }
    return found


def landmarks(paths: Collection[str]) -> Iterator[str]:
    """Python modules by which ruff knows the packages of a project: of each folder one, and all near the root."""
    folders: set[str] = set()
    for path in sorted(paths):
        if path.endswith(".py"):
            folder, _, name = path.rpartition("/")
            if name == "__init__.py" or folder not in folders or path.count("/") < _SHALLOW:
                yield path
            folders.add(folder)


def _beside(path: str, word: bytes) -> str:
    """The file that a relative path in a configuration means."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), word.decode("utf-8", "replace")))


def _name(path: str) -> str:
    return path.rpartition("/")[2]


@lru_cache(maxsize=4096)
def _is_steering(name: str) -> bool:
    return any(matches(name, pattern) for pattern in _STEERING)


def _by_name(name: str) -> ToolName | None:
    if name != ".eslintignore" and name.startswith(_ESLINT_BEGINNINGS):
        return ToolName.ESLINT
    return _NAMES.get(name)


def _toml(raw: bytes | None) -> dict[str, Any]:
    """A document's values; one that cannot be read configures nothing that a linter could read either."""
    try:
        return tomllib.loads((raw or b"").decode())
    except (ValueError, RecursionError):
        return {}


def _json(raw: bytes | None) -> dict[str, Any]:
    try:
        value: object = json.loads(raw or b"{}")
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _table(values: dict[str, Any], key: str) -> dict[str, Any]:
    inner = values.get(key)
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}
