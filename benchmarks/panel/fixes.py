"""`python -m benchmarks.panel.fixes REPOSITORY… --python PYTHON`: do tests of real bug fixes fail without the fix?

From the history of each repository come commits whose subject calls them a fix, and that change Python code and tests.
The test files of the commit run on its code, and then those that it adds or edits on the code of its parent, by the
same rules as in a review (`project_tests.proof`). Then the bodies of these tests are emptied, and both is asked again:
each must be named. It prints one line for each commit. Only the test files of the commit run, so a review that runs
whole suites says the same later.

PYTHON is an interpreter with pytest and what the tests of all repositories need. Commits whose tests do not pass in it
are left out, and counted.
"""

import argparse
import ast
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.panel.reviews import git
from burnish.agents.panel.project_tests import inside
from burnish.agents.panel.project_tests.assertions import weak_tests
from burnish.agents.panel.project_tests.changed_tests import TestModule, edited_tests
from burnish.agents.panel.project_tests.commands import CHOICE_NAME, PLUGIN, REPORT_NAME, SuiteSelection
from burnish.agents.panel.project_tests.projects import is_test
from burnish.agents.panel.project_tests.proof import (
    TestFileChange,
    changes_behaviour,
    fix_subject,
    touched_tests,
    without_change,
)
from burnish.agents.panel.project_tests.pythons import is_test_module
from burnish.agents.panel.project_tests.results import result_of
from burnish.agents.panel.project_tests.values import Framework, Language, TestPlan, TestResult, function_of
from burnish.core.values import Value
from burnish.system.process import Finished, How

_SECONDS = 120.0
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
    options = parser.parse_args(arguments)
    counted: Counter[str] = Counter()
    for repository in options.repositories:
        found = list(fixes_of(repository.resolve(), options.each, options.since))
        with ThreadPoolExecutor(2) as pool:
            for fix, said in zip(found, pool.map(partial(_judged, options.python), found), strict=True):
                counted.update(said)
                name = repository.parent.name if repository.name == "repo" else repository.name
                print(f"{name:<24} {fix.commit[:10]} {' '.join(said):<24} {fix.subject[:70]}", flush=True)
    asked = counted["shown"] + counted["not-shown"] + counted["unclear"]
    print(f"{counted['shown']} of {asked} shown to fail without the fix; {counted['unclear']} unclear.")
    print(f"{counted['emptied-named']} of {asked} named with the new tests emptied; {counted['left-out']} left out.")
    return 0


def fixes_of(repository: Path, most: int, since: str) -> Iterator[Fix]:
    """The latest commits with one parent that call themselves a fix, and change both code and tests of Python."""
    log = git(repository, "log", "--no-merges", f"--since={since}", "--format=%H %s", "--", "*.py")
    taken = 0
    for line in log.splitlines():
        commit, _, subject = line.partition(" ")
        if taken >= most:
            return
        if not fix_subject([subject]):
            continue
        fix = _fix(repository, commit, subject)
        if fix is not None:
            taken += 1
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


def _judged(python: Path, fix: Fix) -> tuple[str, ...]:
    """What is said of a fix, and of the same fix with its tests emptied."""
    with TemporaryDirectory(prefix="burnish-fixes-") as folder:
        head, base = Path(folder, "head"), Path(folder, "base")
        for place, commit in ((head, fix.commit), (base, fix.parent)):
            place.mkdir()
            archive = subprocess.run(
                ["git", "-C", str(fix.repository), "archive", commit], capture_output=True, check=True
            )
            subprocess.run(["tar", "-x", "-C", str(place)], input=archive.stdout, check=True)
        for path in fix.support:
            (base / path).parent.mkdir(parents=True, exist_ok=True)
            (base / path).write_bytes(_content(fix.repository, fix.commit, path))
        files = SuiteSelection(only=tuple(file.path for file in fix.tests))
        now = _run(python, head, Path(folder, "desk"), files)
        touched = touched_tests(fix.tests, now, Framework.PYTEST)
        if not (touched.added or touched.edited):
            return ("left-out",)
        wanted = set(touched.all)
        only = tuple(case.name for case in now.passing if function_of(case.name) in wanted)
        before = without_change(
            touched.all,
            _run(python, base, Path(folder, "desk"), SuiteSelection(only=only)),
            partial(_is_new, head, base),
        )
        said = "shown" if before.failing else "unclear" if before.unclear else "not-shown"
        passing = [name for name in touched.added if name in before.passing]
        return (said, *_emptied(fix), *((f"idle:{len(passing)}",) if passing else ()))


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


def _run(python: Path, tree: Path, desk: Path, selection: SuiteSelection) -> TestResult:
    """pytest in a tree, with burnish's report."""
    shutil.rmtree(desk, ignore_errors=True)
    desk.mkdir()
    shutil.copyfile(Path(inside.__file__).with_name(f"{PLUGIN}.py"), desk / f"{PLUGIN}.py")
    (desk / CHOICE_NAME).write_bytes(selection.for_runner or b"{}")
    environment = {
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "HOME": str(desk),
        "LANG": "C.UTF-8",
        "PYTHONPATH": f"{tree / 'src'}:{tree}:{desk}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_PLUGINS": PLUGIN,
        "PYTEST_ADDOPTS": "--color=no --continue-on-collection-errors --maxfail=0 -p no:cacheprovider",
        "BURNISH_WITNESS_REPORT": str(desk / REPORT_NAME),
        "BURNISH_WITNESS_ROOT": str(tree),
        "BURNISH_WITNESS_CHOICE": str(desk / CHOICE_NAME),
    }
    files = sorted({name.partition("::")[0] for name in selection.only})
    command = [str(python), "-m", "pytest", "-q", *files]
    try:
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, timeout=_SECONDS, check=False)
        finished = Finished(how=How.EXITED, code=done.returncode, seconds=0.0, stdout=done.stdout)
    except subprocess.TimeoutExpired as error:
        finished = Finished(how=How.TIMED_OUT, seconds=_SECONDS, stdout=error.stdout or b"")
    report = desk / REPORT_NAME
    return result_of(_PLAN, finished, report.read_bytes() if report.exists() else None, str(tree))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
