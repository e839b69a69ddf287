"""Types are checked with the modules that changed files import; a review can do without, and says so."""

from pathlib import Path

import pytest

from burnish.agents.panel.interface import ToolName
from burnish.agents.panel.programs import WHEELS, Wheel, program
from tests.runtime.seats import Seats

BASE = {"lib/shop/__init__.py": "", "lib/shop/prices.py": "from shop import taxes\n\n\ndef price(item, *, tax): ...\n"}
CHANGE = {
    "lib/shop/order.py": "from shop.prices import price\nfrom shop.nowhere import a\n\nprice(a)\nprice(a, tx=1)\n"
}


def test_a_call_is_compared_with_the_function_of_another_module(tmp_path: Path) -> None:
    found = Seats(tmp_path, BASE, CHANGE).found("bugs")
    assert sorted(found) == [
        ("lib/shop/order.py:2", "burnish:missing-module", "high"),
        ("lib/shop/order.py:2", "ty:import-not-found", "high"),
        ("lib/shop/order.py:4", "ty:missing-argument", "high"),
        ("lib/shop/order.py:5", "ty:missing-argument", "high"),
        ("lib/shop/order.py:5", "ty:unknown-argument", "high"),
    ]


def test_a_package_without_an_init_is_found_from_the_top(tmp_path: Path) -> None:
    base = {"app/models.py": "def load(name): ...\n", "app/views.py": ""}
    change = {"app/views.py": "from app.models import load\nfrom app import models\n\nload()\nmodels.load(1)\n"}
    assert Seats(tmp_path, base, change).found("bugs") == [("app/views.py:4", "ty:missing-argument", "high")]


def test_a_call_that_is_wrong_for_one_of_several_values_does_not_block(tmp_path: Path) -> None:
    table = 'CIPHERS = {"aes": {"class": bytes, "size": 16}}\n'
    change = {"a.py": f'{table}\n\ndef load(name):\n    return CIPHERS[name]["class"](1)\n\n\nload()\n'}
    assert Seats(tmp_path, {"a.py": table}, change).found("bugs") == [
        ("a.py:5", "ty:call-non-callable", "medium"),
        ("a.py:8", "ty:missing-argument", "high"),
    ]


def test_a_package_in_a_folder_of_its_name_is_found(tmp_path: Path) -> None:
    change = {"shop/shop/__init__.py": "from .prices import *\nfrom .none import *\n", "shop/shop/prices.py": ""}
    found = Seats(tmp_path, {"top.py": ""}, change).found("bugs")
    assert [one for one in found if one[1].startswith("ty:")] == [
        ("shop/shop/__init__.py:2", "ty:import-not-found", "high")
    ]


def test_names_of_other_platforms_are_there(tmp_path: Path) -> None:
    change = {"a.py": "import os\nimport tty\n\nFLAGS = os.O_BINARY, tty.TCSAFLUSH\nos.no_such_name()\n"}
    assert Seats(tmp_path, {}, change).found("bugs") == [("a.py:5", "ty:missing-attribute", "high")]


def test_an_example_that_is_called_like_a_package_is_not_that_package(tmp_path: Path) -> None:
    base = {"examples/gevent/__init__.py": "", "shop/__init__.py": "", "shop/contrib/redis.py": ""}
    change = {
        "examples/one.py": "import gevent.pool\n\ngevent.pool.Pool()\n",
        "shop/a.py": "import gevent\nimport gevent.pool\n\ngevent.spawn(gevent.pool.Pool)\n",
        "shop/contrib/redis.py": "import redis\n\nredis.Redis()\n",
    }
    assert sorted(Seats(tmp_path, base, change).found("bugs")) == [
        ("examples/one.py:1", "burnish:missing-module", "medium"),
        ("examples/one.py:1", "ty:import-not-found", "medium"),
    ]


@pytest.mark.parametrize(
    ("base", "severity"),
    [
        ({"pyproject.toml": "[build-system]\nrequires = ['maturin']\n"}, "medium"),
        ({"pyproject.toml": "[build-system]\nrequires = ['hatchling']\n"}, "high"),
    ],
)
def test_a_module_that_a_build_may_write_does_not_block(tmp_path: Path, base: dict[str, str], severity: str) -> None:
    change = {"shop/__init__.py": "", "shop/sums.py": "from shop.fast import add\n\nprint(add)\n"}
    assert sorted(Seats(tmp_path, base, change).found("bugs")) == [
        ("shop/sums.py:1", "burnish:missing-module", severity),
        ("shop/sums.py:1", "ty:import-not-found", severity),
    ]


