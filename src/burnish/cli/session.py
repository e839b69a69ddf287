"""`burnish session`: commands in tmux sessions for tools that run a review loop of their own.

Run as a program, it is one of the two processes of a session: `python -m burnish.cli.session keep FOLDER` runs the
command, and `show FOLDER` shows what that writes, in the tmux session.
"""

import os
import sys
from pathlib import Path
from typing import Annotated, TypedDict

import click

from burnish.cli.errors import ErrorBoundary
from burnish.cli.lazy import LazyCommand, LazyGroup
from burnish.cli.options import json_option
from burnish.report.output import print_error, print_json, print_line, print_piece
from burnish.usecases.follow_run import follow_session
from burnish.usecases.sessions import (
    STEP,
    CommandSession,
    FinalState,
    MonitorRequest,
    MonitorResult,
    build_command,
    end_strays,
    keep,
    kill,
    monitor,
    spawn,
)
from burnish.workspace.repository import Repository

_HELP = """Run commands in tmux sessions, for tools that have a review loop of their own.

A session outlives the command that started it. Its output is kept."""

_BUILD_HELP = """Print the shell command that reviews and fixes STORY under the protocol 'story'.

Pass it to 'burnish session spawn --command'."""

_SPAWN_HELP = """Start a shell command in its own tmux session, and print the name of the session.

'burnish attach SESSION' shows it. The command has no terminal of its own, and keys that you type do not reach it."""

_MONITOR_HELP = """Wait until SESSION has ended, is stuck, or the timeout is reached, and print which.

With '--workflow review --story-key ID', a session that ended counts as completed only if the sprint status, or else the
story's own file, says 'done'. Without --json the answer is one line: state, todos done, todos in all, output file,
reason. The exit code is 0 whenever there is an answer."""

_KILL_HELP = """End SESSION and everything that it started, and remove it. The output of its command is kept.

A session that does not exist or has ended is not an error."""

session = LazyGroup(
    "session",
    {
        "build-cmd": LazyCommand(
            "burnish.cli.session:build_command_line", "Commands", "Print the command that reviews a story."
        ),
        "spawn": LazyCommand("burnish.cli.session:spawn_command", "Commands", "Start a command in a session."),
        "monitor": LazyCommand(
            "burnish.cli.session:monitor_command", "Commands", "Wait for a session, and print its result."
        ),
        "kill": LazyCommand("burnish.cli.session:kill_command", "Commands", "End and remove a session."),
    },
    help_text=_HELP,
)

_step_argument = click.argument("step", type=click.Choice([STEP]), expose_value=False)
"""The step of the other tool's loop. Only one of them is burnish's."""
_state_file_option = click.option(
    "--state-file", metavar="FILE", expose_value=False, help="Accepted and ignored: burnish.toml defines agents."
)
"""The other tool's own state, which it hands to all of its commands."""


@click.command("build-cmd", help=_BUILD_HELP)
@_step_argument
@click.argument("story")
@click.option("--agent", required=True, metavar="NAME", help="The agent, by its name in burnish.toml.")
@_state_file_option
def build_command_line(story: str, *, agent: str) -> int:
    print_line(build_command(story, agent))
    return 0


class SpawnedObject(TypedDict):
    """What `burnish session spawn` prints."""

    version: int
    session: str
    output_file: str


class MonitorObject(TypedDict):
    """What `burnish session monitor` prints, in the format of the tool that it replaces."""

    final_state: Annotated[str, FinalState]
    todos_done: int
    """Always 0."""
    todos_total: int
    """Always 0."""
    output_file: str
    exit_reason: str
    output_verified: bool


class KilledObject(TypedDict):
    """What `burnish session kill` prints."""

    version: int
    session: str
    killed: bool
    """False if there was no such session."""


@click.command("spawn", help=_SPAWN_HELP)
@_step_argument
@click.argument("epic")
@click.argument("story")
@click.option(
    "--command", required=True, metavar="LINE", help="The command to run; 'burnish session build-cmd' prints one."
)
@click.option("--cycle", default=1, metavar="N", help="The number of the review of this story.")
@click.option("--agent", metavar="NAME", expose_value=False, help="Accepted and ignored: the command names the agent.")
@json_option
def spawn_command(epic: str, story: str, *, command: str, cycle: int, as_json: bool) -> int:
    repository = Repository.discover(Path.cwd())
    session = spawn(repository, os.environ, epic=epic, story=story, cycle=cycle, command=command)
    if as_json:
        print_json(SpawnedObject(version=1, session=session.name, output_file=str(session.output)))
    else:
        print_line(session.name)
    return 0


@click.command("monitor", help=_MONITOR_HELP)
@click.argument("name", metavar="SESSION")
@click.option("--workflow", default="", metavar="STEP", help="'review' verifies the status of the story.")
@click.option("--story-key", default="", metavar="ID", help="The story, such as 1.2.")
@click.option(
    "--timeout",
    default=60.0,
    type=click.FloatRange(min=0),
    metavar="MINUTES",
    show_default=True,
    help="Stop waiting after this many minutes.",
)
@click.option(
    "--silent",
    default=600.0,
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    show_default=True,
    help="A session without output for this many seconds is stuck.",
)
@click.option("--project-root", default=".", metavar="FOLDER", help="The repository. Default: this one.")
@click.option("--agent", metavar="NAME", expose_value=False, help="Accepted and ignored.")
@_state_file_option
@click.option("--verbose", is_flag=True, help="Print what the command is waiting for.")
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
        print_error(f"Waiting for {name}, at most {timeout:g} minutes.")
    request = MonitorRequest(workflow=workflow, story=story_key, timeout_minutes=timeout, silent_seconds=silent)
    answer = monitor(repository, name, request)
    if as_json:
        print_json(_monitor_view(answer))
    else:
        print_line(f"{answer.state.value},0,0,{answer.output_file},{answer.reason}")
    return 0


def _monitor_view(answer: MonitorResult) -> MonitorObject:
    return {
        "final_state": answer.state.value,
        "todos_done": 0,
        "todos_total": 0,
        "output_file": answer.output_file,
        "exit_reason": answer.reason,
        "output_verified": answer.output_verified,
    }


@click.command("kill", help=_KILL_HELP)
@click.argument("name", metavar="SESSION")
@json_option
def kill_command(name: str, *, as_json: bool) -> int:
    was_there = kill(Repository.discover(Path.cwd()), name)
    if as_json:
        print_json(KilledObject(version=1, session=name, killed=was_there))
    else:
        print_line(f"{name} has ended." if was_there else f"There is no session {name}.")
    return 0


def show(folder: Path) -> None:
    """Show what the command of a session writes. If its keeper is gone without an end, end the command as well."""
    shown = CommandSession(folder)
    for piece in follow_session(shown):
        print_piece(piece.text)
    if shown.ending is None:
        end_strays(shown)


def main(part: str, folder: str) -> int:
    with ErrorBoundary() as boundary:
        if part == "keep":
            keep(Path(folder), os.environ)
        else:
            show(Path(folder))
    return boundary.exit_code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
