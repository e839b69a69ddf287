"""A hundred tickets whose agents take their time: the epic takes hardly longer than the best possible schedule."""

import random
import resource
import time
from pathlib import Path

import pytest

from tests.epics.project import Project, Ticket

_TICKETS, _AT_ONCE = 100, 20
_LEAST, _MOST = 20.0, 60.0
"""Seconds that an agent takes for a ticket."""


def _mixed() -> tuple[tuple[Ticket, ...], dict[str, float]]:
    """Chains, diamonds and tickets that stand alone, and how long each takes, by a fixed chance.

    Its longest chain takes longer than all work divided by the places: no schedule is shorter than that chain.
    """
    chance = random.Random(4)  # noqa: S311 - not for secrets
    found: list[Ticket] = []
    for number in range(_TICKETS):
        before = [one for one in found[-40:-15] if chance.random() < 0.06]
        found.append(Ticket(f"t{number}", tuple(one.id for one in before)))
    return tuple(found), {one.id: chance.uniform(_LEAST, _MOST) for one in found}


def _longest(tickets: tuple[Ticket, ...], seconds: dict[str, float]) -> float:
    end: dict[str, float] = {}
    for one in tickets:
        end[one.id] = seconds[one.id] + max((end[name] for name in one.after), default=0.0)
    return max(end.values())


@pytest.mark.prove
@pytest.mark.alone
def test_a_hundred_tickets_take_hardly_longer_than_the_best_schedule(tmp_path: Path) -> None:
    tickets, seconds = _mixed()
    project = Project(tmp_path, tickets)
    naps = "".join(f"{name}) sleep {nap:.2f} ;; " for name, nap in seconds.items())
    project.says("build", f'case $story in {naps}esac; echo "$story" > "$story.txt"; echo "Built $story."')
    used, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process = project.machine.start("run", "plan/epic.yaml", "--parallel", str(_AT_ONCE), "--quiet")
    out, err = process.communicate(timeout=1200)
    took, now = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert process.returncode == 0, (out, err)
    own = (now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime) / _TICKETS
    best = max(_longest(tickets, seconds), sum(seconds.values()) / _AT_ONCE)
    print(f"{took:.1f} s, best {best:.1f} s ({took / best:.3f}); {own:.2f} s of processor time a ticket")  # noqa: T201
    assert own * 20 <= _LEAST
    assert took <= 1.05 * best
    assert set(project.states().values()) == {"completed"}
