"""Situations that several tests of the core begin with."""

import pytest

from burnish.core.events import Mode, Roles, RunStarted, Subject
from burnish.core.work import Assignment
from burnish.protocols.loader import load


@pytest.fixture
def epic_start() -> RunStarted:
    """A run of the epic protocol that has just begun."""
    agent = Assignment(agent="scripted")
    return RunStarted(
        at=0.0,
        run="r",
        mode=Mode.FIX,
        subject=Subject(branch="b", base="main", base_commit="c", head="c0", tree="t0"),
        protocol=load("epic").protocol,
        roles=Roles(review=agent, fix=agent),
    )
