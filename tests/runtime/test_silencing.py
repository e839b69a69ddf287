"""A change cannot silence the analysers that look at it; honest comments do not hold it up."""

from pathlib import Path

from burnish.core.reviews import FormerAnswer
from tests.runtime.seats import Seats

TRAP = "def f(x=[]):\n    x.append(1)"
ISNAN = "if (x === NaN) { f() }"
DELETES = 'rm -rf "$X"/*'
PADDING = "# padding\n" * 120_000


def severities(seats: Seats, rule: str) -> dict[str, str]:
    """How bad a rule's finding is, by file; many findings of a rule are one with several places."""
    findings = [one for one in seats.review("critic").answer.findings if one.rule == rule]
    places = [(place, one) for one in findings for place in (one.location, *one.also_at) if place]
    return {place.file: one.severity.value for place, one in places}


def test_only_a_reason_for_one_rule_makes_python_milder(tmp_path: Path) -> None:
    kept = {
        "plain.py": f"{TRAP}\n",
        "noqa.py": TRAP.replace(":\n", ":  # noqa\n") + "\n",
        "file.py": f"# ruff: noqa\n{TRAP}\n",
        "flake8.py": f"# flake8: noqa\n{TRAP}\n",
        "file_named.py": f"# ruff: noqa: B006\n{TRAP}\n",
        "generated.py": f"# @generated, do not edit\n{TRAP}\n",
        "vendor/a.py": f"{TRAP}\n",
        "dist/a.py": f"{TRAP}\n",
        "node_modules/a.py": f"{TRAP}\n",
        "a_pb2.py": f"{TRAP}\n",
        "padded.py": f"{TRAP}\n{PADDING}",
        "other.py": TRAP.replace(":\n", ":  # noqa: E501\n") + "\n",
    }
    milder = {"named.py": TRAP.replace(":\n", ":  # noqa: B006 - never changed\n") + "\n"}
    seats = Seats(tmp_path, {}, {**kept, **milder, "ruff.toml": 'exclude = ["*.py"]\n'})

    assert severities(seats, "ruff:B006") == {**dict.fromkeys(kept, "high"), **dict.fromkeys(milder, "low")}
    assert {path for path, level in seats.examined("critic").items() if level == "linted"} == {*kept, *milder}


def test_a_certain_defect_cannot_be_excused(tmp_path: Path) -> None:
    seats = Seats(tmp_path, {}, {"a.py": "print(unknown)  # noqa: F821 - it is there, believe me\n"})

    assert severities(seats, "ruff:F821") == {"a.py": "critical"}


def test_an_import_for_others_with_its_reason_does_not_block(tmp_path: Path) -> None:
    seats = Seats(tmp_path, {}, {"pkg/api.py": "from pkg.core import run  # noqa: F401 - for users of the package\n"})

    assert severities(seats, "ruff:F401") == {"pkg/api.py": "low"}


def test_only_a_reason_for_one_rule_makes_scripts_milder(tmp_path: Path) -> None:
    kept = {
        "plain.js": f"{ISNAN}\n",
        "file.js": f"/* eslint-disable */\n{ISNAN}\n",
        "line.js": f"{ISNAN} // eslint-disable-line\n",
        "next.ts": f"// oxlint-disable-next-line\n{ISNAN}\n",
        "file_named.js": f"/* oxlint-disable use-isnan */\n{ISNAN}\n",
        "vendor/a.js": f"{ISNAN}\n",
    }
    milder = {
        "named.js": f"{ISNAN} // eslint-disable-line use-isnan -- it is meant\n",
        "named_next.js": f"// eslint-disable-next-line use-isnan\n{ISNAN}\n",
    }
    seats = Seats(
        tmp_path, {}, {**kept, **milder, ".eslintignore": "*\n", ".oxlintrc.json": '{"ignorePatterns": ["*"]}'}
    )

    assert severities(seats, "oxlint:use-isnan") == {**dict.fromkeys(kept, "high"), **dict.fromkeys(milder, "low")}
    shell = {
        "plain.sh": f"#!/bin/sh\n{DELETES}\n",
        "file.sh": f"#!/bin/sh\n# shellcheck disable=SC2115\n{DELETES}\n",
        "all.sh": f"#!/bin/sh\necho\n# shellcheck disable=all\n{DELETES}\n",
        "named.sh": f"#!/bin/sh\necho\n# shellcheck disable=SC2115\n{DELETES}\n",
        "nul.sh": f"#!/bin/sh\necho '\0'\n{DELETES}\n",
        ".shellcheckrc": "disable=all\n",
    }
    seats = Seats(tmp_path / "shell", {}, shell)
    wanted = {"plain.sh": "high", "file.sh": "high", "all.sh": "high", "named.sh": "low", "nul.sh": "high"}
    assert severities(seats, "shellcheck:SC2115") == wanted


