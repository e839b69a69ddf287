"""Every path of every protocol: the trails of the rehearsals, come true with the real command on a real repository."""

from pathlib import Path

import pytest

from burnish.runtime.script import Script
from tests.end_to_end.playing import check, perform
from tests.end_to_end.plots import rehearsed, staged
from tests.end_to_end.world import Before
from tests.trails.test_default import SCENARIOS as DEFAULT
from tests.trails.test_drift import SCENARIOS as DRIFT
from tests.trails.test_epic import SCENARIOS as EPIC
from tests.trails.test_panel import SCENARIOS as PANEL
from tests.trails.test_story import SCENARIOS as STORY
from tests.trails.test_ticket import SCENARIOS as TICKET

ELSEWHERE = (
    "after 121",  # nobody waits two minutes
    "rate-limited",  # test_failures has shorter pauses
    "empty-diff",  # test_subjects has one
    "lost",  # test_kill
    "over-budget",  # no agent of this release costs anything
)


def can_be_staged(script: Script) -> bool:
    """Whether the command line can ask for it, and a test can wait for it."""
    words = " ".join(words for said in (*script.reviews.values(), script.fixes, script.validations) for words in said)
    if script.build or script.skip is not None or script.interactive:
        return False
    return not any(one in words for one in ELSEWHERE) and "crashed" not in script.validations


SCENARIOS = {
    f"{script.protocol}: {name}": script
    for scenarios in (EPIC, TICKET, STORY, PANEL, DRIFT, DEFAULT)
    for name, script in scenarios.items()
    if can_be_staged(script)
}


@pytest.mark.parametrize("script", SCENARIOS.values(), ids=SCENARIOS)
def test_the_real_command_does_what_the_rehearsal_does(tmp_path: Path, script: Script) -> None:
    plot = rehearsed(script)
    machine = staged(tmp_path, plot)
    before = Before.of(machine)
    check(machine, plot, before, perform(machine, plot))
