"""Reports on tests from inside the project's own interpreter: a plugin of pytest, and a runner of unittest.

It is copied beside the tests and loaded by whatever Python the project has, so it uses the standard library only, and
the syntax of Python 3.8. It writes one line of JSON for each thing that happens, at once: what was running when a
process had to be ended is known from the file. Which tests are run, and which of them first, it is told by a file. It
measures which lines of the changed files run, where coverage can be imported, and can record what calls of tests came
to (`burnish_calls`). It must never change what a test does, nor whether it passes.
"""

# ruff: noqa: N802 - the names of what unittest calls are unittest's

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
import unittest
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

REPORT = "BURNISH_WITNESS_REPORT"
OWNER = "BURNISH_WITNESS_OWNER"
MEASURE = "BURNISH_WITNESS_MEASURE"
EVERYTHING = "BURNISH_WITNESS_EVERYTHING"
ROOT = "BURNISH_WITNESS_ROOT"
COVERAGE = "BURNISH_WITNESS_COVERAGE"
AVOID = "BURNISH_WITNESS_AVOID"
CHOICE = "BURNISH_WITNESS_CHOICE"
MOST_TEXT = 6000
MOST_MESSAGE = 2000
MOST_NAME = 300
MOST_TESTS = 500
"""A line that more tests run is not told test by test."""
EXPECTED = "expected to fail"
"""What is said of a test that ran and failed as it was told to."""
NO_SOURCES = ("node_modules", "venv", "env", "build", "dist", "__pycache__", "site-packages")
EXCLUDED = (
    r"#\s*(pragma|PRAGMA)[:\s]?\s*(no|NO)\s*(cover|COVER)",
    r"^\s*(if|elif) (typing\.|t\.)?TYPE_CHECKING:",
    r"^\s*if __name__ == .__main__.:",
    r"^\s*@(typing\.|t\.)?overload$",
    r"^\s*@(abc\.)?abstractmethod$",
    r"^\s*raise NotImplementedError",
    r"^\s*(def .*)?\.\.\.$",
)
"""Lines that no test is expected to run."""


def write(**record: object) -> None:
    """Append one line, in one go: several processes may write to the report."""
    place = os.environ.get(REPORT)
    if place:
        descriptor = os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, (json.dumps(record) + "\n").encode("utf-8", "replace"))
        finally:
            os.close(descriptor)


def root() -> Path:
    """The repository around the tests: everything is named from there."""
    return Path(os.environ.get(ROOT) or Path.cwd())


def named(path: str) -> str:
    """A file by its name from the root of the repository."""
    return os.path.relpath(path, root())


def clean(name: str) -> str:
    """A name as it comes back from the report."""
    return " ".join("".join(one for one in name if one.isprintable() or one.isspace()).split())[:MOST_NAME]


class ChosenTests:
    """Which tests are run: a file of JSON says it. Without one, all are."""

    def __init__(self) -> None:
        place = os.environ.get(CHOICE)
        said: dict[str, Any] = json.loads(Path(place).read_text(encoding="utf-8")) if place else {}
        self._only = set(map(clean, said.get("only", ())))
        self._without = set(map(clean, said.get("without", ())))
        self._first = set(said.get("first", ()))
        self._listing = bool(said.get("listing"))
        self.by_test = bool(said.get("by_test"))
        self.until_failure = bool(said.get("until_failure"))
        self.recorded: dict[str, Any] | None = said.get("recorded")

    def of(self, names: list[str], files: list[str]) -> list[int]:
        """The places of those tests of a list that are run, in their order. All are named in the report."""
        write(kind="listed", names=names)
        chosen = [
            place
            for place, name in enumerate(map(clean, names))
            if not self._listing
            and name not in self._without
            and (not self._only or name in self._only or files[place] in self._only)
        ]
        return sorted(chosen, key=lambda place: files[place] not in self._first) if self._first else chosen


