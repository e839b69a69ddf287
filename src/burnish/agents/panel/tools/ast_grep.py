"""ast-grep: burnish's own rules for silent failures, in several languages. Its rules come on the command line.

A file that is not UTF-8 is passed over by ast-grep without a word; ruff, oxlint and the compilers say so of it.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path, PurePosixPath

import msgspec

from burnish.agents.panel.interface import Hit, RuleSelection, SourceFile, ToolError, ToolInvocation, ToolName
from burnish.agents.panel.tools import reading
from burnish.system.process import Finished

RULES = Path(__file__).parent.parent / "rules" / "silent-failures.yml"
_NO_PROJECT = Path(__file__).with_name("sgconfig.yml")
"""Given by name: one in the tree could declare that `*.js` is another language, and no rule would look at it."""

_ID = re.compile(r"^id:[ \t]*([\w.-]+)[ \t]*$", re.MULTILINE)
_LANGUAGE = re.compile(r"^language:[ \t]*(\w+)[ \t]*$", re.MULTILINE)
_SCANNED = re.compile(r"\bscannedFileCount=(\d+)")
_SUFFIXES = {
    "bash": (".sh", ".bash", ".bats", ".ksh", ".zsh", ".command", ".cgi", ".fcgi", ".tmux", ".tool"),
    "c": (".c", ".h"),
    "cpp": (".cc", ".cpp", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".cu", ".ino"),
    "csharp": (".cs",),
    "elixir": (".ex", ".exs"),
    "go": (".go",),
    "haskell": (".hs",),
    "java": (".java",),
    "javascript": (".js", ".cjs", ".mjs", ".jsx"),
    "kotlin": (".kt", ".kts", ".ktm"),
    "lua": (".lua",),
    "php": (".php",),
    "python": (".py", ".py3", ".pyi", ".bzl"),
    "ruby": (".rb", ".rbw", ".gemspec"),
    "rust": (".rs",),
    "scala": (".scala", ".sc", ".sbt"),
    "solidity": (".sol",),
    "swift": (".swift",),
    "tsx": (".tsx",),
    "typescript": (".ts", ".cts", ".mts"),
}
"""By the language that a rule names, in lower case: the files that ast-grep takes for it."""


class _Point(msgspec.Struct, frozen=True):
    line: reading.Count
    column: reading.Count


class _Range(msgspec.Struct, frozen=True):
    start: _Point
    end: _Point


class _Match(msgspec.Struct, frozen=True, rename="camel"):
    text: str
    range: _Range
    file: str
    rule_id: str
    severity: str
    message: str
    note: str | None


class AstGrep:
    """Files of the languages for which there are rules."""

    name = ToolName.AST_GREP

    def __init__(self, rules: Path = RULES) -> None:
        self._rules = rules

    def takes(self, file: SourceFile) -> bool:
        return PurePosixPath(file.path).suffix in _suffixes(self._rules)

    def invocation(self, files: Sequence[str], choice: RuleSelection) -> ToolInvocation:
        options = ("scan", f"--config={_NO_PROJECT}", "--json=compact", "--inspect=summary", "--color=never")
        text = _selected(_documents(self._rules), choice)
        return ToolInvocation(
            arguments=(*options, f"--inline-rules={text}", "--", *reading.as_arguments(self.name, files))
        )

    def read(self, finished: Finished, files: Sequence[str]) -> tuple[Hit, ...]:
        found = reading.decoded(self.name, reading.output_of(self.name, finished, (0, 1)), tuple[_Match, ...])
        reading.must_name_something(self.name, finished, found)
        nameless = reading.nameless(self.name, files)
        _must_have_scanned(self.name, finished, len(files) - len(nameless))
        places = reading.located(self.name, (one.file for one in found), files)
        return (*(_hit(one, places[one.file]) for one in found), *nameless)

    def passed_over(self, finished: Finished, files: Sequence[str]) -> frozenset[str]:  # noqa: ARG002 - see `read`
        return frozenset()


def _must_have_scanned(tool: ToolName, finished: Finished, wanted: int) -> None:
    scanned = _SCANNED.search(finished.stderr_tail)
    if scanned is None or int(scanned[1]) != wanted:
        count = scanned[1] if scanned else "an unknown number"
        raise ToolError(f"{tool.value} checked {count} of {wanted} files.", hint="Are all of them regular files?")


def _hit(one: _Match, file: str) -> Hit:
    first, last = one.range.start.line + 1, one.range.end.line + 1
    return Hit(
        tool=ToolName.AST_GREP,
        rule=reading.text(one.rule_id),
        file=file,
        line=first,
        end_line=reading.last_line(first, last, one.range.end.column + 1),
        message=reading.text(one.message),
        level=one.severity.lower(),
        suggestion=reading.text(one.note),
        snippet=reading.text(one.text),
    )


@cache
def _documents(rules: Path) -> tuple[tuple[str, str], ...]:
    """The id and the text of each rule. A rule for several languages has one text for each, under one id."""
    texts = re.split(r"^---[ \t]*$", rules.read_text("utf-8"), flags=re.MULTILINE)
    return tuple((found[1], text.strip("\n")) for text in texts if (found := _ID.search(text)))


@cache
def _suffixes(rules: Path) -> frozenset[str]:
    languages = {found[1].lower() for _, text in _documents(rules) if (found := _LANGUAGE.search(text))}
    return frozenset(suffix for language in languages for suffix in _SUFFIXES[language])


def _selected(documents: Sequence[tuple[str, str]], choice: RuleSelection) -> str:
    """The texts of the rules whose ids begin with a selector; of all where there is none."""
    wanted = reading.without_own_rules(choice.select) or ("",)
    if unknown := [rule for rule in wanted if not any(name.startswith(rule) for name, _ in documents)]:
        names = ", ".join(sorted({name for name, _ in documents}))
        raise ToolError(f"ast-grep has no rule {reading.text(unknown[0])}.", hint=f"It has: {names}.")
    texts = [text for name, text in documents if name.startswith(wanted) and name not in choice.ignore]
    return "\n---\n".join(texts) + "\n"
