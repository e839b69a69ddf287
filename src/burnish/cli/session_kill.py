"""`burnish session kill`: end a session and forget it."""

from pathlib import Path

import click

from burnish.cli.output import print_json, say
from burnish.cli.run_answers import json_option
from burnish.usecases.sessions import kill
from burnish.workspace.repository import Repository

_HELP = """End SESSION with everything that it started, and forget it. What its command wrote stays.

One that is not there, or has ended, is no error."""


@click.command("kill", help=_HELP)
@click.argument("name", metavar="SESSION")
@json_option
def kill_command(name: str, *, as_json: bool) -> int:
    was_there = kill(Repository.discover(Path.cwd()), name)
    if as_json:
        print_json({"version": 1, "session": name, "killed": was_there})
    else:
        say(f"{name} has ended." if was_there else f"There is no session {name}.")
    return 0
