"""`burnish prompt`: exactly what an agent would be sent."""

import os
from pathlib import Path

import click

from burnish.cli.lazy import LazyCommand, LazyGroup
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
@click.option(
    "--base", metavar="REF", help="The ref that the change will be merged into. Default: origin/HEAD, main or master."
)
@click.option("--branch", metavar="REF", help="The branch to review. Default: the branch that is checked out.")
@click.option("--protocol", metavar="P", help="The protocol, by name or path.")
@click.option("--brief", metavar="FILE", default="", help="File with the requirements and acceptance criteria.")
@click.option("--intent", metavar="TEXT", default="", help="What the change should do.")
@click.option("--story", metavar="ID", default="", help="The story or ticket that the change belongs to.")
def show(
    *,
    reviewer: str | None,
    fix: bool,
    base: str | None,
    branch: str | None,
    protocol: str | None,
    brief: str,
    intent: str,
    story: str,
) -> int:
    request = RunRequest(
        mode=Mode.FIX if fix else Mode.REVIEW,
        base=base,
        branch=branch,
        brief=brief,
        intent=intent,
        story=story,
        flags=Flags(protocol=protocol),
    )
    settled = plan(Path.cwd(), request, os.environ)
    print_line(show_prompt(settled, reviewer, fix=fix))
    return 0
