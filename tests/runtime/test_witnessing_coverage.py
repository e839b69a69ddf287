"""Changed lines that no test runs: measured with the project's own coverage or ours, said where it cannot be."""

from pathlib import Path

from burnish.core.findings import Location, Severity
from burnish.settings.types import AnalyserSettings, Settings
from tests.runtime.conftest import Hear
from tests.runtime.witness_stand import PYTEST, Stand, change, command, virtual_environment

MEASURED = Settings(analysers=AnalyserSettings(uncovered="medium", mutations="off"))
CODE = "def sign(number):\n    if number < 0:\n        return -1\n    return 1\n"
TEST = "from calc import sign\n\n\ndef test_sign():\n    assert sign(2) == 1\n    assert sign(-2) == -1\n"
BASE = {"calc.py": CODE, "tests/test_calc.py": TEST}
IDLE = "\n\ndef idle(x):\n    if x:\n        return 2\n\n    return 3\n"
HEAD = {
    "calc.py": f"{CODE}{IDLE}\n\ndef stub():\n    raise NotImplementedError\n",
    "other.py": "x = 1\n",
    "tests/helper.py": "y = 1\n",
}


def test_changed_lines_that_no_test_runs_are_one_finding_a_file(hear: Hear) -> None:
    """pytest is at hand, coverage is burnish's own."""
    heard = hear(BASE, HEAD, MEASURED)
    calc, other = heard.findings
    assert (calc.severity, calc.title) == (Severity.MEDIUM, "No test runs 3 of the changed lines of `calc.py`")
    assert calc.location == Location(file="calc.py", line=8, end_line=11)
    assert calc.problem == "The tests do not run these lines: 8-11."
    assert other.title == "No test runs a changed line of `other.py`"
    assert heard.notes == ()


def test_the_severity_is_the_configurations(hear: Hear) -> None:
    heard = hear(BASE, HEAD, Settings(analysers=AnalyserSettings(uncovered="high", mutations="off")))
    assert {finding.severity for finding in heard.findings} == {Severity.HIGH}


def test_old_lines_that_no_test_runs_are_nobodys_business(hear: Hear) -> None:
    idle = {**BASE, "calc.py": HEAD["calc.py"]}
    heard = hear(idle, {"calc.py": HEAD["calc.py"].replace("number < 0", "0 > number")}, MEASURED)
    assert (heard.findings, heard.notes) == ((), ())


def test_a_configured_pytest_is_measured_too(tmp_path: Path, environment_with_pytest: Path) -> None:
    settings = command("python -m pytest -q", MEASURED.analysers)
    heard = Stand(tmp_path, change(tmp_path, BASE, HEAD), settings, environment_with_pytest).hear()
    assert len(heard.findings) == 2


def test_the_projects_own_coverage_is_used_where_it_has_one(tmp_path: Path) -> None:
    active = virtual_environment(tmp_path / "venv", *PYTEST)
    (site,) = active.glob("lib/python3*/site-packages")
    own = "import sys\nprint('the own one', file=sys.stderr)\nraise RuntimeError('the own one')\n"
    (site / "coverage.py").write_text(own)
    heard = Stand(tmp_path, change(tmp_path, BASE, HEAD), MEASURED, active).hear()
    assert heard.findings == ()
    assert heard.notes == ("coverage of the changed lines was not measured in 2 of 2 files: RuntimeError: the own one",)


def test_a_command_that_is_not_measured_is_said_to_be_so(tmp_path: Path) -> None:
    heard = Stand(tmp_path, change(tmp_path, BASE, HEAD), command("true", MEASURED.analysers)).hear()
    assert heard.findings == ()
    (note,) = heard.notes
    assert note.endswith("not measured in 2 of 2 files: pytest and unittest do not run these tests")


def test_unittest_is_run_and_measured_where_there_is_no_pytest(tmp_path: Path) -> None:
    test = (
        "import unittest\nfrom calc import sign\n\n\nclass SignTest(unittest.TestCase):\n"
        "    def test_sign(self):\n        self.assertEqual(sign(2), 1)\n"
    )
    wrong = CODE.replace("return 1", "return 7") + "\n\ndef idle():\n    return 5\n"
    builder = change(tmp_path, {"calc.py": CODE, "tests/test_calc.py": test}, {"calc.py": wrong})
    stand = Stand(tmp_path, builder, MEASURED, virtual_environment(tmp_path / "bare"))
    stand.services.environment = {
        **stand.services.environment,
        "PATH": "/nonexistent",
    }  # no python3 with pytest anywhere
    failure, idle = stand.hear().findings
    assert failure.title == "`test_calc.SignTest.test_sign` fails"
    assert failure.location == Location(file="tests/test_calc.py", line=7)
    assert "7 != 1" in failure.evidence
    assert idle.location == Location(file="calc.py", line=8, end_line=8)
