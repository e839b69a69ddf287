"""`burnish session spawn`: start a command in a tmux session that outlives this call."""

import os
from pathlib import Path

import click

from burnish.cli.output import print_json, say
from burnish.cli.run_answers import json_option
from burnish.cli.session_options import step_argument
from burnish.usecases.sessions import spawn
from burnish.workspace.repository import Repository

_HELP = """Start a shell command in a tmux session of its own, and print the name of the session.

'burnish attach SESSION' looks into it. The command has no terminal of its own, and nothing that is typed reaches it."""


@click.command("spawn", help=_HELP)
@step_argument
@click.argument("epic")
@click.argument("story")
@click.option("--command", required=True, metavar="LINE", help="What to run, as 'burnish session build-cmd' says it.")
@click.option("--cycle", default=1, metavar="N", help="Which review of the story this is.")
@click.option("--agent", metavar="NAME", expose_value=False, help="Accepted and not read: the command names it.")
@json_option
def spawn_command(epic: str, story: str, *, command: str, cycle: int, as_json: bool) -> int:
    repository = Repository.discover(Path.cwd())
    session = spawn(repository, os.environ, epic=epic, story=story, cycle=cycle, command=command)
    if as_json:
        print_json({"version": 1, "session": session.name, "output_file": str(session.output)})
    else:
        say(session.name)
    return 0
