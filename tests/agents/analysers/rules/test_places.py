"""What a path says about the purpose of a file."""

import pytest

from burnish.agents.panel.places import (
    ProgramTexts,
    References,
    Surroundings,
    folder_ends,
    is_filled_in,
    is_template,
    may_be_only_read,
    name_ends,
    program_of_rust,
    runs_tools,
    shows_placeholders,
    surroundings,
    telling_length,
)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/app.py", "program"),
        ("src/data/loader.py", "program"),
        ("src/contest.py", "program"),
        ("latest/app.py", "program"),
        ("tests/test_app.py", "tests"),
        ("src/pkg/test_app.py", "tests"),
        ("src/pkg/app_test.go", "tests"),
        ("lib/app_spec.sh", "tests"),
        ("lib/app.bats", "tests"),
        ("web/src/app.test.tsx", "tests"),
        ("web/src/app.spec.ts", "tests"),
        ("web/__tests__/app.ts", "tests"),
        ("src/test/java/AppTest.java", "tests"),
        ("conftest.py", "tests"),
        ("examples/hello.py", "tests"),
        ("docs/conf.py", "tests"),
        ("benchmarks/run.py", "tests"),
        ("src/borg/testsuite/archiver.py", "tests"),
        ("shop_integration_tests/utils.py", "tests"),
        ("src/contests/app.py", "program"),
        ("src/ab_test/app.py", "program"),
        ("test.js", "tests"),
        ("lib/tests.mjs", "tests"),
        ("lib/latest.js", "program"),
        ("tests/test_server.sh", "tests"),
        ("docs_src/login/tutorial.py", "tests"),
        ("features/steps/login.py", "tests"),
        ("features/environment.py", "tests"),
        ("features/login.py", "program"),
        ("tests/settings/syntaxerror_settings.yml", "material"),
        ("tests/data/broken.py", "material"),
        ("internal/http/testkey.pem", "tests"),
        ("internal/http/testkey.go", "program"),
        ("internal/http/key.pem", "program"),
        ("test/form/samples/debugger/main.js", "material"),
        ("samples/debugger/main.js", "tests"),
        ("tutorials/shop/main.py", "tests"),
        ("internal/shop/testing.go", "tests"),
        ("internal/shop/testing.py", "program"),
        ("shop/fixtures_of_prices/a.py", "material"),
        ("shop/price-fixtures/a.js", "material"),
        ("shop/fixturesque/a.py", "program"),
        ("src/expected/main.js", "program"),
        ("test/syntax_cache/invalid.js", "material"),
        ("test/error_code/src.js", "material"),
        ("test/invalid.js", "tests"),
        ("tests/errors/test_invalid.py", "tests"),
        ("src/errors/invalid.py", "program"),
        ("settings/test.py", "tests"),
        ("src/errors/tests.rs", "tests"),
        ("src/latest/app.py", "program"),
        ("lib/testserver/key.pem", "tests"),
        ("pkg/testdata/broken.go", "material"),
        ("parser/testfiles/env/Dockerfile", "material"),
        ("parser/testfiles-negative/env/Dockerfile", "material"),
        ("parser/attestfiles/env/Dockerfile", "program"),
        ("data/iam/examples-1.json", "tests"),
        ("st2tests/conf/key", "tests"),
        ("engine/TaskTests.py", "tests"),
        ("src/QuickEdit/unittest-files/a.js", "tests"),
        ("engine/Contests.py", "program"),
        ("src/contests/key", "program"),
        ("src/e2ee/key.py", "program"),
        ("src/listings/views.py", "program"),
        ("src/SpeedTest.py", "program"),
        ("pkg/ab_test_runner.go", "program"),
        (".github/ci/e2econfig/users.yaml", "tests"),
        ("codemods/__testfixtures__/a.input.tsx", "material"),
        ("shop_benchmarks/prices.py", "tests"),
        ("crates/shop-test-utils/src/lib.rs", "tests"),
        ("src/ab-test/app.py", "program"),
        ("src/shop-tested/app.py", "program"),
        ("data/iam/examples-of.json", "program"),
        ("pkg/verify_test_dsa.go", "tests"),
        ("pkg/prices_test_data.go", "tests"),
        ("pkg/prices_data.go", "program"),
        ("test cases/unit/main.c", "tests"),
        ("latest cases/main.c", "program"),
        ("Shop/Tests/Pay.swift", "tests"),
        ("Shop/Testers/Pay.swift", "program"),
        (".semgrep/rules/eval.py", "material"),
        ("semgrep/rules/eval.py", "program"),
        ("tests/unit/fixtures/bad.py", "material"),
        ("", "program"),
    ],
)
def test_a_path_says_what_a_file_is_for(path: str, expected: str) -> None:
    assert surroundings(path).value == expected


