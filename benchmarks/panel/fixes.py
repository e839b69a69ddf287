"""`python -m benchmarks.panel.fixes REPOSITORY… --python PYTHON`: do tests of real bug fixes fail without the fix?

From the history of each repository come commits whose subject calls them a fix, and that change Python code and tests.
The test files of the commit run on its code, and then those that it adds or edits on the code of its parent, by the
same rules as in a review (`project_tests.proof`). Then the bodies of these tests are emptied, and both is asked again:
each must be named. It prints one line for each commit, and below it every test that a review would name: one that
passes without the fix, or that cannot fail. Only the test files of the commit run, so a review that runs whole suites
says the same later.

With `--mutations`, wrong versions of the changed lines are tried instead, by the rules of a review, but without a
sandbox and without its limit of time: first with the test files of the commit, and what these let pass with all tests
of the project that run the line. What none of them notices is printed with its effect, for a reader to judge.

PYTHON is an interpreter with pytest and what the tests of all repositories need. Commits whose tests do not pass in it
are left out, and counted.
"""

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from benchmarks.panel.reviews import git
from burnish.agents.panel.project_tests import inside
from burnish.agents.panel.project_tests.assertions import Weakness, weak_tests
from burnish.agents.panel.project_tests.change import ChangeUnderTest
from burnish.agents.panel.project_tests.changed_tests import TestModule, edited_tests
from burnish.agents.panel.project_tests.commands import CHOICE_NAME, PLUGIN, REPORT_NAME, SuiteSelection
from burnish.agents.panel.project_tests.effects import ShownEffect, shown_effect
from burnish.agents.panel.project_tests.mutating import (
    MOST_NAMED,
    TIMES_AS_LONG,
    all_pass,
    recording,
    tests_reaching,
)
from burnish.agents.panel.project_tests.mutations import Mutation, chosen, mutations_of
from burnish.agents.panel.project_tests.projects import is_test
from burnish.agents.panel.project_tests.proof import (
    TestFileChange,
    WithoutChange,
    changes_behaviour,
    fix_subject,
    touched_tests,
    without_change,
)
from burnish.agents.panel.project_tests.pythons import is_test_module
from burnish.agents.panel.project_tests.results import result_of
from burnish.agents.panel.project_tests.values import Framework, Language, TestPlan, TestResult, function_of
from burnish.core.values import Value, replace
from burnish.system.process import Finished, How
from burnish.workspace.repository import Repository

_SECONDS = 120.0
_LEAST_SECONDS = 60.0
"""When a wrong version does not end, on a busy machine."""
_MOST_LINES = 100_000
_VERSION_FILE = re.compile(
    r"""^(?:build\.hooks\.vcs\.)?(?:version[-_]file|write_to) *= *["']?([\w/.-]+\.py)""", re.MULTILINE
)
_PLAN = TestPlan(framework=Framework.PYTEST, argv=("pytest",), text="python -m pytest", language=Language.PYTHON)


class Fix(Value):
    """One commit that calls itself a fix."""

    repository: Path
    commit: str
    subject: str
    tests: tuple[TestFileChange, ...]
    support: tuple[str, ...]
    """Everything else of the tests that it changes."""

    @property
    def parent(self) -> str:
        return f"{self.commit}^"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.panel.fixes", description="Try tests of real fixes.")
    parser.add_argument("repositories", nargs="+", type=Path, metavar="REPOSITORY")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), metavar="PYTHON")
    parser.add_argument("--each", type=int, default=12, metavar="N", help="commits of each repository")
    parser.add_argument("--since", default="2021-01-01", metavar="DATE")
    parser.add_argument(
        "--skip", type=int, default=0, metavar="N", help="newest commits of each repository to pass over"
    )
    parser.add_argument("--mutations", action="store_true", help="try wrong versions of the changed lines")
    options = parser.parse_args(arguments)
    (_try_wrong_versions if options.mutations else _show_failures)(options)
    return 0


def _show_failures(options: argparse.Namespace) -> None:
    counted: Counter[str] = Counter()
    for fix, judged in _each(options, _judged):
        counted.update((*judged.said, *(name.partition(" ")[0] for name in judged.named)))
        print(f"{_line(fix)} {' '.join(judged.said):<24} {fix.subject[:70]}", flush=True)
        for name in judged.named:
            print(f"    {name}", flush=True)
    asked = counted["shown"] + counted["not-shown"] + counted["unclear"]
    print(f"{counted['shown']} of {asked} shown to fail without the fix; {counted['unclear']} unclear.")
    print(f"{counted['emptied-named']} of {asked} named with the new tests emptied; {counted['left-out']} left out.")
    print(f"{counted['passes-without']} tests named that pass without it, {counted['weak-test']} that cannot fail;")
    print(f"{counted['fix-not-tested']} fixes named without which no test fails.")


