"""ast-grep with burnish's own rules on real files. Whether the rules are good is tested beside them."""

from pathlib import Path

import pytest

from burnish.agents.panel.interface import RuleSelection, SourceFile, ToolError
from burnish.agents.panel.tools.ast_grep import AstGrep
from tests.agents.analysers.tools.running import look, places, start, write

EMPTY_CATCH = "// é𝒳\ntry { a() } catch (e) {\n}\n"
RULES = """\
id: js-empty-catch
language: JavaScript
severity: error
message: catch block swallows the error
note: Handle it.
rule:
  kind: catch_clause
  has: {field: body, kind: statement_block, not: {has: {pattern: $X}}}
---
id: js-debugger
language: JavaScript
severity: warning
message: debugger
rule: {kind: debugger_statement}
---
id: go-panic
language: Go
severity: hint
message: panic
rule: {pattern: panic($A)}
"""


@pytest.fixture
def ast_grep(tmp_path_factory: pytest.TempPathFactory) -> AstGrep:
    rules = tmp_path_factory.mktemp("rules") / "rules.yml"
    rules.write_text(RULES)
    return AstGrep(rules)


def test_what_is_found_where(tmp_path: Path, ast_grep: AstGrep) -> None:
    (hit,) = look(ast_grep, tmp_path, {"a.js": EMPTY_CATCH})
    assert places([hit]) == [("a.js", 2, "js-empty-catch")]
    assert (hit.end_line, hit.level, hit.snippet) == (3, "error", "catch (e) {\n}")
    assert (hit.message, hit.suggestion) == ("catch block swallows the error", "Handle it.")


def test_only_selected_rules_are_asked_for(tmp_path: Path, ast_grep: AstGrep) -> None:
    files = {"a.js": EMPTY_CATCH + "debugger\n"}
    chosen = look(ast_grep, tmp_path, files, RuleSelection(select=("js-debugger", "unreadable")))
    without = look(ast_grep, tmp_path, files, RuleSelection(ignore=("js-debugger",)))
    assert ([hit.rule for hit in chosen], [hit.rule for hit in without]) == (["js-debugger"], ["js-empty-catch"])


def test_an_unknown_rule_is_an_error(ast_grep: AstGrep) -> None:
    with pytest.raises(ToolError, match="no rule py-nothing") as caught:
        ast_grep.invocation(("a.js",), RuleSelection(select=("py-nothing",)))
    assert caught.value.hint == "It has: go-panic, js-debugger, js-empty-catch."


def test_the_rules_that_burnish_brings_are_understood(tmp_path: Path) -> None:
    assert look(AstGrep(), tmp_path, {"a.py": "x = 1\n", "a.go": "package a\n", "a.ts": "let x = 1\n"}) == ()


@pytest.mark.parametrize(
    "name", ["-f.js", "sp ace.js", "new\nline.js", "[id].js", "*.js", ".hidden/a.js", "ignored.js", "node_modules/a.js"]
)
def test_every_name_is_looked_at(tmp_path: Path, ast_grep: AstGrep, name: str) -> None:
    write(tmp_path, {".gitignore": "ignored.js\n", ".ignore": "ignored.js\n"})
    assert places(look(ast_grep, tmp_path, {name: EMPTY_CATCH})) == [(name, 2, "js-empty-catch")]


@pytest.mark.parametrize(
    "settings", ["ruleDirs: []\nlanguageGlobs: {html: ['*.js']}\n", "ruleDirs: [nowhere]\n", "not: [valid"]
)
def test_settings_in_the_tree_change_nothing(tmp_path: Path, ast_grep: AstGrep, settings: str) -> None:
    write(tmp_path, {"sgconfig.yml": settings})
    assert places(look(ast_grep, tmp_path, {"a.js": EMPTY_CATCH})) == [("a.js", 2, "js-empty-catch")]


def test_clean_empty_and_broken_files_hide_nothing_of_the_others(tmp_path: Path, ast_grep: AstGrep) -> None:
    files = {"clean.js": "f()\n", "empty.js": "", "broken.js": "function ( {{{\n", "a.js": EMPTY_CATCH}
    assert places(look(ast_grep, tmp_path, files)) == [("a.js", 2, "js-empty-catch")]


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path, ast_grep: AstGrep) -> None:
    names = (*write(tmp_path, {"a.js": EMPTY_CATCH}), "missing.js")
    with pytest.raises(ToolError, match="1 of 2 files"):
        ast_grep.read(start(ast_grep, tmp_path, names, RuleSelection()), names)


@pytest.mark.parametrize(("path", "taken"), [("a.js", True), ("a.jsx", True), ("a.go", True), ("a.py", False)])
def test_it_takes_files_of_languages_that_have_rules(ast_grep: AstGrep, path: str, taken: bool) -> None:
    assert ast_grep.takes(SourceFile(path=path)) is taken
