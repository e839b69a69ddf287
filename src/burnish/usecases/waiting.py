"""Looking at a run again and again, until nothing more will happen by itself.

The ledger's version is asked for at short intervals. That is cheap, and nobody's work waits for it: the runner itself
is told of exits and intents, and never looks like this.
"""

import time
from collections.abc import Iterator

from burnish.core.state import Waiting
from burnish.core.values import Value
from burnish.system import clock
from burnish.usecases.runs import Runs, Sighting

LOOK_SECONDS = 0.2
GRACE_SECONDS = 3.0
"""A run that is handed from one process to another has no driver until the other one has started. A dead one hands
nothing on."""


class Waited(Value):
    """How a run was last seen."""

    sighting: Sighting
    timed_out: bool = False


def watch(runs: Runs, name: str) -> Iterator[Sighting]:
    """Each look at a run, at once and then at intervals. The last one shows it at rest, or without a driver."""
    run = runs.load(name)
    alone_since: float | None = None
    while True:
        driver = runs.driver(name)
        before, run = run, runs.advance(run)
        sighting = Sighting(run=run, driver=driver)
        yield sighting
        if _is_settled(sighting):
            return
        if not sighting.interrupted or run is not before:
            alone_since = None
        elif runs.is_abandoned(name):
            return
        elif alone_since is None:
            alone_since = clock.now()
        elif clock.now() - alone_since >= GRACE_SECONDS:
            return
        time.sleep(LOOK_SECONDS)


def _is_settled(sighting: Sighting) -> bool:
    """Whether it waits for a person, or has ended and its driver, who moves the branch after the end, has left."""
    return sighting.at_rest and (sighting.driver is None or isinstance(sighting.run.phase, Waiting))


def wait_for(runs: Runs, name: str, timeout: float | None = None) -> Waited:
    """Wait until a run is at rest or nobody drives it any more, for some seconds at most."""
    begun = clock.now()
    waited = Waited(sighting=runs.sight(name))
    for sighting in watch(runs, name):
        late = timeout is not None and not _is_settled(sighting) and clock.now() - begun >= timeout
        waited = Waited(sighting=sighting, timed_out=late and not sighting.at_rest)
        if late:
            break
    return waited
