"""ruff: Python. Tells its edits, and whether they keep the meaning of the code.

Notebooks are left out: lines and edits would count inside a cell, which is no place in the file. Without a version of
Python in its settings ruff accepts the syntax of all of them, so none is given.
"""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Literal

import msgspec

from burnish.agents.panel.interface import Hit, Remedy, RuleSelection, SourceFile, TextEdit, ToolInvocation, ToolName
from burnish.agents.panel.tools import reading
from burnish.system.process import Finished

_SUFFIXES = (".py", ".pyi", ".pyw")
_UNREADABLE_FILE = "E902"
"""Always looked for: without it ruff passes over a file that it cannot open, and says so on standard error only."""
# A project's own configuration could ask for fixes, which write into the tree and leave the list without them.
_ANNOTATIONS_WAIT = 14
_ONLY_LOOK = ("--verbose", "--no-cache", "--no-fix", "--no-fix-only", "--no-show-fixes", "--output-format=json")

_CHECKED = re.compile(r"\bChecked (\d+) files? in\b")


class _Place(msgspec.Struct, frozen=True):
    row: reading.Place
    column: reading.Place


class _Edit(msgspec.Struct, frozen=True):
    content: str
    location: _Place
    end_location: _Place


class _Fix(msgspec.Struct, frozen=True):
    applicability: Literal["safe", "unsafe", "displayonly"]
    edits: tuple[_Edit, ...]
    message: str | None


class _Diagnostic(msgspec.Struct, frozen=True):
    code: str | None
    """None for rules in preview, which a project's own configuration may ask for."""
    name: str
    filename: str
    location: _Place
    end_location: _Place
    message: str
    severity: str
    url: str | None
    fix: _Fix | None


class Ruff:
    """Python files, stubs, and scripts that name Python in their first line."""

    name = ToolName.RUFF

    def takes(self, file: SourceFile) -> bool:
        path = PurePosixPath(file.path)
        is_script = not path.suffix and reading.interpreter(file).startswith("python")
        return path.suffix in _SUFFIXES or is_script

    def invocation(self, files: Sequence[str], choice: RuleSelection) -> ToolInvocation:
        return ToolInvocation(
            arguments=("check", *_ONLY_LOOK, *_rules(choice), "--", *reading.as_arguments(self.name, files))
        )

    def read(self, finished: Finished, files: Sequence[str]) -> tuple[Hit, ...]:
        found = reading.decoded(self.name, reading.output_of(self.name, finished, (0, 1)), tuple[_Diagnostic, ...])
        reading.must_name_something(self.name, finished, found)
        places = reading.located(self.name, (one.filename for one in found), files)
        return (*(_hit(one, places[one.filename]) for one in found), *reading.nameless(self.name, files))

    def passed_over(self, finished: Finished, files: Sequence[str]) -> frozenset[str]:
        # A project's own configuration may leave files out. ruff tells how many it looked at, not which.
        checked = _CHECKED.search(finished.stderr_tail)
        return frozenset() if checked and int(checked[1]) >= len(files) else frozenset(files)


def _rules(choice: RuleSelection) -> tuple[str, ...]:
    if choice.own_configuration:
        return (f"--extend-select={_UNREADABLE_FILE}",)
    selected = reading.without_own_rules(choice.select) if choice.select else ("ALL",)
    ignored = (f"--ignore={','.join(choice.ignore)}",) if choice.ignore else ()
    preview = ("--preview", "--config=lint.explicit-preview-rules=true") if choice.preview else ()
    # From this version on, annotations are not evaluated when they are met.
    target = (f"--target-version=py3{_ANNOTATIONS_WAIT}",) if choice.least_python >= _ANNOTATIONS_WAIT else ()
    return ("--isolated", *target, *preview, f"--select={','.join((*selected, _UNREADABLE_FILE))}", *ignored)


def _hit(one: _Diagnostic, file: str) -> Hit:
    remedy = _remedy(one.fix) if one.fix else None
    return Hit(
        tool=ToolName.RUFF,
        rule=reading.text(one.code or one.name),
        file=file,
        line=one.location.row,
        end_line=reading.last_line(one.location.row, one.end_location.row, one.end_location.column),
        message=reading.text(one.message),
        level=one.severity.lower(),
        suggestion=reading.text(one.fix.message) if one.fix else "",
        link=reading.text(one.url),
        remedy=remedy,
        fixable=remedy is not None and remedy.safe,
    )


def _remedy(fix: _Fix) -> Remedy | None:
    """The edits of a fix that ruff itself would make; one that it only displays is no remedy."""
    if fix.applicability == "displayonly" or not fix.edits:
        return None
    return Remedy(
        edits=tuple(
            TextEdit(
                line=edit.location.row,
                column=edit.location.column,
                end_line=edit.end_location.row,
                end_column=edit.end_location.column,
                text=edit.content,
            )
            for edit in fix.edits
        ),
        safe=fix.applicability == "safe",
        title=reading.text(fix.message),
    )
