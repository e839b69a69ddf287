"""ast-grep: burnish's own rules, in several languages. They come on the command line.

A file that is not UTF-8 is passed over by ast-grep without a word; ruff, oxlint and the compilers say so of it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path, PurePosixPath

import msgspec

from burnish.agents.panel.interface import Hit, RuleSelection, SourceFile, ToolError, ToolInvocation, ToolName
from burnish.agents.panel.tools import reading
from burnish.core.values import Value
from burnish.system.process import Finished

_RULES = Path(__file__).parent.parent / "rules"
RULES = (_RULES / "silent-failures.yml", _RULES / "mistakes.yml")
_NO_PROJECT = Path(__file__).with_name("sgconfig.yml")
"""Given by name: one in the tree could declare that `*.js` is another language, and no rule would look at it."""

_ID = re.compile(r"^id:[ \t]*([\w.-]+)[ \t]*$", re.MULTILINE)
_LANGUAGES = re.compile(r"^language:[ \t]*(\w+(?:,[ \t]*\w+)*)[ \t]*$", re.MULTILINE)
_ENDINGS = {"typescript": ".ts", "tsx": ".tsx"}
"""What tells the rules apart that one text gives for several languages, by the language."""
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

    def __init__(self, *rules: Path) -> None:
        self._rules = rules or RULES

    def takes(self, file: SourceFile) -> bool:
        return PurePosixPath(file.path).suffix in _suffixes(self._rules)

    def invocation(self, files: Sequence[str], choice: RuleSelection) -> ToolInvocation:
        options = ("scan", f"--config={_NO_PROJECT}", "--json=compact", "--inspect=summary", "--color=never")
        text = _selected(_rules_in(self._rules), choice)
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


class _Rule(Value):
    """A rule in one language, as the tool reads it."""

    name: str
    language: str
    """In lower case."""
    text: str


@cache
def _rules_in(files: tuple[Path, ...]) -> tuple[_Rule, ...]:
    """Every rule of these files; one for each language that it names."""
    texts = [text for file in files for text in re.split(r"^---[ \t]*$", file.read_text("utf-8"), flags=re.MULTILINE)]
    return tuple(rule for text in texts for rule in _in_each_language(text.strip("\n")))


def _in_each_language(text: str) -> Iterator[_Rule]:
    found, languages = _ID.search(text), _LANGUAGES.search(text)
    if found is None or languages is None:
        return
    for language in re.split(r",[ \t]*", languages[1]):
        name = found[1] + _ENDINGS.get(language.lower(), "")
        alone = _LANGUAGES.sub(f"language: {language}", _ID.sub(f"id: {name}", text, count=1), count=1)
        yield _Rule(name=name, language=language.lower(), text=alone)


def _suffixes(rules: tuple[Path, ...]) -> frozenset[str]:
    return frozenset(suffix for rule in _rules_in(rules) for suffix in _SUFFIXES[rule.language])


def _selected(rules: Sequence[_Rule], choice: RuleSelection) -> str:
    """The texts of the rules whose ids begin with a selector; of all where there is none."""
    wanted = reading.without_own_rules(choice.select) or ("",)
    if unknown := [selector for selector in wanted if not any(rule.name.startswith(selector) for rule in rules)]:
        names = ", ".join(sorted({rule.name for rule in rules}))
        raise ToolError(f"ast-grep has no rule {reading.text(unknown[0])}.", hint=f"It has: {names}.")
    texts = [rule.text for rule in rules if rule.name.startswith(wanted) and rule.name not in choice.ignore]
    return "\n---\n".join(texts) + "\n"
