"""What the reporter of mocha, jest and vitest writes, driven as these runners drive it."""

import json
import os
import shlex
import shutil
from pathlib import Path

import pytest

from burnish.agents.panel.project_tests import inside
from burnish.agents.panel.project_tests.commands import SuiteSelection, command_line
from burnish.agents.panel.project_tests.reports import SuiteReport, read_report
from burnish.agents.panel.project_tests.values import Case, CaseOutcome, Framework, TestPlan
from burnish.system.process import Command, run_now

NODE = shutil.which("node")
VITEST_PROGRAM = shutil.which("vitest")
needs_node = pytest.mark.skipif(NODE is None, reason="optional: node")
REPORTER = Path(inside.__file__).with_name("burnish_reporter.cjs")
MOCHA = """
const { EventEmitter } = require('node:events');
const tests = ['doubles', 'keeps zero', 'later'].map((title) => ({
  title, file: '/copy/test/calc.js', fullTitle: () => `calc ${title}`,
}));
const runner = new EventEmitter();
runner.suite = { eachTest: (each) => tests.forEach(each) };
runner.failures = 0;
runner.grep = (pattern) => { runner.wanted = pattern; };
new Reporter(runner, {});
runner.emit('start');
for (const test of tests) {
  if (runner.wanted && !runner.wanted.test(test.fullTitle())) continue;
  if (test.title === 'later') { runner.emit('pending', test); continue; }
  runner.emit('test', test);
  if (test.title === 'doubles') {
    runner.failures += 1;
    const error = new Error('6 == 4');
    Object.assign(error, { stack: 'Error: 6 == 4\\n    at /copy/calc.js:3:4', expected: 4, actual: 6 });
    runner.emit('fail', test, error);
  } else runner.emit('pass', test);
}
runner.emit('end');
"""
JEST = """
const reporter = new Reporter({}, {});
const failed = { fullName: 'calc doubles', status: 'failed', location: { line: 4 },
  failureMessages: ['Error: expected 4\\n    at x (/copy/a.test.js:5:3)'] };
const later = { fullName: 'calc later', status: 'todo', failureMessages: [] };
reporter.onTestCaseResult({ path: '/copy/a.test.js' }, failed);
reporter.onTestResult({ path: '/copy/a.test.js' }, { testResults: [failed, later] });
const broken = { testExecError: { message: 'x' }, failureMessage: 'SyntaxError: x', testResults: [] };
reporter.onTestResult({ path: '/copy/b.test.js' }, broken);
reporter.onRunComplete({}, { numFailedTests: 1, numFailedTestSuites: 2, numRuntimeErrorTestSuites: 1 });
"""
VITEST = """
const reporter = new Reporter();
const module = { moduleId: '/copy/a.test.js', errors: () => [] };
const error = { message: 'expected 6 to be 4', stack: 'AssertionError: expected 6 to be 4\\n at /copy/a.test.js:5:3' };
reporter.onTestCaseResult({ module, fullName: 'calc > doubles', result: () => ({ state: 'failed', errors: [error] }) });
reporter.onTestCaseResult({ module, fullName: 'calc > later', result: () => ({ state: 'skipped' }) });
reporter.onTestModuleEnd(module);
reporter.onTestModuleEnd({ moduleId: '/copy/b.test.js', errors: () => [new Error('broken')] });
reporter.onTestRunEnd([], [], 'failed');
"""
OLD_VITEST = """
const test = { name: 'doubles', result: { state: 'fail', errors: [{ message: 'expected 6 to be 4', stack: '' }] } };
const file = { filepath: '/copy/a.test.js', result: { state: 'fail' }, tasks: [{ name: 'calc', tasks: [test] }] };
new Reporter().onFinished([file], []);
"""


