"""`kill -9` of the orchestrator, then `burnish resume`: as if nothing had happened."""

from pathlib import Path

import pytest

from tests.end_to_end.cutting import Cut, boundaries, in_between, survives
from tests.end_to_end.plots import Plot, rehearsed, staged
from tests.trails.test_default import SCENARIOS as DEFAULT
from tests.trails.test_drift import SCENARIOS as DRIFT
from tests.trails.test_epic import SCENARIOS as EPIC
from tests.trails.test_panel import SCENARIOS as PANEL
from tests.trails.test_story import SCENARIOS as STORY
from tests.trails.test_ticket import SCENARIOS as TICKET

PLOTS = {
    "epic": rehearsed(EPIC["passes in the third review"]),
    "ticket": rehearsed(TICKET["validation fails after a revision"]),
    "story": rehearsed(STORY["critical, then complete"]),
    "panel": rehearsed(PANEL["issues of several reviewers"]),
    "drift": rehearsed(DRIFT["drift, fix, pass"]),
    "default": rehearsed(DEFAULT["fixed, a clean ratchet, one full review"]),
}
SAMPLES = 20


ALL: list[tuple[str, Cut]] = [
    (name, cut) for name, plot in PLOTS.items() for cut in (*boundaries(plot), *in_between(plot))
]
FEW = [ALL[number * len(ALL) // SAMPLES] for number in range(SAMPLES)]


def named(point: tuple[str, Cut]) -> str:
    name, cut = point
    return f"{name} after event {cut.event}" + (f" and {cut.milliseconds} ms" if cut.milliseconds else "")


def killed_and_resumed(folder: Path, plot: Plot, cut: Cut) -> None:
    survives(staged(folder, plot), plot, cut)


@pytest.mark.parametrize("point", FEW, ids=named)
def test_a_killed_run_ends_as_if_undisturbed(tmp_path: Path, point: tuple[str, Cut]) -> None:
    name, cut = point
    killed_and_resumed(tmp_path, PLOTS[name], cut)


@pytest.mark.prove
@pytest.mark.parametrize("point", [point for point in ALL if point not in FEW], ids=named)
def test_a_run_killed_anywhere_ends_as_if_undisturbed(tmp_path: Path, point: tuple[str, Cut]) -> None:
    name, cut = point
    killed_and_resumed(tmp_path, PLOTS[name], cut)
