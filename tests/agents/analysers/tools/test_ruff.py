"""ruff on real files."""

from pathlib import Path

import pytest

from burnish.agents.panel.interface import RuleSelection, SourceFile, ToolError
from burnish.agents.panel.tools.ruff import Ruff
from tests.agents.analysers.tools.running import edited, look, places, start, write

UNUSED = RuleSelection(select=("F401", "invalid-syntax"))


def test_an_unused_import_has_its_place_and_a_safe_remedy(tmp_path: Path) -> None:
    text = "import os\nx = 1\n"
    (hit,) = look(Ruff(), tmp_path, {"a.py": text}, UNUSED)
    assert (hit.rule, hit.file, hit.line, hit.end_line, hit.level) == ("F401", "a.py", 1, 1, "error")
    assert hit.remedy is not None
    assert (hit.remedy.safe, hit.fixable, hit.remedy.title) == (True, True, "Remove unused import: `os`")
    assert edited(text, hit.remedy.edits) == "x = 1\n"


def test_columns_are_characters_also_beyond_ascii_and_after_tabs(tmp_path: Path) -> None:
    text = 'if 1:\n\té𝒳 = "é𝒳"; import os\n'
    (hit,) = look(Ruff(), tmp_path, {"a.py": text}, UNUSED)
    assert hit.remedy is not None
    assert edited(text, hit.remedy.edits) == 'if 1:\n\té𝒳 = "é𝒳"; \n'


def test_a_fix_that_may_change_the_meaning_is_unsafe(tmp_path: Path) -> None:
    (hit,) = look(Ruff(), tmp_path, {"a.py": "def f():\n    x = g()\n"}, RuleSelection(select=("F841",)))
    assert hit.remedy is not None
    assert (hit.remedy.safe, hit.fixable) == (False, False)


def test_a_fix_that_is_only_displayed_is_no_remedy(tmp_path: Path) -> None:
    (hit,) = look(Ruff(), tmp_path, {"a.py": "# x = f(1)\n"}, RuleSelection(select=("ERA001",)))
    assert (hit.remedy, hit.fixable, hit.suggestion) == (None, False, "Remove commented-out code")


def test_files_in_a_state_of_disrepair_hide_nothing_of_the_others(tmp_path: Path) -> None:
    files = {
        "broken.py": "def f(:\n",
        "latin.py": b"# -*- coding: latin-1 -*-\nx = '\xff'\n",
        "good.py": "import os\n",
    }
    hits = look(Ruff(), tmp_path, files, UNUSED)
    assert {(hit.file, hit.rule) for hit in hits} == {
        ("broken.py", "invalid-syntax"),
        ("latin.py", "E902"),
        ("good.py", "F401"),
    }


@pytest.mark.parametrize(
    "name",
    [
        "-dash.py",
        "sp ace.py",
        "new\nline.py",
        "[id].py",
        "*.py",
        ".venv/a.py",
        "build/a.py",
        "ignored.py",
        "a.pyi",
        "é.py",
    ],
)
def test_every_name_is_looked_at(tmp_path: Path, name: str) -> None:
    hits = look(Ruff(), tmp_path, {".gitignore": "ignored.py\n", name: "import os\n"}, UNUSED)
    assert (name, 1, "F401") in places(hits)


def test_a_folder_named_like_the_root_does_not_confuse_names(tmp_path: Path) -> None:
    inner = f"{tmp_path.name}/a.py"
    hits = look(Ruff(), tmp_path, {"a.py": "import os\n", inner: "import os\n"}, UNUSED)
    assert [hit.file for hit in hits] == sorted(["a.py", inner])


