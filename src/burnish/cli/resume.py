"""`burnish resume`: go on with a run that was interrupted, or whose question was answered."""

import os
from pathlib import Path

import click

from burnish.cli import asking, progress
from burnish.cli.output import complain
from burnish.cli.running import finish
from burnish.cli.subject_options import FORMATS
from burnish.usecases.driving import drive, resume
from burnish.usecases.planning import refuse_inside
from burnish.workspace.repository import Repository

_HELP = """Go on with RUN (default: the newest that has not ended). No review that has a result is made again.

Exit codes are those of 'burnish fix'."""


@click.command("resume", help=_HELP)
@click.argument("run", required=False)
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", help="The form of the result.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json. Never prompts.")
@click.option("--output", metavar="FILE", help="Write the result to a file instead of the standard output.")
def resume_command(run: str | None, *, form: str, as_json: bool, output: str | None) -> int:
    refuse_inside(os.environ)
    form = "json" if as_json else form
    repository = Repository.discover(Path.cwd())
    ledger, journal = resume(repository, run)
    complain(progress.title(journal.state))
    interactive = form == "text" and asking.at_terminal()
    driven = drive(
        repository, ledger, journal, os.environ, watch=progress.show, ask=asking.ask if interactive else None
    )
    return finish(driven, form, output)