def _try_wrong_versions(options: argparse.Namespace) -> None:
    counted: Counter[str] = Counter()
    for fix, tried in _each(options, _tried):
        counted.update(tried.said)
        number = "left-out" if tried.said["left-out"] else f"{tried.said['tried']} tried"
        print(f"{_line(fix)} {number:<24} {fix.subject[:70]}", flush=True)
        for wrong, effect in tried.unnoticed:
            print(f"    {wrong.path}:{wrong.line} {wrong.function}: {wrong.words}", flush=True)
            print(f"        {effect.file}:{effect.line}: {effect.words}", flush=True)
    commits = counted["measured"] + counted["nothing"]
    print(f"{counted['tried']} versions tried on {counted['with-versions']} of {commits} commits.")
    print(f"{counted['named']} named; {counted['noticed-elsewhere']} noticed only by tests that do not run the line.")
    print(f"{counted['no-effect']} not noticed, but without an effect that is shown.")
    print(f"{counted['left-out']} commits left out; of {counted['not-settled']} versions, all tests take too long.")


Said = TypeVar("Said")


def _each(options: argparse.Namespace, judge: Callable[[Path, Fix], Said]) -> Iterator[tuple[Fix, Said]]:
    for repository in options.repositories:
        found = list(islice(fixes_of(repository.resolve(), options.since), options.skip, options.skip + options.each))
        with ThreadPoolExecutor(2) as pool:
            yield from zip(found, pool.map(partial(judge, options.python), found), strict=True)


def _line(fix: Fix) -> str:
    place = fix.repository.parent if fix.repository.name == "repo" else fix.repository
    return f"{place.name:<24} {fix.commit[:10]}"


def fixes_of(repository: Path, since: str) -> Iterator[Fix]:
    """Commits that call themselves a fix, have one parent, and change both code and tests; the latest first."""
    log = git(repository, "log", "--no-merges", f"--since={since}", "--format=%H %s", "--", "*.py")
    for line in log.splitlines():
        commit, _, subject = line.partition(" ")
        fix = _fix(repository, commit, subject) if fix_subject([subject]) else None
        if fix is not None:
            yield fix


def _fix(repository: Path, commit: str, subject: str) -> Fix | None:
    named = git(repository, "diff", "--name-status", "--no-renames", f"{commit}^", commit).splitlines()
    files = {path: status for status, _, path in (line.partition("\t") for line in named)}
    code = [path for path in files if path.endswith(".py") and not is_test(path) and path != "setup.py"]
    if not any(
        changes_behaviour(_text(repository, f"{commit}^", path), _text(repository, commit, path)) for path in code
    ):
        return None
    tests = tuple(
        TestFileChange(path=path, before=_text(repository, f"{commit}^", path), now=_text(repository, commit, path))
        for path, status in files.items()
        if is_test_module(path) and status != "D"
    )
    if not any(edited_tests(file.before, file.now) for file in tests):
        return None
    support = tuple(path for path, status in files.items() if is_test(path) and status != "D")
    return Fix(repository=repository, commit=commit, subject=subject, tests=tests, support=support)


def _text(repository: Path, commit: str, path: str) -> str:
    return _content(repository, commit, path).decode(errors="replace")


