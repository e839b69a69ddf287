"""What eslint 10 said about real files, recorded: burnish brings no eslint."""

from pathlib import Path

import pytest

from burnish.agents.panel.interface import RuleSelection, SourceFile, ToolError
from burnish.agents.panel.tools.eslint import Eslint
from tests.agents.analysers.tools.running import edited, places
from tests.agents.building import exited

RECORDED = (Path(__file__).parent / "corpus" / "eslint-10.json").read_bytes()
FILES = ("bom.js", "broken.js", "clean.js", "flawed.js", "ignored.js")
FLAWED = "/* é𝒳 */ var a = 1; debugger;\nif (!!a) {}\n// eslint-disable-next-line no-alert\na == 2;\n"


def test_what_is_found_where() -> None:
    hits = Eslint().read(exited(1, RECORDED), FILES)
    assert places(hits) == [
        ("bom.js", 1, "no-var"),
        ("bom.js", 2, "no-var"),
        ("broken.js", 1, "invalid-syntax"),
        ("flawed.js", 1, "no-var"),
        ("flawed.js", 1, "no-debugger"),
        ("flawed.js", 2, "no-extra-boolean-cast"),
        ("flawed.js", 2, "no-empty"),
        ("flawed.js", 3, "unused-disable-directive"),
        ("flawed.js", 4, "eqeqeq"),
    ]
    assert {hit.level for hit in hits} == {"error", "warning"}


def test_edits_are_counted_in_characters() -> None:
    hits = [hit for hit in Eslint().read(exited(1, RECORDED), FILES) if hit.file == "flawed.js"]
    edits = [edit for hit in hits if hit.remedy for edit in hit.remedy.edits]
    assert edited(FLAWED, edits) == "/* é𝒳 */ let a = 1; debugger;\nif (a) {}\n \na == 2;\n"
    assert [hit.rule for hit in hits if hit.fixable] == ["no-var", "no-extra-boolean-cast", "unused-disable-directive"]


def test_a_mark_of_byte_order_is_not_counted() -> None:
    hits = [hit for hit in Eslint().read(exited(1, RECORDED), FILES) if hit.file == "bom.js"]
    edits = [edit for hit in hits if hit.remedy for edit in hit.remedy.edits]
    assert edited("var b = 1;\r\nvar c = 2;\r\n", edits) == "let b = 1;\r\nlet c = 2;\r\n"


@pytest.mark.parametrize("place", ["[-1, 2]", "[3, 2]", "[0, 999]"])
def test_an_edit_outside_the_text_is_no_remedy(place: str) -> None:
    raw = '[{"filePath": "/r/a.js", "source": "var a", "messages": [{"ruleId": "no-var", "severity": 2, "message": "m",'
    raw += f' "line": 1, "fix": {{"range": {place}, "text": ""}}}}]}}]'
    (hit,) = Eslint().read(exited(1, raw.encode()), ("a.js",))
    assert (hit.remedy, hit.fixable) == (None, False)


def test_a_file_of_which_nothing_is_said_is_an_error() -> None:
    with pytest.raises(ToolError, match=r"nothing about missing\.js"):
        Eslint().read(exited(1, RECORDED), (*FILES, "missing.js"))


def test_names_reach_it_as_names() -> None:
    call = Eslint().invocation(("-f.js", "[id].js", "b\udcff.js"), RuleSelection(own_configuration=True))
    assert call.arguments[-3:] == ("--", "./-f.js", "./[id].js")


@pytest.mark.parametrize(("path", "taken"), [("a.ts", True), ("a.vue", True), ("a.json", False)])
def test_which_files_it_takes(path: str, taken: bool) -> None:
    assert Eslint().takes(SourceFile(path=path)) is taken
