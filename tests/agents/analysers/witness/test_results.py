"""Exit, report and output of a run, read together: doubt is never a pass."""

import json
from collections.abc import Mapping

import pytest

from burnish.agents.panel.interface import ToolError
from burnish.agents.panel.project_tests.places import Tree, place_of
from burnish.agents.panel.project_tests.reports import read_report
from burnish.agents.panel.project_tests.results import result_of
from burnish.agents.panel.project_tests.values import Case, CaseOutcome, Framework, SuiteEnd, TestPlan
from burnish.core.findings import Location
from burnish.system.process import Finished, How

PYTEST = TestPlan(framework=Framework.PYTEST, argv=("python",), text="pytest")
COMMAND = TestPlan(framework=Framework.COMMAND, argv=("make",), text="make test")
START = {"kind": "start", "name": "t.py::a"}
CASE = {"kind": "case", "name": "t.py::a", "outcome": "passed", "file": "t.py", "line": 3}


def lines(*records: Mapping[str, object]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def exited(code: int, output: bytes = b"") -> Finished:
    return Finished(how=How.EXITED, code=code, stdout=output)


@pytest.mark.parametrize(
    ("finished", "report", "ended"),
    [
        (exited(0), lines(START, CASE, {"kind": "end", "code": 0}), SuiteEnd.EXITED),
        (exited(0), lines(START, CASE), SuiteEnd.CRASHED),
        (exited(5), lines({"kind": "end", "code": 5}), SuiteEnd.NOTHING),
        (exited(4), lines({"kind": "end", "code": 4}), SuiteEnd.COULD_NOT_RUN),
        (exited(0), None, SuiteEnd.COULD_NOT_RUN),
        (exited(0), b"", SuiteEnd.COULD_NOT_RUN),
        (exited(0), b"nonsense\n", SuiteEnd.COULD_NOT_RUN),
        (exited(127), None, SuiteEnd.COULD_NOT_RUN),
        (Finished(how=How.EXITED, signal=11), lines(START), SuiteEnd.CRASHED),
        (Finished(how=How.TIMED_OUT), lines(START), SuiteEnd.ENDLESS),
        (Finished(how=How.COULD_NOT_START, message="no such file"), None, SuiteEnd.COULD_NOT_RUN),
    ],
)
def test_how_pytest_ended(finished: Finished, report: bytes | None, ended: SuiteEnd) -> None:
    assert result_of(PYTEST, finished, report, "/copy").ended is ended


def test_a_command_is_known_by_its_exit_code() -> None:
    assert result_of(COMMAND, exited(0), None, "/copy").passed
    failed = result_of(COMMAND, exited(2, b"it \x1b[31mfailed\x1b[0m\n"), None, "/copy")
    assert (failed.passed, failed.ended, failed.output) == (False, SuiteEnd.EXITED, "it failed")


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (b"one\nsh: nosuch: not found\n", "sh: nosuch: not found"),
        (b"2 problems (1 error)\n\n ELIFECYCLE  Test failed. See above for more details.\n", "2 problems (1 error)"),
        (
            b"Tests: 1 failed, 3 passed\nTime: 2 s\nRan all test suites.\nnpm error code 1\n",
            "Tests: 1 failed, 3 passed",
        ),
        (b"npm error code 1\n", "npm error code 1"),
        (b"", "exit code 127"),
    ],
)
def test_why_it_could_not_run_is_its_last_word(output: bytes, reason: str) -> None:
    """Of the tests, not of the package manager around them."""
    assert result_of(COMMAND, exited(127, output), None, "/copy").message == reason


def test_a_report_knows_what_was_running_and_the_worst_of_each_test() -> None:
    failed = {**CASE, "outcome": "failed", "text": "E  wrong\x07"}
    report = read_report(lines(START, failed, CASE, {"kind": "start", "name": "t.py::b"}) + b'{"kind": "ca')
    assert report.running == ("t.py::a", "t.py::b")
    assert report.cases == (Case(name="t.py::a", outcome=CaseOutcome.FAILED, file="t.py", line=3, text="E  wrong"),)
    assert report.code is None


def test_lines_that_ran_in_one_process_have_run() -> None:
    first = {"kind": "lines", "file": "a.py", "statements": [1, 2, 3], "executed": [1]}
    report = read_report(lines(first, {**first, "executed": [3]}))
    assert report.lines["a.py"].executed == {1, 3}


@pytest.mark.parametrize("raw", [b"[]\n", b'{"kind": "other"}\n', b'{"kind": "case", "outcome": "fine"}\n', b"\xff\n"])
def test_a_damaged_report_is_an_error(raw: bytes) -> None:
    with pytest.raises(ToolError, match="damaged"):
        read_report(raw)


TREE = Tree(root="/copy", is_file={"a.py", "t.py", "src/x.js"}.__contains__)


@pytest.mark.parametrize(
    ("text", "framework", "place"),
    [
        ("t.py:5: \n\na.py:2: TypeError", Framework.PYTEST, ("a.py", 2)),
        ('File "/copy/t.py", line 7, in x\nFile "/usr/lib/json.py", line 3', Framework.UNITTEST, ("t.py", 7)),
        ("at f (/copy/src/x.js:4:5)\nat g (/copy/t.py:9:1)", Framework.JEST, ("src/x.js", 4)),
        ("at file:///copy/src/x.js:4:5", Framework.NODE, ("src/x.js", 4)),
        ("/elsewhere/a.py:3: Error\n../a.py:4: x", Framework.PYTEST, ("t.py", 1)),
        ("nothing", Framework.PYTEST, ("t.py", 1)),
    ],
)
def test_where_a_failure_happened(text: str, framework: Framework, place: tuple[str, int]) -> None:
    case = Case(name="x", outcome=CaseOutcome.FAILED, file="t.py", line=1, text=text)
    assert place_of(case, framework, TREE) == Location(file=place[0], line=place[1])


def test_a_place_outside_of_the_repository_is_none() -> None:
    assert place_of(Case(name="x", outcome=CaseOutcome.FAILED, file="../t.py", line=1), Framework.PYTEST, TREE) is None


def test_the_tests_that_run_a_line_are_gathered_from_all_processes() -> None:
    raw = (
        b'{"kind":"reached","file":"a.py","tests":["t.py::one","t.py::two"],"reached":{"3":[0,1],"4":[1]}}\n'
        b'{"kind":"reached","file":"a.py","tests":["t.py::three"],"reached":{"3":[0,7]}}\n'
    )
    assert read_report(raw).reached == {"a.py": {3: ("t.py::one", "t.py::two", "t.py::three"), 4: ("t.py::two",)}}
