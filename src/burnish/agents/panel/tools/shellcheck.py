"""shellcheck: shell scripts. Tells its replacements; in this format a tab is one column, and columns are characters."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

import msgspec

from burnish.agents.panel.interface import Hit, Remedy, RuleSelection, SourceFile, TextEdit, ToolInvocation, ToolName
from burnish.agents.panel.places import TEMPLATES
from burnish.agents.panel.tools import reading
from burnish.system.process import Finished

_SUFFIXES = (".bash", ".ksh", ".dash", ".ash", ".bats")
_NAMES_ITS_SHELL = re.compile(rb"^#[ \t]*shellcheck[ \t].*\bshell=", re.MULTILINE)
_SHELLS = ("sh", "bash", "dash", "ksh", "ash", "busybox", "bats")
# The analysis of all ways through a script adds hardly anything to errors and warnings, and takes minutes and gigabytes
# for a script of five thousand lines.
_OPTIONS = ("--format=json1", "--norc", "--extended-analysis=false")
_NOT_ANALYSED = frozenset({1071, 1103})
"""The script is for a shell that shellcheck does not know."""
_FIRST_OF_MEANING = 2000
"""The number from which on rules are about scripts that can be parsed."""
_FIRST_LINES = (b"#compdef", b"#autoload")
_CHANGES_MEANING = frozenset({2086})
"""Quotes around a variable: where it held several words on purpose, the command now gets one."""


class _Replacement(msgspec.Struct, frozen=True, rename="camel"):
    line: reading.Place
    column: reading.Place
    end_line: reading.Place
    end_column: reading.Place
    replacement: str


class _Fix(msgspec.Struct, frozen=True):
    replacements: tuple[_Replacement, ...]


class _Comment(msgspec.Struct, frozen=True, rename="camel"):
    file: str
    line: reading.Place
    end_line: reading.Place
    level: str
    code: reading.Count
    message: str
    fix: _Fix | None


class _Report(msgspec.Struct, frozen=True):
    comments: tuple[_Comment, ...]


class Shellcheck:
    """Scripts whose first line, suffix or directive says which shell they are for.

    A fragment that only ends in `.sh` may be for any shell: what shellcheck said of it would be a guess.
    """

    name = ToolName.SHELLCHECK

    def takes(self, file: SourceFile) -> bool:
        shell = reading.interpreter(file)
        suffix = PurePosixPath(file.path).suffix
        if suffix == ".zsh":
            return False  # whatever its first line says: zsh reads it as a part of itself, and passes over that line
        if suffix == ".py":
            return False  # a shell only looks for the Python that is to read the file
        if suffix in TEMPLATES:
            return False  # a script is made of it
        if shell:
            return shell in _SHELLS
        if file.opening.startswith(_FIRST_LINES):
            return False
        return suffix in _SUFFIXES or (suffix == ".sh" and _NAMES_ITS_SHELL.search(file.opening) is not None)

    def invocation(self, files: Sequence[str], choice: RuleSelection) -> ToolInvocation:
        selected = reading.without_own_rules(choice.select)
        include = (f"--include={','.join(selected)}",) if selected else ()
        exclude = (f"--exclude={','.join(choice.ignore)}",) if choice.ignore else ()
        return ToolInvocation(arguments=(*_OPTIONS, *include, *exclude, "--", *reading.as_arguments(self.name, files)))

    def read(self, finished: Finished, files: Sequence[str]) -> tuple[Hit, ...]:
        found = reading.decoded(self.name, reading.output_of(self.name, finished, (0, 1)), _Report).comments
        reading.must_name_something(self.name, finished, found)
        places = reading.located(self.name, (one.file for one in found), files)
        told = (one for one in found if not _repeats_another(one, found))
        return (*(_hit(one, places[one.file]) for one in told), *reading.nameless(self.name, files))

    def passed_over(self, finished: Finished, files: Sequence[str]) -> frozenset[str]:
        found = reading.decoded(self.name, reading.output_of(self.name, finished, (0, 1)), _Report).comments
        names = [one.file for one in found if one.code in _NOT_ANALYSED]
        return frozenset(reading.located(self.name, names, files).values())


def _repeats_another(one: _Comment, found: Sequence[_Comment]) -> bool:
    """Whether a comment only says that the script cannot be parsed, and another one says why, or where that begins."""
    others = [other for other in found if other.file == one.file and _is_syntax(other)]
    match one.code:
        case 1072:
            return any(other.code != one.code for other in others)
        case 1073:
            return any(other.line == one.line and other.code not in (1072, 1073) for other in others)
        case _:
            return False


def _is_syntax(one: _Comment) -> bool:
    return one.level.lower() == "error" and one.code < _FIRST_OF_MEANING


def _hit(one: _Comment, file: str) -> Hit:
    remedy = _remedy(one.code, one.fix) if one.fix and one.fix.replacements else None
    return Hit(
        tool=ToolName.SHELLCHECK,
        rule=f"SC{one.code}",
        file=file,
        line=one.line,
        end_line=max(one.line, one.end_line),
        message=reading.text(one.message),
        level=one.level.lower(),
        link=f"https://www.shellcheck.net/wiki/SC{one.code}",
        remedy=remedy,
        fixable=remedy is not None and remedy.safe,
    )


def _remedy(code: int, fix: _Fix) -> Remedy:
    """shellcheck proposes a replacement only where it is sure what was meant, with the exception named above."""
    edits = tuple(
        TextEdit(
            line=one.line, column=one.column, end_line=one.end_line, end_column=one.end_column, text=one.replacement
        )
        for one in sorted(fix.replacements, key=lambda one: (one.line, one.column))
    )
    return Remedy(edits=edits, safe=code not in _CHANGES_MEANING)
