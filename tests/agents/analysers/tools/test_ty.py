"""ty on real modules."""

from pathlib import Path

import pytest

from burnish.agents.panel.interface import Hit, RuleSelection, SourceFile, ToolName
from burnish.agents.panel.programs import program
from burnish.agents.panel.project_tests.reach import PythonImports
from burnish.agents.panel.rulebook import looks
from burnish.agents.panel.rulings import rule_on
from burnish.agents.panel.suppressions import disarmed, marked
from burnish.agents.panel.tools.ty import (
    NO_IMPORT,
    Ty,
    explaining,
    file_of_import,
    need_explaining,
    with_explanations,
    with_given_members,
    with_packages,
    without_unknown_packages,
)
from burnish.system.process import Command, run_now
from tests.agents.analysers.rules.making import DEFAULTS
from tests.agents.analysers.tools.running import look, places

EVERYTHING = RuleSelection(select=tuple(rule for _, entry in looks(ToolName.TY) for rule in entry.rules))
NOTHING = PythonImports(())
MISTAKES = """\
import asyncio
import json
import unheard_of


async def fetch(key: str) -> str:
    return key


async def main():
    fetch("a")
    await fetch()
    asyncio.sleep(1)
    json.parse("{}")
    "a".reversed()
    unheard_of.call(1)
"""


def _severities(hits: tuple[Hit, ...]) -> list[tuple[int | None, str, str]]:
    rulings = [(hit, rule_on(hit, DEFAULTS)) for hit in hits]
    return [(hit.line, hit.rule, ruling.severity.value) for hit, ruling in rulings if ruling]


def test_what_is_found_where_and_how_bad_it_is(tmp_path: Path) -> None:
    hits = without_unknown_packages(look(Ty(), tmp_path, {"a.py": MISTAKES}, EVERYTHING), NOTHING)
    assert _severities(hits) == [
        (11, "unused-awaitable", "high"),
        (12, "missing-argument", "high"),
        (13, "unused-awaitable", "high"),
        (14, "missing-attribute", "high"),
        (15, "missing-attribute", "high"),
    ]


def test_what_is_not_installed_is_no_finding(tmp_path: Path) -> None:
    code = "import unheard_of\nfrom unheard_of.a import b\nfrom json import parse\nimport os.pathx\nimport mine.other\n"
    hits = look(Ty(), tmp_path, {"a.py": code}, RuleSelection(select=(NO_IMPORT,)))
    assert [hit.line for hit in hits] == [1, 2, 3, 4, 5]
    assert [hit.line for hit in without_unknown_packages(hits, PythonImports(["mine/__init__.py"]))] == [3, 4, 5]
    assert [
        hit.line for hit in without_unknown_packages(hits, PythonImports(["mine/__init__.py", "mine/other.py"]))
    ] == [3, 4]


def test_a_module_whose_name_cannot_be_imported_may_import_from_its_own_folder(tmp_path: Path) -> None:
    code = {"shop/__init__.py": "", "shop/0001_first.py": "from . import Base\n", "shop/b.py": "from .gone import a\n"}
    hits = look(Ty(), tmp_path, code, RuleSelection(select=(NO_IMPORT,)))
    kept = without_unknown_packages(hits, PythonImports(code))
    assert not [hit for hit in kept if "module `.`" in hit.message]
    assert [hit.file for hit in kept if "`.gone`" in hit.message] == ["shop/b.py"]


def test_what_other_projects_gave_is_not_imported_by_its_own_name(tmp_path: Path) -> None:
    code = {"shop/_vendor/other/__init__.py": "", "tools/a.py": "import other.missing\n"}
    hits = look(Ty(), tmp_path, code, RuleSelection(select=(NO_IMPORT,)))
    assert hits
    assert not without_unknown_packages(hits, PythonImports(code))
    assert without_unknown_packages(hits, PythonImports(["shop/lib/other/__init__.py"]))


@pytest.mark.parametrize(
    ("folder", "doubtful"), [("scripts/packaging", True), ("packaging", False), ("src/packaging", False)]
)
def test_an_installed_package_comes_before_a_folder(tmp_path: Path, folder: str, doubtful: bool) -> None:
    code = {f"{folder}/metadata.py": "", "a.py": "import packaging.requirements\n"}
    hits = look(Ty(), tmp_path, code, RuleSelection(select=(NO_IMPORT,)))
    (hit,) = without_unknown_packages(hits, PythonImports(code))
    assert hit.doubtful is doubtful


