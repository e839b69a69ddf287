"""What all benchmarks share: run a job and its peer in turn, take the minimum, and make a figure of the two.

A ratio of two figures of the same run says something about the program; a bare time says more about the machine. The
minimum is compared, because whatever else the machine does can only add to it.
"""

import gc
import statistics
import time
from collections.abc import Callable

from burnish.core.values import Value

Job = Callable[[], object]


class Timing(Value):
    """The seconds that some repeats of one job took."""

    minimum: float
    median: float


class Figure(Value, omit_defaults=False):
    """One line of the table. Without a limit it only informs."""

    name: str
    ours: float
    """Seconds, the best of all repeats."""
    peer: float
    against: str
    limit: float | None = None
    ours_median: float | None = None
    peer_median: float | None = None

    @property
    def ratio(self) -> float:
        return self.ours / self.peer

    @property
    def is_over(self) -> bool:
        return self.limit is not None and self.ratio > self.limit


def alternate(job: Job, peer: Job, times: int) -> tuple[Timing, Timing]:
    """Run a job and what it is compared with in turn, so that both meet the same noise."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(times):
        for kept, one in zip(seconds, (job, peer), strict=True):
            gc.collect()  # nobody pays for another's garbage
            began = time.perf_counter()
            one()
            kept.append(time.perf_counter() - began)
    ours, theirs = (Timing(minimum=min(kept), median=statistics.median(kept)) for kept in seconds)
    return ours, theirs


def compare(
    name: str, job: Job, peer: Job, *, against: str, limit: float | None = None, times: int = 5, per: int = 1
) -> Figure:
    """A figure of a job and its peer; `per` is the number of operations in one call of each."""
    ours, theirs = alternate(job, peer, times)
    return Figure(
        name=name,
        ours=ours.minimum / per,
        peer=theirs.minimum / per,
        against=against,
        limit=limit,
        ours_median=ours.median / per,
        peer_median=theirs.median / per,
    )
