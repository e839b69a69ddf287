"""What `burnish run` does: ask for an epic, show it while it goes on, and tell its end."""

import os
from pathlib import Path
from typing import Any

import click

from burnish.cli.trust import ask_trust
from burnish.core.epics.events import AnyEpicEvent
from burnish.core.epics.plan import counted
from burnish.core.epics.state import Epic, EpicUnderReview, run_of
from burnish.core.state import Run
from burnish.core.values import replace
from burnish.report.account import RunSnapshot, WorkInProgress, work_in_progress
from burnish.report.epics import dry_run_lines, epic_object, epic_summary, event_line
from burnish.report.live import LiveLines
from burnish.report.output import at_terminal, print_error, print_json, print_line, print_lines
from burnish.report.text import question
from burnish.settings.loading import Flags
from burnish.settings.types import Complexity
from burnish.usecases.bead_loop import BeadFlags
from burnish.usecases.epics import files_in_the_way
from burnish.usecases.plan_epic import EpicRequest, agents_of, estimated_cost, plan_epic
from burnish.usecases.run_epic import EpicResult, EpicSurface, resume_epic, run_epic, start_epic_in_background
from burnish.usecases.tell_run import tell_state


def start(options: dict[str, Any]) -> int:
    flags = Flags(**{name: options[name] for name in Flags.__struct_fields__ if name in options})
    own = ("complexity", "stories", "state_file")
    fields = (name for name in EpicRequest.__struct_fields__ if name in options and name not in own)
    stories = tuple(name.strip() for name in (options["stories"] or "").split(",") if name.strip())
    beads = BeadFlags(**{name: options[name] for name in BeadFlags.__struct_fields__ if name != "parallel"})
    if beads.fix_attempts is not None and options["max_rounds"] is not None:
        raise click.UsageError("--max-rounds and --review-max-fix-attempts set the same limit: use one of them.")
    request = EpicRequest(
        **{name: options[name] for name in fields},
        flags=flags,
        stories=stories,
        state_file=options["state_file"] or "",
        beads=beads,
    )
    if options["complexity"]:
        request = replace(request, complexity=Complexity(options["complexity"]))
    if options["dry_run"]:
        planned = plan_epic(Path.cwd(), request, os.environ)
        for line in dry_run_lines(planned.started, agents_of(planned), estimated_cost(planned)):
            print_error(f"[DRY-RUN] {line}")
        for notice in planned.notices:
            _print_notice(notice)
        return 0
    with LiveLines() as live:
        surface = _surface(options, live)
        if options["background"]:
            print_line(start_epic_in_background(Path.cwd(), request, os.environ, surface))
            return 0
        result = run_epic(Path.cwd(), request, os.environ, surface)
    return _deliver(result, as_json=options["as_json"])


def resume(name: str, options: dict[str, Any]) -> int:
    with LiveLines() as live:
        result = resume_epic(Path.cwd(), name, os.environ, _surface(options, live))
    return _deliver(result, as_json=options["as_json"])


class _Display:
    """The lines of all agents at work below what happens in the epic."""

    def __init__(self, live: LiveLines) -> None:
        self._live = live
        self._runs: dict[str, Run] = {}
        self._works: tuple[WorkInProgress, ...] = ()

    def notice(self, notice: str) -> None:
        self._live.follow(self._works, f"note: {notice}")

    def event(self, event: AnyEpicEvent, epic: Epic) -> None:
        self._look(epic)
        self._live.follow(self._works, event_line(event, epic) or "")

    def progress(self, epic: Epic, run: Run) -> None:
        self._runs[run.id] = run
        self._look(epic)
        self._live.follow(self._works)

    def _look(self, epic: Epic) -> None:
        review = epic.review.run if isinstance(epic.review, EpicUnderReview) else ""
        names = [*(run_of(one.state) for one in epic.running), review]
        runs = (self._runs[name] for name in names if name in self._runs)
        self._works = tuple(work for run in runs for work in work_in_progress(run))


def _surface(options: dict[str, Any], live: LiveLines) -> EpicSurface:
    quiet, verbose = options["quiet"], options["verbose"]
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other.")
    interactive = not options["as_json"] and at_terminal()
    display = _Display(live)
    return EpicSurface(
        notice=_say_nothing if quiet else display.notice,
        begun=_say_nothing if quiet else _print_title,
        event=_say_nothing if quiet else _print_event if verbose else display.event,
        progress=_say_nothing if quiet else _print_progress if verbose else display.progress,
        ask_trust=ask_trust if interactive else None,
    )


def _say_nothing(*_: object) -> None:
    pass


def _print_notice(notice: str) -> None:
    print_error(f"note: {notice}")


def _print_title(epic: Epic) -> None:
    print_error(f"{epic.plan.id}: {counted(epic.plan, len(epic.tickets))} into {epic.started.branch} ({epic.id})")


def _print_event(event: AnyEpicEvent, epic: Epic) -> None:
    line = event_line(event, epic)
    if line:
        print_error(line)


def _print_progress(epic: Epic, run: Run) -> None:
    del epic
    labels = [work.label for work in work_in_progress(run) if work.label]
    print_error(f"  {', '.join(labels) or f'{run.subject.story_or_branch}: {type(run.phase).__name__.lower()}'}")


def _deliver(result: EpicResult, *, as_json: bool) -> int:
    for notice in result.notices:
        _print_notice(notice)
    in_the_way = files_in_the_way(Path.cwd(), result.epic, result.runs)
    if as_json:
        print_json(epic_object(result.epic, result.runs, in_the_way=in_the_way))
    else:
        for one in result.epic.waiting:
            run = result.runs.get(run_of(one.state))
            if run is not None and run.choices:
                asked = question(tell_state(RunSnapshot(run=run)))
                print_line(f"\n{asked.removesuffix('Your choice:').rstrip()}")
        print_lines(epic_summary(result.epic, result.runs, in_the_way))
    return result.exit_code
