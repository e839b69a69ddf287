"""`burnish wait`: block until a run has ended or waits for a person."""

from pathlib import Path

import click

from burnish.cli.output import complain, print_json
from burnish.cli.run_answers import RUN_HELP, json_option, latest_argument
from burnish.cli.run_text import choice_lines, headline, step_lines
from burnish.cli.screen import show_lines
from burnish.usecases.next_steps import next_steps
from burnish.usecases.run_view import exit_code, view
from burnish.usecases.runs import open_runs
from burnish.usecases.waiting import Waited, wait_for

_HELP = f"""Wait until a run has ended or waits for a person, and exit as the run itself would have.

{RUN_HELP}

Exit codes: 0 approved, accepted or skipped, 1 findings remain or cancelled, 3 waiting for a person, 4 did not run,
also where nobody drives the run any more or the time is over, 5 a budget ran out."""


@click.command("wait", help=_HELP)
@latest_argument
@click.option("--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="Wait no longer than this.")
@json_option
def wait(reference: str, *, timeout: float | None, as_json: bool) -> int:
    with open_runs(Path.cwd()) as runs:
        name = runs.resolve(reference)
        waited = wait_for(runs, name, timeout)
        sighting = waited.sighting
        if as_json:
            print_json(view(sighting.run, next_steps(runs.repository, sighting)))
        else:
            show_lines([*headline(sighting), *choice_lines(sighting.run)])
            if sighting.at_rest:
                show_lines(step_lines(next_steps(runs.repository, sighting)))
    _explain(waited)
    return exit_code(waited.sighting.run)


def _explain(waited: Waited) -> None:
    """Why the command ends although the run has not."""
    name = waited.sighting.run.id
    if waited.timed_out:
        complain("The time is over; the run goes on.")
        complain(f"hint: `burnish wait {name}` waits again.")
    elif waited.sighting.interrupted:
        complain("interrupted: the run is not active.")
        complain(f"hint: `burnish resume {name}` goes on with it.")
