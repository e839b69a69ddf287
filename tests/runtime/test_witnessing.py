"""The witness on projects with pytest: what the change broke, what it did not, and when there is no evidence."""

import asyncio
import shutil
import socket
from pathlib import Path

import pytest

from burnish.agents.panel.project_tests import comparison
from burnish.agents.panel.project_tests.reviewing import TestReview
from burnish.agents.services import StoppedError
from burnish.core.findings import Action, Finding, Location, Severity
from burnish.core.reviews import Failure, FailureKind
from burnish.settings.types import AnalyserSettings, Settings, WorkspaceSettings
from burnish.testing.repositories import RepositoryBuilder
from tests.runtime.conftest import Hear
from tests.runtime.witness_stand import PYTEST, QUIET, Stand, change, command, virtual_environment

CODE = "def double(number):\n    return number * 2\n"
WRONG = CODE.replace("* 2", "* 3")
TEST = "from calc import double\n\n\ndef test_double():\n    assert double(2) == 4\n"
BASE = {"calc.py": CODE, "tests/test_calc.py": TEST}


OLD = "def test_old():\n    assert False\n"
ONCE = (
    "from pathlib import Path\n\ndef test_once():\n    seen = Path('seen')\n"
    "    known = seen.exists()\n    seen.touch()\n    assert known\n"
)
NUMBERS = "".join(f"x{number} = {number}\n" for number in range(10))
IMPORTS = "from calc import half\n\ndef test_half():\n    assert half(2) == 1\n"


@pytest.fixture(scope="module")
def heard_of_everything(tmp_path_factory: pytest.TempPathFactory, environment_with_pytest: Path) -> TestReview:
    """One change that does to the tests whatever a change can do to them."""
    folder = tmp_path_factory.mktemp("everything")
    half = "\n\ndef half(number):\n    return number / 2\n"
    base = {
        "calc.py": f"{CODE}{half}\n\ndef inner(key):\n    return {{1: 2}}[key]\n",
        "other.py": "x = 1\n",
        "tests/test_calc.py": TEST,
        "tests/test_inner.py": "from calc import inner\n\ndef test_inner():\n    assert inner(1) == 2\n",
        "tests/test_half.py": IMPORTS,
        "tests/test_old.py": OLD,
        "tests/test_gone.py": "def test_one():\n    pass\n\ndef test_two():\n    pass\n",
        "tests/test_skip.py": "def test_skip():\n    pass\n",
        "tests/test_other.py": "import other\n\ndef test_x():\n    assert other.x\n",
        "tests/test_name.py": f"{NUMBERS}\n\ndef test_former_name():\n    assert x1 < x2\n",
    }
    head = {
        "calc.py": f"{WRONG}\n\ndef inner(key):\n    return {{}}[key]\n",
        "other.py": None,
        "tests/test_gone.py": "",
        "tests/test_skip.py": "import pytest\n\n@pytest.mark.skip\ndef test_skip():\n    pass\n",
        "tests/test_other.py": None,
        "tests/test_name.py": None,
        "tests/test_new_name.py": f"{NUMBERS}\n\ndef test_later_name():\n    assert x1 < x2\n",
    }
    return Stand(folder, change(folder, base, head), QUIET, environment_with_pytest).hear()


def finding_named(heard: TestReview, title: str) -> Finding:
    (found,) = [finding for finding in heard.findings if finding.title == title]
    return found


def test_a_new_failure_is_critical_with_its_output_and_its_place(heard_of_everything: TestReview) -> None:
    finding = finding_named(heard_of_everything, "`tests/test_calc.py::test_double` fails")
    assert finding.severity is Severity.CRITICAL
    assert finding.location == Location(file="tests/test_calc.py", line=5)
    assert "assert 6 == 4" in finding.evidence
    assert finding.rule == "test:tests/test_calc.py::test_double"
    assert heard_of_everything.looked
    assert "python -m pytest" in heard_of_everything.log


def test_a_failure_inside_the_code_is_placed_there(heard_of_everything: TestReview) -> None:
    finding = finding_named(heard_of_everything, "`tests/test_inner.py::test_inner` fails")
    assert finding.location == Location(file="calc.py", line=6)


