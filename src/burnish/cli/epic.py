"""`burnish run`: a whole epic, ticket by ticket."""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from burnish.cli.options import developer_prompt_option, json_option, policy_options, progress_options

_RUN_HELP = """Build every ticket of SOURCE on its own branch, review it, and merge it once it is approved.

SOURCE is the YAML file of an epic, a sprint-status.yaml with stories, a markdown file with a list of tasks (- [ ] ...),
the folder .beads, or a folder with one of them.

A ticket begins as soon as the tickets that it depends on are merged. At the end the whole epic is reviewed, too.
Run the same command again to continue: tickets that are merged are not built again.

\b
burnish run epic.yaml --dry-run     the plan; nothing is changed
burnish run epic.yaml
burnish run TODO.md --parallel 2
burnish run sprint-status.yaml --stories 1.1,1.2
burnish run .beads                  bead by bead, the most urgent first
burnish status EPIC                 in another terminal: what it is doing

Ctrl-C lets the tickets at work finish and begins no others; a second Ctrl-C interrupts them.

Exit codes: 0 approved, 1 tickets failed, 2 usage or configuration, 3 waiting for a person, 4 did not run,
5 over budget, 6 unproven, 130 interrupted."""


@click.command("run", help=_RUN_HELP)
@click.argument("source", metavar="SOURCE")
@click.option(
    "--base", metavar="REF", help="What the epic will be merged into. Default: the branch that is checked out."
)
@click.option(
    "--parallel",
    metavar="N",
    type=click.IntRange(min=1),
    help="Maximum number of tickets at work at once. Default: [epics] parallel, else 4; 1 for stories and beads.",
)
@click.option("--squash", is_flag=True, help="Merge each ticket as one commit.")
@click.option(
    "--serialise", is_flag=True, help="Build tickets that say they change the same files one after the other."
)
@click.option("--pr", "pull_request", is_flag=True, help="Once approved, push the branch and open a pull request (gh).")
@click.option("--stories", metavar="IDS", help="Only these stories of a sprint status, such as 1.1,1.2.")
@click.option("--state-file", metavar="FILE", help="The state document of the tool that orchestrates the stories.")
@click.option("--checkpoint", is_flag=True, help="Pause after each ticket; 'burnish resume EPIC' continues.")
@click.option(
    "--review-whole", is_flag=True, help="Review everything that was merged together as well. Always so for an epic."
)
@click.option(
    "--review/--no-review",
    default=None,
    help="Beads: whether what is built is reviewed. Without a review, nothing is merged.",
)
@click.option(
    "--review-max-fix-attempts",
    "fix_attempts",
    metavar="N",
    type=click.IntRange(min=0),
    help="Beads: maximum number of fixes of one bead.",
)
@click.option(
    "--iterations",
    metavar="N",
    type=click.IntRange(min=1),
    help="Beads: how often agents are started for up to --parallel beads. Default: [beads] iterations, else 50.",
)
@click.option(
    "--pause", metavar="S", type=click.FloatRange(min=0), help="Beads: seconds between two iterations. Default: 0."
)
@click.option(
    "--top-level-bead", "top", metavar="ID", default="", help="Beads: work only on this bead and those below it."
)
@developer_prompt_option
@policy_options
@click.option("--background", is_flag=True, help="Run in the background; follow it with 'burnish status EPIC'.")
@click.option("--dry-run", is_flag=True, help="Print the plan, and change nothing.")
@progress_options
@json_option
def run(**options: Any) -> int:
    from burnish.cli.drive_epic import start  # noqa: PLC0415 - its help needs no runner

    return start(options)


@click.command("epic-run", hidden=True)
@click.argument("epic")
@click.argument("run")
def epic_run(epic: str, run: str) -> int:
    """Drive one run of an epic. `burnish run` starts it."""
    from burnish.usecases.drive_ticket import drive_ticket  # noqa: PLC0415

    drive_ticket(Path.cwd(), epic, run, os.environ, _wake)
    return 0


def _wake() -> None:
    """A line for the process that started this one, as long as it reads."""
    with suppress(OSError):
        sys.stdout.write("\n")
        sys.stdout.flush()
