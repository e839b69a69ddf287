"""Every path of every protocol: the trails of the rehearsals, come true with the real command on a real repository."""

from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

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
EVERY_DAY = frozenset(
    {
        "epic: clean at once",
        "epic: fail, fix, pass",
        "epic: exhausted, a person fixes by hand",
        "epic: exhausted, a person accepts",
        "epic: exhausted, one more round passes",
        "epic: a fix that changed nothing is reviewed all the same",
        "epic: malformed to the end",
        "epic: crashed, then the fallback answers",
        "epic: cancelled during a review",
        "epic: validation fails, is repaired, passes",
        "epic: validation cannot run",
        "ticket: passes at once",
        "ticket: fail, revise, pass",
        "ticket: fails after two revisions",
        "ticket: malformed, then readable",
        "ticket: stuck, then an answer",
        "ticket: validation fails after a revision",
        "ticket: cancelled during a revision",
        "story: complete at once",
        "story: unreadable, but newly done",
        "story: crashed and stuck count as cycles",
        "story: exhausted, fixed by hand",
        "story: exhausted, another agent completes",
        "story: exhausted, skipped",
        "story: cancelled during a session",
        "panel: one info issue leads to a fix",
        "panel: stopped after five iterations",
        "panel: one malformed answer blocks and is retried",
        "panel: one reviewer crashes, another is stuck",
        "panel: cancelled while two have answered",
        "drift: pass at once",
        "drift: drift, fix, pass",
        "drift: drift after five fixes",
        "drift: contract violation",
        "drift: the fixer exits non-zero",
        "drift: the fixer changes nothing",
        "default: fixed, a clean ratchet, one full review",
        "default: a fix that changed nothing ends it",
        "default: exhausted without a terminal",
        "default: one reviewer falls back",
        "default: a finding asks for a person, who has it fixed",
    }
)
"""What `make test` plays: each kind of path of each protocol once. `make prove` plays the rest."""


def staging(name: str, script: Script) -> ParameterSet:
    return pytest.param(script, id=name, marks=() if name in EVERY_DAY else pytest.mark.prove)


def test_every_path_of_every_day_is_there() -> None:
    assert set(SCENARIOS) >= EVERY_DAY


@pytest.mark.parametrize("script", [staging(name, script) for name, script in SCENARIOS.items()])
def test_the_real_command_does_what_the_rehearsal_does(tmp_path: Path, script: Script) -> None:
    plot = rehearsed(script)
    machine = staged(tmp_path, plot)
    before = Before.of(machine)
    check(machine, plot, before, perform(machine, plot))
