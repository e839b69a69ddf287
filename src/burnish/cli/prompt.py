"""`burnish prompt`: exactly what an agent would be sent."""

import os
from pathlib import Path
from typing import Any

import click

from burnish.cli.lazy import LazyCommand, LazyGroup
from burnish.cli.options import base_option, branch_option, brief_option, story_option
from burnish.core.events import Mode
from burnish.report.output import print_line
from burnish.settings.loading import Flags
from burnish.usecases.plan_run import RunRequest, plan
from burnish.usecases.show_prompt import show_prompt

prompt = LazyGroup(
    "prompt",
    {"show": LazyCommand("burnish.cli.prompt:show", "Commands", "Print the prompt of a reviewer or of the fixer.")},
    help_text=(
        "Show the prompts that agents are sent. Put your own into .ai_agents/prompts/ or [prompts] of burnish.toml."
    ),
)

_HELP = """Print exactly what would be sent in the first round, and send nothing.

Text from agents and from the repository is fenced as data, with a token that the text does not contain."""


@click.command("show", help=_HELP)
@click.option("--reviewer", metavar="NAME", help="The reviewer. Default: the first one of the panel.")
@click.option("--fix", "fix", is_flag=True, help="Print the fixer's prompt instead.")
@base_option
@branch_option
@click.option("--protocol", metavar="P", help="The protocol, by name or path.")
@brief_option
@click.option("--intent", metavar="TEXT", default="", help="What the change should do.")
@story_option
def show(*, reviewer: str | None, fix: bool, protocol: str | None, **subject: Any) -> int:
    mode = Mode.FIX if fix else Mode.REVIEW
    planned = plan(Path.cwd(), RunRequest(mode=mode, flags=Flags(protocol=protocol), **subject), os.environ)
    print_line(show_prompt(planned, reviewer, fix=fix))
    return 0