def test_a_file_of_tests_that_can_no_longer_be_loaded_is_critical(heard_of_everything: TestReview) -> None:
    finding = finding_named(heard_of_everything, "`tests/test_half.py` cannot be loaded")
    assert finding.severity is Severity.CRITICAL
    assert "cannot import name 'half'" in finding.evidence


def test_tests_that_vanish_without_a_loss_are_one_note(heard_of_everything: TestReview) -> None:
    finding = finding_named(heard_of_everything, "4 tests no longer run")
    assert (finding.severity, finding.action) == (Severity.INFO, Action.NOTE)
    assert finding.evidence.splitlines() == [
        "tests/test_gone.py::test_one",
        "tests/test_gone.py::test_two",
        "tests/test_other.py::test_x",
        "tests/test_skip.py::test_skip",
    ]


def once(place: Path | str) -> str:
    """A test that passes from the second time on, by a file that it leaves."""
    return ONCE.replace("'seen'", f"'{place}'")


@pytest.mark.prove
def test_a_flaky_test_is_low(tmp_path: Path, environment_with_pytest: Path) -> None:
    """Without a sandbox, in which nothing outlasts a run."""
    builder = change(tmp_path, BASE, {"tests/test_once.py": once(tmp_path / "seen")})
    (finding,) = Stand(tmp_path, builder, QUIET, environment_with_pytest, "off").hear().findings
    assert (finding.title, finding.severity) == ("`tests/test_once.py::test_once` is flaky", Severity.LOW)


@pytest.mark.prove
def test_what_a_failing_test_leaves_behind_does_not_make_it_pass(hear: Hear) -> None:
    (finding,) = hear(BASE, {"tests/test_once.py": once("seen")}).findings
    assert (finding.title, finding.severity) == ("`tests/test_once.py::test_once` fails", Severity.CRITICAL)


def test_what_is_not_the_changes_doing_is_noted_or_nothing(heard_of_everything: TestReview) -> None:
    assert len(heard_of_everything.findings) == 4
    assert heard_of_everything.notes == ("1 test also fails on the base, so it says nothing about the change",)


def test_a_harmless_change_is_neither_found_nor_noted(hear: Hear) -> None:
    heard = hear(BASE, {"calc.py": CODE.replace("number * 2", "2 * number")})
    assert (heard.findings, heard.notes, heard.looked) == ((), (), True)


@pytest.mark.prove
def test_first_tests_that_fail_are_new_failures(hear: Hear) -> None:
    heard = hear({"calc.py": WRONG}, {"tests/test_calc.py": TEST})
    assert [finding.severity for finding in heard.findings] == [Severity.CRITICAL]


def test_a_dependency_that_the_change_adds_and_nobody_has_is_no_evidence(hear: Hear) -> None:
    project = '[project]\nname = "calc"\ndependencies = ["notinstalled"]\n'
    heard = hear(BASE, {"calc.py": f"import notinstalled\n{CODE}", "pyproject.toml": project})
    assert heard.findings == ()
    assert (
        "no evidence: `tests/test_calc.py` cannot be loaded, because notinstalled is not installed here"
        in heard.notes[0]
    )
    assert heard.missing is not None
    assert not heard.missing.excused


@pytest.mark.prove
def test_a_conftest_that_breaks_everything_is_critical(hear: Hear) -> None:
    heard = hear({**BASE, "conftest.py": ""}, {"conftest.py": "raise RuntimeError('broken')\n"})
    (finding,) = heard.findings
    assert finding.title == "The tests can no longer run"
    assert "broken" in finding.evidence


def test_a_dependency_missing_on_both_sides_is_no_evidence(hear: Hear) -> None:
    heard = hear({"tests/test_a.py": "import notinstalled\n"}, {"calc.py": WRONG})
    assert (heard.findings, heard.looked) == ((), False)
    assert heard.notes[0].startswith("no evidence: the tests cannot be loaded on the base:")
    assert "notinstalled" in heard.notes[0]
    assert "[workspace] prepare" in heard.notes[0]


def test_a_project_without_tests_is_no_evidence(hear: Hear) -> None:
    heard = hear({"calc.py": CODE}, {"calc.py": WRONG})
    assert (heard.findings, heard.looked) == ((), False)
    assert heard.notes[0].startswith("no evidence: no tests were found.")
    assert heard.missing is not None
    assert heard.missing.excused


