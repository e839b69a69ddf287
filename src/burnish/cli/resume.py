"""`burnish resume`: go on with a run that was interrupted, or whose question was answered."""

import os
from pathlib import Path

import click

from burnish.cli import asking, progress
from burnish.cli.activity import Activity
from burnish.cli.output import complain
from burnish.cli.running import finish
from burnish.cli.subject_options import output_options, terminal_option
from burnish.ledger.sqlite import open_ledger
from burnish.system.terminal import find_tmux
from burnish.usecases.beginning import resume
from burnish.usecases.driving import drive
from burnish.usecases.planning import refuse_inside
from burnish.workspace.repository import Repository

_HELP = """Go on with RUN (default: the newest that has not ended). No review that has a result is made again.

Exit codes are those of 'burnish fix'."""


@click.command("resume", help=_HELP)
@click.argument("run", required=False)
@terminal_option
@output_options
def resume_command(run: str | None, *, terminal: str | None, form: str, as_json: bool, output: str | None) -> int:
    refuse_inside(os.environ)
    if terminal:
        find_tmux()  # before it is taken over
    form = "json" if as_json else form
    repository = Repository.discover(Path.cwd())
    interactive = form == "text" and asking.at_terminal()
    with open_ledger(repository.state_dir) as ledger, Activity() as live:
        journal = resume(repository, ledger, run)
        complain(progress.title(journal.state))
        driven = drive(
            repository,
            ledger,
            journal,
            os.environ,
            watch=live.around(progress.show),
            ask=asking.ask if interactive else None,
            activity=live.update,
            terminal=terminal is not None,
        )
    return finish(repository, driven, form, output)
