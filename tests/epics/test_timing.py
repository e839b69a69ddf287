"""A hundred tickets whose agents take their time: the epic takes hardly longer than the best possible schedule."""

import random
import resource
import time
from pathlib import Path

import pytest

from tests.epics.project import Project, Ticket

_TICKETS, _AT_ONCE, _SECONDS = 100, 20, 40.0


def _mixed() -> tuple[Ticket, ...]:
    """Chains, diamonds and tickets that stand alone, by a fixed chance."""
    chance = random.Random(15)  # noqa: S311 - not for secrets
    found: list[Ticket] = []
    for number in range(_TICKETS):
        before = [one for one in found[-40:-15] if chance.random() < 0.06]
        found.append(Ticket(f"t{number}", tuple(one.id for one in before)))
    return tuple(found)


def _longest(tickets: tuple[Ticket, ...]) -> int:
    depth: dict[str, int] = {}
    for one in tickets:
        depth[one.id] = 1 + max((depth[name] for name in one.after), default=0)
    return max(depth.values())


@pytest.mark.prove
def test_a_hundred_tickets_take_hardly_longer_than_the_best_schedule(tmp_path: Path) -> None:
    tickets = _mixed()
    project = Project(tmp_path, tickets)
    project.says("build", f'sleep {_SECONDS}; echo "$story" > "$story.txt"; echo "Built $story."')
    used, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process = project.machine.start("run", "plan/epic.yaml", "--parallel", str(_AT_ONCE), "--quiet")
    out, err = process.communicate(timeout=1200)
    took, now = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert process.returncode == 0, (out, err)
    own = (now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime) / _TICKETS
    best = max(_longest(tickets), _TICKETS / _AT_ONCE) * _SECONDS
    print(f"{took:.1f} s, best {best:.1f} s ({took / best:.3f}); {own:.2f} s of processor time a ticket")  # noqa: T201
    assert own * 20 <= _SECONDS
    assert took <= 1.05 * best
    assert set(project.states().values()) == {"completed"}
