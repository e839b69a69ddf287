"""`kill -9` of the orchestrator, then `burnish resume`: as if nothing had happened."""

from pathlib import Path

import pytest

from tests.end_to_end.cutting import Cut, boundaries, cut_down, in_between, survives
from tests.end_to_end.playing import arguments, check_state
from tests.end_to_end.plots import Plot, rehearsed, staged
from tests.end_to_end.simple import FIRST_FIX, FIXED, HANGING_FIX, drift_machine, killed_while_fixing
from tests.end_to_end.world import Before, check_nothing_left
from tests.trails.test_default import SCENARIOS as DEFAULT
from tests.trails.test_drift import SCENARIOS as DRIFT
from tests.trails.test_epic import SCENARIOS as EPIC
from tests.trails.test_panel import SCENARIOS as PANEL
from tests.trails.test_story import SCENARIOS as STORY
from tests.trails.test_ticket import SCENARIOS as TICKET

SMALL = {
    "epic": rehearsed(EPIC["fail, fix, pass"]),
    "ticket": rehearsed(TICKET["fail, revise, pass"]),
    "story": rehearsed(STORY["critical, then complete"]),
    "panel": rehearsed(PANEL["one info issue leads to a fix"]),
    "drift": rehearsed(DRIFT["drift, fix, pass"]),
    "default": rehearsed(DEFAULT["two reviews at most: the second is the full one"]),
}
LARGE = {
    "epic": rehearsed(EPIC["passes in the third review"]),
    "ticket": rehearsed(TICKET["validation fails after a revision"]),
    "story": rehearsed(STORY["critical, then complete"]),
    "panel": rehearsed(PANEL["issues of several reviewers"]),
    "drift": rehearsed(DRIFT["drift, fix, pass"]),
    "default": rehearsed(DEFAULT["fixed, a clean ratchet, one full review"]),
}
SAMPLES = 4


def points(plots: dict[str, Plot]) -> list[tuple[str, Cut]]:
    """Every boundary of every plot, and some moments in between."""
    return [(name, cut) for name, plot in plots.items() for cut in (*boundaries(plot), *in_between(plot))]


def sampled() -> list[tuple[str, Cut]]:
    """A few of them, spread evenly."""
    every = points(SMALL)
    return [every[(2 * number + 1) * len(every) // (2 * SAMPLES)] for number in range(SAMPLES)]


def named(point: tuple[str, Cut]) -> str:
    name, cut = point
    return f"{name} after event {cut.event}" + (f" and {cut.milliseconds} ms" if cut.milliseconds else "")


def killed_and_resumed(folder: Path, plot: Plot, cut: Cut) -> None:
    survives(staged(folder, plot), plot, cut)


@pytest.mark.parametrize("point", sampled(), ids=named)
def test_a_killed_run_ends_as_if_undisturbed(tmp_path: Path, point: tuple[str, Cut]) -> None:
    name, cut = point
    killed_and_resumed(tmp_path, SMALL[name], cut)


@pytest.mark.prove
@pytest.mark.parametrize("point", points(LARGE), ids=named)
def test_a_run_killed_anywhere_ends_as_if_undisturbed(tmp_path: Path, point: tuple[str, Cut]) -> None:
    name, cut = point
    killed_and_resumed(tmp_path, LARGE[name], cut)


def test_a_resume_that_is_killed_too_can_be_resumed(tmp_path: Path) -> None:
    plot = SMALL["drift"]
    machine = staged(tmp_path, plot)
    before = Before.of(machine)
    cut_down(machine, Cut(5), *arguments(plot))
    run = machine.runs()[0]
    for event in (7, 9, 12):
        cut_down(machine, Cut(event), "resume", run, run=run)
    done = machine.burnish("resume", run, "--json")
    assert (done.code, done.view["outcome"]) == (0, "approved")
    check_state(machine, plot, before, done.view)


@pytest.mark.parametrize("event", [1, *(pytest.param(event, marks=pytest.mark.prove) for event in (0, 2))])
@pytest.mark.parametrize(
    "milliseconds", [0, pytest.param(40, marks=pytest.mark.prove), pytest.param(160, marks=pytest.mark.prove)]
)
def test_a_decision_outlives_the_one_who_carries_it_out(tmp_path: Path, event: int, milliseconds: int) -> None:
    plot = rehearsed(EPIC["exhausted, a person accepts"])
    machine = staged(tmp_path, plot)
    before = Before.of(machine)
    waiting = machine.burnish(*arguments(plot))
    run = waiting.view["run"]
    assert waiting.code == 3
    decided_at = len(machine.kinds(run)) + 1
    cut_down(machine, Cut(decided_at + event, milliseconds), "decide", run, "b", "--note", "we ship", run=run)
    machine.burnish("resume", run)
    check_state(machine, plot, before, machine.burnish("show", run, "--json").view)


def test_an_agent_without_a_sandbox_outlives_nobody(tmp_path: Path) -> None:
    """Without a sandbox nothing ends with its parent: the resume ends what the killed one left running."""
    machine = drift_machine(tmp_path, HANGING_FIX, sandbox="off")
    before = Before.of(machine)
    run = killed_while_fixing(machine)
    assert machine.processes(run) > 0
    machine.script(FIXED)
    done = machine.burnish("resume", "--json")
    assert (done.code, done.view["outcome"]) == (0, "approved")
    check_nothing_left(machine, before, run)


def test_an_end_that_was_not_settled_is_settled_by_the_next_fix(tmp_path: Path) -> None:
    """Killed after the end was on record and before the branch moved: the work is not done again, only taken."""
    machine = drift_machine(tmp_path, FIXED)
    before = Before.of(machine)
    done = machine.burnish("fix", "--json")
    run = done.view["run"]
    machine.git("reset", "--quiet", "--keep", before.head)
    machine.git("update-ref", f"refs/burnish/kept/{run}", before.head)
    again = machine.burnish("fix", "--json")
    assert (again.code, again.view["run"]) == (0, run)
    assert machine.git("rev-parse", "change") == done.view["subject"]["head"]
    assert machine.calls(run) == [FIRST_FIX, "review:1:reviewer:1", "review:2:reviewer:1"]
    check_nothing_left(machine, before, run)