def test_settings_of_tools_are_no_modules(tmp_path: Path) -> None:
    code = {".config/mypy/check.py": "import mypy.main\n"}
    hits = look(Ty(), tmp_path, code, RuleSelection(select=(NO_IMPORT,)))
    assert hits
    assert not without_unknown_packages(hits, PythonImports(code))


@pytest.mark.parametrize(
    ("files", "shared"),
    [
        (("lib/twisted/plugins/shop.py",), True),
        (("lib/twisted/__init__.py", "lib/twisted/plugins/shop.py"), False),
        (("lib/twisted/core.py", "lib/twisted/plugins/shop.py"), False),
    ],
)
def test_a_package_that_others_add_to_may_have_more_modules(
    tmp_path: Path, files: tuple[str, ...], shared: bool
) -> None:
    imports = PythonImports((*files, "a.py"))
    assert imports.is_shared("twisted") is shared
    assert not PythonImports(["src/shop/pay.py"]).is_shared("src")
    hits = look(Ty(), tmp_path, {"a.py": "import twisted.web\n"}, RuleSelection(select=(NO_IMPORT,)))
    (hit,) = without_unknown_packages(hits, imports)
    assert hit.doubtful is shared


@pytest.mark.parametrize(("more", "doubtful"), [((), True), (("other/__init__.py",), False)])
def test_of_a_folder_that_is_no_package_only_modules_can_be_imported(
    tmp_path: Path, more: tuple[str, ...], doubtful: bool
) -> None:
    code = {"other/plugin.py": "a = 1\n", "a.py": "from other import Client\n"} | dict.fromkeys(more, "")
    hits = look(Ty(), tmp_path, code, RuleSelection(select=(NO_IMPORT,)))
    (hit,) = without_unknown_packages(hits, PythonImports(code))
    assert hit.doubtful is doubtful


@pytest.mark.parametrize(("module", "doubtful"), [("Rules = Rules()\n", True), ("other = Rules()\n", False)])
def test_the_name_of_a_class_may_stand_for_its_object(tmp_path: Path, module: str, doubtful: bool) -> None:
    rules = f"class Rules:\n    def read(self, path: str) -> None: ...\n\n\n{module}"
    used = "from rules import Rules\n\nRules.read('a')\n"
    hits = look(Ty(), tmp_path, {"a.py": used, "rules.py": rules}, RuleSelection(select=("missing-argument",)))
    told = [hit.doubtful for hit in with_given_members(hits, [("a.py", used), ("rules.py", rules)])]
    assert told == [doubtful]


@pytest.mark.parametrize(
    ("more", "doubtful"),
    [
        ("class Others:\n    def read(self) -> None: ...\n", True),
        ("class Others:\n    def reader(self) -> None: ...\n", False),
    ],
)
def test_of_a_method_that_several_classes_have_another_one_may_be_meant(
    tmp_path: Path, more: str, doubtful: bool
) -> None:
    code = f"class Rules:\n    def read(self, path: str) -> None: ...\n\n\nRules().read()\n{more}"
    hits = look(Ty(), tmp_path, {"a.py": code}, RuleSelection(select=("missing-argument",)))
    assert [hit.doubtful for hit in with_given_members(hits, [("a.py", code)])] == [doubtful]


@pytest.mark.parametrize(
    ("rules", "doubtful"),
    [
        ("class Rules(metaclass=Made):\n    def __init__(self, path: str) -> None: ...\n", True),
        ("class Rules:\n    def __new__(cls, *a): ...\n    def __init__(self, path: str) -> None: ...\n", True),
        ("class Rules:\n    def __init__(self, path: str) -> None: ...\nclass B(metaclass=Made): ...\n", False),
    ],
)
def test_a_metaclass_may_call_a_class_in_its_own_way(rules: str, doubtful: bool) -> None:
    message = "No argument provided for required parameter `path` of `Rules.__init__`"
    one = Hit(tool=ToolName.TY, rule="missing-argument", file="a.py", line=1, message=message)
    (found,) = with_given_members((one,), [("a.py", f"Rules()\n{rules}")])
    assert found.doubtful is doubtful