def test_without_pytest_it_is_said_what_to_do(tmp_path: Path) -> None:
    bare = virtual_environment(tmp_path / "bare")
    # /usr/bin may hold a python3 with pytest: this user has none on the PATH.
    stand = Stand(tmp_path, change(tmp_path, BASE, {"calc.py": WRONG}), QUIET, bare)
    stand.services.environment = {"PATH": "/nonexistent", "VIRTUAL_ENV": str(bare)}
    heard = stand.hear()
    assert (heard.findings, heard.looked) == ((), False)
    assert heard.notes[0].startswith("no evidence: no Python with pytest was found.")


def test_tests_that_no_longer_end_are_critical(hear: Hear, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "LEAST_SECONDS", 3.0)
    monkeypatch.setattr(comparison, "TIMES_THE_BASE", 0.0)
    heard = hear(BASE, {"calc.py": "import signal\n\ndef double(number):\n    signal.pause()\n"})
    (finding,) = heard.findings
    assert finding.severity is Severity.CRITICAL
    assert finding.title == "The tests no longer finish: they were stopped while `tests/test_calc.py::test_double` ran"
    assert finding.location == Location(file="tests/test_calc.py")


@pytest.mark.prove
def test_tests_that_end_on_neither_side_are_no_evidence(hear: Hear) -> None:
    endless = {"tests/test_a.py": "import signal\n\ndef test_a():\n    signal.pause()\n"}
    heard = hear(endless, {"calc.py": WRONG}, Settings(analysers=AnalyserSettings(test_seconds=3.0, uncovered="off")))
    assert (heard.findings, heard.looked) == ((), False)
    assert heard.notes[0].startswith("no evidence: the tests time out on the base.")


def test_a_crash_names_the_test_that_ran(hear: Hear) -> None:
    heard = hear(BASE, {"calc.py": "import os\n\ndef double(number):\n    os.abort()\n"})
    (finding,) = heard.findings
    assert finding.title == "The tests crash while `tests/test_calc.py::test_double` ran"


@pytest.mark.prove
def test_an_editable_installation_does_not_lead_to_the_checkout(tmp_path: Path) -> None:
    base = {"lib/calc.py": CODE, "tests/test_calc.py": TEST}
    builder = change(tmp_path, base, {"lib/calc.py": WRONG})
    builder.write({"lib/calc.py": CODE})  # what the user has in the checkout would pass
    active = virtual_environment(tmp_path / "venv", *PYTEST)
    (site,) = active.glob("lib/python3*/site-packages")
    (site / "editable.pth").write_text(f"{builder.path}/lib\n")
    heard = Stand(tmp_path, builder, QUIET, active).hear()
    assert [finding.title for finding in heard.findings] == ["`tests/test_calc.py::test_double` fails"]


def test_what_the_change_deletes_is_not_found_in_the_checkout(tmp_path: Path) -> None:
    """Without a sandbox, which would hide the checkout."""
    builder = change(tmp_path, {"lib/calc.py": CODE, "tests/test_calc.py": TEST}, {"lib/calc.py": None, "lib/x.py": ""})
    builder.write({"lib/calc.py": CODE})
    active = virtual_environment(tmp_path / "venv", *PYTEST)
    (site,) = active.glob("lib/python3*/site-packages")
    (site / "editable.pth").write_text(f"{builder.path}/lib\n")
    heard = Stand(tmp_path, builder, QUIET, active, "off").hear()
    assert [finding.title for finding in heard.findings] == ["`tests/test_calc.py` cannot be loaded"]


def test_the_virtual_environment_of_the_checkout_is_used_and_not_written_to(tmp_path: Path) -> None:
    builder = change(tmp_path, {**BASE, ".gitignore": ".venv\n"}, {"calc.py": WRONG})
    virtual_environment(builder.path / ".venv", *PYTEST)
    heard = Stand(tmp_path, builder).hear()
    assert [finding.severity for finding in heard.findings] == [Severity.CRITICAL]


