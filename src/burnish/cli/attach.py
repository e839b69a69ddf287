"""`burnish attach`: look over an agent's shoulder."""

import os
import sys
from pathlib import Path

import click

from burnish.cli.output import print_json
from burnish.cli.run_answers import RUN_HELP, json_option, run_argument
from burnish.system.terminal_sessions import Watched, attach
from burnish.usecases.attaching import AttachError, chosen, watchable

_HELP = f"""Watch an agent of RUN at work, where the run was started with '--terminal tmux'.

{RUN_HELP} It can also be a session of 'burnish session spawn'.

REVIEWER is the agent: a reviewer by name, or 'fix-1'. Without it, the only one that is at work.

The view is read-only. Ctrl-b d leaves it, and the agent goes on."""


@click.command("attach", help=_HELP)
@run_argument
@click.argument("reviewer", metavar="[REVIEWER]", default="")
@json_option
def attach_command(reference: str, reviewer: str, *, as_json: bool) -> int:
    run, there = watchable(Path.cwd(), reference)
    if as_json:
        print_json({"version": 1, "run": run, "agents": [_view(watched) for watched in there]})
    else:
        _show(run, chosen(run, there, reviewer))
    return 0


def _show(run: str, watched: Watched) -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise AttachError(
            "There is no terminal here to show it in.", hint=f"`burnish logs -f {run}` follows what agents write."
        )
    attach(watched, os.environ)


def _view(watched: Watched) -> dict[str, object]:
    return {"name": watched.view.name, "session": watched.view.session}
