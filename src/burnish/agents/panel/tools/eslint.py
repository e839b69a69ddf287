"""eslint: the project's own, with the project's own configuration and plugins. burnish does not bring one.

It counts in UTF-16; edits are counted again here, in characters, from the text that eslint gives along.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath

import msgspec

from burnish.agents.panel.interface import (
    Hit,
    Remedy,
    RuleSelection,
    SourceFile,
    TextEdit,
    ToolError,
    ToolInvocation,
    ToolName,
)
from burnish.agents.panel.tools import reading
from burnish.agents.panel.tools.oxlint import SUFFIXES
from burnish.system.process import Finished

PROGRAM = "node_modules/.bin/eslint"
"""Below the root of the tree, where the project installs it."""


_LEVELS = {1: "warning", 2: "error"}
_IGNORED = "File ignored"
"""How eslint says that the project's configuration leaves a file out."""
_DIRECTIVE = "unused-disable-directive"
"""What eslint reports under no rule: a comment that switches off what was not reported."""
_BYTE_ORDER_MARK = "\ufeff"


class _Fix(msgspec.Struct, frozen=True):
    range: tuple[int, int]
    text: str


class _Message(msgspec.Struct, frozen=True, rename="camel"):
    rule_id: str | None
    severity: int
    message: str
    line: reading.Count | None = None
    end_line: reading.Count | None = None
    fatal: bool = False
    fix: _Fix | None = None


class _Result(msgspec.Struct, frozen=True, rename="camel"):
    file_path: str
    messages: tuple[_Message, ...]
    source: str = ""


class Eslint:
    """What eslint can be configured for; the project's configuration says what it really is."""

    name = ToolName.ESLINT

    def takes(self, file: SourceFile) -> bool:
        return PurePosixPath(file.path).suffix in SUFFIXES

    def invocation(self, files: Sequence[str], choice: RuleSelection) -> ToolInvocation:  # noqa: ARG002 - the project chooses
        return ToolInvocation(arguments=("--format=json", "--no-color", "--", *reading.as_arguments(self.name, files)))

    def read(self, finished: Finished, files: Sequence[str]) -> tuple[Hit, ...]:
        results = reading.decoded(self.name, reading.output_of(self.name, finished, (0, 1)), tuple[_Result, ...])
        places = reading.located(self.name, (result.file_path for result in results), files)
        nameless = reading.nameless(self.name, files)
        if missing := set(files) - set(places.values()) - {hit.file for hit in nameless}:
            raise ToolError(f"eslint reported nothing about {reading.text(min(missing))}.")
        hits = [_hit(one, result, places[result.file_path]) for result in results for one in _reported(result)]
        reading.must_name_something(self.name, finished, hits)
        return (*hits, *nameless)

    def passed_over(self, finished: Finished, files: Sequence[str]) -> frozenset[str]:
        results = reading.decoded(self.name, reading.output_of(self.name, finished, (0, 1)), tuple[_Result, ...])
        ignored = [result.file_path for result in results if len(_reported(result)) < len(result.messages)]
        return frozenset(reading.located(self.name, ignored, files).values())


def _reported(result: _Result) -> tuple[_Message, ...]:
    return tuple(one for one in result.messages if one.rule_id or one.fatal or not one.message.startswith(_IGNORED))


def _hit(one: _Message, result: _Result, file: str) -> Hit:
    remedy = _remedy(one.fix, result.source) if one.fix else None
    return Hit(
        tool=ToolName.ESLINT,
        rule=reading.INVALID_SYNTAX if one.fatal else reading.text(one.rule_id) or _DIRECTIVE,
        file=file,
        line=one.line or None,
        end_line=one.end_line or None,
        message=reading.text(one.message),
        level=_LEVELS.get(one.severity, ""),
        remedy=remedy,
        fixable=remedy is not None,
    )


def _remedy(fix: _Fix, source: str) -> Remedy | None:
    """The edit, or none where eslint does not give the text that it counted in."""
    raw = source.removeprefix(_BYTE_ORDER_MARK).encode("utf-16-le", "surrogatepass")
    start, end = fix.range
    if not 0 <= start <= end <= len(raw) // 2:
        return None
    (line, column), (end_line, end_column) = _place(raw, start), _place(raw, end)
    # A fix of eslint must not change what the code does; what would is a suggestion instead.
    return Remedy(
        edits=(TextEdit(line=line, column=column, end_line=end_line, end_column=end_column, text=fix.text),), safe=True
    )


def _place(raw: bytes, offset: int) -> tuple[int, int]:
    before = raw[: 2 * offset].decode("utf-16-le", "surrogatepass")
    return before.count("\n") + 1, len(before) - before.rfind("\n")
