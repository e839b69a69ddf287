"""`python -m tests.fuzz [--seconds N] [TARGET …]`: fuzz every target, say what was run, exit 1 if anything failed."""

import argparse
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec

from tests.fuzz.session import Result, fuzz, reproduction
from tests.fuzz.targets import TARGETS

TAIL = 40
"""Lines of a failed target's output that are shown: the exception stands there."""


def is_installed() -> bool:
    return find_spec("atheris") is not None


def main(arguments: Sequence[str], installed: Callable[[], bool] = is_installed) -> int:
    options = _parser().parse_args(arguments)
    if not installed():
        _say("atheris is not installed, so nothing was fuzzed. `make prove` installs it; it needs Linux.")
        return 1
    names: list[str] = options.targets or list(TARGETS)
    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(partial(fuzz, seconds=options.seconds), names):
            _tell(result)
            failed += result.failed
    _say(f"{len(names) - failed} of {len(names)} targets held.")
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tests/fuzz/run.py", description="Fuzz every parser.")
    parser.add_argument("--seconds", type=int, default=60, help="for each target (default 60)")
    parser.add_argument("--jobs", type=int, default=1, help="targets that run side by side (default 1)")
    # argparse holds the empty default against the choices, too.
    parser.add_argument("targets", nargs="*", choices=[*TARGETS, []], metavar="TARGET", help=", ".join(TARGETS))
    return parser


def _tell(result: Result) -> None:
    word = "FAILED" if result.failed else "held"
    _say(f"{result.name:<10} {word:<7} {result.executed:>12,} executions, {result.covered:>6,} edges")
    if not result.failed:
        return
    for line in result.output.splitlines()[-TAIL:]:
        _say(f"    {line}")
    for kept in result.kept:
        _say(f"  again: {reproduction(result.name, kept)}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
