"""Imports of packages that are declared nowhere, and of modules that do not exist."""

import re

import pytest

from burnish.agents.panel.own_checks.imports import FileVersions, comes_from_a_build, import_hits
from burnish.agents.panel.own_checks.reporting import OwnRule
from burnish.agents.panel.own_checks.scripts import script_hits
from tests.agents.analysers.rules.making import Tree

PYPROJECT = '[project]\ndependencies = ["requests>=2", "PyYAML", "python-dateutil"]\n'
PACKAGE = '{"name": "shop", "dependencies": {"pg": "8"}, "devDependencies": {"@types/node": "1"}}'


def found(path: str, text: str, base: dict[str, str], **more: str) -> list[tuple[str, int | None]]:
    now = Tree(files={**base, **more, path: text})
    changed = [FileVersions(path=path, now=text.encode(), before=base.get(path, "").encode())]
    return [(hit.rule, hit.line) for hit in import_hits(changed, now, Tree(files=base))]


PYTHON = {"pyproject.toml": PYPROJECT, "shop/__init__.py": "", "shop/prices.py": "import lxml\n", "tools/helper.py": ""}


@pytest.mark.parametrize(
    "text",
    [
        "import tenacity\n",
        "\nfrom tenacity.retry import x\n",
        "def f():\n    import numpy as np\n",
        "# /// script\n# dependencies = ['rich']\n# ///\nimport tenacity\n",
    ],
)
def test_a_package_that_no_file_declares(text: str) -> None:
    ((rule, line),) = found("shop/a.py", text, PYTHON)
    assert (rule, line) == (OwnRule.UNDECLARED_PACKAGE.value, text[: text.index("import ")].count("\n") + 1)


@pytest.mark.parametrize(
    "text",
    [
        "import os.path, sys\nfrom __future__ import annotations\n",
        "import yaml\nimport dateutil.parser\nimport requests\n",
        "import shop.prices\nfrom . import prices\nfrom .prices import x\nimport helper\n",
        "try:\n    import tenacity\nexcept ImportError:\n    import backoff\n",
        "if TYPE_CHECKING:\n    import tenacity\n",
        "import lxml\n",
        "import httplib, urllib2\nfrom ConfigParser import ConfigParser\n",
        "#!/usr/bin/env python\n# /// script\n# dependencies = [\n#     'tenacity',\n# ]\n# ///\nimport tenacity\n",
        "import tenacity\ndef (\n",
    ],
)
def test_imports_of_python_that_are_fine(text: str) -> None:
    assert not found("shop/a.py", text, PYTHON)


def is_doubtful(base: dict[str, str], **head: str) -> bool:
    before = {**base, "shop/a.py": "x = 1\n"}
    tree = Tree(files={**before, "shop/a.py": "import tenacity\n", **head})
    file = FileVersions(path="shop/a.py", now=b"import tenacity\n", before=b"x = 1\n")
    (hit,) = import_hits([file], tree, Tree(files=before))
    return hit.doubtful


def test_a_new_file_may_be_for_who_has_the_package() -> None:
    tree = Tree(files={**PYTHON, "shop/a.py": "import tenacity\n"})
    (hit,) = import_hits([FileVersions(path="shop/a.py", now=b"import tenacity\n")], tree, Tree(files=PYTHON))
    assert hit.doubtful


@pytest.mark.parametrize(("path", "doubtful"), [("docs/queues.rst", True), ("shop/queues.py", False)])
def test_a_package_that_a_document_tells_of_is_doubtful(path: str, doubtful: bool) -> None:
    assert is_doubtful({**PYTHON, path: "Install tenacity for this queue."}) is doubtful


def test_a_change_does_not_excuse_a_package_by_a_document_of_its_own() -> None:
    assert not is_doubtful(PYTHON, **{"README.md": "Install tenacity first."})


def test_a_project_that_declares_nothing_is_not_judged() -> None:
    assert not found("a.py", "import tenacity\n", {"b.py": ""})


