"""Draws docs/state-machine.md from the tables of the loop itself. `--check` fails when the file is out of date."""

import sys
from collections import defaultdict
from pathlib import Path

from burnish.core.errors import RefusedError
from burnish.core.events import ProcessStarted, TimerFired, WorkLost, WorkStarted
from burnish.core.loop import STEPS
from burnish.core.state import Ended
from burnish.core.steps.work import advance
from burnish.core.work import Pausing, ProcessMark, Ready, Running

TARGET = Path(__file__).parent / "state-machine.md"

HEAD = """\
# The state machine

Every phase of a run, and the events that are legal in it. `docs/diagrams.py` generates this page from
`burnish.core.loop.STEPS`; `make check` fails if it is out of date. An event that is not listed for a phase is illegal
there: it raises an error that names event and phase, and changes nothing. What each event means:
[events](reference/events.md).
"""


def name(kind: type) -> str:
    return kind.__name__


def phase_diagram() -> list[str]:
    """The phases of a run, and the events that lead from one to another."""
    edges: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for step in STEPS:
        for target in step.to:
            if target is not step.phase:
                edges[name(step.phase), name(target)].append(name(step.event))
    lines = ["```mermaid", "stateDiagram-v2"]
    lines += [f"    [*] --> {first}: RunStarted" for first in ("Building", "Validating", "Reviewing")]
    lines += [f"    {source} --> {target}: {', '.join(events)}" for (source, target), events in sorted(edges.items())]
    return [*lines, f"    {name(Ended)} --> [*]", "```"]


def work_diagram() -> list[str]:
    """The states of one piece of work; a result or a final failure ends it."""
    works = (Ready(), Running(attempt=1, agent="a", since=0), Pausing(attempt=1, until=0))
    happenings: tuple[WorkStarted | ProcessStarted | WorkLost | TimerFired, ...] = (
        WorkStarted(at=0, effect="k:1", agent="a"),
        ProcessStarted(at=0, effect="k:1", process=ProcessMark(pid=1, started=0)),
        WorkLost(at=0, effect="k:1"),
        TimerFired(at=0, effect="pause:k:1"),
    )
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> Ready"]
    for work in works:
        for event in happenings:
            try:
                after = advance(work, "k", event)
            except RefusedError:
                continue
            lines.append(f"    {name(type(work))} --> {name(type(after))}: {name(type(event))}")
    lines += [
        "    Running --> Ready: WorkFailed, retried at once",
        "    Running --> Pausing: WorkFailed, retried later",
        "    Running --> [*]: a result, or WorkFailed for the last time",
        "```",
    ]
    return lines


def table() -> list[str]:
    """Every legal step."""
    steps = sorted(STEPS, key=lambda step: (name(step.phase), name(step.event)))
    rows = [f"| {name(step.phase)} | {name(step.event)} | {', '.join(map(name, step.to))} |" for step in steps]
    return ["| phase | event | leads to |", "|---|---|---|", *rows]


def page() -> str:
    parts = [
        [HEAD],
        ["## Phases of a run", "", *phase_diagram(), ""],
        ["## One task", "", "Each review, fix, build, validation and seal.", ""],
        [*work_diagram(), ""],
        ["## Legal steps", "", *table(), ""],
    ]
    return "\n".join(line for part in parts for line in part)


def main() -> int:
    if "--check" not in sys.argv:
        TARGET.write_text(page(), encoding="utf-8")
        return 0
    if TARGET.is_file() and TARGET.read_text(encoding="utf-8") == page():
        return 0
    sys.stderr.write(f"{TARGET.name} is out of date: run 'python docs/diagrams.py'.\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
