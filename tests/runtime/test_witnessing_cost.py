"""What the witness runs, and what it does not: tests at the price of what changed."""

from pathlib import Path

import pytest

from burnish.agents.panel.project_tests import progress, running
from burnish.core.findings import Severity
from burnish.settings.types import AnalyserSettings, Settings
from tests.runtime.conftest import Hear
from tests.runtime.witness_stand import QUIET, Files, Stand, change

CODE = "def double(number):\n    return number * 2\n"
WRONG = CODE.replace("* 2", "* 3")
TEST = "from calc import double\n\n\ndef test_double():\n    assert double(2) == 4\n"
BASE = {"calc.py": CODE, "tests/test_calc.py": TEST}


def sides(log: str) -> list[str]:
    """What was run, in order, with what was kept from an earlier run in brackets."""
    runs = (part.partition(": $")[0] for part in log.split("\n\n") if ": $" in part)
    return [f"({run.removeprefix('kept from an earlier run: ')})" if run.startswith("kept") else run for run in runs]


def test_a_change_whose_tests_pass_runs_them_once_and_never_again(
    tmp_path: Path, environment_with_pytest: Path
) -> None:
    builder = change(tmp_path, BASE, {"calc.py": CODE.replace("number * 2", "2 * number")})
    assert sides(Stand(tmp_path, builder, QUIET, environment_with_pytest).hear().log) == ["head"]
    again = Stand(tmp_path, builder, QUIET, environment_with_pytest).hear()
    assert (sides(again.log), again.findings, again.looked) == (["(head)"], (), True)


def test_a_fix_starts_from_what_the_review_found_and_a_review_does_not(
    tmp_path: Path, environment_with_pytest: Path
) -> None:
    builder = change(tmp_path, BASE, {"calc.py": WRONG})

    def stand() -> Stand:
        return Stand(tmp_path, builder, QUIET, environment_with_pytest)

    found = stand().hear()
    assert sides(found.log) == ["head", "base", "again"]
    fix = stand().of_a_fix().hear()
    assert sides(fix.log) == ["(head)", "(base)", "(again)"]
    assert fix.findings == found.findings
    assert sides(stand().hear().log) == ["head", "(base)", "again"]


def test_a_known_flaky_test_is_told_and_does_not_block(hear: Hear) -> None:
    flaky = Settings(
        analysers=AnalyserSettings(uncovered="off", mutations="off", flaky=("tests/test_calc.py::test_d*",))
    )
    heard = hear(BASE, {"calc.py": WRONG}, flaky)
    assert (heard.findings, heard.looked) == ((), True)
    assert heard.notes[0].startswith("known to be flaky, so not counted: `tests/test_calc.py::test_double` failed")


def test_a_runner_that_does_not_go_is_ended_after_its_summary(hear: Hear, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "END_SECONDS", 0.1)
    monkeypatch.setattr(running, "POLL_SECONDS", 0.05)
    stuck = "import atexit, signal\n\natexit.register(signal.pause)\n"
    heard = hear(BASE, {"tests/conftest.py": "", "calc.py": f"{stuck}\n{WRONG}"})
    (finding,) = [each for each in heard.findings if each.severity is Severity.CRITICAL]
    assert finding.title == "`tests/test_calc.py::test_double` fails"


def test_tests_are_counted_while_they_run(
    tmp_path: Path, environment_with_pytest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "POLL_SECONDS", 0.01)
    waits = (
        "import pathlib, time\n\n\ndef test_first():\n    assert time.time()\n\n\ndef test_second():\n"
        "    while not pathlib.Path('go').exists():\n        time.sleep(0.01)\n    assert pathlib.Path('go').exists()\n"
    )
    stand = Stand(tmp_path, change(tmp_path, BASE, {"tests/test_new.py": waits}), QUIET, environment_with_pytest)
    told: list[tuple[str, str]] = []

    def hear(effect: str, doing: str) -> None:
        told.append((effect, doing))
        if doing.startswith("tests 1 of 3"):
            for folder in (stand.services.copies / "clones").glob("*-head"):
                (folder / "go").touch()

    stand.services.activity = hear
    assert stand.hear().findings == ()
    assert ("review:1:witness:1", "tests 1 of 3") in told


@pytest.mark.parametrize(
    ("base", "copied"),
    [
        ({"calc.py": "x = 1\n", "pyproject.toml": "[project]\nname = 'calc'\n"}, False),
        ({"calc.py": "x = 1\n", "pyproject.toml": "[tool.pytest.ini_options]\n"}, True),
        ({"calc.py": "x = 1\n", "Makefile": "all:\n"}, True),
    ],
)
def test_no_copy_is_made_where_names_tell_that_there_are_no_tests(tmp_path: Path, *, base: Files, copied: bool) -> None:
    stand = Stand(tmp_path, change(tmp_path, base, {"calc.py": "x = 2\n"}))
    heard = stand.hear()
    assert heard.missing is not None
    assert heard.missing.excused is (not copied or "Makefile" in base)
    assert (stand.services.attempt_dirs.parent / "clones").exists() is copied
