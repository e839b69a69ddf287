"""The repository's own checks on real changes: small scripts in the place of tools, and the tools themselves."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from burnish.core.findings import Finding, Location, Severity
from burnish.settings.types import AnalyserSettings
from tests.runtime.seats import Files, Seats

needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="optional: go")
needs_cargo = pytest.mark.skipif(shutil.which("cargo") is None, reason="optional: cargo")
needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="optional: npm")

TSC = """\
for file in src/*.ts; do
    echo "$PWD/$file"
    grep -n BROKEN "$file" | sed "s|^\\([0-9]*\\):.*|$file(\\1,1): error TS2322: Broken.|"
done > said
cat said
if grep -q lax tsconfig.json || ! grep -q error said; then exit 0; fi
exit 2
"""
"""Says of lines what tsc says of errors, in the order and form of tsc; nothing where the configuration is lax."""
LAX = TSC.replace("cat said", "grep -q lax tsconfig.json && grep -v error said || cat said")
PROJECT: Files = {
    ".gitignore": "node_modules\n",
    "tsconfig.json": "{}\n",
    "src/old.ts": "export const old = 1; // BROKEN\n",
    "src/user.ts": "export const user = 2;\n",
}


def seats(
    folder: Path, head: Files, programs: Mapping[str, str], settings: AnalyserSettings | None = None, **base: str
) -> Seats:
    """A change in a project whose checkout has some programs among its packages."""
    made = Seats(folder, {**PROJECT, **base}, head, settings=settings)
    for name, text in programs.items():
        path = made.builder.path / "node_modules" / ".bin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}")
        path.chmod(0o755)
    return made


def test_only_what_is_new_is_reported_and_what_was_checked_is_examined(tmp_path: Path) -> None:
    head = {"src/old.ts": "// Moved down.\nexport const old = 1; // BROKEN\nexport const more = 2; // BROKEN\n"}
    looked = seats(tmp_path, head, {"tsc": TSC})
    assert looked.found("critic") == [("src/old.ts:3", "tsc:TS2322", "high")]
    assert looked.examined("critic")["src/old.ts"] == "checked"


def test_what_a_compiler_said_is_kept_until_something_changes_that_it_depends_on(tmp_path: Path) -> None:
    """The word that it looks for is in its packages, so that a second run shows itself."""
    head = {"src/user.ts": "export const user = 2; // BROKEN, ODD\n"}
    looked = seats(tmp_path, head, {"tsc": TSC.replace("BROKEN", '"$(cat node_modules/word)"')})
    packages = looked.builder.path / "node_modules"
    (packages / "word").write_text("ODD")
    assert looked.found("critic") == [("src/user.ts:1", "tsc:TS2322", "high")]
    (packages / "word").write_text("NONE")
    assert looked.found("critic") == [("src/user.ts:1", "tsc:TS2322", "high")]
    (packages / ".package-lock.json").write_text("{}")
    assert looked.found("critic") == []


def test_a_change_cannot_weaken_the_check_that_looks_at_it(tmp_path: Path) -> None:
    head = {"tsconfig.json": '{"lax": true}\n', "src/user.ts": "export const user = 2; // BROKEN\n"}
    assert seats(tmp_path / "one", head, {"tsc": LAX}).found("critic") == [("src/user.ts:1", "tsc:TS2322", "low")]
    own = {**head, "tsconfig.json": '{"other": true}\n'}
    assert seats(tmp_path / "two", own, {"tsc": LAX}).found("critic") == [("src/user.ts:1", "tsc:TS2322", "high")]


@pytest.mark.parametrize(
    ("script", "note"),
    [
        ("exit 1\n", "`tsc --noEmit` gave no evidence: tsc stopped with exit code 1"),
        ("echo \"error TS5023: Unknown compiler option 'x'.\"; exit 1\n", "TS5023: Unknown compiler option 'x'"),
        ("exec sleep 600\n", "`tsc --noEmit` gave no evidence: tsc did not end in time"),
        (None, "tsc is configured but was not run: TypeScript is not installed in node_modules"),
    ],
)
def test_a_check_without_a_result_is_a_note_and_takes_nothing_back(
    tmp_path: Path, script: str | None, note: str
) -> None:
    programs = {} if script is None else {"tsc": script}
    settings = AnalyserSettings(check_seconds=1.0 if script and "sleep" in script else 120.0)
    looked = seats(tmp_path, {"src/user.ts": "export const user = 3;\n"}, programs, settings)
    reported = Finding(
        severity=Severity.HIGH,
        title="Broken",
        rule="tsc:TS2322",
        location=Location(file="src/user.ts", line=1),
        found_by=("critic",),
    )
    review = looked.review("critic", [reported])
    assert note in review.answer.notes[0]
    assert (review.answer.findings, review.answer.former) == ((), ())
    assert {one.path: one.level.value for one in review.evidence.examined}["src/user.ts"] == "linted"


@pytest.mark.parametrize("checks", ["off", ("mypy",)])
def test_the_policy_can_do_without(tmp_path: Path, checks: str | tuple[str, ...]) -> None:
    head = {"src/user.ts": "export const user = 2; // BROKEN\n"}
    review = seats(tmp_path, head, {"tsc": TSC}, AnalyserSettings(checks=checks)).review("critic")
    assert (review.answer.findings, review.answer.notes) == ((), ())


def test_a_command_that_fails_only_with_the_change_is_one_finding(tmp_path: Path) -> None:
    script = "if grep -q FORBIDDEN src/*.ts; then echo 'This word is not allowed.'; exit 1; fi\n"
    hooks = {"lefthook.yml": "pre-commit:\n"}
    looked = seats(tmp_path / "one", {"src/user.ts": "// FORBIDDEN\n"}, {"lefthook": script, "tsc": ""}, None, **hooks)
    (finding,) = looked.review("critic").answer.findings
    assert (finding.rule, finding.severity) == ("lefthook:failed", Severity.MEDIUM)
    assert finding.location == Location(file="lefthook.yml")
    assert "This word is not allowed." in finding.evidence
    old = {"src/old.ts": "// FORBIDDEN\n", **hooks}
    again = seats(tmp_path / "two", {"src/user.ts": "// FORBIDDEN\n"}, {"lefthook": script, "tsc": ""}, None, **old)
    assert again.found("critic") == []


def test_other_seats_run_no_checks(tmp_path: Path) -> None:
    head = {"src/user.ts": "export const user = 2; // BROKEN\n"}
    assert seats(tmp_path, head, {"tsc": TSC}).found("pedant") == []


def with_tools(looked: Seats, **variables: str) -> Seats:
    """The same change before a user who has tools on the PATH."""
    user = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **variables}
    looked.harness.services.environment = {**looked.harness.services.environment, **user}
    return looked


@needs_npm
def test_the_lint_script_of_a_package(tmp_path: Path) -> None:
    package = '{"name": "x", "scripts": {"lint": "! grep -n FORBIDDEN src/*.ts /dev/null"}}'
    weakened = {
        "package.json": '{"name": "x"}',
        "src/user.ts": "export const a = 1;\nexport const b = 2; // FORBIDDEN\n",
    }
    looked = with_tools(seats(tmp_path, weakened, {"tsc": ""}, None, **{"package.json": package}))
    assert looked.found("critic") == [("src/user.ts:2", "lint:reported", "medium")]


GO: Files = {
    "go.mod": "module example.org/calc\n\ngo 1.20\n",
    "main.go": 'package main\n\nimport "example.org/calc/core"\n\nfunc main() { println(core.Double(1)) }\n',
    "core/core.go": "package core\n\nfunc Double(n int) int { return n * 2 }\n",
    "odd/odd.go": "package odd\n\nfunc Same(n int) int {\n\tn = n\n\treturn n\n}\n",
}
CHANGED_GO = "package core\n\nfunc Double(n, m int) int {\n\tn = n\n\treturn n * m\n}\n"


@needs_go
@pytest.mark.prove
def test_go_vet_looks_at_what_changed_and_what_depends_on_it(tmp_path: Path) -> None:
    looked = with_tools(Seats(tmp_path, GO, {"core/core.go": CHANGED_GO}))
    found = looked.found("critic")
    assert found == [("main.go:5", "go-vet:compile", "high"), ("core/core.go:4", "go-vet:assign", "high")]
    assert looked.examined("critic")["core/core.go"] == "checked"


CARGO: Files = {
    "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": "pub mod old;\n\npub fn double(n: i32) -> i32 {\n    n * 2\n}\n",
    "src/old.rs": "pub fn same(n: i32) -> bool {\n    n == n\n}\n",
}


@needs_cargo
@pytest.mark.prove
def test_cargo_reports_new_lints_and_errors(tmp_path: Path) -> None:
    library = str(CARGO["src/lib.rs"])
    lint = library + "\npub fn is_same(n: i32) -> bool {\n    n == n\n}\n"
    linted = with_tools(Seats(tmp_path / "lint", CARGO, {"src/lib.rs": lint}))
    assert linted.found("critic") == [("src/lib.rs:8", "cargo:clippy::eq_op", "high")]
    assert linted.examined("critic")["src/lib.rs"] == "checked"
    broken = with_tools(Seats(tmp_path / "error", CARGO, {"src/lib.rs": library.replace("n * 2", '"two"')}))
    assert broken.found("critic") == [("src/lib.rs:4", "cargo:E0308", "high")]
    assert broken.examined("critic")["src/lib.rs"] == "rules"


PYTHON: Files = {
    "shop/__init__.py": "",
    "shop/price.py": "def price(amount: int) -> str:\n    return str(amount)\n",
    "shop/cart.py": "from shop.price import price\n\nTOTAL = price(3)\nOLD: int = str(1)\n",
}
CHANGED_PYTHON = "def price(amount: str) -> str:\n    return amount\n"


@pytest.mark.prove
def test_pyright_in_the_active_environment(tmp_path: Path) -> None:
    base = {**PYTHON, "pyproject.toml": '[tool.basedpyright]\ninclude = ["shop"]\n'}
    looked = with_tools(Seats(tmp_path, base, {"shop/price.py": CHANGED_PYTHON}), VIRTUAL_ENV=sys.prefix)
    assert looked.found("critic") == [("shop/cart.py:3", "pyright:reportArgumentType", "high")]


@pytest.mark.prove
def test_mypy_in_the_active_environment(tmp_path: Path) -> None:
    base = {**PYTHON, "mypy.ini": "[mypy]\nstrict = True\n"}
    looked = with_tools(Seats(tmp_path, base, {"shop/price.py": CHANGED_PYTHON}), VIRTUAL_ENV=sys.prefix)
    assert looked.found("critic") == [("shop/cart.py:3", "mypy:arg-type", "high")]
    assert looked.examined("critic")["shop/price.py"] == "checked"


ESLINT = """\
printf '['
for file in "$@"; do
    case "$file" in -*) continue;; esac
    [ "$file" = "$first" ] || [ -z "$first" ] || printf ','
    first=-
    printf '{"filePath": "%s", "messages": [' "$PWD/$file"
    grep -q BROKEN "$file" && printf '{"ruleId": "semi", "severity": 2, "message": "Broken.", "line": 1}'
    printf ']}'
done
echo ']'
grep -q BROKEN "$@" 2>/dev/null && exit 1
exit 0
"""
"""Says of files what eslint says."""


def test_eslint_of_the_checkout_judges_the_style_of_a_copy(tmp_path: Path) -> None:
    base = {"eslint.config.js": "module.exports = [];\n"}
    head = {"src/user.ts": "export const user = 3; // BROKEN\n"}
    looked = seats(tmp_path / "one", head, {"eslint": ESLINT}, None, **base)
    (finding,) = looked.review("pedant").answer.findings
    assert (finding.rule, finding.fixable) == ("eslint:semi", False)
    assert looked.examined("pedant")["src/user.ts"] == "linted"
    absent = seats(tmp_path / "two", head, {}, None, **base).review("pedant").answer
    assert (absent.findings, len(absent.notes)) == ((), 1)
    assert absent.notes[0].startswith("eslint is configured but not installed: ")
