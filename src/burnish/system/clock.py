"""The clock: the one place that reads the time. The core never does; it takes the time from events."""

import time


def now() -> float:
    """Seconds since 1970, UTC. Comparable between processes and machines, as far as their clocks agree."""
    return time.time()
