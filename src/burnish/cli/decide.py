"""`burnish decide`: a person's choice for a run that waits."""

from pathlib import Path

import click

from burnish.cli.run_answers import RUN_HELP, json_option, person, run_argument, show_answer, words
from burnish.usecases.decisions import decide
from burnish.usecases.runs import open_runs

_HELP = f"""Choose how a run that waits for a person goes on.

{RUN_HELP}

CHOICE is one of the keys that 'burnish status RUN' lists. Exit codes: 0 taken, 2 not offered."""


@click.command("decide", help=_HELP)
@run_argument
@click.argument("choice")
@click.option("--note", default="", metavar="TEXT", help="Why; kept with the decision.")
@click.option("--agent", metavar="NAME", help="Who reviews instead, where the choice is another agent.")
@json_option
def decide_command(reference: str, choice: str, *, note: str, agent: str | None, as_json: bool) -> int:
    with open_runs(Path.cwd()) as runs:
        name = runs.resolve(reference)
        chosen = None if agent is None else words(agent)
        spoken = decide(runs, name, words(choice), note=words(note), agent=chosen, by=person())
        show_answer(runs, spoken, as_json=as_json)
    return 0
