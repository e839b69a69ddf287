"""The embedded panel by the real command: no configuration, no model, real analysers, real tests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from burnish.testing.repositories import Content
from tests import compiled_rules
from tests.end_to_end.machine import Machine

USED = '"""A module."""\n\nimport json\n\n\ndef shown(value: object) -> str:\n    return json.dumps(value)\n'
UNUSED_IMPORT = USED.replace("import json\n", "import json\nimport os\n")
IDENTITY_OF_TEXT = 'def is_paid(status: str) -> bool:\n    return status is "paid"\n'
UNDEFINED = "def total(prices: list[int]) -> int:\n    return summ(prices)\n"
TESTED = "def double(number: int) -> int:\n    return number * 2\n"
BROKEN = TESTED.replace("* 2", "* 3")
TESTS = """\
import unittest

from calc import double


class DoubleTest(unittest.TestCase):
    def test_two(self) -> None:
        self.assertEqual(double(2), 4)
"""
Files = Mapping[str, Content | None]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    compiled_rules.offer_to(made.cache / "burnish")
    return made


def change(machine: Machine, before: Files, after: Files) -> Machine:
    machine.repository.commit({"README.md": "# A project\n", **before}, "Begin").branch("change")
    machine.repository.commit(after, "Change")
    return machine


def reviews(view: dict[str, Any]) -> dict[str, str]:
    return {review["reviewer"]: review["status"] for review in view["rounds"][-1]["reviews"]}


def titles(view: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(one["severity"], f"{one['file']}:{one['line']}", one["title"]) for one in view["findings"]]


def test_a_flawed_branch_becomes_clean_and_gets_its_seal(machine: Machine) -> None:
    change(machine, {"shop.py": USED}, {"shop.py": USED + "\n\n" + IDENTITY_OF_TEXT})
    done = machine.burnish("fix", "--json")
    assert (done.code, done.view["outcome"]) == (0, "approved")
    assert [round_["fix"] and round_["fix"]["status"] for round_ in done.view["rounds"]] == ["fixed", None]
    assert [answer["fixed"] for answer in done.view["rounds"][0]["fix"]["answers"]] == [True]
    assert 'status == "paid"' in (machine.root / "shop.py").read_text()
    assert machine.burnish("verify").code == 0
    assert list(machine.copies.glob("*/*")) == []


def test_what_no_rule_can_fix_is_left_to_a_person_at_once(machine: Machine) -> None:
    change(machine, {"calc.py": TESTED}, {"shop.py": UNDEFINED})
    done = machine.burnish("fix", "--json")
    assert (done.code, done.view["outcome"], len(done.view["rounds"])) == (1, "failed", 1)
    assert "no automatic fix left" in done.view["reason"]
    assert titles(done.view) == [("critical", "shop.py:2", "Undefined name `summ`")]
    fix = done.view["rounds"][0]["fix"]
    assert (fix["status"], [answer["fixed"] for answer in fix["answers"]]) == ("unchanged", [False])


@pytest.mark.parametrize(
    "protocol", ["drift", *(pytest.param(name, marks=pytest.mark.prove) for name in ("panel", "epic"))]
)
def test_the_same_holds_in_protocols_that_would_go_on(machine: Machine, protocol: str) -> None:
    change(machine, {"calc.py": TESTED}, {"shop.py": UNDEFINED})
    done = machine.burnish("fix", "--json", "--protocol", protocol)
    assert len(done.view["rounds"]) == 1
    assert done.code == {"panel": 1, "epic": 3, "drift": 1}[protocol]


def test_only_what_the_change_introduced_is_reported(machine: Machine) -> None:
    old = UNDEFINED + "\n\n" + IDENTITY_OF_TEXT
    change(
        machine, {"old.py": old, "new.py": USED}, {"old.py": f'"""Moved down."""\n\n\n{old}', "new.py": UNUSED_IMPORT}
    )
    done = machine.burnish("review", "--json")
    assert [(place, title) for _, place, title in titles(done.view)] == [("new.py:4", "`os` imported but unused")]


def test_a_name_that_became_undefined_on_an_untouched_line_is_found(machine: Machine) -> None:
    change(machine, {"shop.py": USED}, {"shop.py": USED.replace("import json\n\n\n", "")})
    done = machine.burnish("review", "--json")
    assert done.code == 1
    assert [title for _, _, title in titles(done.view)] == ["Undefined name `json`"]


@pytest.mark.parametrize(("version", "code"), [("3.14", 0), ("3.12", 1)])
def test_annotations_wait_where_the_base_needs_a_python_that_lets_them(
    machine: Machine, version: str, code: int
) -> None:
    early = '"""A box."""\n\n\nclass Box:\n    """One."""\n\n    def other(self) -> Later:\n        """More."""\n'
    late = f'{early}        return Later()\n\n\nclass Later:\n    """Two."""\n'
    project = f'[project]\nname = "shop"\nversion = "1"\nrequires-python = ">={version}"\n'
    change(machine, {"pyproject.toml": project}, {"box.py": late})
    assert machine.burnish("review").code == code


def test_a_change_cannot_ask_for_a_python_that_lets_annotations_wait(machine: Machine) -> None:
    early = '"""A box."""\n\n\ndef other() -> Later:\n    """More."""\n    return Later()\n\n\n'
    early += 'class Later:\n    """Two."""\n'
    project = '[project]\nname = "shop"\nversion = "1"\nrequires-python = ">={}"\n'
    change(
        machine,
        {"pyproject.toml": project.format("3.12")},
        {"pyproject.toml": project.format("3.14"), "box.py": early},
    )
    assert machine.burnish("review").code == 1


@pytest.mark.parametrize(
    ("imports", "severity"), [("from .test_pay import pay\n", "critical"), ("import json\n", "low")]
)
def test_code_that_the_program_imports_is_no_test_whatever_it_is_called(
    machine: Machine, imports: str, severity: str
) -> None:
    pay = (
        '"""Pays."""\n\nimport os\n\n\ndef pay(amount: str) -> None:\n    """Pay."""\n    os.system("pay " + amount)\n'
    )
    app = f'"""The shop."""\n\n{imports}\n__all__ = ["{imports.rsplit(maxsplit=1)[-1]}"]\n'
    change(machine, {"shop/__init__.py": ""}, {"shop/test_pay.py": pay, "shop/app.py": app})
    # The severity, not the exit code: whether there is a pytest to run the file as a test differs between machines.
    found = titles(machine.burnish("review", "--json").view)
    assert [one[:2] for one in found if "shell" in one[2]] == [(severity, "shop/test_pay.py:8")]


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        ({}, "low"),
        ({"tests/cases_of/__init__.py": ""}, "low"),
        ({"tests/cases_of/test_pay.py": "from . import pay\n\n\ndef test_pay():\n    assert pay\n"}, "medium"),
        ({"shop/app.py": "from tests.cases_of.pay import a\n"}, "high"),
    ],
)
def test_what_tests_only_read_is_judged_as_their_material(machine: Machine, files: Files, severity: str) -> None:
    change(machine, {"setup.cfg": ""}, {"tests/cases_of/pay.py": 'a = "{} {".format(1)\n', **files})
    found = titles(machine.burnish("review", "--json").view)
    assert [one[0] for one in found if one[1] == "tests/cases_of/pay.py:1" and "format" in one[2]] == [severity]


def test_the_top_of_the_repository_may_be_a_package(machine: Machine) -> None:
    nodes = '"""Nodes."""\n\nfrom . import prices\nfrom ..above import other\n\n__all__ = ["other", "prices"]\n'
    change(machine, {"prices.py": '"""Prices."""\n'}, {"__init__.py": nodes})
    done = machine.burnish("review", "--json")
    assert (done.code, reviews(done.view)["bugs"]) == (0, "clean")


def test_a_test_that_fails_now_and_not_before_is_critical(machine: Machine) -> None:
    change(machine, {"calc.py": TESTED, "test_calc.py": TESTS}, {"calc.py": BROKEN})
    done = machine.burnish("review", "--json")
    assert done.code == 1
    worst = done.view["findings"][0]
    assert (worst["severity"], worst["found_by"]) == ("critical", ["tests"])
    assert "test_two" in worst["title"]


def test_without_tests_the_witness_says_that_it_has_no_evidence(machine: Machine) -> None:
    change(machine, {"calc.py": TESTED}, {"calc.py": f'"""Sums."""\n\n\n{TESTED}'})
    done = machine.burnish("review", "--json")
    assert (done.code, done.view["outcome"], reviews(done.view)["tests"]) == (0, "approved", "no-evidence")
    (note,) = next(one["notes"] for one in done.view["rounds"][0]["reviews"] if one["reviewer"] == "tests")
    assert note.startswith("no evidence: ")
    assert "no evidence: " in machine.burnish("show", done.view["run"]).out


def test_tests_are_no_evidence_of_a_comment_and_say_so(machine: Machine) -> None:
    commented = TESTED.replace("    return", "    # Twice as much.\n    return")
    change(machine, {"calc.py": TESTED, "test_calc.py": TESTS}, {"calc.py": commented})
    done = machine.burnish("review")
    assert done.code == 0
    assert "tests: no evidence: the tests ran, but none is known to run a changed line." in done.out


def test_a_change_cannot_loosen_the_linter_that_looks_at_it(machine: Machine) -> None:
    strict, loose = '[lint]\nselect = ["D100"]\n', '[lint]\nselect = ["F"]\n'
    change(machine, {"ruff.toml": strict, "a.py": USED}, {"ruff.toml": loose, "b.py": "VALUE = 1\n"})
    done = machine.burnish("review", "--json")
    found = [(one["found_by"], one["file"], one["title"]) for one in done.view["findings"]]
    assert found == [(["style"], "b.py", "Missing docstring in public module")]


def test_what_a_rule_no_longer_reports_is_fixed_though_its_line_is_the_same(machine: Machine) -> None:
    script = machine.script(
        {"fix:*": "printf '%s\\n\\n\\n' 'from builtins import sum as summ' | cat - shop.py > new && mv new shop.py"}
    )
    settings = f'[agents.mine]\nkind = "command"\ncommand = ["sh", "{script}"]\n[roles]\nfix = "mine"\n'
    change(machine, {"burnish.toml": settings, "calc.py": TESTED}, {"shop.py": UNDEFINED})
    done = machine.burnish("fix", "--json")
    assert (done.code, [one["status"] for one in done.view["findings"]]) == (0, ["resolved"])
    assert done.view["seal"] is not None


@pytest.mark.prove
def test_the_settings_change_what_counts(machine: Machine) -> None:
    settings = '[analysers.rules]\n"ruff:F821" = "off"\n"ruff:F632" = "low"\n"rufff:F" = "low"\n'
    change(machine, {"burnish.toml": settings, "calc.py": TESTED}, {"shop.py": UNDEFINED, "paid.py": IDENTITY_OF_TEXT})
    done = machine.burnish("review", "--json")
    assert (done.code, [severity for severity, _, _ in titles(done.view)]) == (0, ["low"])
    assert "there is no tool 'rufff'" in done.err


def test_a_protocol_that_needs_a_mind_is_refused_before_anything_starts(machine: Machine) -> None:
    change(machine, {"calc.py": TESTED}, {"shop.py": UNDEFINED})
    done = machine.burnish("review", "--protocol", "ticket")
    assert done.code == 2
    assert "the embedded analysers give no scores" in done.err
    assert machine.runs() == []


def test_the_summary_says_what_kind_of_review_it_was(machine: Machine) -> None:
    change(machine, {"calc.py": TESTED}, {"shop.py": UNDEFINED, "notes.xyz": "?\n", "dist/app.js": "var a = b\n"})
    done = machine.burnish("fix")
    assert "Reviewed by static analysers only" in done.out
    assert "To add a model, choose" in done.out
    assert "no analyser for" not in done.out


@pytest.mark.prove
def test_odd_files_are_no_reason_to_fail(machine: Machine) -> None:
    machine.repository.commit({"a.py": USED, "gone.py": USED, "moved.py": UNUSED_IMPORT}, "Begin").branch("change")
    machine.repository.link("link.py", "/etc/passwd").write({"gone.py": None, "moved.py": None})
    machine.repository.commit(
        {
            "elsewhere/moved.py": UNUSED_IMPORT,
            "-rf.py": UNDEFINED,
            "with space\nand line.py": UNDEFINED,
            "broken.py": "def (:\n",
            "latin.py": "# caf\xe9\n".encode("latin-1"),
            "empty.py": "",
            "picture.png": b"\x89PNG\0\0",
        },
        "Change",
    )
    done = machine.burnish("review", "--json")
    assert (done.code, "did-not-run" in reviews(done.view).values()) == (1, False)
    files = sorted({one["file"] for one in done.view["findings"] if one["severity"] == "critical"})
    assert files == ["-rf.py", "broken.py", "with space\nand line.py"]
    assert "moved" not in str(titles(done.view))


def test_a_tool_that_is_missing_is_no_clean_review(machine: Machine, tmp_path: Path) -> None:
    """burnish in an environment of its own, in which the package of one tool has another name."""
    lacking = tmp_path / "lacking"
    lacking.mkdir()
    (lacking / "sitecustomize.py").write_text(
        "from burnish.agents.panel.programs import WHEELS, ToolName\n"
        "from burnish.core.values import replace\n"
        "WHEELS[ToolName.RUFF] = replace(WHEELS[ToolName.RUFF], package='burnish-no-such-tool')\n"
    )
    change(machine, {"calc.py": TESTED}, {"shop.py": USED})
    done = machine.burnish("review", "--json", PYTHONPATH=str(lacking))
    assert (done.code, done.view["outcome"]) == (4, "did-not-run")
    assert "ruff is not installed with burnish" in done.view["reason"]
    assert "pip install" in done.view["reason"]
    assert reviews(done.view)["bugs"] == "did-not-run"


@pytest.mark.prove
def test_hooks_that_reject_take_the_whole_fix_back(machine: Machine) -> None:
    change(machine, {"shop.py": USED}, {"shop.py": USED + "\n\n" + IDENTITY_OF_TEXT})
    hook = machine.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'not on a Sunday' >&2\nexit 1\n")
    hook.chmod(0o755)
    done = machine.burnish("fix", "--json")
    assert (done.code, done.view["rounds"][0]["fix"]["status"]) == (1, "unchanged")
    assert "not on a Sunday" in done.view["rounds"][0]["fix"]["answers"][0]["text"]


PROGRAM = {f"shop/part{number}.py": f"NUMBER = {number}\n" for number in range(50)}
GUESS = "from shop.prices import price\n\nprint(price(1))  # noqa\n"
"""A module that is not there: nearly always true of a change, often wrong about a program that works."""


def test_a_whole_program_is_approved_where_no_rule_is_in_doubt(machine: Machine) -> None:
    change(machine, {}, PROGRAM)
    done = machine.burnish("review")
    assert done.code == 0
    assert "The base holds no code, so that this program was judged like existing code" in done.out
    assert machine.burnish("verify").code == 0


def test_what_may_be_wrong_about_a_whole_program_neither_blocks_it_nor_lets_it_pass(machine: Machine) -> None:
    change(machine, {}, {**PROGRAM, "shop/offers.py": GUESS})
    done = machine.burnish("review", "--json")
    assert (done.code, done.view["outcome"], done.view["seal"]) == (6, "unproven", None)
    assert done.view["subject"]["imported"] is True
    (missing,) = [one for one in titles(done.view) if one[1].startswith("shop/offers.py")]
    assert missing[0] == "medium"
    assert "findings that would block a smaller change are medium" in done.view["reason"]
    assert [step["command"].split()[1] for step in done.view["next"]] == ["findings", "review"]
    assert machine.burnish("verify").code == 1
    machine.repository.commit({"shop/calc.py": UNDEFINED}, "Add what certainly fails")
    again = machine.burnish("review", "--json")
    assert (again.code, again.view["outcome"]) == (1, "failed")
    assert [one[:2] for one in titles(again.view) if one[0] == "critical"] == [("critical", "shop/calc.py:2")]
    part = machine.burnish("review", "offers.py", "--json", folder=machine.root / "shop")
    assert (part.code, part.view["outcome"], "imported" in part.view["subject"]) == (1, "failed", False)
    assert part.view["next"][0]["command"] == "burnish review --branch change --base main ./offers.py"


def test_no_change_to_a_program_passes_for_a_whole_one(machine: Machine) -> None:
    change(machine, {"shop/sum.py": TESTED}, {**PROGRAM, "shop/offers.py": GUESS})
    done = machine.burnish("review", "--json")
    assert (done.code, done.view["outcome"]) == (1, "failed")
    assert "imported" not in done.view["subject"]