def reported(folder: Path, script: str, selection: SuiteSelection | None = None) -> SuiteReport:
    """The report that a script leaves, which has the reporter at hand."""
    assert NODE is not None
    environment = {"BURNISH_WITNESS_REPORT": str(folder / "report"), "BURNISH_WITNESS_ROOT": "/copy"}
    if selection is not None:
        (folder / "choice").write_bytes(selection.for_runner or b"")
        environment["BURNISH_WITNESS_CHOICE"] = str(folder / "choice")
    text = f"const Reporter = require({json.dumps(str(REPORTER))});\n{script}"
    finished = run_now(Command(argv=(NODE, "-e", text), folder=str(folder), environment=environment))
    assert finished.code == 0, finished.stderr_tail
    return read_report((folder / "report").read_bytes())


@needs_node
def test_mocha_names_its_tests_with_assertion_and_stack(tmp_path: Path) -> None:
    report = reported(tmp_path, MOCHA)
    doubles, zero, later = report.cases
    assert doubles == Case(
        name="test/calc.js > calc doubles",
        outcome=CaseOutcome.FAILED,
        file="test/calc.js",
        text="expected: 4\nactual: 6\nError: 6 == 4\n    at /copy/calc.js:3:4",
        message="6 == 4",
    )
    assert (zero.outcome, later.outcome, report.code) == (CaseOutcome.PASSED, CaseOutcome.SKIPPED, 1)
    assert report.listed == tuple(case.name for case in report.cases)


@needs_node
def test_single_tests_of_mocha_are_run_and_all_are_listed(tmp_path: Path) -> None:
    report = reported(tmp_path, MOCHA, SuiteSelection(only=("test/calc.js > calc keeps zero",)))
    assert [case.name for case in report.cases] == ["test/calc.js > calc keeps zero"]
    assert (len(report.listed), report.code) == (3, 0)
    (tmp_path / "report").unlink()
    assert reported(tmp_path, MOCHA, SuiteSelection(listing=True)).cases == ()


@needs_node
@pytest.mark.parametrize(("script", "separator"), [(JEST, " "), (VITEST, " > ")])
def test_jest_and_vitest_name_files_and_tests(tmp_path: Path, script: str, separator: str) -> None:
    report = reported(tmp_path, script)
    doubles, later, broken = report.cases
    assert doubles.name == f"a.test.js > calc{separator}doubles"
    assert (doubles.outcome, doubles.file, later.outcome) == (CaseOutcome.FAILED, "a.test.js", CaseOutcome.SKIPPED)
    assert doubles.message in ("Error: expected 4", "expected 6 to be 4")
    assert "/copy/a.test.js:5:3" in doubles.text
    assert (broken.name, broken.loading, report.code) == ("b.test.js", True, 1)


@needs_node
def test_vitest_before_3_tells_all_at_its_end(tmp_path: Path) -> None:
    report = reported(tmp_path, OLD_VITEST)
    assert [(case.name, case.outcome) for case in report.cases] == [("a.test.js > calc > doubles", CaseOutcome.FAILED)]
    assert report.code == 1


ONLY = SuiteSelection(only=("p/a.test.js > calc > (doubles)", "p/b.test.js > other"))


@pytest.mark.parametrize(
    ("framework", "selection", "words"),
    [
        (
            Framework.JEST,
            ONLY,
            r"-t ^(?:calc.{1,3}\(doubles\)|other)$ --passWithNoTests --runTestsByPath a.test.js b.test.js",
        ),
        (Framework.VITEST, ONLY, r"-t ^(?:calc.{1,3}\(doubles\)|other)$ --passWithNoTests a.test.js b.test.js"),
        (Framework.JEST, SuiteSelection(only=("p/a.test.js",)), "--passWithNoTests --runTestsByPath a.test.js"),
        (Framework.JEST, SuiteSelection(first=("p/a.test.js",)), "--testSequencer=/desk/burnish_sequencer.cjs"),
        (
            Framework.JEST,
            SuiteSelection(listing=True, related=("p/calc.js",)),
            "--listTests --findRelatedTests calc.js",
        ),
        (Framework.CARGO, SuiteSelection(only=("tests::a", "tests::b")), "-- --exact tests::a tests::b"),
        (Framework.GO, SuiteSelection(only=("m/p.TestA/x", "m/p.TestB")), "-run ^(TestA|TestB)$"),
        (Framework.GO, SuiteSelection(first=("m/p", "m/q")), "m/p m/q"),
        (
            Framework.CARGO,
            SuiteSelection(first=("a", "b")),
            "'runner -p a -p b' 'runner --workspace --exclude a --exclude b'",
        ),
        (Framework.PYTEST, SuiteSelection(only=("p/t/a.py::x", "p/t/a.py::y")), "t/a.py"),
    ],
)
def test_how_runners_are_told_which_tests_are_meant(
    framework: Framework, selection: SuiteSelection, words: str
) -> None:
    plan = TestPlan(framework=framework, argv=("runner",), text="runner", project="p")
    found = command_line(plan, "/desk", selection)
    assert " ".join(found) == f"runner {words}" or shlex.join(found[3:]) == words


