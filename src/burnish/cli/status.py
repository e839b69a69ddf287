"""`burnish status`: what every run is doing, or one of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from burnish.cli import run_words
from burnish.cli.activity import work_line
from burnish.cli.output import print_json, say
from burnish.cli.run_answers import RUN_HELP, json_option
from burnish.cli.run_text import budget_lines, choice_lines, headline, step_lines
from burnish.cli.screen import Line, Part, Tone, Toned, show_lines
from burnish.cli.tables import table
from burnish.core.state import Waiting
from burnish.system import clock
from burnish.usecases.next_steps import Step, next_steps
from burnish.usecases.runs import NoRunsError, Runs, Sighting, open_runs
from burnish.usecases.status import BrokenRun, Listing, list_runs, listing_view, one_run, open_blockers

_HELP = f"""List the runs of this repository, the newest first, or say what one RUN is doing.

{RUN_HELP}

A run that is neither at its end nor waiting for a person, and that no living process drives, is 'interrupted'."""

_HEADS = ("RUN", "STATE", "PROTOCOL", "BRANCH", "ROUNDS", "BLOCKING", "AGE")


@click.command("status", help=_HELP)
@click.argument("reference", metavar="[RUN]", required=False)
@click.option("--all", "everything", is_flag=True, help="List every run, not only the newest twenty.")
@json_option
def status(reference: str | None, *, everything: bool, as_json: bool) -> int:
    try:
        with open_runs(Path.cwd()) as runs:
            listing = list_runs(runs, everything=everything) if reference is None else one_run(runs, reference)
            steps = _steps(runs, listing)
    except NoRunsError as error:
        if reference is not None:
            raise
        _show_nothing(error, as_json=as_json)
        return 0
    if as_json:
        print_json(listing_view(listing))
    elif reference is None:
        _show_table(listing, steps)
    else:
        show_lines(line for row in listing.rows if isinstance(row, Sighting) for line in _one(row, listing, steps))
    return 0


def _show_nothing(error: NoRunsError, *, as_json: bool) -> None:
    if as_json:
        print_json(listing_view(Listing()))
    else:
        say(f"{error.message} {error.hint}")


def _steps(runs: Runs, listing: Listing) -> dict[str, tuple[Step, ...]]:
    """What a person should do about runs that do not go on by themselves."""
    stuck = (row for row in listing.rows if isinstance(row, Sighting) and _needs_a_person(row))
    return {row.run.id: next_steps(runs.repository, row) for row in stuck}


def _needs_a_person(row: Sighting) -> bool:
    return isinstance(row.run.phase, Waiting) or row.interrupted


def _one(row: Sighting, listing: Listing, steps: Mapping[str, Sequence[Step]]) -> list[Line]:
    rest = step_lines(steps.get(row.run.id, ()))
    return [*headline(row), *budget_lines(row.run), *_work_lines(row, listing), *choice_lines(row.run), *rest]


def _work_lines(row: Sighting, listing: Listing) -> list[Line]:
    now = clock.now()
    return [(f"  {work_line(work, now)}",) for work in listing.at_work.get(row.run.id, ())]


def _show_table(listing: Listing, steps: Mapping[str, Sequence[Step]]) -> None:
    if not listing.rows:
        say(f"{NoRunsError().message} {NoRunsError().hint}")
        return
    now = clock.now()
    show_lines(table(_HEADS, [_cells(row, now) for row in listing.rows]))
    for row in listing.rows:
        show_lines(_remark(row, listing, steps))
    if listing.left_out:
        say(f"{run_words.number(listing.left_out, 'older run')}: burnish status --all")


def _cells(row: Sighting | BrokenRun, now: float) -> tuple[Part, ...]:
    if isinstance(row, BrokenRun):
        return row.name, Toned("unreadable", Tone.BAD), "", "", "", "", ""
    run = row.run
    return (
        run.id,
        run_words.state(row),
        run.protocol.name,
        run.subject.branch,
        f"{len(run.rounds)}/{run.limit}",
        str(open_blockers(run)),
        run_words.duration(now - run.started.at),
    )


def _remark(row: Sighting | BrokenRun, listing: Listing, steps: Mapping[str, Sequence[Step]]) -> list[Line]:
    """What somebody should do about a run, below the table, where there is room."""
    if isinstance(row, BrokenRun):
        return [(row.error,)]
    if _needs_a_person(row):
        state = "is interrupted" if row.interrupted else "waits for a person"
        return [(f"{row.run.id} {state}:",), *step_lines(steps.get(row.run.id, ()))]
    lines = _work_lines(row, listing)
    return [(f"{row.run.id} is at work:",), *lines] if lines else []
