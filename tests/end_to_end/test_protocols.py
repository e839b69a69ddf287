"""Every path of every protocol: the trails of the rehearsals, come true with the real command on a real repository."""

from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from burnish.runtime.script import RehearsalScript
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
    "budget-reached",  # command agents cost nothing
)


def can_be_staged(script: RehearsalScript) -> bool:
    """Whether the command line can ask for it, and a test can wait for it."""
    words = " ".join(words for said in (*script.reviews.values(), script.fixes, script.validations) for words in said)
    if script.build or script.skip is not None or script.interactive:
        return False
    return not any(one in words for one in ELSEWHERE) and "crashed" not in script.validations


CRITICAL = "critical app.py:3 SQL injection"
AT_THE_LIMIT = {
    "a person fixes by hand": RehearsalScript(
        protocol="epic", max_rounds=1, reviews={"reviewer": (CRITICAL,)}, decisions=("a",)
    ),
    "a person accepts": RehearsalScript(
        protocol="epic", max_rounds=1, reviews={"reviewer": (CRITICAL,)}, decisions=("b",)
    ),
    "one more round": RehearsalScript(
        protocol="epic", max_rounds=1, reviews={"reviewer": (CRITICAL, "clean")}, fixes=("fixed",), decisions=("c",)
    ),
    "cancelled": RehearsalScript(
        protocol="epic", max_rounds=1, reviews={"reviewer": (CRITICAL,)}, decisions=("cancel",)
    ),
    "fixed by hand": RehearsalScript(
        protocol="story", max_rounds=1, reviews={"session": ("critical, not-done",)}, decisions=("1",)
    ),
    "another agent": RehearsalScript(
        protocol="story",
        max_rounds=1,
        reviews={"session": ("critical, not-done", "clean, done")},
        decisions=("2 claude",),
    ),
    "skipped": RehearsalScript(
        protocol="story", max_rounds=1, reviews={"session": ("critical, not-done",)}, decisions=("3",)
    ),
    "issues remain": RehearsalScript(
        protocol="panel",
        max_rounds=2,
        reviews={"*": ("clean", "clean"), "critic": ("medium a.py:9 odd", "medium a.py:9 odd")},
        fixes=("fixed",),
    ),
    "drift remains": RehearsalScript(
        protocol="drift", max_rounds=2, reviews={"reviewer": ("drift: no", "drift: no")}, fixes=("fixed",)
    ),
    "blockers remain": RehearsalScript(
        protocol="default",
        max_rounds=1,
        reviews={"*": ("clean",), "bugs": ("high app.py:3 wrong result",)},
    ),
}
"""Every way on at the limit, with the limit drawn in."""

SCENARIOS = {
    f"{script.protocol}: {name}": script
    for scenarios in (EPIC, TICKET, STORY, PANEL, DRIFT, DEFAULT)
    for name, script in scenarios.items()
    if can_be_staged(script)
} | {f"{script.protocol} at the limit: {name}": script for name, script in AT_THE_LIMIT.items()}
EVERY_DAY = frozenset(
    {
        "epic: validation fails, is repaired, passes",
        "ticket: validation fails after a revision",
        "story: unreadable, but newly done",
        "panel: one info issue leads to a fix",
        "drift: drift, fix, pass",
        "default: fixed, a clean ratchet, one full review",
        "epic at the limit: one more round",
        "panel at the limit: issues remain",
    }
)
"""What `make test` plays: every protocol. `make prove` plays the rest; the trails in tests/trails cover all."""


def staging(name: str, script: RehearsalScript) -> ParameterSet:
    return pytest.param(script, id=name, marks=() if name in EVERY_DAY else pytest.mark.prove)


def test_every_path_of_every_day_is_there() -> None:
    assert set(SCENARIOS) >= EVERY_DAY


@pytest.mark.parametrize("script", [staging(name, script) for name, script in SCENARIOS.items()])
def test_the_real_command_does_what_the_rehearsal_does(tmp_path: Path, script: RehearsalScript) -> None:
    plot = rehearsed(script)
    machine = staged(tmp_path, plot)
    before = Before.of(machine)
    check(machine, plot, before, perform(machine, plot))
