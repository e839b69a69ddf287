"""`python -m benchmarks [--json FILE] [NAME …]`: measure, print a table, exit 1 where a ratio is over its limit.

`python -m benchmarks mistakes` counts instead of measuring time; it has options of its own.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from benchmarks import append, clients, clones, epics, fold, hooks, mistakes, parse, rounds, sandbox, start
from benchmarks.measure import Figure
from benchmarks.panel import speed

BENCHMARKS: dict[str, Callable[[], Iterator[Figure]]] = {
    "start": start.figures,
    "fold": fold.figures,
    "epics": epics.figures,
    "parse": parse.figures,
    "append": append.figures,
    "sandbox": sandbox.figures,
    "clones": clones.figures,
    "rounds": rounds.figures,
    "clients": clients.figures,
    "hooks": hooks.figures,
    "panel": speed.figures,
}
_ROW = "{:<64} {:>12} {:>12} {:>8} {:>6}  {:<4}  {}"


def main(arguments: Sequence[str]) -> int:
    if arguments[:1] == ["mistakes"]:
        return mistakes.main(arguments[1:])
    options = _parser().parse_args(arguments)
    names: list[str] = options.names or list(BENCHMARKS)
    print(_ROW.format("figure", "ours", "peer", "ratio", "limit", "", "against"))
    measured: list[Figure] = []
    for name in names:
        for figure in BENCHMARKS[name]():
            print(_line(figure), flush=True)
            measured.append(figure)
    if options.json:
        _write(options.json, measured)
    over = sum(figure.is_over for figure in measured)
    print(f"{over} of {len(measured)} figures over their limit.")
    return 1 if over else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure burnish against peers.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to a file")
    # argparse holds the empty default against the choices, too.
    parser.add_argument("names", nargs="*", choices=[*BENCHMARKS, []], metavar="NAME", help=", ".join(BENCHMARKS))
    return parser


def _line(figure: Figure) -> str:
    limit = "" if figure.limit is None else f"{figure.limit:g}"
    word = "" if figure.limit is None else "over" if figure.is_over else "ok"
    times = (_time(figure.ours), _time(figure.peer))
    return _ROW.format(figure.name, *times, f"{figure.ratio:.2f}", limit, word, figure.against).rstrip()


def _time(seconds: float) -> str:
    if seconds < 0.001:
        return f"{seconds * 1e6:.1f} µs"
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _write(file: Path, measured: Sequence[Figure]) -> None:
    rows = [{**msgspec.structs.asdict(figure), "ratio": figure.ratio, "ok": not figure.is_over} for figure in measured]
    file.write_bytes(msgspec.json.format(msgspec.json.encode(rows), indent=2) + b"\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
