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
    {"show": LazyCommand("burnish.cli.prompt:show", "Commands", "The prompt of a reviewer, or of the fixer.")},
    help_text="The prompts that agents are sent. Your own go to .ai_agents/prompts/ or into [prompts] of burnish.toml.",
)

_HELP = """Print exactly what would be sent in the first round, and send nothing.

Text of agents and of the repository is fenced as data, with a mark that it cannot contain."""


@click.command("show", help=_HELP)
@click.option("--reviewer", metavar="NAME", help="Whose prompt. Default: the first of the panel.")
@click.option("--fix", "fix", is_flag=True, help="The fixer's prompt instead.")
@click.option("--base", metavar="REF", help="What it would be merged into. Default: origin/HEAD, main, master.")
@click.option("--branch", metavar="REF", help="The branch to look at. Default: the one that is checked out.")
@click.option("--protocol", metavar="P", help="The rules, by name or path.")
@click.option("--brief", metavar="FILE", default="", help="Requirements and acceptance criteria.")
@click.option("--intent", metavar="TEXT", default="", help="What the change is meant to do.")
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
