"""zizmor: GitHub Actions. Does not tell its edits, but whether it has a safe fix.

It cannot be told what to look for: callers choose among the hits. A file that it cannot parse it passes over; which
ones it did look at is on standard error only, and what is missing there is reported here. A file that it parses and
does not understand ends it before it looks at any other.
"""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Literal

import msgspec

from burnish.agents.panel.interface import (
    Hit,
    RuleSelection,
    SourceFile,
    ToolError,
    ToolInvocation,
    ToolName,
    UnloadableFileError,
)
from burnish.agents.panel.tools import reading
from burnish.system.process import Finished

_CODES = (0, 11, 12, 13, 14)
"""Nothing, or something of one of the four severities."""
_FAILED = 1
_NOTHING_COLLECTED = 3
_INJECTION = "template-injection"
_FIRST_WORDS = "zizmor v"
_NOT_LOADED = re.compile(r"failed to load file://(?:\./)?(?P<file>.+) as \w+$", re.MULTILINE)
_UNREAD = "zizmor could not read this file: it is not valid YAML, or zizmor does not know what it contains."
_OPTIONS = ("--offline", "--no-config", "--no-ignores", "--format=json-v1", "--no-progress", "--color=never")
_NO_WARNINGS = "zizmor=info,zizmor::audit=error"
"""They are many lines each, and would push what it completed out of what is kept."""
_SUFFIXES = (".yml", ".yaml")
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}", re.DOTALL)
_TAME = re.compile(
    r"github\.(?:actor|triggering_actor|actor_id|repository|repository_owner|sha|run_id|run_number|event_name|workspace)"
    r"|secrets\.\w+"
)
"""What holds no character that a shell would run: the name of an account or repository, a number, a secret."""


class _Point(msgspec.Struct, frozen=True):
    row: reading.Count
    column: reading.Count


class _Span(msgspec.Struct, frozen=True):
    start_point: _Point
    end_point: _Point


class _Concrete(msgspec.Struct, frozen=True):
    location: _Span
    feature: str


class _Local(msgspec.Struct, frozen=True):
    verbatim_path: str


class _Key(msgspec.Struct, frozen=True):
    local: _Local = msgspec.field(name="Local")


class _Symbolic(msgspec.Struct, frozen=True):
    key: _Key
    annotation: str
    kind: Literal["Primary", "Related", "Hidden"]


class _Location(msgspec.Struct, frozen=True):
    symbolic: _Symbolic
    concrete: _Concrete


class _Determinations(msgspec.Struct, frozen=True):
    confidence: str
    severity: str


class _Fix(msgspec.Struct, frozen=True):
    title: str
    disposition: str


class _Finding(msgspec.Struct, frozen=True):
    ident: str
    desc: str
    url: str
    determinations: _Determinations
    locations: tuple[_Location, ...]
    fixes: tuple[_Fix, ...]

    @property
    def primary(self) -> _Location:
        for location in self.locations:
            if location.symbolic.kind == "Primary":
                return location
        raise ToolError(f"zizmor reported {reading.text(self.ident)} without a location.")


class Zizmor:
    """Workflows, actions, and the configuration of Dependabot."""

    name = ToolName.ZIZMOR

    def takes(self, file: SourceFile) -> bool:
        path = PurePosixPath(file.path)
        if path.suffix not in _SUFFIXES:
            return False
        is_action = path.stem == "action" and b"runs:" in file.opening
        return is_action or str(path.parent) == ".github/workflows" or str(path.with_suffix("")) == ".github/dependabot"

    def invocation(self, files: Sequence[str], choice: RuleSelection) -> ToolInvocation:  # noqa: ARG002 - it knows no choice
        arguments = (*_OPTIONS, "--", *reading.as_arguments(self.name, files))
        return ToolInvocation(arguments=arguments, environment={"RUST_LOG": _NO_WARNINGS})

    def read(self, finished: Finished, files: Sequence[str]) -> tuple[Hit, ...]:
        if finished.code == _FAILED and (named := _NOT_LOADED.search(finished.stderr_tail)) and named["file"] in files:
            raise UnloadableFileError(_unread_file(named["file"]))
        raw = reading.output_of(self.name, finished, (*_CODES, _NOTHING_COLLECTED))
        found: tuple[_Finding, ...] = ()
        if finished.code != _NOTHING_COLLECTED:
            decoded = reading.decoded(self.name, raw, tuple[_Finding, ...])
            found = decoded
            reading.must_name_something(self.name, finished, found)
        names = (one.primary.symbolic.key.local.verbatim_path for one in found)
        places = reading.located(self.name, names, files)
        hits = (_hit(one, places) for one in found)
        return (*hits, *_unread(finished, files), *reading.nameless(self.name, files))

    def passed_over(self, finished: Finished, files: Sequence[str]) -> frozenset[str]:  # noqa: ARG002 - see `read`
        return frozenset()


def _hit(one: _Finding, places: dict[str, str]) -> Hit:
    where = one.primary
    start, end = where.concrete.location.start_point, where.concrete.location.end_point
    note = reading.text(where.symbolic.annotation)
    desc = reading.text(one.desc)
    return Hit(
        tool=ToolName.ZIZMOR,
        rule=reading.text(one.ident),
        file=places[where.symbolic.key.local.verbatim_path],
        line=start.row + 1,
        end_line=reading.last_line(start.row + 1, end.row + 1, end.column + 1),
        message=f"{desc}: {note}" if note else desc,
        level="low" if _is_tame(one) else one.determinations.severity.lower(),
        confidence=one.determinations.confidence.lower(),
        suggestion=reading.text(one.fixes[0].title) if one.fixes else "",
        link=reading.text(one.url),
        snippet=reading.text(where.concrete.feature),
        fixable=any(fix.disposition == "safe" for fix in one.fixes),
    )


def _is_tame(one: _Finding) -> bool:
    found = _EXPRESSION.findall(one.primary.concrete.feature) if one.ident == _INJECTION else []
    return bool(found) and all(_TAME.fullmatch(expression) for expression in found)


def _unread(finished: Finished, files: Sequence[str]) -> tuple[Hit, ...]:
    """A hit for each file that zizmor does not say it completed."""
    said = finished.stderr_tail
    if _FIRST_WORDS not in said:
        raise ToolError("zizmor does not say which files it checked.", hint="Review the change in smaller parts.")
    readable = (argument.removeprefix("./") for argument in reading.as_arguments(ToolName.ZIZMOR, files))
    return tuple(_unread_file(file) for file in readable if f" completed ./{file}\n" not in f"{said}\n")


def _unread_file(file: str) -> Hit:
    return Hit(tool=ToolName.ZIZMOR, rule=reading.UNREADABLE, file=file, line=None, message=_UNREAD)
