"""`python -m benchmarks.panel.quixbugs DATASET`: does the witness see that a change broke a program?

The data set (github.com/jkoppel/QuixBugs) holds 40 small Python programs, each correct and with one bug, and their
tests. Each becomes a repository of its own: the base holds the correct program, the change the bug. The witness must
report a critical finding for every one. Some of the bugs never end. Exits with 1 where one was not found.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from benchmarks.panel.reviews import Desk, Review, desk
from burnish.core.findings import Severity
from burnish.core.values import Value
from burnish.testing.repositories import RepositoryBuilder

_TESTS = "python_testcases"
_SHARED = ("conftest.py", f"{_TESTS}/load_testdata.py", f"{_TESTS}/node.py")


class Program(Value):
    """One program of the data set."""

    name: str
    shared: Mapping[str, str]
    """Its tests and their data."""
    correct: str
    buggy: str

    @property
    def path(self) -> str:
        return f"python_programs/{self.name}.py"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.panel.quixbugs", description="Try the witness.")
    parser.add_argument("dataset", type=Path, metavar="DATASET", help="its repository, with or without a work tree")
    parser.add_argument("names", nargs="*", metavar="NAME", help="these programs only")
    options = parser.parse_args(arguments)
    with desk() as made, ThreadPoolExecutor(os.cpu_count()) as pool:
        programs = [one for one in programs_of(made.clone(options.dataset)) if one.name in (options.names or one.name)]
        found = sum(pool.map(partial(_is_seen, made), programs))
    print(f"{found} of {len(programs)} bugs found by the witness.")
    return 0 if found == len(programs) else 1


def programs_of(dataset: Path) -> list[Program]:
    """Every program that has tests, from a work tree."""

    def texts(*paths: str) -> dict[str, str]:
        return {path: (dataset / path).read_text() for path in paths if (dataset / path).is_file()}

    names = sorted(file.stem.removeprefix("test_") for file in (dataset / _TESTS).glob("test_*.py"))
    return [
        Program(
            name=name,
            shared=texts(*_SHARED, f"{_TESTS}/test_{name}.py", f"json_testcases/{name}.json"),
            correct=(dataset / "correct_python_programs" / f"{name}.py").read_text(),
            buggy=(dataset / "python_programs" / f"{name}.py").read_text(),
        )
        for name in names
    ]


def _is_seen(made: Desk, program: Program) -> bool:
    folder = made.root / program.name
    repository = RepositoryBuilder(folder).commit({**program.shared, program.path: program.correct}, "Correct")
    repository.branch("change").commit({program.path: program.buggy}, "Break it")
    review = made.review(folder, "--protocol", made.protocol(("witness",)), "--base", "main")
    seen = any(finding.severity is Severity.CRITICAL for finding in review.findings)
    print(
        f"{program.name:<30} {'found' if seen else 'MISSED':<7} {review.seconds:>6.1f} s  {_words(review)}", flush=True
    )
    return seen


def _words(review: Review) -> str:
    critical = [finding for finding in review.findings if finding.severity is Severity.CRITICAL]
    return review.error or (f"{len(critical)} critical, first: {critical[0].title}" if critical else "nothing critical")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