def test_what_a_file_imported_before_is_old() -> None:
    assert not found("shop/a.py", "x = 1\nimport tenacity\n", {**PYTHON, "shop/a.py": "import tenacity\n"})


def test_a_change_may_declare_what_it_imports() -> None:
    assert not found("shop/a.py", "import tenacity\n", PYTHON, **{"requirements-dev.txt": "Tenacity==9\n"})


def test_a_module_of_the_project_that_is_not_there() -> None:
    assert found("shop/a.py", "from shop.money import x\n", PYTHON) == [(OwnRule.MISSING_MODULE.value, 1)]
    other = {"shop/b.py": "import shop.prices\n"}
    assert found("shop/a.py", "from shop.money import x\n", {**PYTHON, **other}) == [(OwnRule.MISSING_MODULE.value, 1)]
    other = {"shop/b.py": "from shop.money import y\n"}
    assert not found("shop/a.py", "from shop.money import x\n", {**PYTHON, **other})
    assert not found("shop/a.py", "from shop._speedups import x\nfrom shop.api_pb2 import y\n", PYTHON)
    assert not found("shop/a.py", "from shop.money import x\n", PYTHON, **{"shop/money/__init__.py": ""})
    # A submodule is a path without content.
    assert not found("shop/a.py", "from shop.skills.money import x\n", PYTHON, **{"shop/skills": ""})
    assert not found("shop/a.py", "from shop.six.moves import x\n", PYTHON)
    # Without an __init__ a package may go on elsewhere.
    assert not found("tools/a.py", "import tools.other\n", PYTHON)


SCRIPT = {
    "package.json": PACKAGE,
    "packages/ui/package.json": '{"name": "@shop/ui"}',
    "tsconfig.json": '{"compilerOptions": {"paths": {"@app/*": ["src/*"]}}}',
    "src/prices.ts": 'import x from "left-pad";\n',
    "src/style.css": "",
}


@pytest.mark.parametrize(
    "text",
    [
        'import axios from "axios";\n',
        "const axios = require('axios/lib/x');\n",
        'import {\n  a,\n} from "@scope/name/part";\n',
        'export * from "axios";\n',
        'const x = await import("axios");\n',
        'import "axios";\n',
    ],
)
def test_a_package_that_package_json_does_not_name(text: str) -> None:
    ((rule, line),) = found("src/a.ts", text, SCRIPT)
    assert (rule, line) == (OwnRule.UNDECLARED_PACKAGE.value, text.count("\n"))


@pytest.mark.parametrize(
    "text",
    [
        'import fs from "node:fs";\nimport path from "path";\nimport "fs/promises";\n',
        'import pg from "pg";\nimport type { X } from "@shop/ui";\nimport x from "@app/prices";\n',
        'import x from "left-pad";\n',
        'import x from "src/prices";\nimport y from "@/z";\nimport z from "#internal";\nimport u from "https://a.b/c.js";\n',
        '// import axios from "axios";\nconst text = `import axios from "axios"`;\n',
        'let x;\ntry { x = require("axios"); } catch {}\n',
        'try {\n  const a = require("pg").a;\n  const b = require("axios").b;\n} catch (error) {}\n',
        'console.log("from", "axios");\nconst y = "import";\n',
    ],
)
def test_imports_of_javascript_that_are_fine(text: str) -> None:
    assert not found("src/a.ts", text, SCRIPT)


def test_scripts_of_a_tree_without_package_json_are_not_judged() -> None:
    assert not found("a.js", 'import axios from "axios";\n', {"b.js": ""})


