"""`burnish session monitor`: wait for a session and say what became of it, in the other tool's words."""

from pathlib import Path

import click

from burnish.cli.output import complain, print_json, say
from burnish.cli.run_answers import json_option
from burnish.cli.session_options import state_file_option
from burnish.usecases.session_answers import Answer, Wish, monitor
from burnish.workspace.repository import Repository

_HELP = """Wait until SESSION has ended, is stuck, or the time is over, and say which.

With '--workflow review --story-key ID', an end counts as completed only where the sprint status, else the story's own
file, says 'done'. Without --json the answer is one line: state, todos done, todos in all, output file, reason.
The exit code is 0 whenever there is an answer."""


@click.command("monitor", help=_HELP)
@click.argument("name", metavar="SESSION")
@click.option("--workflow", default="", metavar="STEP", help="'review' has the story verified.")
@click.option("--story-key", default="", metavar="ID", help="The story, such as 1.2.")
@click.option(
    "--timeout",
    default=60.0,
    type=click.FloatRange(min=0),
    metavar="MINUTES",
    show_default=True,
    help="Wait no longer than this.",
)
@click.option(
    "--silent",
    default=600.0,
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    show_default=True,
    help="Without a word for this long, it is stuck.",
)
@click.option("--project-root", default=".", metavar="FOLDER", help="The repository. Default: this one.")
@click.option("--agent", metavar="NAME", expose_value=False, help="Accepted and not read.")
@state_file_option
@click.option("--verbose", is_flag=True, help="Say what is waited for.")
@json_option
def monitor_command(
    name: str,
    *,
    workflow: str,
    story_key: str,
    timeout: float,
    silent: float,
    project_root: str,
    verbose: bool,
    as_json: bool,
) -> int:
    repository = Repository.discover(Path(project_root))
    if verbose:
        complain(f"Waiting for {name}, for {timeout:g} minutes at most.")
    wish = Wish(workflow=workflow, story=story_key, timeout_minutes=timeout, silent_seconds=silent)
    answer = monitor(repository, name, wish)
    if as_json:
        print_json(_view(answer))
    else:
        say(f"{answer.state.value},0,0,{answer.output_file},{answer.reason}")
    return 0


def _view(answer: Answer) -> dict[str, object]:
    return {
        "final_state": answer.state.value,
        "todos_done": 0,
        "todos_total": 0,
        "output_file": answer.output_file,
        "exit_reason": answer.reason,
        "output_verified": answer.output_verified,
    }
