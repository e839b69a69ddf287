"""oxlint on real files."""

from pathlib import Path

import msgspec
import pytest

from burnish.agents.panel.interface import RuleSelection, SourceFile, ToolError, ToolName
from burnish.agents.panel.programs import program
from burnish.agents.panel.tools import oxlint
from burnish.agents.panel.tools.oxlint import Oxlint
from burnish.system.process import Command, run_now
from tests.agents.analysers.tools.running import look, places, start, write

DEBUGGER = RuleSelection(select=("no-debugger", "invalid-syntax"))
FLAWED = "const é𝒳 = 1;\ndebugger;\n"


def test_what_is_found_where(tmp_path: Path) -> None:
    choice = RuleSelection(select=("no-empty", "no-debugger", "unicorn/no-new-array"))
    hits = look(Oxlint(), tmp_path, {"a.js": "if (x) {}\nnew Array(y)\ndebugger\n"}, choice)
    assert places(hits) == [("a.js", 1, "no-empty"), ("a.js", 2, "unicorn/no-new-array"), ("a.js", 3, "no-debugger")]
    assert {hit.level for hit in hits} == {"error"}
    assert hits[0].suggestion


def test_files_in_a_state_of_disrepair_hide_nothing_of_the_others(tmp_path: Path) -> None:
    files = {"broken.js": "function ( {{{\n", "latin.js": b"x('\xff')\n", "good.js": FLAWED}
    hits = look(Oxlint(), tmp_path, files, DEBUGGER)
    assert {(hit.file, hit.rule) for hit in hits} == {
        ("broken.js", "invalid-syntax"),
        ("latin.js", "unreadable"),
        ("good.js", "no-debugger"),
    }


@pytest.mark.parametrize(
    "name",
    [
        "-f.js",
        "sp ace.js",
        "new\nline.js",
        "[id].js",
        "*.js",
        ".hidden/a.js",
        "node_modules/a.js",
        "ignored.js",
        "a.mts",
    ],
)
def test_every_name_is_looked_at(tmp_path: Path, name: str) -> None:
    write(tmp_path, {".gitignore": "ignored.js\n", ".eslintignore": "ignored.js\n"})
    assert places(look(Oxlint(), tmp_path, {name: FLAWED}, DEBUGGER)) == [(name, 2, "no-debugger")]


@pytest.mark.parametrize("name", ["a.vue", "a.svelte"])
def test_scripts_inside_pages_count_their_lines_from_the_top_of_the_file(tmp_path: Path, name: str) -> None:
    hits = look(Oxlint(), tmp_path, {name: "<p/>\n<script>\ndebugger\n</script>\n"}, DEBUGGER)
    assert places(hits) == [(name, 3, "no-debugger")]


def test_settings_in_the_tree_change_nothing_unless_asked(tmp_path: Path) -> None:
    settings = '{"ignorePatterns": ["a.js"], "rules": {"no-debugger": "off"}}'
    names = write(tmp_path, {"a.js": FLAWED, "b/a.js": FLAWED})
    write(tmp_path, {".oxlintrc.json": settings, "b/.oxlintrc.json": settings})
    ours = Oxlint().read(start(Oxlint(), tmp_path, names, DEBUGGER), names)
    own = Oxlint().read(start(Oxlint(), tmp_path, names, RuleSelection(own_configuration=True)), names)
    assert ({hit.file for hit in ours}, own) == ({"a.js", "b/a.js"}, ())


def test_the_projects_own_rules_are_used_where_asked(tmp_path: Path) -> None:
    write(tmp_path, {".oxlintrc.json": '{"rules": {"no-var": "error"}, "categories": {"correctness": "off"}}'})
    hits = look(Oxlint(), tmp_path, {"a.js": "var x = 1\ndebugger\n"}, RuleSelection(own_configuration=True))
    assert places(hits) == [("a.js", 1, "no-var")]


def test_a_configuration_that_oxlint_refuses_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, {".oxlintrc.json": "{", "a.js": FLAWED})
    with pytest.raises(ToolError):
        Oxlint().read(start(Oxlint(), tmp_path, ("a.js",), RuleSelection(own_configuration=True)), ("a.js",))