def test_a_file_of_the_project_that_is_not_there() -> None:
    assert found("src/a.ts", 'import { x } from "./money.js";\n', SCRIPT) == [(OwnRule.MISSING_MODULE.value, 1)]
    fine = 'import a from "./prices.js";\nimport b from "./prices";\nimport "./style.css";\nimport "../dist/x.js";\n'
    assert not found("src/a.ts", fine, SCRIPT)
    assert not found("src/a.ts", 'import d from "../packages/ui";\n', SCRIPT)
    # A compiler that takes both knows a script by the name that it may have one day.
    assert not found("src/a.ts", 'import d from "./old.ts";\n', {**SCRIPT, "src/old.js": ""})
    assert not found("src/a.ts", 'import d from "./font!=!url-loader!subset?glyphs=0";\n', SCRIPT)
    assert not found("a.js", 'const own = require("./");\nconst one = require("./languages/" + name);\n', SCRIPT)
    assert not found("a.js", "const all = `\n${types.map(one => `import ${one} from './${one}';`)}\n`;\n", SCRIPT)


@pytest.mark.parametrize(
    ("ignored", "doubtful"),
    [
        ("/index.js\n", True),
        ("/index.ts\n", True),
        ("*.tsx\n", True),
        ("/index.d.ts\n", True),
        ("/index.mts\n", False),
        ("build\n*.gen.js\n", False),
        ("index.*\n", True),
        ("# index.js\n", False),
        ("", False),
    ],
)
def test_what_git_ignores_may_come_from_a_build(ignored: str, doubtful: bool) -> None:
    text = 'import { x } from "./index.js";\n'
    tree = Tree(files={**SCRIPT, "a.js": text, ".gitignore": ignored})
    (hit,) = import_hits([FileVersions(path="a.js", now=text.encode())], tree, Tree(files=SCRIPT))
    assert hit.doubtful is doubtful


@pytest.mark.parametrize(("ignored", "doubtful"), [("info.js\n", True), ("info.json\n", True), ("info.css\n", False)])
def test_an_import_need_not_say_the_ending(ignored: str, doubtful: bool) -> None:
    text = "const info = require('./info');\n"
    tree = Tree(files={**SCRIPT, "a.js": text, ".gitignore": ignored})
    (hit,) = import_hits([FileVersions(path="a.js", now=text.encode())], tree, Tree(files=SCRIPT))
    assert hit.doubtful is doubtful


@pytest.mark.parametrize(
    ("path", "code", "doubtful"),
    [
        ("build.js", "write(join(out, 'index.out.js'), text)\n", True),
        ("build.py", 'entry = "web/index.out.js"\n', True),
        ("build.js", "import main from './index.out.js'\n", False),
        ("build.js", "const main = require('./index.out.js')\n", False),
        ("build.js", "write('reindex.out.js')\n", False),
        ("README.md", "`index.out.js`\n", False),
    ],
)
def test_what_code_of_the_base_names_may_come_from_it(path: str, code: str, doubtful: bool) -> None:
    text = 'import { x } from "./index.out.js";\n'
    named, plain = Tree(files={**SCRIPT, "a.js": text, path: code}), Tree(files={**SCRIPT, "a.js": text})
    new = [FileVersions(path="a.js", now=text.encode())]
    hits = [*import_hits(new, plain, Tree(files={**SCRIPT, path: code})), *import_hits(new, named, Tree(files=SCRIPT))]
    assert {hit.doubtful for hit in hits} == {doubtful, False}


@pytest.mark.parametrize(
    ("head", "base", "doubtful"),
    [
        ({"shop/fast.pyx": ""}, {}, True),
        ({"shop/fastest.pyx": ""}, {}, False),
        ({"shop/fast.md": ""}, {}, False),
        ({}, {"setup.py": "setup(ext_modules=[Extension('a', ['a.c'])])\n"}, True),
        ({}, {"pyproject.toml": "[build-system]\nrequires = ['scikit-build-core']\n"}, True),
        ({}, {"shop/meson.build": ""}, True),
        ({"setup.py": "setup(ext_modules=[Extension('a', ['a.c'])])\n", "meson.build": ""}, {}, False),
    ],
)
def test_what_a_compiler_writes_is_not_in_the_tree(head: dict[str, str], base: dict[str, str], doubtful: bool) -> None:
    """What only the change says of its build excuses nothing."""
    assert comes_from_a_build("shop/fast.py", Tree(files=head | base), Tree(files=base)) is doubtful


