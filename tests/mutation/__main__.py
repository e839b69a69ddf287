"""`python -m tests.mutation [--only TEXT | --since REV] [--minutes N]`: mutate the core, and say the score.

It exits with 1 where the score is too low.

Why a mutator of our own: mutmut 3.8.0 does not run under pytest 9.2 (it reads an attribute of tests that is gone) and,
helped over that, needs about three seconds for each mutant and leaves properties out; cosmic-ray runs the whole suite
anew for each mutant. Here tests are collected once and a mutant is a forked process: thousands of them take minutes.
"""

import argparse
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tests.mutation.verdicts import Score, read_equivalent, read_verdicts, score

ROOT = Path(__file__).parents[2]
VERDICTS = ROOT / ".work" / "mutation-verdicts.json"
REPORT = ROOT / ".work" / "mutation.json"
TESTS = ("tests/core", "tests/trails")
LEAST_PERCENT = 98.0
MOST_MINUTES = 25


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    if not options.since:
        return _try([options.only], options.minutes, strict=not options.only)
    modules = _changed_since(options.since)
    _say(f"Changed since {options.since}: {', '.join(modules) or 'nothing of the core'}")
    return _try(modules, options.minutes, strict=True) if modules else 0


def _changed_since(revision: str) -> list[str]:
    """The modules of the core that differ from a revision, as mutants name them: `core.steps.flow.`."""
    source = "src/burnish/"
    command = ["git", "diff", "--name-only", "--diff-filter=d", revision, "--", f"{source}core"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    names = (path.removeprefix(source).removesuffix(".py").replace("/", ".") for path in listed)
    return [f"{name}." for name in names if not name.endswith("__init__")]


def _try(parts: Sequence[str], minutes: int, *, strict: bool) -> int:
    """Try the mutants whose names have one of these texts, in one pass; each part has a score of its own.

    What matters of a changed module is what survives in it, not the score of all.
    """
    started = time.monotonic()
    VERDICTS.unlink(missing_ok=True)
    code = subprocess.call(_command(parts, minutes), cwd=ROOT)
    if code or not VERDICTS.exists():
        _say("The mutants could not be tried: the tests fail, or cannot be run, without any of them.")
        return 1
    verdicts, equivalent = read_verdicts(VERDICTS), read_equivalent()
    failed = 0
    for part in parts:
        listed = tuple(entry for entry in equivalent if part in entry.mutant)
        result = score({name: verdict for name, verdict in verdicts.items() if part in name}, listed)
        seconds = time.monotonic() - started
        _tell(part, result, seconds)
        REPORT.write_bytes(msgspec.json.format(msgspec.json.encode(_report(result, seconds)), indent=1))
        failed |= result.percent < LEAST_PERCENT or bool(result.not_tried or result.stale)
    return int(strict and failed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tests/mutation/run.py", description="Mutate the core.")
    parser.add_argument(
        "--only", default="", help="only mutants whose name has this text; the score then fails nothing"
    )
    parser.add_argument("--since", default="", metavar="REV", help="only modules that changed since a revision")
    parser.add_argument("--minutes", type=int, default=MOST_MINUTES, help=f"at most (default {MOST_MINUTES})")
    return parser


def _command(parts: Sequence[str], minutes: int) -> list[str]:
    return [
        *(sys.executable, "-m", "pytest", "-q", "--capture=no", "--no-header", "-m", "not prove"),
        *("-p", "tests.mutation.plugin", "-p", "no:cacheprovider", "-p", "no:xdist"),
        *("--hypothesis-profile=mutation", f"--mutation-output={VERDICTS}"),
        *(f"--mutation-only={part}" for part in parts),
        f"--mutation-minutes={minutes}",
        *TESTS,
    ]


def _tell(part: str, result: Score, seconds: float) -> None:
    for name in result.survivors:
        place, _, fault = name.partition(": ")
        before, _, after = fault.partition(" => ")
        _say(f"{place} survived\n  - {before}\n  + {after}")
    for name in result.timed_out:
        _say(f"timed out: {name}")
    for name in result.stale:
        _say(f"listed as equivalent, but killed or gone: {name}")
    for module, number in _by_module(result).items():
        _say(f"{number:>5} survived in {module}")
    _say(
        f"{part or 'all'}: {result.percent:.1f} % of the mutants were killed ({LEAST_PERCENT:g} % are asked for): "
        f"{result.killed} killed, {len(result.survivors)} survived, {len(result.timed_out)} timed out, "
        f"{result.equivalent} equivalent, {result.not_tried} not tried; {seconds:.0f} s"
    )


def _by_module(result: Score) -> dict[str, int]:
    return dict(Counter(_module(name) for name in result.survivors).most_common())


def _module(name: str) -> str:
    """`core.steps.flow` of `core.steps.flow.end: …`, and `core.drift` of `core.drift.Hunk.touches: …`."""
    parts = name.partition(":")[0].split(".")[:-1]
    return ".".join(part for part in parts if not part.strip("_")[:1].isupper())


def _report(result: Score, seconds: float) -> dict[str, object]:
    return {
        "version": 1,
        "percent": round(result.percent, 2),
        "least_percent": LEAST_PERCENT,
        "killed": result.killed,
        "survived": len(result.survivors),
        "timed_out": len(result.timed_out),
        "equivalent": result.equivalent,
        "not_tried": result.not_tried,
        "seconds": round(seconds),
        "survivors": result.survivors,
        "survivors_by_module": _by_module(result),
    }


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