@pytest.mark.parametrize(
    ("file", "name", "expected"),
    [
        ("shop/a.py", "shop.prices", "shop/prices.py"),
        ("shop/a.py", ".prices", "shop/prices.py"),
        ("shop/web/a.py", "..prices", "shop/prices.py"),
    ],
)
def test_the_file_that_an_import_means(file: str, name: str, expected: str) -> None:
    one = Hit(tool=ToolName.TY, rule=NO_IMPORT, file=file, line=1, message=f"Cannot resolve imported module `{name}`")
    assert file_of_import(one) == expected


def test_what_the_source_of_the_standard_library_has_is_no_finding(tmp_path: Path) -> None:
    code = "import http.client\nfrom http.cookiejar import parse_ns_headers\nprint(http.client._MAXHEADERS)\n"
    code += "import json\nfrom subprocess import STARTUPINFO, run_all\nprint(json.decoder)\n"
    hits = look(Ty(), tmp_path, {"a.py": code}, EVERYTHING)
    assert [hit.line for hit in without_unknown_packages(hits, NOTHING)] == [5]
    assert len(hits) > 1


def test_a_member_of_what_is_no_module_of_its_own_is_looked_up_without_harm() -> None:
    messages = ("Module `os.path` has no member `gone`", "Module `xml.parsers.expat.errors` has no member `gone`")
    hits = [Hit(tool=ToolName.TY, rule="missing-attribute", file="a.py", line=1, message=one) for one in messages]
    assert len(without_unknown_packages(hits, NOTHING)) == 2


def test_a_compiled_module_of_the_standard_library_has_names_that_its_stub_lacks(tmp_path: Path) -> None:
    hits = look(Ty(), tmp_path, {"a.py": "import mmap\nprint(mmap.error)\nprint(mmap.errors)\n"}, EVERYTHING)
    assert [hit.line for hit in without_unknown_packages(hits, NOTHING)] == [3]