@pytest.mark.parametrize(
    ("path", "content", "may_be"),
    [
        ("tests/functional/a/wrong.py", "a = b", True),
        ("tests/wrong.py", "a = b", False),
        ("tests/functional/a/test_wrong.py", "a = b", False),
        ("tests/functional/a/wrong.py", "class Wrong(unittest.TestCase):", False),
        ("tests/functional/a/wrong.py", "def test_it():", False),
        ("tests/functional/a/wrong.js", "a = b", False),
        ("examples/shop/pay/wrong.py", "a = b", False),
        ("src/shop/wrong.py", "a = b", False),
    ],
)
def test_a_file_among_tests_may_be_what_they_only_read(path: str, content: str, may_be: bool) -> None:
    assert may_be_only_read(path, content) is may_be


@pytest.mark.parametrize(
    ("path", "length"),
    [
        ("test/pay.py", 2),
        ("test/shop/pay.py", 3),
        ("test/unit/common/shop/__init__.py", 3),
        ("test/shop/plain/pay.py", 2),
        ("test/common/tax.py", 3),
        ("test/unit/common/shop/pay.py", 4),
    ],
)
def test_a_test_that_is_called_like_the_program_takes_more_names(path: str, length: int) -> None:
    program = ["src/common/shop/pay.py", "src/shop/__init__.py"]
    assert telling_length(path, name_ends(program), folder_ends(program)) == length


def test_a_file_of_rust_has_its_tests_at_its_end() -> None:
    tests = '#[cfg(test)]\nmod tests {\n    read("fixtures/a.py");\n}\n'
    assert program_of_rust(f"fn main() {{}}\n\n{tests}") == "fn main() {}\n\n"
    kept = "#[cfg(test)]\nuse a::b;\n\nfn main() {}\n"
    assert program_of_rust(kept) == kept


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("test/shop/pay.py", True),
        ("test/shop/paid.py", False),
        ("tests/tools/make-stock.js", True),
        ("tests/tools/stock.js", False),
        ("src/near.test.js", True),
        ("src/other.test.js", False),
        ("tests/server.key", False),
        ("tests/tools/left-out.js", False),
    ],
)
def test_what_code_of_a_program_names_belongs_to_it(path: str, named: bool) -> None:
    texts = {
        "src/shop/cart.py": "from test.shop.pay import pay\nfrom test.shop import unpaid\n",
        "src/lint.js": "const skipped = [\n  'tests/tools/left-out.js',\n];\n",
        "src/run.js": "const stock = require('../tests/tools/make-stock');\nimport './near.test.js';\n",
        "settings.toml": "key = 'tests/server.key'\n",
    }
    code = {*texts, "test/shop/pay.py", "test/shop/paid.py"}
    assert ProgramTexts(texts, code).names(path) is named


@pytest.mark.parametrize(
    ("line", "filled_in"),
    [
        ("name = {{ cookiecutter.name }}", True),
        ("import {{ cookiecutter.slug }}", True),
        ('name = f"{{ {name} }}"', False),
        ('name = f"{{a}} {name}"', False),
        ("name = unknown  # {{ a }}", False),
        ("pairs = {(1, 2)}", False),
    ],
)
def test_braces_outside_of_texts_are_a_template(line: str, filled_in: bool) -> None:
    assert is_filled_in(line) is filled_in


def test_a_file_that_cannot_be_parsed_is_a_template_by_its_folder_or_by_its_text() -> None:
    assert is_template("templates/header.js", ["(function () {"])
    assert is_template("src/header.js", ["{% if a %}"])
    assert not is_template("src/header.py", ["import os", "    %(body)s"])
    assert not is_template("src/header.py", ["text = '%(body)s'", "%(body)d"])
    assert not is_template("src/header.js", ["(function () {"])
    assert not is_template("src/templates.js", ["(function () {"])


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("from tests.helpers import run", True),
        ("import tests.helpers", True),
        ("from ..tests import other, helpers", True),
        ('load("tests/helpers.py")', True),
        ("import { run } from '../tests/helpers'", True),
        ("bash tests/helpers.sh", True),
        ("        python tests/helpers.py", True),
        ("# made by tests/helpers.py", False),
        ("    python -m tests.helpers", False),
        (" * see tests/helpers.py", False),
    ],
)
def test_a_program_names_a_file_by_an_import_or_by_its_path(text: str, *, is_named: bool) -> None:
    assert References("a/tests/helpers.py").are_in(f"first\n{text}\n") is is_named


