"""`burnish session build-cmd`: the shell command that has a story reviewed."""

import click

from burnish.cli.output import say
from burnish.cli.session_options import state_file_option, step_argument
from burnish.usecases.sessions import build_command

_HELP = """Print the shell command that has STORY reviewed, and fixed, under the protocol 'story'.

It is meant for 'burnish session spawn --command'."""


@click.command("build-cmd", help=_HELP)
@step_argument
@click.argument("story")
@click.option("--agent", required=True, metavar="NAME", help="Who does it, by its name in burnish.toml.")
@state_file_option
def build_command_line(story: str, *, agent: str) -> int:
    say(build_command(story, agent))
    return 0