def _content(repository: Path, commit: str, path: str) -> bytes:
    done = subprocess.run(["git", "-C", str(repository), "show", f"{commit}:{path}"], capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else b""


class Judged(Value):
    """What is said of a fix, and of the same fix with its tests emptied."""

    said: tuple[str, ...]
    named: tuple[str, ...] = ()
    """What a review would name: the rule and the test."""


def _judged(python: Path, fix: Fix) -> Judged:
    with TemporaryDirectory(prefix="burnish-fixes-") as folder:
        head, base = Path(folder, "head"), Path(folder, "base")
        _unpack(fix.repository, fix.commit, head)
        _unpack(fix.repository, fix.parent, base)
        for path in fix.support:
            (base / path).parent.mkdir(parents=True, exist_ok=True)
            (base / path).write_bytes(_content(fix.repository, fix.commit, path))
        runner = Runner(python=python, tree=head, desk=Path(folder, "desk"))
        now = runner.run(SuiteSelection(only=tuple(file.path for file in fix.tests)))
        touched = touched_tests(fix.tests, now, Framework.PYTEST)
        if not (touched.added or touched.edited):
            return Judged(said=("left-out",))
        wanted = set(touched.all)
        only = tuple(case.name for case in now.passing if function_of(case.name) in wanted)
        on_base = replace(runner, tree=base)
        before = without_change(touched.all, on_base.run(SuiteSelection(only=only)), partial(_is_new, head, base))
        said = "shown" if before.failing else "unclear" if before.unclear else "not-shown"
        weak = {
            f"{file.path}::{test.name.replace('.', '::')}": test.weakness
            for file in fix.tests
            for test in weak_tests(file.before, file.now)
        }
        named = [f"weak-test {why.value} {name}" for name, why in weak.items() if _is_told(name, why, before)]
        if said == "not-shown" and not _others_fail(runner, on_base):
            named.append(f"fix-not-tested {' '.join(touched.all)}")
        else:
            told = touched.added if before.failing or before.unclear else (*touched.added, *touched.edited)
            named += [f"passes-without {name}" for name in told if name in before.passing and name not in weak]
        return Judged(said=(said, *_emptied(fix)), named=tuple(named))


def _is_told(name: str, why: Weakness, before: WithoutChange) -> bool:
    return why is not Weakness.NO_ASSERTION or name not in before.ran_and_failed


def _others_fail(head: "Runner", base: "Runner") -> bool:
    """Whether any test that passes with a fix fails without it."""
    passing = {case.name for case in head.run(SuiteSelection()).passing}
    everything = base.run(SuiteSelection())
    return not everything.complete or any(case.name in passing for case in everything.failing)


def _is_new(head: Path, base: Path, name: str) -> bool:
    path = name.replace(".", "/")
    ends = (f"{path}.py", f"{path}/__init__.py", f"src/{path}.py", f"src/{path}/__init__.py")
    return any((head / end).exists() and not (base / end).exists() for end in ends)


def _emptied(fix: Fix) -> tuple[str, ...]:
    """Whether every test that the fix adds or edits is named once its body is gone."""
    for file in fix.tests:
        wanted = edited_tests(file.before, file.now)
        text = emptied(file.now, wanted)
        if {test.name for test in weak_tests(file.before, text)} != set(wanted):
            return ("emptied-missed",)
    return ("emptied-named",)


def emptied(text: str, names: frozenset[str]) -> str:
    """A file of tests in which some do nothing."""
    module = TestModule(text)
    for name in names:
        module.tests[name].node.body = [ast.Pass()]
    return ast.unparse(ast.fix_missing_locations(module.tree))


class Tried(Value):
    """What came of the wrong versions of one fix."""

    said: Counter[str]
    unnoticed: tuple[tuple[Mutation, ShownEffect], ...] = ()


def _tried(python: Path, fix: Fix) -> Tried:
    """Wrong versions of the lines of a fix: first with its own test files, and what these let pass with all tests."""
    changed = ChangeUnderTest(Repository.discover(fix.repository), _commit(fix, "^"), _commit(fix))
    if not _candidates(changed, dict.fromkeys(changed.lines, range(_MOST_LINES))):
        return Tried(said=Counter({"nothing": 1}))
    with TemporaryDirectory(prefix="burnish-fixes-") as folder:
        tree = Path(folder, "head")
        _unpack(fix.repository, fix.commit, tree)
        runner = Runner(python=python, tree=tree, desk=Path(folder, "desk"))
        files = tuple(file.path for file in fix.tests)
        measured = runner.run(SuiteSelection(only=files, measured=tuple(changed.lines), by_test=True))
        if not measured.passing or not measured.lines:
            return Tried(said=Counter({"left-out": 1}))
        ran = {path: lines.executed for path, lines in measured.lines.items()}
        everything = cache(lambda: runner.run(SuiteSelection(measured=tuple(changed.lines), by_test=True)))
        said, unnoticed = Counter({"measured": 1}), dict[tuple[str, int], tuple[Mutation, ShownEffect]]()
        for mutation in _candidates(changed, ran):
            place = mutation.path, mutation.line
            if len(unnoticed) < MOST_NAMED and place not in unnoticed and tests_reaching(mutation, measured):
                found = _found(runner, mutation, measured, everything)
                said.update(("tried", found if isinstance(found, str) else "named"))
                unnoticed |= {} if isinstance(found, str) else {place: (mutation, found)}
        said["with-versions"] = min(1, said["tried"])
        return Tried(said=said, unnoticed=tuple(unnoticed.values()))


def _found(
    runner: "Runner", mutation: Mutation, measured: TestResult, everything: Callable[[], TestResult]
) -> str | ShownEffect:
    """What the tests of a commit, and then all tests, say of a wrong version; its effect, if they say nothing."""
    if not runner.lets_pass(mutation, measured):
        return "noticed"
    usual = everything()
    if not usual.complete:
        return "not-settled"
    if not runner.lets_pass(mutation, usual):
        return "noticed"
    effect = runner.shows_effect(mutation, usual)
    if effect is None:
        return "no-effect"
    failing = {case.name for case in runner.run_wrong(mutation, SuiteSelection()).failing}
    return "noticed-elsewhere" if failing & {case.name for case in usual.passing} else effect


def _candidates(changed: ChangeUnderTest, executed: Mapping[str, Collection[int]]) -> tuple[Mutation, ...]:
    """The wrong versions of a change, where these lines of its files run."""
    return chosen(
        mutation
        for path, lines in changed.lines.items()
        for mutation in mutations_of(path, changed.content(changed.head, path) or b"", lines, executed.get(path, ()))
    )


def _commit(fix: Fix, suffix: str = "") -> str:
    return git(fix.repository, "rev-parse", f"{fix.commit}{suffix}").strip()


def _unpack(repository: Path, commit: str, place: Path) -> None:
    place.mkdir()
    archive = subprocess.run(["git", "-C", str(repository), "archive", commit], capture_output=True, check=True)
    subprocess.run(["tar", "-x", "-C", str(place)], input=archive.stdout, check=True)
    for settings in ("pyproject.toml", "setup.cfg"):
        text = (place / settings).read_text() if (place / settings).is_file() else ""
        for name in _VERSION_FILE.findall(text):
            (place / name).write_text('__version__ = version = "1.0"\n')  # made when a package is built


class Runner(Value):
    """pytest in a tree, with burnish's report."""

    python: Path
    tree: Path
    desk: Path
    seconds: float = _SECONDS

    def lets_pass(self, mutation: Mutation, measured: TestResult) -> bool:
        """Whether all tests that run the line pass on a wrong version of it. One that does not end is noticed."""
        tests = tests_reaching(mutation, measured)
        runner = replace(self, seconds=max(_LEAST_SECONDS, TIMES_AS_LONG * measured.seconds))
        selection = SuiteSelection(only=tests, until_failure=True)
        return bool(tests) and all_pass(runner.run_wrong(mutation, selection), tests)

    def shows_effect(self, mutation: Mutation, measured: TestResult) -> ShownEffect | None:
        """What a wrong version does to the calls of the tests that run the line."""
        tests = tests_reaching(mutation, measured)
        originals: list[TestResult] = []
        wrongs: list[TestResult] = []
        for turn in range(2):
            selection = recording(mutation, tests, turn)
            originals.append(self.run(selection))
            wrongs.append(self.run_wrong(mutation, selection))
        return shown_effect(originals, wrongs)

    def run_wrong(self, mutation: Mutation, selection: SuiteSelection) -> TestResult:
        """Tests on a wrong version; afterwards, the file is as it was."""
        file = self.tree / mutation.path
        content = file.read_bytes()
        file.write_bytes(mutation.apply(content))
        try:
            return self.run(selection)
        finally:
            file.write_bytes(content)

    def run(self, selection: SuiteSelection) -> TestResult:
        shutil.rmtree(self.desk, ignore_errors=True)
        self.desk.mkdir()
        for file in Path(inside.__file__).parent.glob("burnish_*.py"):
            shutil.copyfile(file, self.desk / file.name)
        (self.desk / CHOICE_NAME).write_bytes(selection.for_runner or b"{}")
        files = sorted({name.partition("::")[0] for name in selection.only})
        command = [str(self.python), "-m", "pytest", "-q", *files]
        began = time.perf_counter()
        try:
            done = subprocess.run(
                command,
                cwd=self.tree,
                env=self._environment(selection),
                capture_output=True,
                timeout=self.seconds,
                check=False,
                stdin=subprocess.DEVNULL,
            )
            seconds = time.perf_counter() - began
            finished = Finished(how=How.EXITED, code=done.returncode, seconds=seconds, stdout=done.stdout)
        except subprocess.TimeoutExpired as error:
            finished = Finished(how=How.TIMED_OUT, seconds=self.seconds, stdout=error.stdout or b"")
        report = self.desk / REPORT_NAME
        return result_of(_PLAN, finished, report.read_bytes() if report.exists() else None, str(self.tree))

    def _environment(self, selection: SuiteSelection) -> dict[str, str]:
        return {
            "PATH": f"{self.python.parent}:{os.environ['PATH']}",
            "HOME": str(self.desk),
            "LANG": "C.UTF-8",
            "PYTHONPATH": f"{self.tree / 'src'}:{self.tree}:{self.desk}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_PLUGINS": PLUGIN,
            "PYTEST_ADDOPTS": "--color=no --continue-on-collection-errors --maxfail=0 -p no:cacheprovider",
            "BURNISH_WITNESS_REPORT": str(self.desk / REPORT_NAME),
            "BURNISH_WITNESS_ROOT": str(self.tree),
            "BURNISH_WITNESS_CHOICE": str(self.desk / CHOICE_NAME),
            **({"BURNISH_WITNESS_MEASURE": json.dumps(selection.measured)} if selection.measured else {}),
            **({"COVERAGE_CORE": "ctrace"} if selection.by_test else {}),
            **({"PYTHONHASHSEED": "0"} if selection.recorded else {}),
        }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