def test_what_the_base_already_silences_stays_silent(tmp_path: Path) -> None:
    base = {
        "a.py": TRAP.replace(":\n", ":  # noqa\n") + "\n",
        "old.py": f"# ruff: noqa\n{TRAP}\n",
    }
    head = {
        "a.py": TRAP.replace("f(x=[])", "f(x=[], y=1)").replace(":\n", ":  # noqa\n")
        + "\n\n\nprint(unknown)  # noqa\n",
        "old.py": f"# ruff: noqa\n{TRAP}\n\n\ndef g(y=[]):\n    return y\n",
    }
    found = Seats(tmp_path, base, head).found("critic")

    assert found == [("a.py:5", "ruff:F821", "critical")]


def test_a_comment_does_not_resolve_what_was_found_before(tmp_path: Path) -> None:
    first = Seats(tmp_path / "1", {}, {"a.py": f"{TRAP}\n"}).review("critic").answer.findings
    silenced = TRAP.replace(":\n", ":  # noqa: B006 - fine\n")

    seats = Seats(tmp_path / "2", {}, {"a.py": f"{silenced}\n"})
    assert seats.found("critic", former=first) == [("a.py:1", "ruff:B006", "high")]
    assert seats.review("critic", former=first).answer.former == ()

    fixed = Seats(tmp_path / "3", {}, {"a.py": "def f(x=None):\n    return x\n"}).review("critic", former=first)
    assert [one.answer for one in fixed.answer.former] == [FormerAnswer.FIXED]


def test_code_is_not_judged_more_mildly_where_the_program_uses_it(tmp_path: Path) -> None:
    base = {
        "src/app.py": "import os\n\n\ndef run(a, b, c):\n    print(a, b, c, os)\n    return f(1)\n\n\n" + TRAP + "\n"
    }
    head = {
        "src/app.py": "from tests.fixtures.helper import f\n\nprint(f(1))\n",
        "tests/fixtures/helper.py": f"{TRAP}\n\n\ndef other():\n    return 1\n",
        "tests/fixtures/wrong_on_purpose.py": "def g(x={}):\n    return x\n",
    }
    found = severities(Seats(tmp_path, base, head), "ruff:B006")

    assert found == {"tests/fixtures/helper.py": "high", "tests/fixtures/wrong_on_purpose.py": "low"}


def test_code_that_was_moved_among_the_tests_is_judged_as_before(tmp_path: Path) -> None:
    code = "".join(f"def f{number}(x, y):\n    return x * {number} + y\n\n\n" for number in range(20))
    head = {"src/app.py": None, "examples/app.py": f"{code}{TRAP}\n"}

    assert severities(Seats(tmp_path, {"src/app.py": code}, head), "ruff:B006") == {"examples/app.py": "high"}


def test_python_below_tests_that_no_file_imports_is_what_tests_read(tmp_path: Path) -> None:
    code = "a = 1\nassert (a, 'is one')\n"
    head = {
        "tests/linted/package/__init__.py": "",
        "tests/linted/package/wrong_on_purpose.py": code,
        "tests/linted/package/helper.py": code,
        "tests/linted/package/sibling.py": f"from . import helper\n\nprint(helper)\n{code}",
        "tests/linted/package/collected.py": f"def test_it():\n    assert 1\n\n\n{code}",
        "tests/test_all.py": "from linted.package import sibling\n\nprint(sibling, 'wrong_on_purpose')\n",
        "pyproject.toml": "[tool.pytest.ini_options]\n",
    }
    found = severities(Seats(tmp_path, {}, head), "ruff:F631")

    assert found["tests/linted/package/wrong_on_purpose.py"] == "low"
    assert {found[f"tests/linted/package/{name}.py"] for name in ("helper", "sibling", "collected")} == {"high"}


def test_files_of_one_name_in_two_folders_are_reviewed(tmp_path: Path) -> None:
    """ruff makes names absolute, and only the inner one has a finding."""
    seats = Seats(tmp_path, {}, {"main.py": "print(1)\n", "app/main.py": "print(unknown)\n"})

    assert severities(seats, "ruff:F821") == {"app/main.py": "critical"}


def test_a_key_of_tests_that_only_settings_name_is_one_of_tests(tmp_path: Path) -> None:
    line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
    key = f"-----BEGIN PRIVATE KEY-----\n{line}\n-----END PRIVATE KEY-----\n"
    head = {
        "tests/certs/server.pem": key,
        "tests/certs/used.pem": key.replace("VJTU", "WKUV"),
        "server.conf": "key = tests/certs/server.pem\n",
        "app.py": "load('tests/certs/used.pem')\n",
    }
    found = Seats(tmp_path, {}, head).review("security-reviewer").answer.findings
    places = [(place, one) for one in found for place in (one.location, *one.also_at) if place]
    expected = {"tests/certs/server.pem": "medium", "tests/certs/used.pem": "critical"}
    assert {place.file: one.severity.value for place, one in places} == expected
