"""The witness on projects that are not in Python, with their real tools where the machine has them."""

import os
import shutil
from pathlib import Path

import pytest

from burnish.core.findings import Location, Severity
from tests.runtime.witness_stand import QUIET, USER, Files, Stand, change

needs_node = pytest.mark.skipif(shutil.which("npm") is None, reason="optional: npm")
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
        "    #[test]\n    fn doubles() {\n        assert_eq!(super::double(2), 4);\n    }\n}\n"
    ),
}


@needs_cargo
def test_cargo_runs_offline_and_names_the_failing_test(tmp_path: Path) -> None:
    library = str(CARGO["src/lib.rs"]).replace("n * 2", "n * 3")
    stand = Stand(tmp_path, change(tmp_path, CARGO, {"src/lib.rs": library}), QUIET)
    stand.shop.environment = {**USER, "PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    heard = stand.hear()
    (finding,) = heard.findings
    assert finding.title == "`tests::doubles` fails"
    assert finding.location == Location(file="src/lib.rs", line=9)
