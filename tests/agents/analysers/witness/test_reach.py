"""Which tests reach a change, from the text of the files."""

from collections.abc import Collection

import pytest

from burnish.agents.panel.project_tests.reach import reaching_units
from burnish.agents.panel.project_tests.values import Framework, TestPlan

PYTEST = TestPlan(framework=Framework.PYTEST, argv=("python",), text="pytest")
GO = TestPlan(framework=Framework.GO, argv=("go",), text="go test")
FILES = {
    "src/shop/__init__.py": "",
    "src/shop/price.py": "from . import tax\n",
    "src/shop/tax.py": "",
    "src/shop/mail.py": "",
    "src/shop/plugins/__init__.py": "",
    "src/shop/plugins/late.py": "",
    "tests/conftest.py": "",
    "tests/deep/conftest.py": "import shop.mail\n",
    "tests/deep/test_deep.py": "def test(): ...\n",
    "tests/test_price.py": "from shop.price import (\n    total,\n    rest as other,\n)\n",
    "tests/test_mail.py": "import os, shop.mail as mail\n",
    "tests/test_late.py": "def test():\n    from shop.plugins import late\n",
    "tests/test_named.py": "patch('shop.tax.rate')\n",
    "tests/test_dynamic.py": "importlib.import_module(f'shop.{name}')\n",
    "tests/test_process.py": "subprocess.run([sys.executable, '-m', 'shop'])\n",
    "tests/test_other.py": "import json\n",
}
ALWAYS = {"test_dynamic", "test_process"}
"""What the graph cannot decide."""


def reaching(*changed: str, files: dict[str, str] | None = None) -> set[str] | None:
    texts = files or FILES

    def read(paths: Collection[str]) -> dict[str, str]:
        return {path: texts[path] for path in paths}

    found = reaching_units(PYTEST, texts, changed, read)
    names = (path.rpartition("/")[2].removesuffix(".py") for path in found or ())
    return None if found is None else {name for name in names if name.startswith("test_")}


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("src/shop/tax.py", {"test_price", "test_named"}),
        ("src/shop/price.py", {"test_price"}),
        ("src/shop/mail.py", {"test_mail", "test_deep"}),
        ("src/shop/plugins/late.py", {"test_late"}),
        ("src/shop/plugins/__init__.py", {"test_late"}),
        ("tests/deep/conftest.py", {"test_deep"}),
        ("tests/test_other.py", {"test_other"}),
        ("src/shop/deleted.py", set[str]()),
    ],
)
def test_tests_that_import_a_changed_file_however_far_away_reach_it(changed: str, tests: set[str]) -> None:
    assert reaching(changed) == tests | ALWAYS


def test_a_module_is_no_top_level_one_where_it_is_in_a_package() -> None:
    files = {
        "shop/__init__.py": "",
        "shop/json.py": "",
        "test_a.py": "import json\n",
        "test_b.py": "import shop.json\n",
    }
    assert reaching("shop/json.py", files=files) == {"test_b"}


def test_importers_of_a_deleted_module_reach_it() -> None:
    files = {"test_a.py": "import gone\n", "test_b.py": ""}
    assert reaching("gone.py", files=files) == {"test_a"}


@pytest.mark.parametrize("changed", ["src/shop/rates.json", "pyproject.toml"])
def test_what_is_no_python_may_be_read_by_every_test(changed: str) -> None:
    assert reaching(changed) is None


def test_where_every_test_reaches_there_is_no_order() -> None:
    assert reaching("src/shop/__init__.py", files={"src/shop/__init__.py": "", "test_a.py": "import shop"}) is None


def test_packages_of_go_that_import_a_changed_one_reach_it() -> None:
    files = {
        "go.mod": "module example.org/shop\n",
        "tax/tax.go": "package tax\n",
        "tax/tax_test.go": "package tax\n",
        "price/price.go": 'package price\n\nimport "example.org/shop/tax"\n',
        "price/price_test.go": 'package price\n\nimport (\n\t"testing"\n)\n',
        "cart/cart_test.go": 'package cart\n\nimport (\n\t"testing"\n\tp "example.org/shop/price"\n)\n',
        "mail/mail_test.go": "package mail\n",
    }

    def read(paths: Collection[str]) -> dict[str, str]:
        return {path: files[path] for path in paths}

    found = reaching_units(GO, files, ["tax/tax.go"], read)
    assert found == {"example.org/shop/tax", "example.org/shop/price", "example.org/shop/cart"}
    assert reaching_units(GO, files, ["tax/rates.csv"], read) is None


