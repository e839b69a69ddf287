"""A change cannot silence its own tests: what is caught, and what honest work may do."""

from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from burnish.agents.panel.project_tests.reviewing import TestReview
from burnish.core.findings import Action, Finding, Severity, Tracked
from burnish.core.state import Round, Scope
from burnish.core.values import replace
from tests.runtime.conftest import Hear
from tests.runtime.witness_stand import QUIET, Files, Stand, change

CODE = "def double(number):\n    return number * 2\n\n\ndef half(number):\n    return number / 2\n"
WRONG = CODE.replace("* 2", "* 3")
TEST = "from calc import double\n\n\ndef test_double():\n    assert double(2) == 4\n"
HALF = "from calc import half\n\n\ndef test_half():\n    assert half(2) == 1\n"
BOTH = HALF.replace("import half", "import double, half")
BASE: Files = {"calc.py": CODE, "tests/test_calc.py": TEST, "tests/test_half.py": HALF}
SKIPPED = TEST.replace("def test_double", "@pytest.mark.skip\ndef test_double")


def counted(heard: TestReview) -> list[Finding]:
    """What counts in a gate."""
    return [finding for finding in heard.findings if finding.action is not Action.NOTE]


SILENCINGS: dict[str, Files] = {
    "deleted": {"tests/test_calc.py": None},
    "replaced": {"tests/test_calc.py": "def test_nothing():\n    pass\n"},
    "skipped": {"tests/test_calc.py": f"import pytest\n{SKIPPED}"},
    "xfailed": {"tests/test_calc.py": f"import pytest\n{SKIPPED.replace('skip', 'xfail')}"},
    "emptied": {
        "tests/test_calc.py": TEST.replace("    assert double(2) == 4", "    return\n    assert double(2) == 4")
    },
    "ignored": {"tests/conftest.py": "collect_ignore = ['test_calc.py']\n"},
    "deselected": {"pytest.ini": "[pytest]\naddopts = -k half\n"},
    "moved out of discovery": {"tests/test_calc.py": None, "tests/calc_checks.py": TEST},
}
HONEST: dict[str, Files] = {
    "a feature removed with its test": {"calc.py": CODE.partition("\n\n\n")[2], "tests/test_calc.py": None},
    "moved": {"tests/test_calc.py": None, "tests/test_all.py": TEST},
    "renamed": {"tests/test_calc.py": TEST.replace("test_double", "test_twice")},
    "merged": {
        "tests/test_calc.py": None,
        "tests/test_half.py": HALF.replace("import half", "import double, half") + "    double(1)\n",
    },
}
EVERY_DAY = {"deleted", "deselected", "merged"}
"""What `make test` plays: each case runs the tests of a project several times. `make prove` plays all."""


def cases(every: dict[str, Files]) -> list[ParameterSet]:
    return [
        pytest.param(files, id=name, marks=() if name in EVERY_DAY else pytest.mark.prove)
        for name, files in every.items()
    ]


@pytest.mark.parametrize("silencing", cases(SILENCINGS))
def test_a_silenced_test_blocks_where_nothing_else_runs_what_it_ran(hear: Hear, silencing: Files) -> None:
    (finding,) = [
        each for each in hear(BASE, {"calc.py": WRONG, **silencing}).findings if each.severity is Severity.HIGH
    ]
    assert finding.title == "`tests/test_calc.py::test_double` is silenced, and no other test runs the code"
    assert finding.location is not None
    assert (finding.location.file, finding.location.line) == ("calc.py", 2)


@pytest.mark.parametrize("honest", cases(HONEST))
def test_honest_work_on_tests_does_not_count(hear: Hear, honest: Files) -> None:
    heard = hear(BASE, honest)
    assert counted(heard) == []
    assert heard.looked


def test_behaviour_that_changes_together_with_its_test_is_medium_with_both_versions(hear: Hear) -> None:
    heard = hear(BASE, {"calc.py": WRONG, "tests/test_calc.py": TEST.replace("== 4", "== 6")})
    (finding,) = heard.findings
    assert finding.severity is Severity.MEDIUM
    assert finding.title == "`tests/test_calc.py::test_double` passes only because the change edits it"
    assert "Before:\ndef test_double():\n    assert double(2) == 4\n" in finding.evidence
    assert "Now:\ndef test_double():\n    assert double(2) == 6\n" in finding.evidence
    assert heard.looked