def test_the_projects_own_configuration_decides_only_where_asked(tmp_path: Path) -> None:
    files = {"ruff.toml": 'fix-only = true\nfix = true\nlint.select = ["E711"]\n', "a.py": "import os\nos == None\n"}
    write(tmp_path, files)
    own = Ruff().read(start(Ruff(), tmp_path, ("a.py",), RuleSelection(own_configuration=True)), ("a.py",))
    ours = Ruff().read(start(Ruff(), tmp_path, ("a.py",), UNUSED), ("a.py",))
    assert (places(own), places(ours)) == ([("a.py", 2, "E711")], [])
    assert (tmp_path / "a.py").read_text() == files["a.py"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "ruff.toml"]


def test_a_rule_in_preview_has_no_code_and_is_called_by_its_name(tmp_path: Path) -> None:
    text = "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef ready():\n    pass\n"
    write(tmp_path, {"ruff.toml": 'preview = true\nlint.select = ["ALL"]\n', "a.py": text})
    hits = Ruff().read(start(Ruff(), tmp_path, ("a.py",), RuleSelection(own_configuration=True)), ("a.py",))
    assert ("a.py", 4, "pytest-fixture-autouse") in places(hits)


def test_a_file_that_the_project_excludes_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"ruff.toml": 'force-exclude = true\nexclude = ["a.py"]\n', "a.py": "import os\n"})
    finished = start(Ruff(), tmp_path, ("a.py",), RuleSelection(own_configuration=True))
    assert Ruff().read(finished, ("a.py",)) == ()


@pytest.mark.parametrize("configuration", ['lint.select = ["NOPE"]', 'required-version = ">=99"', "what = [", "x = 1"])
def test_a_configuration_that_ruff_refuses_is_an_error(tmp_path: Path, configuration: str) -> None:
    write(tmp_path, {"ruff.toml": configuration, "a.py": "x = 1\n"})
    finished = start(Ruff(), tmp_path, ("a.py",), RuleSelection(own_configuration=True))
    with pytest.raises(ToolError, match="exit code 2"):
        Ruff().read(finished, ("a.py",))


def test_an_unknown_rule_is_an_error_that_names_it(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "x = 1\n"})
    with pytest.raises(ToolError, match="NOPE1"):
        Ruff().read(start(Ruff(), tmp_path, ("a.py",), RuleSelection(select=("NOPE1",))), ("a.py",))


def test_syntax_of_every_version_is_accepted(tmp_path: Path) -> None:
    text = "type X = int\ntry:\n    pass\nexcept A, B:\n    pass\nwith (a as b, c as d): pass\n"
    assert look(Ruff(), tmp_path, {"a.py": text}, RuleSelection(select=("E9", "invalid-syntax"))) == ()


def test_what_is_ignored_is_not_found(tmp_path: Path) -> None:
    assert look(Ruff(), tmp_path, {"a.py": "import os\n"}, RuleSelection(select=("F",), ignore=("F401",))) == ()


@pytest.mark.parametrize(
    ("path", "opening", "taken"),
    [
        ("a.py", b"", True),
        ("a.pyi", b"", True),
        ("notebook.ipynb", b"", False),
        ("script", b"#!/usr/bin/env -S python3 -u\n", True),
        ("script", b"#!/usr/bin/python3\n", True),
        ("script", b"#!/bin/sh\n", False),
        ("script", b"", False),
        ("script", b"#!\n", False),
        ("a.txt", b"#!/usr/bin/python3\n", False),
    ],
)
def test_which_files_it_takes(path: str, opening: bytes, taken: bool) -> None:
    assert Ruff().takes(SourceFile(path=path, opening=opening)) is taken


def test_rules_on_request_do_not_change_what_others_say(tmp_path: Path) -> None:
    code = {"a.py": 'name = "x"\nprint("{name}")\nwith open("b") as b:\n    pass\n'}
    assert look(Ruff(), tmp_path, code, RuleSelection(select=("RUF027",))) == ()
    assert places(look(Ruff(), tmp_path, code, RuleSelection(select=("RUF", "RUF027"), preview=True))) == [
        ("a.py", 2, "RUF027")
    ]
