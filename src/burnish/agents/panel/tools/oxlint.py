"""oxlint: JavaScript and TypeScript. Does not tell its edits; which rules it can fix is a list beside this file."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path, PurePosixPath

import msgspec

from burnish.agents.panel.interface import Hit, RuleSelection, SourceFile, ToolError, ToolInvocation, ToolName
from burnish.agents.panel.tools import reading
from burnish.system.process import Finished

SUFFIXES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte", ".astro")
_NO_CONFIGURATION = Path(__file__).with_name("oxlint.json")
"""Given by name, so that none is looked for in the tree: it could ignore files or switch rules off."""
_FIXABLE = Path(__file__).with_name("oxlint-fixable.txt")
_OPTIONAL_PLUGINS = frozenset(
    ("import", "jest", "jsdoc", "jsx-a11y", "nextjs", "node", "promise", "react", "react-perf", "vitest", "vue")
)
_MINIFIED = re.compile(r"[.-]min\.\w+\Z")
"""oxlint passes over such names, also when it is given them."""
_PLUGINS = {"react-hooks": "react"}
"""Plugins that oxlint calls otherwise in its findings than in its list of rules."""
_CODE = re.compile(r"(?P<plugin>[\w-]+)\((?P<rule>[\w/-]+)\)")
_NOT_OPENED = re.compile(r'Failed to open file (?P<path>.+) with error "(?P<reason>.+)"', re.DOTALL)


class _Span(msgspec.Struct, frozen=True):
    line: reading.Place


class _Label(msgspec.Struct, frozen=True):
    span: _Span


class _Diagnostic(msgspec.Struct, frozen=True):
    message: str
    severity: str
    labels: tuple[_Label, ...]
    code: str = ""
    filename: str = ""
    url: str = ""
    help: str = ""


class _Report(msgspec.Struct, frozen=True):
    diagnostics: tuple[_Diagnostic, ...]
    number_of_files: reading.Count
    number_of_rules: reading.Count | None
    """Null where several configurations are in force."""


class Oxlint:
    """JavaScript and TypeScript, also inside Vue, Svelte and Astro files."""

    name = ToolName.OXLINT

    def takes(self, file: SourceFile) -> bool:
        # Qt's translations end with `.ts`, too.
        is_xml = file.opening.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"<?xml", b"<!DOCTYPE"))
        return PurePosixPath(file.path).suffix in SUFFIXES and not is_xml and not _MINIFIED.search(file.path)

    def invocation(self, files: Sequence[str], choice: RuleSelection) -> ToolInvocation:
        return ToolInvocation(arguments=("--format=json", *_rules(choice), *reading.as_arguments(self.name, files)))

    def read(self, finished: Finished, files: Sequence[str]) -> tuple[Hit, ...]:
        report = reading.decoded(self.name, reading.output_of(self.name, finished, (0, 1)), _Report)
        found = report.diagnostics
        reading.must_name_something(self.name, finished, found)
        nameless = reading.nameless(self.name, files)
        _must_have_looked(self.name, report, len(files) - len(nameless))
        places = reading.located(self.name, (one.filename for one in found if one.filename), files)
        hits = (_hit(one, places[one.filename]) if one.filename else _not_opened(one, files) for one in found)
        return (*hits, *nameless)

    def passed_over(self, finished: Finished, files: Sequence[str]) -> frozenset[str]:
        report = reading.decoded(self.name, reading.output_of(self.name, finished, (0, 1)), _Report)
        # It tells how many files it looked at, not which.
        return frozenset() if report.number_of_files >= len(files) else frozenset(files)


def _rules(choice: RuleSelection) -> tuple[str, ...]:
    if choice.own_configuration:
        # The project may ignore all of the files. Otherwise that would be an error, which is right.
        return ("--no-error-on-unmatched-pattern",)
    selected = reading.without_own_rules(choice.select) if choice.select else ("all",)
    plugins = sorted({rule.split("/")[0] for rule in selected} & _OPTIONAL_PLUGINS)
    return (
        f"--config={_NO_CONFIGURATION}",
        "--disable-nested-config",
        "--no-ignore",
        *(f"--{plugin}-plugin" for plugin in plugins),
        "--allow=all",
        *(f"--deny={rule}" for rule in selected),
        *(f"--allow={rule}" for rule in choice.ignore),
    )


def _must_have_looked(tool: ToolName, report: _Report, wanted: int) -> None:
    """A project's own configuration may leave files out, so fewer than wanted are no error; unknown rules are."""
    if report.number_of_files > wanted:
        raise ToolError(f"{tool.value} checked {report.number_of_files} files instead of {wanted}.")
    if report.number_of_rules == 0:
        raise ToolError(
            f"{tool.value} knows none of the requested rules.",
            hint="`oxlint --rules` lists its rules.",
        )


def _hit(one: _Diagnostic, file: str) -> Hit:
    rule = _rule(one.code)
    return Hit(
        tool=ToolName.OXLINT,
        rule=rule,
        file=file,
        line=one.labels[0].span.line if one.labels else None,
        message=reading.text(one.message),
        level=one.severity.lower(),
        suggestion=reading.text(one.help),
        link=reading.text(one.url),
        fixable=rule in _fixable(),
    )


def _not_opened(one: _Diagnostic, files: Sequence[str]) -> Hit:
    """oxlint names the file that it could not open in the message only."""
    match = _NOT_OPENED.search(one.message)
    if match is None:
        raise ToolError(f"oxlint reported a problem without a file: {reading.text(one.message)}")
    file = reading.located(ToolName.OXLINT, (match["path"],), files)[match["path"]]
    message = f"oxlint could not read this file: {reading.text(match['reason'])}."
    return Hit(tool=ToolName.OXLINT, rule=reading.UNREADABLE, file=file, line=None, message=message)


def _rule(code: str) -> str:
    """`eslint(no-empty)` is `no-empty`, `oxc(missing-throw)` is `oxc/missing-throw`, as in the selectors."""
    if not code:
        return reading.INVALID_SYNTAX
    match = _CODE.fullmatch(code)
    if match is None:
        return reading.text(code)
    plugin = _PLUGINS.get(match["plugin"], match["plugin"])
    return match["rule"] if plugin == "eslint" else f"{plugin}/{match['rule']}"


@cache
def _fixable() -> frozenset[str]:
    return frozenset(_FIXABLE.read_text("utf-8").split())
