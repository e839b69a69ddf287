"""What all benchmarks share: repeat, take the minimum and the median, and print each figure as a ratio.

A ratio of two figures of the same run says something about the program; a bare time says more about the machine.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable


class Timing:
    """The seconds that some repeats of one job took."""

    def __init__(self, seconds: list[float]) -> None:
        self.minimum = min(seconds)
        self.median = statistics.median(seconds)


def repeat(job: Callable[[], object], times: int = 5) -> Timing:
    """Run a job several times."""
    seconds: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - began)
    return Timing(seconds)


def alternate(job: Callable[[], object], baseline: Callable[[], object], times: int = 5) -> tuple[Timing, Timing]:
    """Run a job and what it is compared with in turn, so that both meet the same noise."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(times):
        for kept, one in zip(seconds, (job, baseline), strict=True):
            began = time.perf_counter()
            one()
            kept.append(time.perf_counter() - began)
    return Timing(seconds[0]), Timing(seconds[1])


def interpreter(code: str) -> Callable[[], object]:
    """A job: run a piece of code in a fresh interpreter."""
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)


def report(name: str, timing: Timing, baseline: Timing, per: int = 1) -> None:
    """Print one line of JSON: milliseconds per operation, and the ratio of the medians and of the minima."""
    figures = {
        "benchmark": name,
        "median_ms": round(timing.median / per * 1000, 4),
        "baseline_median_ms": round(baseline.median / per * 1000, 4),
        "ratio": round(timing.median / baseline.median, 3),
        "ratio_of_minima": round(timing.minimum / baseline.minimum, 3),
    }
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()