def test_a_folder_may_have_its_own_list_of_what_git_ignores() -> None:
    text = 'import { x } from "./made.js";\n'
    tree = Tree(files={**SCRIPT, "web/a.js": text, "web/.gitignore": "/made.js\n"})
    (hit,) = import_hits([FileVersions(path="web/a.js", now=text.encode())], tree, Tree(files=SCRIPT))
    assert hit.doubtful


STORE = (
    "export async function save(x: X): Promise<void> {}\nexport const load = async () => 1;\n"
    "export default async function () {}\nexport function plain() {}\n"
)


def across(text: str, before: str = "", path: str = "src/a.ts", **more: str) -> list[tuple[str, int | None]]:
    files = {"src/store.ts": STORE, "src/all.ts": 'export * from "./store";\n', path: text, **more}
    changed = [FileVersions(path=path, now=text.encode(), before=before.encode())]
    return [(hit.rule, hit.line) for hit in script_hits(changed, Tree(files=files))]


@pytest.mark.parametrize(
    "line",
    [
        "async function f() {\n  save(1);\n}",
        "const f = async (a) => {\n  save({ a });\n  return 1;\n};",
        "class A {\n  async f(a: (b: B) => C): Promise<void> {\n    if (a) {\n      save(g(a));\n    }\n  }\n}",
        "async function f() {\n  g()\n  save(1)\n  h()\n}",
        "function f() {\n  if (save(1)) g();\n}",
        "const f = () => !load();",
        "async function f() {\n  make();\n}",
    ],
)
def test_async_functions_of_other_files_that_are_not_awaited(line: str) -> None:
    text = f'import make, {{ save, load }} from "./store";\n{line}\n'
    number = next(at for at, one in enumerate(text.splitlines(), 1) if at > 1 and re.search(r"(save|load|make)\(", one))
    assert across(text) == [(OwnRule.PROMISE_IGNORED.value, number)]
    assert not across(text, before=text)


@pytest.mark.parametrize(
    "line",
    [
        "async function f() {\n  await save(1);\n}",
        "async function f() {\n  return save(1);\n}",
        "async function f() {\n  void save(1);\n  const x = save(1);\n  g(\n    save(1),\n  );\n}",
        "async function f() {\n  save(1).catch(g);\n  save(1)\n    .then(g);\n}",
        "function f() {\n  save(1);\n}",
        "async function f() {\n  plain();\n  if (plain()) g();\n}",
        "async function f() {\n  // save(1);\n  other.save(1);\n}",
        "async function f() {\n  on(() => {\n    save(1);\n  });\n}",
        "class A {\n  save() {\n    return 1;\n  }\n}",
        "async function f() {\n  if (await save(1)) g();\n}",
    ],
)
def test_async_functions_of_other_files_that_are_used_well(line: str) -> None:
    assert not across(f'import {{ save, plain }} from "./store";\n{line}\n')


def test_names_that_another_file_does_not_have() -> None:
    missing = [(OwnRule.MISSING_EXPORT.value, 1)]
    assert across('import { store } from "./store";\n') == missing
    assert across('import { save, saveAll as all } from "./store.js";\n') == missing
    assert across('import make, {\n  store,\n} from "./store";\n') == [(OwnRule.MISSING_EXPORT.value, 3)]
    assert not across('import { store } from "./all";\nimport { type T, save } from "./store";\n')
    assert not across('import type { T } from "./store";\nimport * as s from "./store";\nimport { a } from "pg";\n')
    assert not across('import { a } from "./gone";\nimport { b } from "./b.json";\n', **{"src/b.json": "{}"})
    assert not across('import { store } from "./store";\n', path="src/a.vue")
    types = {"src/plain.js": "export default 1;\n", "src/plain.d.ts": "export interface Store {}\n"}
    assert not across('import { Store } from "./plain.js";\n', **types)
    assert across('import { Shop } from "./plain.js";\n', **types) == missing
    assert not across('import { Store } from "./index";\n', **{"src/index.ts": "export type * from './types';\n"})