class Measure:
    """Which lines run in this process, from the moment when this module was loaded."""

    def __init__(self) -> None:
        self._coverage: Any = None
        self._root = root()
        self._files = json.loads(os.environ.get(MEASURE) or "[]")
        self._everything = bool(os.environ.get(EVERYTHING))

    def start(self) -> None:
        if self._files or self._everything:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self._start()
            except Exception as error:  # noqa: BLE001 - whatever a foreign coverage does, the tests must run
                self._coverage = None
                write(kind="unmeasured", text=f"{type(error).__name__}: {error}")

    def _start(self) -> None:
        files = [str(self._root / name) for name in self._files]
        if self._everything:
            files.append(f"{self._root}/*")
        left_out = ["*/site-packages/*", "*/node_modules/*"]
        measured = _coverage().Coverage(data_file=None, config_file=False, include=files, omit=left_out)
        measured.set_option("run:disable_warnings", ["no-ctracer", "no-sysmon", "module-not-measured"])
        for pattern in EXCLUDED:
            measured.exclude(pattern)
        measured.start()
        self._coverage = measured

    def enter(self, test: str) -> None:
        """From here on, lines are those of a test; of none, where it is empty."""
        if self._coverage is not None and CHOSEN.by_test:
            self._coverage.switch_context(test)

    def stop(self) -> None:
        if self._coverage is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._coverage.stop()
                ran = self._coverage.get_data().measured_files() if self._everything else ()
                for name in sorted({*self._files, *map(named, ran)}):
                    self._tell(name)
            self._coverage = None

    def _tell(self, name: str) -> None:
        try:
            _, statements, _, missing, _ = self._coverage.analysis2(str(self._root / name))
        except Exception as error:  # noqa: BLE001 - a file that cannot be parsed is not measured, and said to be so
            write(kind="unmeasured", text=f"{name}: {error}")
        else:
            executed = sorted(set(statements) - set(missing))
            write(kind="lines", file=name, statements=sorted(statements), executed=executed)
            if CHOSEN.by_test:
                self._tell_tests(name)

    def _tell_tests(self, name: str) -> None:
        """Which tests run each line; not of lines that very many run."""
        found: dict[int, list[str]] = self._coverage.get_data().contexts_by_lineno(str(self._root / name))
        reached = {line: sorted(filter(None, tests)) for line, tests in found.items() if len(tests) <= MOST_TESTS}
        tests = sorted({test for tests in reached.values() for test in tests})
        numbers = {test: number for number, test in enumerate(tests)}
        lines = {str(line): [numbers[test] for test in tests] for line, tests in reached.items() if tests}
        write(kind="reached", file=name, tests=tests, reached=lines)


def _coverage() -> Any:
    """The project's own coverage; else the one that burnish has laid at hand."""
    try:
        return importlib.import_module("coverage")
    except ImportError:
        place = os.environ.get(COVERAGE, "")
        sys.path.append(place)
        try:
            return importlib.import_module("coverage")
        finally:
            sys.path.remove(place)


CHOSEN = ChosenTests()
MEASURED = Measure()
RECORDED: Any = CHOSEN.recorded and importlib.import_module("burnish_calls").CallRecorder(str(root()), CHOSEN.recorded)


def leave(test: str) -> None:
    """Tell what the calls of a test came to."""
    if RECORDED:
        write(kind="calls", name=test, calls=RECORDED.stop())


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Two that trace one process would blind each other: pytest-cov rests, and its options stay known."""
    del parser
    plugin = pluginmanager.get_plugin("pytest_cov")
    if plugin is not None and (os.environ.get(MEASURE) or os.environ.get(EVERYTHING) or RECORDED):
        pluginmanager.unregister(plugin)


def pytest_configure(config: pytest.Config) -> None:
    """Report this run, unless it is one that a reported test has started itself; xdist's workers choose and measure."""
    config.addinivalue_line("markers", "no_cover: not measured")
    top = named(str(getattr(config, "rootpath", None) or str(config.rootdir)))  # type: ignore[attr-defined]
    if OWNER not in os.environ:
        os.environ[OWNER] = str(os.getpid())
        config.pluginmanager.register(Reporter(top), "burnish-witness-reporter")
        config.pluginmanager.register(Chooser(top), "burnish-witness-chooser")
        if CHOSEN.until_failure:
            config.option.maxfail = 1
    elif hasattr(config, "workerinput") and os.environ[OWNER] == str(os.getppid()):
        config.pluginmanager.register(Chooser(top), "burnish-witness-chooser")


def pytest_unconfigure() -> None:
    MEASURED.stop()


class Named:
    """pytest names tests from a folder that it chooses itself."""

    def __init__(self, top: str) -> None:
        self._top = top

    def _named(self, name: str) -> str:
        file, separator, rest = name.partition("::")
        return os.path.normpath(f"{self._top}/{file}") + separator + rest


class Chooser(Named):
    """Leaves out tests that are not wanted, and puts those first that are wanted first."""

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
        """Called around what the project's own plugins do, so that it sees what they leave."""
        yield
        names = [self._named(item.nodeid) for item in items]
        chosen = CHOSEN.of(names, [name.partition("::")[0] for name in names])
        kept, wanted = [items[place] for place in chosen], set(chosen)
        left = [item for place, item in enumerate(items) if place not in wanted]
        if left:
            config.hook.pytest_deselected(items=left)
        items[:] = kept

    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        MEASURED.enter(self._named(item.nodeid))
        yield
        MEASURED.enter("")

    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        if RECORDED:
            RECORDED.start()
        yield
        leave(self._named(item.nodeid))


# pytest.hookimpl(hookwrapper=True), without an import of pytest: a project with unittest may have none.
Chooser.pytest_collection_modifyitems.pytest_impl = {"hookwrapper": True}  # type: ignore[attr-defined]
Chooser.pytest_runtest_protocol.pytest_impl = {"hookwrapper": True}  # type: ignore[attr-defined]
Chooser.pytest_runtest_call.pytest_impl = {"hookwrapper": True}  # type: ignore[attr-defined]


