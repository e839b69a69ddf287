"""`burnish cancel`: end a run; what it has found and fixed so far is kept."""

from pathlib import Path

import click

from burnish.cli.run_answers import RUN_HELP, json_option, person, run_argument, show_answer, words
from burnish.usecases.decisions import cancel
from burnish.usecases.runs import open_runs

_HELP = f"""End a run. Its agents are ended, and what it has found and fixed so far is kept.

{RUN_HELP}

The command does not wait for the end of the agents; 'burnish wait RUN' does."""


@click.command("cancel", help=_HELP)
@run_argument
@click.option("--note", default="", metavar="TEXT", help="Why; kept with the run.")
@json_option
def cancel_command(reference: str, *, note: str, as_json: bool) -> int:
    with open_runs(Path.cwd()) as runs:
        spoken = cancel(runs, runs.resolve(reference), note=words(note), by=person())
        show_answer(runs, spoken, as_json=as_json)
    return 0