def test_what_another_version_of_python_has_is_doubtful(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "a"\nversion = "1"\nrequires-python = ">=3.10"\n')
    code = "import sys\nfrom itertools import batched, nothing\nprint(sys.monitoring, sys.nothing)\n"
    hits = without_unknown_packages(look(Ty(), tmp_path, {"a.py": code}, EVERYTHING), NOTHING)
    assert need_explaining(hits)
    call = explaining(Ty().invocation(("a.py",), EVERYTHING))
    command = Command(argv=(program(ToolName.TY), *call.arguments), folder=str(tmp_path), environment={"NO_COLOR": "1"})
    explained = with_explanations(hits, run_now(command, seconds=60))
    doubtful = {hit.message.split("`")[-2]: hit.doubtful for hit in explained}
    assert doubtful == {"batched": True, "nothing": False, "monitoring": True}
    assert [hit.doubtful for hit in explained if "`sys` has no member `nothing`" in hit.message] == [False]


@pytest.mark.parametrize(
    ("other", "doubtful"),
    [
        ("import logging\nlogging.NOTICE = 25\n", True),
        ('setattr(logging, "NOTICE", 25)\n', True),
        ("setattr(logging, name, 25)\n", True),
        ("setattr(log, name, 25)\n", False),
        ("if level == logging.NOTICE: ...\n", False),
        ("log.NOTICE = 25\n", False),
    ],
)
def test_what_the_project_gives_to_a_module_is_doubtful(other: str, doubtful: bool) -> None:
    message = "Module `logging` has no member `NOTICE`"
    one = Hit(tool=ToolName.TY, rule="missing-attribute", file="a.py", line=1, message=message)
    (found,) = with_given_members((one,), iter([("a.py", "print(logging.NOTICE)\n"), ("b.py", other)]))
    assert found.doubtful is doubtful


@pytest.mark.parametrize(
    ("path", "module", "doubtful"),
    [
        ("shop/names.py", "globals().update(found)\n", True),
        ("shop/names.py", "from missing import *\n", True),
        ("src/shop/names/__init__.py", "def __getattr__(name): ...\n", True),
        ("shop/names.py", "fill(prices, find_current_module())\n", True),
        ("shop/names.py", "for name in made:\n    exec(f'{name} = Price')\n", True),
        ("shop/names.py", "class Price: ...\n", True),  # a stub beside it may know less
        ("shop/names.pyi", "class Prices: ...\n", True),
        ("shop/names.py", "class Prices: ...\n", False),
        ("shop/other_names.py", "globals().update(found)\n", False),
    ],
)
def test_members_of_modules_that_make_their_names_are_doubtful(path: str, module: str, doubtful: bool) -> None:
    message = "Module `shop.names` has no member `Price`"
    one = Hit(tool=ToolName.TY, rule="missing-attribute", file="a.py", line=1, message=message)
    (found,) = with_given_members((one,), [("a.py", "names.Price\n"), (path, module)])
    assert found.doubtful is doubtful


@pytest.mark.parametrize(("path", "doubtful"), [("shop/ffi.pyi", True), ("shop/ffi.py", False)])
def test_a_stub_may_know_less_of_a_function_than_there_is(path: str, doubtful: bool) -> None:
    message = "Too many positional arguments to function `string`: expected 1, got 2"
    one = Hit(tool=ToolName.TY, rule="too-many-positional-arguments", file="a.py", line=1, message=message)
    (found,) = with_given_members((one,), [("a.py", ""), (path, "def string(pointer): ...\n")])
    assert found.doubtful is doubtful


@pytest.mark.parametrize(
    ("module", "name", "doubtful"), [("os", "_name", True), ("shop", "_name", False), ("email", "Utils", False)]
)
def test_what_the_library_has_for_itself_is_doubtful(module: str, name: str, doubtful: bool) -> None:
    message = f"Module `{module}` has no member `{name}`"
    one = Hit(tool=ToolName.TY, rule="missing-attribute", file="a.py", line=1, message=message)
    (found,) = with_given_members((one,), [("a.py", "")])
    assert found.doubtful is doubtful


@pytest.mark.parametrize(("name", "told"), [("arrays", False), ("lists", True)])
def test_a_module_that_is_compiled_can_be_imported_from_its_package(name: str, told: bool) -> None:
    message = f"Module `shop.tools` has no member `{name}`"
    one = Hit(tool=ToolName.TY, rule="import-not-found", file="shop/a.py", line=1, message=message)
    imports = PythonImports(["shop/__init__.py", "shop/a.py", "shop/tools/__init__.py", "shop/tools/arrays.py"])
    assert bool(without_unknown_packages((one,), imports)) is told


def test_settings_and_comments_in_the_tree_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "ty.toml").write_text('[rules]\nmissing-argument = "ignore"\n')
    code = disarmed(b"def f(a): ...\n\nf()  # type: ignore\nf()  # ty: ignore[missing-argument]\n")
    hits = look(Ty(), tmp_path, {"a.py": code}, RuleSelection(select=("missing-argument",)))
    assert places(hits) == [("a.py", 3, "missing-argument"), ("a.py", 4, "missing-argument")]


@pytest.mark.parametrize(
    ("comment", "severity"),
    [
        ("", "high"),
        ("  # type: ignore", "high"),
        ("  # type: ignore[call-arg]", "low"),
        ("  # ty: ignore[missing-argument]", "low"),
    ],
)
def test_a_comment_for_one_rule_makes_it_milder(comment: str, severity: str) -> None:
    one = Hit(tool=ToolName.TY, rule="missing-argument", file="a.py", line=1, message="No argument of function `f`.")
    (hit,) = marked([one], head_lines={"a.py": [f"f(){comment}"]}.get, base_lines=lambda _: None, renamed={})
    ruling = rule_on(hit, DEFAULTS)
    assert ruling
    assert ruling.severity.value == severity


def test_modules_are_found_from_the_folders_that_their_names_begin_in() -> None:
    call = with_packages(Ty().invocation(("lib/a.py",), EVERYTHING), "/home/me/.venv", {"lib", "."})
    assert call.arguments[:4] == ("check", "--python", "/home/me/.venv", '--config=environment.root=[".", "lib"]')
    alone = with_packages(Ty().invocation(("a.py",), EVERYTHING), "", {"."})
    assert alone.arguments[:3] == ("check", "--python", ".no-packages")


@pytest.mark.parametrize(("path", "taken"), [("a.py", True), ("a.pyi", True), ("a.ipynb", False), ("a.js", False)])
def test_which_files_it_takes(path: str, taken: bool) -> None:
    assert Ty().takes(SourceFile(path=path)) is taken
