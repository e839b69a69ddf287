"""`burnish show`: one run in full."""

from pathlib import Path

import click

from burnish.cli.documents import document, put
from burnish.cli.run_answers import RUN_HELP, latest_argument
from burnish.cli.run_text import run_lines
from burnish.cli.screen import plain, show_lines
from burnish.cli.subject_options import output_options
from burnish.usecases.next_steps import next_steps
from burnish.usecases.retention import LOGS_REMOVED, logs_were_removed
from burnish.usecases.runs import open_runs

_HELP = f"""Show a run: its rounds with each review, judgement and fix, its findings, what blocks, and the next step.

{RUN_HELP}"""


@click.command("show", help=_HELP)
@latest_argument
@output_options
def show(reference: str, *, form: str, as_json: bool, output: str | None) -> int:
    form = "json" if as_json else form
    with open_runs(Path.cwd()) as runs:
        sighting = runs.sight(runs.resolve(reference))
        steps = next_steps(runs.repository, sighting)
        removed = logs_were_removed(runs, sighting.run.id)
    headline, *account = run_lines(sighting, steps)
    lines = [headline, *([(f"  {LOGS_REMOVED.format(sighting.run.id)}",)] if removed else []), *account]
    if form == "text" and output is None:
        show_lines(lines)
    elif form == "text":
        put(plain(lines), output)
    else:
        put(document(sighting, form, steps), output)
    return 0