@pytest.mark.parametrize(
    ("base", "path", "severity"),
    [
        ({"package.json": '{"devDependencies": {"flow-bin": "1"}}\n'}, "a.js", "medium"),
        ({"web/.babelrc": '{"presets": ["@babel/preset-flow"]}\n'}, "a.js", "medium"),
        ({"package.json": '{"devDependencies": {"flow-bin": "1"}}\n'}, "a.ts", "critical"),
        ({"package.json": '{"devDependencies": {"jest": "1"}}\n'}, "a.js", "critical"),
    ],
)
def test_types_of_flow_are_no_errors_where_the_base_uses_flow(
    tmp_path: Path, base: dict[str, str], path: str, severity: str
) -> None:
    change = {path: "type A = {| b: number |};\n", "package.json": '{"dependencies": {"flow-bin": "1"}}\n'}
    found = Seats(tmp_path, base, change).found("bugs")
    assert {level for place, rule, level in found if place.startswith(path) and rule.endswith("syntax")} == {severity}


def test_what_was_wrong_before_is_not_new(tmp_path: Path) -> None:
    edited = {"lib/shop/order.py": "# Orders.\n" + CHANGE["lib/shop/order.py"]}
    assert Seats(tmp_path, {**BASE, **CHANGE}, edited).found("bugs") == []


def test_without_ty_the_rest_is_reviewed_and_a_note_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program.cache_clear()
    monkeypatch.setitem(WHEELS, ToolName.TY, Wheel(package="burnish-no-such-tool", pin="1.0", program="bin/nothing"))
    review = Seats(tmp_path, BASE, {"lib/shop/order.py": "print(unknown)\n"}).review("bugs")
    assert [one.rule for one in review.answer.findings] == ["ruff:F821"]
    assert review.answer.notes == ("Types were not checked: ty is not installed with burnish",)


def test_the_packages_of_burnish_itself_are_not_those_of_the_project(tmp_path: Path) -> None:
    change = {"a.py": "import json\n\nimport msgspec\n\nmsgspec.no_such_name()\njson.no_such_name()\n"}
    assert Seats(tmp_path, {}, change).found("bugs") == [("a.py:6", "ty:missing-attribute", "high")]


def test_modules_that_cython_compiles_are_there(tmp_path: Path) -> None:
    change = {
        "shop/__init__.py": "",
        "shop/fast.pyx": "def add(): ...\n",
        "shop/a.py": "from .fast import add\nfrom .slow import add\n",
    }
    found = Seats(tmp_path, {}, change).found("bugs")
    assert [one for one in found if one[1].startswith("ty:")] == [("shop/a.py:2", "ty:import-not-found", "high")]


def test_members_that_another_module_sets_do_not_block(tmp_path: Path) -> None:
    change = {
        "shop/__init__.py": "import logging\n\nlogging.NOTICE = 25\n",
        "shop/a.py": "import logging\n\nprint(logging.NOTICE, logging.NOTHING)\n",
    }
    found = Seats(tmp_path, {}, change).found("bugs")
    assert [one for one in found if one[0].startswith("shop/a")] == [
        ("shop/a.py:3", "ty:missing-attribute", "medium"),
        ("shop/a.py:3", "ty:missing-attribute", "high"),
    ]


def test_names_that_the_program_gives_to_all_modules_do_not_block(tmp_path: Path) -> None:
    base = {
        "shop/__init__.py": "",
        "shop/lang.py": 'import builtins\n\nbuiltins.__dict__["T"] = str\nbuiltins.N_ = str\n',
    }
    change = {"shop/a.py": 'TITLE = T("Shop"), N_("Shop")\nTEXT = TT("Shop")\n'}
    assert Seats(tmp_path, base, change).found("bugs") == [
        ("shop/a.py:1", "ruff:F821", "medium"),
        ("shop/a.py:1", "ruff:F821", "medium"),
        ("shop/a.py:2", "ruff:F821", "critical"),
    ]
