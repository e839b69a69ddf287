"""What is recorded: one repository for each situation that a run can be found in, with an agent of its own inside."""

from typing import NamedTuple

from burnish.runtime.script import RehearsalScript
from tests.end_to_end.playing import arguments
from tests.end_to_end.plots import Plot, rehearsed
from tests.trails.test_default import SCENARIOS as DEFAULT
from tests.trails.test_drift import SCENARIOS as DRIFT
from tests.trails.test_epic import SCENARIOS as EPIC
from tests.trails.test_panel import SCENARIOS as PANEL
from tests.trails.test_story import SCENARIOS as STORY
from tests.trails.test_ticket import SCENARIOS as TICKET


class Situation(NamedTuple):
    """A script, and where its run is interrupted, if it is."""

    script: RehearsalScript
    held: tuple[str, ...] = ()
    """The effects whose agents do not answer while the run is recorded; the command is killed when all are at work."""
    answered: tuple[str, ...] = ()
    """What must have a result by then."""

    @property
    def plot(self) -> Plot:
        return rehearsed(self.script)

    @property
    def command(self) -> list[str]:
        return arguments(self.plot)


_SEVERAL = PANEL["issues of several reviewers"]
_PANEL = ("critic", "pedant", "witness", "security-reviewer", "silent-failure-hunter")
_ROUND = tuple(f"review:1:{name}:1" for name in _PANEL)

ENDED = {
    "ended-default": Situation(DEFAULT["fixed, a clean ratchet, one full review"]),
    "ended-epic": Situation(EPIC["fail, fix, pass"]),
    "ended-panel": Situation(_SEVERAL),
    "ended-ticket": Situation(TICKET["fail, revise, pass"]),
    "ended-story": Situation(STORY["critical, then complete"]),
    "ended-drift": Situation(DRIFT["drift, fix, pass"]),
}
WAITING = {"waiting": Situation(EPIC["exhausted, a person accepts"])}
KILLED = {
    "killed-while-fixing": Situation(EPIC["fail, fix, pass"], held=("fix:1:1",)),
    "killed-while-reviewing": Situation(_SEVERAL, held=_ROUND[1:], answered=_ROUND[:1]),
    "killed-in-a-session": Situation(STORY["critical, then complete"], held=("review:1:session:1",)),
}
SITUATIONS = {**ENDED, **WAITING, **KILLED}