class Reporter(Named):
    """What a run of pytest says, as it says it."""

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        write(kind="start", name=self._named(nodeid))

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        write(kind="finish", name=self._named(nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Only what says something: the test itself, and what failed or was skipped around it."""
        known = report.outcome in ("passed", "failed", "skipped")  # a plugin may have others: "rerun"
        if known and (report.when == "call" or report.outcome != "passed"):
            path, line, _ = report.location
            text = _end(report.longreprtext) if report.failed else EXPECTED if hasattr(report, "wasxfail") else ""
            record = {"kind": "case", "name": self._named(report.nodeid), "file": self._named(path), "text": text}
            write(outcome=report.outcome, line=(line or 0) + 1, message=_message(report), **record)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            name = self._named(report.nodeid)
            path = name.partition("::")[0]
            text, message = _end(report.longreprtext), _message(report)
            write(kind="broken", name=name, outcome="failed", file=path, text=text, message=message)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        MEASURED.stop()  # what follows the end of a report may be lost: a runner that does not go is ended then
        write(kind="end", code=int(exitstatus))


def _end(text: str) -> str:
    return text[-MOST_TEXT:]


def _message(report: Any) -> str:
    """The assertion or exception itself, from its beginning."""
    crash = getattr(report.longrepr, "reprcrash", None) if report.failed else None
    return str(getattr(crash, "message", ""))[:MOST_MESSAGE]


class RecordingResult(unittest.TestResult):
    """What a run of unittest says, as it says it."""

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        write(kind="start", name=test.id())
        MEASURED.enter(test.id())
        if RECORDED:
            RECORDED.start()

    def stopTest(self, test: unittest.TestCase) -> None:
        leave(test.id())
        super().stopTest(test)
        MEASURED.enter("")
        write(kind="finish", name=test.id())

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        _case(test, "passed")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        _case(test, "skipped")

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addExpectedFailure(test, err)
        _case(test, "skipped", EXPECTED)

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        _case(test, "failed", "It was expected to fail, and passed.")

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        _case(test, "failed", self.failures[-1][1], _said(err))

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        super().addError(test, err)
        _case(test, "failed", self.errors[-1][1], _said(err))

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            _case(test, "failed", (self.failures + self.errors)[-1][1], _said(err))


def is_broken(test: unittest.TestCase) -> bool:
    """Whether it stands for a file that cannot be loaded."""
    return type(test).__name__ == "_FailedTest"


def name_of(test: unittest.TestCase) -> str:
    return test.id().rpartition(".")[2] if is_broken(test) else test.id()


def _said(err: Any) -> str:
    return f"{err[0].__name__}: {err[1]}"


def _case(test: unittest.TestCase, outcome: str, text: str = "", message: str = "") -> None:
    text = _end(text)
    sys.stderr.write(text)
    if is_broken(test):
        write(kind="broken", name=name_of(test), outcome=outcome, text=text, message=message[:MOST_MESSAGE])
        return
    path, line = _place(test)
    write(kind="case", name=test.id(), outcome=outcome, file=path, line=line, text=text, message=message[:MOST_MESSAGE])


def _place(test: unittest.TestCase) -> tuple[str, int]:
    path, line = "", 0
    method = getattr(test, getattr(test, "_testMethodName", ""), None)
    try:
        path = named(inspect.getsourcefile(method) or "") if method else ""
        line = inspect.getsourcelines(method)[1] if method else 0
    except (OSError, TypeError, ValueError):
        pass  # made at run time: it has no lines
    return path, line


def test_modules() -> Iterator[tuple[str, str]]:
    """Every file of tests: the folder from which it is imported, and the name by which."""
    for folder, folders, files in os.walk("."):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in NO_SOURCES)
        for file in sorted(files):
            if file.endswith(".py") and (file.startswith("test") or file.endswith("_test.py")):
                top, names = Path(folder), [file[:-3]]
                while top.name and (top / "__init__.py").exists():
                    names.insert(0, top.name)
                    top = top.parent
                yield str(top.absolute()), ".".join(names)


def tests_of(suite: Any) -> Iterator[Any]:
    """The single tests of a suite."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


def run_unittest() -> int:
    """Run every test, or those that are wanted."""
    loader, suite = unittest.TestLoader(), unittest.TestSuite()
    for top, module in test_modules():
        if top not in sys.path:
            sys.path.insert(0, top)
        suite.addTests(loader.loadTestsFromName(module))
    tests = list(tests_of(suite))
    files = [_place(test)[0] for test in tests]
    chosen = [tests[place] for place in CHOSEN.of([name_of(test) for test in tests], files)]
    result = RecordingResult()
    result.failfast = CHOSEN.until_failure
    unittest.TestSuite(chosen).run(result)
    MEASURED.stop()
    code = 5 if not result.testsRun else 0 if result.wasSuccessful() else 1
    write(kind="end", code=code)
    return code


def forget_the_checkout() -> None:
    """Import nothing from where the user works, but for what is installed in a virtual environment there."""
    avoided = os.environ.get(AVOID)
    if avoided:
        inside = [place for place in sys.path if f"{place}/".startswith(f"{avoided}/")]
        sys.path[:] = [place for place in sys.path if place not in inside or place.startswith(f"{sys.prefix}/")]


forget_the_checkout()
MEASURED.start()
if __name__ == "__main__":
    sys.path[0] = str(Path.cwd())
    sys.exit(run_unittest())