@pytest.mark.parametrize("left", [None, BOTH], ids=["with its file", "alone"])
def test_a_test_that_fails_on_the_change_and_is_deleted_is_medium_while_others_run_its_code(
    hear: Hear, left: str | None
) -> None:
    base = {
        **BASE,
        "tests/test_calc.py": BOTH + TEST.partition("\n")[2],
        "tests/test_type.py": TEST.replace("== 4", ""),
    }
    heard = hear(base, {"calc.py": WRONG, "tests/test_calc.py": left})
    (finding,) = counted(heard)
    assert finding.severity is Severity.MEDIUM
    assert finding.title == "`tests/test_calc.py::test_double` fails on the change, which deletes it"
    assert "Now:\n(deleted)" in finding.evidence


def test_an_assertion_that_is_removed_is_medium(hear: Hear) -> None:
    heard = hear(BASE, {"calc.py": WRONG, "tests/test_calc.py": TEST.replace("assert double(2) == 4", "double(2)")})
    assert [(finding.severity, finding.title.partition("` ")[2]) for finding in heard.findings] == [
        (Severity.MEDIUM, "passes only because the change edits it"),
        (Severity.MEDIUM, "asserts nothing"),
    ]


HOOK = (
    "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
    "    outcome = yield\n    report = outcome.get_result()\n    report.outcome = 'passed'\n"
)


def test_a_configuration_that_turns_failures_into_passes_blocks(hear: Hear) -> None:
    heard = hear({**BASE, "conftest.py": ""}, {"calc.py": WRONG, "conftest.py": HOOK})
    (finding,) = heard.findings
    assert finding.severity is Severity.HIGH
    assert finding.title.endswith("passes only because the change edits the test configuration")


def test_a_fixture_that_changes_with_the_code_does_not_block(hear: Hear) -> None:
    fixture = "import pytest\n\n\n@pytest.fixture\ndef expected():\n    return 4\n"
    test = "from calc import double\n\n\ndef test_double(expected):\n    assert double(2) == expected\n"
    base = {"calc.py": CODE, "conftest.py": fixture, "tests/test_calc.py": test}
    heard = hear(base, {"calc.py": WRONG, "conftest.py": fixture.replace("4", "6")})
    assert [finding.severity for finding in heard.findings] == [Severity.MEDIUM]


@pytest.mark.parametrize(
    "mended",
    [
        pytest.param(False, id="only the test was edited"),
        pytest.param(True, id="the code was mended, too", marks=pytest.mark.prove),
    ],
)
def test_a_failure_of_an_earlier_round_is_not_resolved_by_editing_its_test(
    tmp_path: Path, environment_with_pytest: Path, mended: bool
) -> None:
    test = "from calc import triple\n\n\ndef test_triple():\n    assert triple(2) == 6\n"
    wrong, right = "\n\ndef triple(number):\n    return number\n", "\n\ndef triple(number):\n    return 3 * number\n"
    builder = change(tmp_path, BASE, {"calc.py": CODE + wrong, "tests/test_triple.py": test})
    reported = builder.head
    builder.commit(
        {"tests/test_triple.py": test.replace("== 6", "> 0"), **({"calc.py": CODE + right} if mended else {})}
    )
    stand = Stand(tmp_path, builder, QUIET, environment_with_pytest)
    rule = "test:tests/test_triple.py::test_triple"
    finding = Finding(severity=Severity.CRITICAL, title="it fails", rule=rule, found_by=("witness",))
    round_ = Round(number=1, scope=Scope.FULL, tree="", commit=reported, opened_at=1.0)
    stand.run = replace(
        stand.run, rounds=(round_,), findings=(Tracked(finding=finding, round=1, last_reported_round=1),)
    )
    expected = [] if mended else [(Severity.CRITICAL, rule)]
    assert [(each.severity, each.rule) for each in stand.hear().findings] == expected