def test_rules_that_it_does_not_know_are_an_error(tmp_path: Path) -> None:
    write(tmp_path, {"a.js": FLAWED})
    with pytest.raises(ToolError, match="none of the requested rules"):
        Oxlint().read(start(Oxlint(), tmp_path, ("a.js",), RuleSelection(select=("nope",))), ("a.js",))


def test_a_plugin_comes_with_its_rules(tmp_path: Path) -> None:
    text = "it.only('x', () => { expect(1).toBe(1) })\n"
    hits = look(Oxlint(), tmp_path, {"a.test.js": text}, RuleSelection(select=("jest/no-focused-tests",)))
    assert places(hits) == [("a.test.js", 1, "jest/no-focused-tests")]


def test_a_clean_file_gives_nothing_and_nothing_is_written(tmp_path: Path) -> None:
    assert look(Oxlint(), tmp_path, {"a.js": "export const x = 1;\n"}, DEBUGGER) == ()
    assert [path.name for path in tmp_path.iterdir()] == ["a.js"]


def test_files_that_are_not_there_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError):
        Oxlint().read(start(Oxlint(), tmp_path, ("missing.js",), DEBUGGER), ("missing.js",))


class _Rule(msgspec.Struct):
    scope: str
    value: str
    fix: str


def test_the_list_of_rules_with_a_safe_fix_is_that_of_the_tool(tmp_path: Path) -> None:
    command = Command(argv=(program(ToolName.OXLINT), "--rules", "--format=json"), folder=str(tmp_path), environment={})
    rules = msgspec.json.decode(run_now(command).stdout, type=list[_Rule])
    safe = [rule for rule in rules if rule.fix.endswith(("able_fix", "nal_fix", "safe_fix_or_suggestion"))]
    names = {f"{_plugin(rule.scope)}/{rule.value}".removeprefix("eslint/") for rule in safe}
    assert Path(oxlint.__file__).with_name("oxlint-fixable.txt").read_text().split() == sorted(names)


def _plugin(scope: str) -> str:
    return "next" if scope == "nextjs" else scope.replace("_", "-")


@pytest.mark.parametrize(("rule", "fixable"), [("no-unused-vars", False), ("no-var", True)])
def test_fixable_is_what_the_tool_can_fix_safely(tmp_path: Path, rule: str, fixable: bool) -> None:
    hits = look(Oxlint(), tmp_path, {"a.js": "var x = 1\n"}, RuleSelection(select=(rule,)))
    assert [(hit.rule, hit.fixable) for hit in hits] == [(rule, fixable)]


@pytest.mark.parametrize(
    ("path", "opening", "taken"),
    [
        ("a.ts", b"", True),
        ("a.min.js", b"", False),
        ("a-min.js", b"", False),
        ("a.json", b"", False),
        ("a.py", b"", False),
        ("shop_de.ts", b'<?xml version="1.0"?>\n<!DOCTYPE TS>\n', False),
        ("shop_de.ts", b"\xef\xbb\xbf\n<!DOCTYPE TS>\n", False),
        ("a.ts", b"const a = '<?xml';\n", True),
        ("a.vue", b"<template>\n", True),
    ],
)
def test_which_files_it_takes(path: str, opening: bytes, taken: bool) -> None:
    assert Oxlint().takes(SourceFile(path=path, opening=opening)) is taken


def test_hooks_are_rules_of_react(tmp_path: Path) -> None:
    code = (
        "import { useState } from 'react';\nexport function App(p) {\n  if (p.a) { useState(1); }\n  return null;\n}\n"
    )
    choice = RuleSelection(select=("react/rules-of-hooks",))
    assert places(look(Oxlint(), tmp_path, {"a.jsx": code}, choice)) == [("a.jsx", 3, "react/rules-of-hooks")]


def test_what_every_surrounding_defines_is_defined(tmp_path: Path) -> None:
    known = "window.a(process.env, jest.fn(), Deno.b, $('#c'), require('d'), describe);\n"
    hits = look(Oxlint(), tmp_path, {"a.js": f"{known}unknown();\n"}, RuleSelection(select=("no-undef",)))
    assert [(hit.line, hit.message) for hit in hits] == [(2, "'unknown' is not defined.")]
