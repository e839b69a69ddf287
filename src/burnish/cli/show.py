"""`burnish show`: one run in full."""

from pathlib import Path

import click

from burnish.cli.output import print_json
from burnish.cli.run_answers import RUN_HELP, json_option, latest_argument
from burnish.cli.run_text import run_lines
from burnish.cli.screen import show_lines
from burnish.usecases.next_steps import is_taken, next_step
from burnish.usecases.run_view import view
from burnish.usecases.runs import open_runs

_HELP = f"""Show a run: its rounds with each review, judgement and fix, its findings, what blocks, and the next step.

{RUN_HELP}"""


@click.command("show", help=_HELP)
@latest_argument
@json_option
def show(reference: str, *, as_json: bool) -> int:
    with open_runs(Path.cwd()) as runs:
        sighting = runs.sight(runs.resolve(reference))
        if as_json:
            print_json(view(sighting.run))
        else:
            taken = is_taken(runs.repository, sighting.run)
            show_lines(run_lines(sighting, next_step(sighting, taken=taken)))
    return 0
