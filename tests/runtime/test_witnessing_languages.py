"""The witness on projects that are not in Python, with their real tools where the machine has them."""

import os
import shutil
from pathlib import Path

import pytest

from burnish.core.evidence import Examined, Level
from burnish.core.findings import Location, Severity
from tests.runtime.witness_stand import QUIET, USER, Files, Stand, change

needs_node = pytest.mark.skipif(shutil.which("npm") is None, reason="optional: npm")
needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="optional: go")
needs_cargo = pytest.mark.skipif(shutil.which("cargo") is None, reason="optional: cargo")

PACKAGE = '{"name": "calc", "version": "1.0.0", "scripts": {"test": "node --test test/"}}'
NODE: Files = {
    "package.json": PACKAGE,
    "calc.js": "exports.double = (n) => n * 2;\n",
    "test/calc.test.js": (
        "const test = require('node:test');\nconst assert = require('node:assert');\n"
        "const { double } = require('../calc.js');\n"
        "test('calc', async (t) => {\n  await t.test('doubles', () => assert.strictEqual(double(2), 4));\n"
        "  await t.test('keeps zero', () => assert.strictEqual(double(0), 0));\n});\n"
    ),
}


@needs_node
def test_node_names_the_failing_test_and_its_place(tmp_path: Path) -> None:
    heard = Stand(tmp_path, change(tmp_path, NODE, {"calc.js": "exports.double = (n) => n * 3;\n"})).hear()
    (finding,) = heard.findings
    assert (finding.severity, finding.title) == (Severity.CRITICAL, "`calc > doubles` fails")
    assert finding.location == Location(file="test/calc.test.js", line=5)
    assert "6 !== 4" in finding.evidence


@needs_node
def test_a_file_that_node_cannot_load_fails_as_a_whole(tmp_path: Path) -> None:
    heard = Stand(tmp_path, change(tmp_path, NODE, {"calc.js": "throw new Error('broken');\n"})).hear()
    failing = [finding for finding in heard.findings if finding.severity is Severity.CRITICAL]
    assert len(failing) == 1
    assert "test/calc.test.js" in failing[0].title


@needs_node
def test_dependencies_that_nobody_installed_are_no_evidence(tmp_path: Path) -> None:
    package = PACKAGE.replace('"scripts"', '"devDependencies": {"left": "1"}, "scripts"')
    heard = Stand(tmp_path, change(tmp_path, {**NODE, "package.json": package}, {"calc.js": ""})).hear()
    assert (heard.findings, heard.looked) == ((), False)
    assert heard.notes[0].startswith("no evidence: node_modules is missing.")


CARGO: Files = {
    "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": (
        "pub fn double(n: i32) -> i32 {\n    n * 2\n}\n\n#[cfg(test)]\nmod tests {\n"
        "    #[test]\n    fn doubles() {\n        assert_eq!(super::double(2), 4);\n    }\n"
        "    #[test]\n    fn is_known_to_fail() {\n        assert_eq!(super::double(0), 1);\n    }\n"
        "    #[test]\n    fn keeps_zero() {\n        assert_eq!(super::double(0), 0);\n    }\n}\n"
    ),
}


@needs_cargo
def test_cargo_runs_offline_and_names_the_failing_test(tmp_path: Path) -> None:
    library = str(CARGO["src/lib.rs"]).replace("n * 2", "n * 3")
    stand = Stand(tmp_path, change(tmp_path, CARGO, {"src/lib.rs": library}), QUIET)
    stand.services.environment = {**USER, "PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    heard = stand.hear()
    (finding,) = heard.findings
    assert finding.title == "`tests::doubles` fails"
    assert finding.location == Location(file="src/lib.rs", line=9)
    assert heard.notes == ("1 test also fails on the base, so it says nothing about the change",)


GO: Files = {
    "go.mod": "module example.org/calc\n\ngo 1.20\n",
    "calc.go": "package calc\n\nfunc Double(n int) int {\n\treturn n * 2\n}\n",
    "idle.go": "package calc\n\ntype Idle struct{}\n",
    "calc_test.go": (
        'package calc\n\nimport "testing"\n\nfunc TestDouble(t *testing.T) {\n'
        "\tif Double(2) != 4 {\n\t\tt.Fatal(Double(2))\n\t}\n}\n"
    ),
}
GONE: Files = {"calc_test.go": 'package calc\n\nimport "testing"\n\nfunc TestNothing(t *testing.T) {}\n'}


@needs_go
@pytest.mark.prove
def test_go_tells_what_it_compiled_and_ran(tmp_path: Path) -> None:
    head: Files = {
        "calc.go": str(GO["calc.go"]).replace("n * 2", "2 * n"),
        "idle.go": "package calc\n\ntype Idle struct{ x int }\n",
        "other.go": "//go:build windows\n\npackage calc\n\nfunc Other() {}\n",
    }
    stand = Stand(tmp_path, change(tmp_path, GO, head), QUIET)
    stand.services.environment = {**USER, "PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    heard = stand.hear()
    assert heard.findings == ()
    assert heard.examined == (
        Examined(path="calc.go", level=Level.TESTED),
        Examined(path="idle.go", level=Level.CHECKED),
    )


@needs_go
@pytest.mark.prove
def test_a_silenced_test_of_go_blocks(tmp_path: Path) -> None:
    head = {**GONE, "calc.go": str(GO["calc.go"]).replace("* 2", "* 3")}
    stand = Stand(tmp_path, change(tmp_path, GO, head), QUIET)
    stand.services.environment = {**USER, "PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    assert [finding.severity for finding in stand.hear().findings] == [Severity.HIGH]


@needs_cargo
@pytest.mark.prove
def test_cargo_tells_what_it_compiled(tmp_path: Path) -> None:
    library = str(CARGO["src/lib.rs"]).replace("n * 2", "2 * n")
    head: Files = {"src/lib.rs": library, "src/stray.rs": "pub fn stray() {}\n"}
    stand = Stand(tmp_path, change(tmp_path, CARGO, head), QUIET)
    stand.services.environment = {**USER, "PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    assert stand.hear().examined == (Examined(path="src/lib.rs", level=Level.CHECKED),)


@needs_node
def test_node_tells_which_changed_lines_ran(tmp_path: Path) -> None:
    head: Files = {"calc.js": "exports.double = (n) => 2 * n;\n", "idle.js": "exports.idle = () => 1;\n"}
    heard = Stand(tmp_path, change(tmp_path, NODE, head)).hear()
    assert heard.findings == ()
    assert heard.examined == (Examined(path="calc.js", level=Level.TESTED),)


@needs_node
def test_without_lines_names_tell_whether_a_silenced_test_is_a_loss(tmp_path: Path) -> None:
    skipped = str(NODE["test/calc.test.js"]).replace("t.test('doubles', ", "t.test('doubles', { skip: true }, ")
    kept = skipped.replace("double(0)", "(double, 0)").replace("{ double }", "calc").replace("(double, 0)", "0")
    head: Files = {"calc.js": "exports.double = (n) => n * 3;\n", "test/calc.test.js": kept}
    heard = Stand(tmp_path, change(tmp_path, NODE, head)).hear()
    assert [finding.severity for finding in heard.findings] == [Severity.HIGH]