@pytest.mark.prove
def test_prepare_installs_into_both_copies(tmp_path: Path, environment_with_pytest: Path) -> None:
    builder = change(tmp_path, {**BASE, ".gitignore": "made.py\n"}, {"calc.py": f"import made\n{WRONG}"})
    settings = Settings(analysers=QUIET.analysers, workspace=WorkspaceSettings(prepare=("touch made.py",)))
    heard = Stand(tmp_path, builder, settings, environment_with_pytest).hear()
    assert [finding.title for finding in heard.findings] == ["`tests/test_calc.py::test_double` fails"]


def test_a_preparation_that_fails_is_infrastructure(tmp_path: Path) -> None:
    settings = Settings(workspace=WorkspaceSettings(prepare=("exit 3",)))
    failure = asyncio.run(Stand(tmp_path, change(tmp_path, BASE, {"calc.py": WRONG}), settings).review_tests())
    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.CANNOT_RUN


def test_a_stop_ends_the_tests_of_both_sides(tmp_path: Path, environment_with_pytest: Path) -> None:
    async def stop_when_both_run() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = listener.getsockname()
            calling = f"import signal, socket\n\ndef test_a():\n    call = socket.create_connection({address})\n"
            files = {"test_a.py": f"{calling}    signal.pause()\n"}
            stand = Stand(tmp_path, change(tmp_path, files, BASE), QUIET, environment_with_pytest)
            hearing = asyncio.create_task(stand.review_tests())
            for _ in ("base", "head"):
                caller, _ = await asyncio.to_thread(listener.accept)
                caller.close()
            stand.stop.set()
            await hearing

    with pytest.raises(StoppedError):
        asyncio.run(stop_when_both_run())


def test_a_configured_command_is_run_as_it_is_and_its_pytest_reports(
    tmp_path: Path, environment_with_pytest: Path
) -> None:
    builder = change(tmp_path, BASE, {"calc.py": WRONG})
    heard = Stand(tmp_path, builder, command("python -m pytest -q tests"), environment_with_pytest).hear()
    assert [finding.title for finding in heard.findings] == ["`tests/test_calc.py::test_double` fails"]


def test_a_command_without_a_report_is_known_by_its_exit_code(tmp_path: Path) -> None:
    settings = command("grep -q '[*] 2' calc.py")
    (finding,) = Stand(tmp_path, change(tmp_path, BASE, {"calc.py": WRONG}), settings).hear().findings
    assert (finding.severity, finding.title) == (Severity.CRITICAL, "`grep -q '[*] 2' calc.py` fails")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("exit 1", "the test command fails on the base (exit code 1)"),
        ("echo Error: no a.js; exit 1", "the test command fails on the base (exit code 1): Error: no a.js"),
        ("nosuchprogram", "the tests cannot run on"),
    ],
)
def test_a_command_that_fails_or_cannot_run_on_the_base_is_no_evidence(tmp_path: Path, line: str, reason: str) -> None:
    heard = Stand(tmp_path, change(tmp_path, BASE, {"calc.py": WRONG}), command(line)).hear()
    assert (heard.findings, heard.looked) == ((), False)
    assert heard.notes[0].startswith(f"no evidence: {reason}")


@pytest.mark.prove
def test_tests_of_a_plugin_that_run_pytest_themselves_are_not_confused(hear: Hear) -> None:
    inner = (
        "pytest_plugins = ['pytester']\n\ndef test_plugin(pytester):\n"
        "    pytester.makepyfile(test_inner='def test_inner(): assert False')\n"
        "    pytester.runpytest_inprocess().assert_outcomes(failed=1)\n"
        "    pytester.runpytest_subprocess().assert_outcomes(failed=1)\n"
    )
    heard = hear(BASE, {"test_plugin.py": inner})
    assert (heard.findings, heard.notes) == ((), ())


@pytest.mark.skipif(shutil.which("make") is None, reason="optional: make")
def test_make_test_is_the_last_resort(tmp_path: Path) -> None:
    base = {"Makefile": "test:\n\tgrep -q good state.txt\n", "state.txt": "good\n"}
    builder: RepositoryBuilder = change(tmp_path, base, {"state.txt": "bad\n"})
    (finding,) = Stand(tmp_path, builder).hear().findings
    assert finding.title == "`make test` fails"
