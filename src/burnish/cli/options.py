"""The arguments and options that commands share."""

import getpass
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from burnish.report.forms import FORMS
from burnish.settings.types import Complexity

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Options = Sequence[Callable[[Any], Any]]

RUN_HELP = """RUN is the name of a run or a unique prefix of it. Default: the latest run of this branch."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
# As `burnish.usecases.runs` spells it; to import that for a page of help would load the ledger.
LATEST = "latest"
latest_argument = click.argument("reference", metavar="[RUN]", default=LATEST)
"""The run, the latest of the branch unless named."""

base_option = click.option(
    "--base",
    metavar="REF",
    help="The ref that the change will be merged into. Default: what CI names, an upstream with another name, "
    "origin/HEAD, main or master.",
)
branch_option = click.option(
    "--branch", metavar="REF", help="The branch to review. Default: the branch that is checked out."
)
brief_option = click.option(
    "--brief", metavar="FILE", default="", help="File with the requirements and acceptance criteria."
)
story_option = click.option("--story", metavar="ID", default="", help="The story or ticket that the change belongs to.")

_SUBJECT: _Options = (
    base_option,
    branch_option,
    click.option(
        "--uncommitted",
        "--dirty",
        "uncommitted",
        is_flag=True,
        help="Review the working tree as it is, with uncommitted changes.",
    ),
    click.option("--commit", metavar="REV", default="", help="Review this commit by itself."),
    brief_option,
    click.option("--intent", metavar="TEXT", default="", help="What the change should do, in one sentence."),
    story_option,
)
_POLICY: _Options = (
    click.option(
        "--protocol", metavar="P", help="The protocol, by name or path. Default: burnish.toml, else 'default'."
    ),
    click.option(
        "--agent",
        "agents",
        metavar="NAME | ROLE=NAME",
        multiple=True,
        help="The agent that reviews, fixes or builds. Repeatable.",
    ),
    click.option(
        "--complexity",
        type=click.Choice([level.value for level in Complexity]),
        help="Difficulty of the change: uses the agents of [roles.complexity].",
    ),
    click.option("--model", metavar="M", help="The model that agents use."),
    click.option("--timeout", metavar="S", type=float, help="Stop an agent after this many seconds."),
    click.option(
        "--allow-unexamined",
        is_flag=True,
        help="Approve even if not everything was examined; the seal is of kind 'unproven'.",
    ),
    click.option(
        "--max-rounds", metavar="N", type=int, help="Maximum number of reviews, up to the protocol's hard cap."
    ),
    click.option(
        "--reviewer-prompt",
        metavar="FILE",
        help="File that replaces the beginning of reviewers' prompts: in the base, or an absolute path.",
    ),
)
developer_prompt_option = click.option(
    "--developer-prompt",
    metavar="FILE",
    help="File that replaces the beginning of the builder's prompt: in the base, or an absolute path.",
)
_START: _Options = (
    click.option("--background", is_flag=True, help="Run in the background; follow it with 'burnish wait'."),
    click.option("--dry-run", is_flag=True, help="Print what would be done, and change nothing."),
)
terminal_option = click.option(
    "--terminal",
    type=click.Choice(["tmux"]),
    envvar="BURNISH_TERMINAL",
    help="Show each agent in a tmux session that 'burnish attach' opens.",
)
_OUTPUT: _Options = (
    click.option("--format", "form", type=click.Choice(list(FORMS)), default="text", help="Output format."),
    click.option("--json", "as_json", is_flag=True, help="Same as --format json. Never prompts."),
    click.option("--output", metavar="FILE", help="Write the result to this file instead of standard output."),
)
_PROGRESS: _Options = (
    click.option("-q", "--quiet", is_flag=True, help="Print the result only, not what happens meanwhile."),
    click.option("-v", "--verbose", is_flag=True, help="Also print what agents and tests are doing, line by line."),
)


def subject_options(command: _Command) -> _Command:
    """Add all of them, in the order of the help."""
    return _with(command, (*_SUBJECT, *_POLICY, *_START, terminal_option, *_PROGRESS, *_OUTPUT))


def policy_options(command: _Command) -> _Command:
    """Add those that choose protocol and agents."""
    return _with(command, _POLICY)


def output_options(command: _Command) -> _Command:
    """Add those that say what becomes of a result."""
    return _with(command, _OUTPUT)


def progress_options(command: _Command) -> _Command:
    """Add those that say how much is printed while a run goes on."""
    return _with(command, _PROGRESS)


def _with(command: _Command, options: _Options) -> _Command:
    for option in reversed(options):
        command = option(command)
    return command


def at_most(words: Sequence[str], number: int) -> None:
    if len(words) > number:
        raise click.UsageError(f"Unexpected '{words[number]}'.")


def split_run(words: Sequence[str], names: Sequence[str]) -> tuple[str, str]:
    """The run and the other word that at most two words mean, where the run may be left out."""
    if len(words) > 1:
        return words[0], words[1]
    only = next(iter(words), "")
    is_run = only == LATEST or only[:1].isdigit() or any(name.startswith(only) for name in names if only)
    return (only, "") if is_run else (LATEST, only)


def person() -> str:
    """Who gives this command, as the system calls them."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in some containers
        return ""