def test_what_is_called_like_a_test_is_run_as_one() -> None:
    assert not References("tests/test_pay.py").are_in("python tests/test_pay.py")
    assert not References("tests/pay.test.js").are_in('runner.run("./tests/pay.test.js")')
    assert References("tests/pay.test.js").are_in('const pay = require("./tests/pay.test.js")')
    assert References("tests/test_pay.py").are_in("from tests.test_pay import pay")
    assert not References("a/tests/helpers.py").are_in("from shop.tests import a\n\nhelpers = a()")
    assert not References("shop/tests/test_pay.py").are_in("omit = ['shop.tests.test_pay']", by="pyproject.toml")
    assert References("shop/tests/test_pay.py").are_in("pay = 'shop.tests.test_pay:main'", by="pyproject.toml")
    assert References("shop/tests/test_pay.py").are_in("load('shop.tests.test_pay')", by="shop/run.py")


@pytest.mark.parametrize(
    ("text", "path", "is_named"),
    [
        ("from .test_pay import charge", "shop/test_pay.py", True),
        ("from . import prices, test_pay", "shop/test_pay.py", True),
        ("import test_pay", "test_pay.py", True),
        ("import test_payment", "test_pay.py", False),
        ("const { charge } = require('./pay.test')", "lib/pay.test.js", True),
        ('import { charge } from "./test.js"', "lib/test.js", True),
        ('import { charge } from "./tests.js"', "lib/test.js", False),
        ("run('./test.js')", "lib/test.js", False),
    ],
)
def test_a_program_names_a_file_of_its_own_folder_by_an_import(text: str, path: str, *, is_named: bool) -> None:
    assert References(path).are_beside(f"first\n{text}\n") is is_named


def test_a_text_in_python_that_only_tells_of_a_path_does_not_use_it() -> None:
    told = '"""A plugin.\n\n    Location: ./tests/helpers.py:13\n"""\n'
    assert not References("a/tests/helpers.py").are_in(told, by="plugin.py")
    assert References("a/tests/helpers.py").are_in('run(["tests/helpers.py"])\n', by="plugin.py")
    assert References("a/tests/helpers.py").are_in(told, by="run.sh")


def test_more_of_a_path_may_be_asked_for() -> None:
    text = 'import http from "./adapters/http.js";'
    assert References("test/unit/adapters/http.js").are_in(text)
    assert not References("test/unit/adapters/http.js", 3).are_in(text)
    assert References("test/unit/adapters/http.js", 3).are_in('import http from "../test/unit/adapters/http.js";')


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("# https://SHOP_USERNAME:SHOP_PASSWORD@shop.example/", True),
        ('e.g. "https://remoteUser:remotePassword@da.domain.tld:8443"', True),
        ('Sprintf("https://x-access-token:%[1]s@a.example/", token)', True),
        ("https://robot:${TOKEN}@a.example/", True),
        ("https://oauth2:TOKEN@a.example/", True),
        ("https://oauth2:glpat-real@a.example/", False),
        ("postgres://app:password@db/app", False),
        ("https://user:hunter2@shop.example/", False),
        ("https://user:password@a.example/ https://user:hunter2@a.example/", False),
        ("https://shop.example/", False),
        (" *   connect('mongodb://val:psw@127.0.0.1:27017/shop')", True),
        ("connect('mongodb://val:psw@127.0.0.1:27017/shop')", False),
        (" *   connect('mongodb://val:psw@db.shop.example/shop')", False),
    ],
)
def test_words_for_a_name_and_a_password_are_no_secret(line: str, *, expected: bool) -> None:
    assert shows_placeholders(line) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [("karma.conf.js", True), ("web/jest.config.ts", True), ("Gruntfile.js", True), ("src/config.js", False)],
)
def test_files_that_tell_a_tool_what_to_do(path: str, *, expected: bool) -> None:
    assert runs_tools(path) is expected


def test_the_name_of_a_test_is_no_use_of_its_module() -> None:
    lookup = References("tests/lookup/tests.py")
    assert not lookup.are_in('skips = {"lookup.tests.LookupTests.test_year"}\n', by="features.py")
    assert lookup.are_in('load("lookup.tests.Lookup")\n', by="features.py")


@pytest.mark.parametrize("path", ["ormconfig.sample.json", "config.example.yml", "settings-sample.py", "example.py"])
def test_samples_are_no_part_of_the_program(path: str) -> None:
    assert surroundings(path) is Surroundings.TESTS
