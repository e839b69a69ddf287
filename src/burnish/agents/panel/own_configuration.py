"""Which linters a project configures itself, and which files steer linters and test tools. Reads no disk of its own."""

import json
import tomllib
from collections.abc import Callable, Collection
from pathlib import PurePosixPath
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


def configured_tools(paths: Collection[str], read: Callable[[str], bytes | None]) -> frozenset[ToolName]:
    """Which linters a project configures, in its root or in any folder. `read` gives a file of the same tree.

    An `oxlint.config.ts` needs the project's own node to be read, so that it counts as nothing here.
    """
    found = {tool for path in paths if (tool := _by_name(path))}
    for path in paths:
        name = PurePosixPath(path).name
        if name == "pyproject.toml" and ToolName.RUFF not in found and "ruff" in _table(_toml(read(path)), "tool"):
            found.add(ToolName.RUFF)
        if name == "package.json" and ToolName.ESLINT not in found and "eslintConfig" in _json(read(path)):
            found.add(ToolName.ESLINT)
    return frozenset(found)


def is_configuration(path: str) -> bool:
    """Whether a file steers linters or test tools, so that a change of it could weaken the change's own gate."""
    return any(matches(PurePosixPath(path).name, pattern) for pattern in _STEERING)


def _by_name(path: str) -> ToolName | None:
    name = PurePosixPath(path).name
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
