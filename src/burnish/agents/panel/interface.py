"""What the embedded panel and its tools say to each other.

A tool is a small specification and a parser. It starts nothing, judges nothing and knows nothing of checks: it says
which files it can look at, what to run, and what the output means. An output that is not exactly understood is an
error, never an empty list.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Protocol

import msgspec

from burnish.agents.panel.places import Surroundings
from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.values import Value
from burnish.system.process import Finished


class ToolError(BurnishError):
    """A tool is missing, failed, or said something that is not understood. Its reviewer did not run."""

    kind = ErrorKind.INFRASTRUCTURE


class TooMuchSaidError(ToolError):
    """A tool reported more than is kept, so that nothing of it can be believed."""


class UnloadableFileError(ToolError):
    """One file kept a tool from looking at any: it can look at the others without that one."""

    def __init__(self, hit: "Hit") -> None:
        super().__init__(hit.message)
        self.hit = hit


class ToolName(Enum):
    """Every analyser that burnish knows."""

    RUFF = "ruff"
    AST_GREP = "ast-grep"
    OXLINT = "oxlint"
    KINGFISHER = "kingfisher"
    ZIZMOR = "zizmor"
    SHELLCHECK = "shellcheck"
    HADOLINT = "hadolint"
    TY = "ty"
    ESLINT = "eslint"
    MYPY = "mypy"
    PYRIGHT = "pyright"
    """basedpyright, too."""
    TSC = "tsc"
    GO_VET = "go-vet"
    CARGO = "cargo"
    """clippy, or `cargo check` without it."""
    LINT = "lint"
    """The project's own script of that name."""
    PRE_COMMIT = "pre-commit"
    LEFTHOOK = "lefthook"
    BURNISH = "burnish"
    """What burnish looks for itself, without a program: see `own_checks`."""


class Hidden(Enum):
    """Whether a comment in the change would have kept a tool from reporting something (see `suppressions`)."""

    NOT = "not"
    NAMED = "named"
    """By a comment of the change for this rule and this statement."""
    BLANKET = "blanket"
    """By a comment of the change for every rule, or for the whole file."""
    BEFORE = "before"
    """By a comment that the base already has in this place."""


class SourceFile(Value):
    """A file of the change, as much of it as choosing tools needs."""

    path: str
    """From the root of the repository, with slashes."""
    opening: bytes = b""
    """Its first kilobytes: a shebang, a note that it is generated."""
    size: int = 0
    only_secrets: str = ""
    """Why nothing but secrets is looked for in it; empty where every tool looks at it."""


class TextEdit(Value):
    """Replace the text between two places. Both count from 1, columns in characters; the end is not part."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class Remedy(Value):
    """How a tool itself would fix what it found."""

    edits: tuple[TextEdit, ...]
    safe: bool
    """Whether the tool promises that the meaning of the code stays the same."""
    title: str = ""


class Hit(Value):
    """One thing that a tool reported, in its own words."""

    tool: ToolName
    rule: str
    """As the tool names it: `S110`, `SC2155`, `eslint(no-empty)` without the plugin where it is the usual one."""
    file: str
    line: int | None
    message: str
    end_line: int | None = None
    level: str = ""
    """The tool's own severity, in lower case: `error`, `high`."""
    confidence: str = ""
    """The tool's own, in lower case, where it has one."""
    suggestion: str = ""
    link: str = ""
    snippet: str = ""
    """The text that was found, where the tool gives it and it is no secret."""
    remedy: Remedy | None = None
    fixable: bool = False
    """Whether the tool can fix it by a safe fix of its own, also where it does not tell the edits."""
    hidden: Hidden = Hidden.NOT
    doubtful: bool = False
    """Whether there is a reason why it may be right all the same (see `doubts`)."""
    surroundings: Surroundings | None = None
    """Where its file stands, if more is known than its path tells (`ChangeSnapshot.places`)."""


class RuleSelection(Value):
    """What a tool is to look for. Frozen and hashable: equal choices are one run that several reviewers share."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    own_configuration: bool = False
    """Whether the configuration of the project decides instead of `select`."""
    preview: bool = False
    """Whether these are rules that the tool offers only on request: the request changes what its other rules say."""
    least_python: int = 0
    """The minor version of Python 3 that the project needs at least, where it says so."""


class ToolInvocation(Value):
    """How to run a tool once. It runs in the root of the tree that it looks at."""

    arguments: tuple[str, ...]
    """After the program."""
    stdin: bytes = b""
    environment: dict[str, str] = msgspec.field(default_factory=dict[str, str])


class AnalyserTool(Protocol):
    """One analyser."""

    @property
    def name(self) -> ToolName: ...

    def takes(self, file: SourceFile) -> bool:
        """Whether it can look at a file of this kind."""
        ...

    def invocation(self, files: Sequence[str], choice: RuleSelection) -> ToolInvocation:
        """How to look at these files."""
        ...

    def read(self, finished: Finished, files: Sequence[str]) -> tuple[Hit, ...]:
        """What it found in them. Raises `ToolError` where the process or its output is not as it must be."""
        ...

    def passed_over(self, finished: Finished, files: Sequence[str]) -> frozenset[str]:
        """Those of the files that it did not look at, or may not have looked at, without a hit that says so."""
        ...


class Task(Value):
    """One tool on some files. Equal tasks of several reviewers are one run."""

    tool: ToolName
    choice: RuleSelection
    files: tuple[str, ...]