FIRST = SuiteSelection(first=("test/b.js",))


@needs_node
def test_mocha_runs_what_reaches_the_change_first(tmp_path: Path) -> None:
    script = """
    const { EventEmitter } = require('node:events');
    const runner = Object.assign(new EventEmitter(), { grep() {} });
    runner.suite = { eachTest() {}, suites: ['a', 'b', 'c'].map((name) => ({ file: `/copy/test/${name}.js` })) };
    new Reporter(runner, {});
    for (const suite of runner.suite.suites) {
      runner.emit('pass', { file: suite.file, fullTitle: () => 'runs' });
    }
    """
    report = reported(tmp_path, script, FIRST)
    assert [case.file for case in report.cases] == ["test/b.js", "test/a.js", "test/c.js"]


@needs_node
def test_vitest_runs_what_reaches_the_change_first_and_tells_which_files_ended(tmp_path: Path) -> None:
    script = """
    class Sequencer { async sort(files) { return [...files].reverse(); } }
    const vitest = { config: { sequence: { sequencer: Sequencer } } };
    const reporter = new Reporter();
    reporter.onInit(vitest);
    const files = ['a', 'b', 'c'].map((name) => ({ moduleId: `/copy/test/${name}.js` }));
    new vitest.config.sequence.sequencer().sort(files).then((sorted) => {
      reporter.onTestRunStart(sorted);
      for (const { moduleId } of sorted.slice(0, 2)) {
        const module = { moduleId, errors: () => [] };
        reporter.onTestCaseResult({ module, fullName: 'runs', result: () => ({ state: 'passed' }) });
        reporter.onTestModuleEnd(module);
      }
    });
    """
    report = reported(tmp_path, script, FIRST)
    assert [case.file for case in report.cases] == ["test/b.js", "test/c.js"]
    assert report.units == {"test/a.js", "test/b.js", "test/c.js"}
    assert (report.ended_units, report.listed) == ({"test/b.js", "test/c.js"}, ())


TEST = "import { test } from 'vitest'\ntest('runs', () => {})\n"


@pytest.mark.prove
@pytest.mark.skipif(VITEST_PROGRAM is None, reason="optional: vitest")
def test_a_real_vitest_runs_what_reaches_the_change_first(tmp_path: Path) -> None:
    assert VITEST_PROGRAM is not None
    packages = Path(VITEST_PROGRAM).resolve().parent.parent
    (tmp_path / "node_modules").symlink_to(packages if packages.name == "node_modules" else packages.parent)
    for name in "abcdefgh":
        (tmp_path / f"{name}.test.js").write_text(TEST)
    (tmp_path / "choice").write_bytes(SuiteSelection(first=("g.test.js",)).for_runner or b"")
    environment = {
        "PATH": os.environ["PATH"],
        "BURNISH_WITNESS_REPORT": str(tmp_path / "report"),
        "BURNISH_WITNESS_ROOT": str(tmp_path),
        "BURNISH_WITNESS_CHOICE": str(tmp_path / "choice"),
    }
    argv = (VITEST_PROGRAM, "run", f"--reporter={REPORTER}", "--no-file-parallelism")
    finished = run_now(Command(argv=argv, folder=str(tmp_path), environment=environment))
    assert finished.code == 0, finished.stderr_tail
    report = read_report((tmp_path / "report").read_bytes())
    assert report.cases[0].file == "g.test.js"
    assert report.units == report.ended_units == {f"{name}.test.js" for name in "abcdefgh"}