def test_crates_of_a_workspace_that_depend_on_a_changed_one_reach_it() -> None:
    files = {
        "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n[workspace.dependencies]\ntax = { path = "crates/tax" }\n',
        "crates/tax/Cargo.toml": '[package]\nname = "tax"\n[dependencies]\nserde = "1"\n',
        "crates/price/Cargo.toml": '[package]\nname = "price"\n[dependencies]\ntax.workspace = true\n',
        "crates/cart/Cargo.toml": '[package]\nname = "cart"\n[dev-dependencies]\nprice = { path = "../price" }\n',
        "crates/mail/Cargo.toml": '[package]\nname = "mail"\n',
    }
    cargo = TestPlan(framework=Framework.CARGO, argv=("cargo", "test"), text="cargo test")

    def found(*changed: str, **more: str) -> frozenset[str] | None:
        texts = {**files, **more}
        return reaching_units(cargo, texts, changed, lambda paths: {path: texts[path] for path in paths})

    assert found("crates/tax/src/lib.rs") == {"tax", "price", "cart"}
    assert found("crates/mail/src/lib.rs") == {"mail"}
    assert found("crates/mail/rates.json") is None
    assert found("crates/mail/src/lib.rs", **{"Cargo.toml": '[package]\nname = "root"\n'}) is None
    rooted = files["Cargo.toml"] + '[package]\nname = "root"\n[dependencies]\nmail = { path = "crates/mail" }\n'
    assert found("crates/mail/src/lib.rs", **{"Cargo.toml": rooted}) == {"mail", "root"}
    assert found("src/lib.rs", **{"Cargo.toml": rooted}) == {"root"}
    assert found("crates/mail/src/lib.rs", **{"crates/tax/Cargo.toml": "[package\n"}) is None


VITEST = TestPlan(framework=Framework.VITEST, argv=("npm",), text="npm test")
NODE_FILES = {
    "package.json": '{"name": "shop", "scripts": {"test": "npm run unit"}, "devDependencies": {"vitest": "4"}}',
    "src/price.ts": "import { rate } from './tax.js'\n",
    "src/tax.ts": "",
    "src/mail/index.ts": "export const send = (name) => import(name)\n",
    "src/late.ts": "",
    "src/alone.ts": "// an example: require('shop')\n",
    "packages/web/package.json": '{"name": "@shop/web", "dependencies": {"shop": "*"}}',
    "packages/web/page.ts": "import { total } from 'shop'\n",
    "tests/setup.ts": "import '../src/late'\n",
    "tests/price.test.ts": "import { total } from '../src/price'\nBuffer.from('x')\n",
    "tests/mail.test.ts": "vi.mock('../src/mail')\nimport fs from 'fs'\nimport { test } from 'vitest'\n",
    "tests/web.test.ts": "import { page } from '@shop/web/page'\n",
    "tests/alias.test.ts": "import { x } from '@/x'\n",
    "tests/process.test.ts": "const { spawn } = require('node:child_process')\n",
    "tests/other.test.ts": "import { test } from 'vitest'\n",
}
NODE_ALWAYS = {"alias", "process"}


def node_reaching(*changed: str, plan: TestPlan = VITEST, **more: str) -> set[str] | None:
    texts = {**NODE_FILES, **{name.replace("__", "."): text for name, text in more.items()}}

    def read(paths: Collection[str]) -> dict[str, str]:
        return {path: texts[path] for path in paths}

    found = reaching_units(plan, texts, changed, read)
    tests = (path.rpartition("/")[2] for path in found or ())
    return None if found is None else {name.removesuffix(".test.ts") for name in tests if name.endswith(".test.ts")}


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("src/tax.ts", {"price", "web"}),
        ("src/mail/index.ts", {"mail", "web"}),
        ("packages/web/page.ts", {"mail", "web"}),
        ("src/alone.ts", {"mail", "web"}),
        ("tests/other.test.ts", {"other"}),
    ],
)
def test_tests_of_javascript_reach_files_by_paths_and_packages(changed: str, tests: set[str]) -> None:
    """What no file names may be loaded by a computed name, here by `mail`."""
    assert node_reaching(changed) == tests | NODE_ALWAYS


def test_what_all_tests_of_javascript_run_makes_all_of_them_reach() -> None:
    package = NODE_FILES["package.json"].replace('"npm run unit"', '"npm run unit", "unit": "mocha -r tests/setup"')
    assert node_reaching("src/late.ts") is not None
    assert node_reaching("src/late.ts", package__json=package) is None
    assert node_reaching("src/late.ts", vitest__config__ts="setupFiles: ['./tests/setup.ts']\n") is None
    assert node_reaching("src/tax.ts", vitest__config__ts="setupFiles: ['./tests/setup.ts']\n") is not None
    assert node_reaching("src/tax.ts", "data.json") is None
