"""The arguments and options that commands share."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from burnish.report.forms import FORMS
from burnish.settings.types import Complexity

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Options = Sequence[Callable[[Any], Any]]

RUN_HELP = """RUN is the name of a run, the beginning of one that fits no other, or 'latest'."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
# As `burnish.usecases.runs` spells it; to import that for a page of help would load the ledger.
latest_argument = click.argument("reference", metavar="[RUN]", default="latest")
"""The run, the latest unless named."""
run_argument = click.argument("reference", metavar="RUN")
"""The run, which must be named."""

_SUBJECT: _Options = (
    click.option("--base", metavar="REF", help="What it would be merged into. Default: origin/HEAD, main, master."),
    click.option("--branch", metavar="REF", help="The branch to look at. Default: the one that is checked out."),
    click.option(
        "--uncommitted", "--dirty", "uncommitted", is_flag=True, help="The working tree as it is, committed or not."
    ),
    click.option("--brief", metavar="FILE", default="", help="Requirements and acceptance criteria."),
    click.option("--intent", metavar="TEXT", default="", help="What the change is meant to do, in a sentence."),
    click.option("--story", metavar="ID", default="", help="The story or ticket that the change belongs to."),
)
_POLICY: _Options = (
    click.option("--protocol", metavar="P", help="The rules, by name or path. Default: burnish.toml, else 'default'."),
    click.option(
        "--agent", "agents", metavar="NAME | ROLE=NAME", multiple=True, help="Who reviews, fixes or builds. Repeatable."
    ),
    click.option(
        "--complexity",
        type=click.Choice([level.value for level in Complexity]),
        help="How hard it is: the agents of [roles.complexity] come first.",
    ),
    click.option("--model", metavar="M", help="The model that agents use."),
    click.option("--timeout", metavar="S", type=float, help="Seconds after which an agent is ended."),
    click.option(
        "--allow-unexamined", is_flag=True, help="Approve what was not wholly examined; the seal says 'unproven'."
    ),
    click.option("--max-rounds", metavar="N", type=int, help="Reviews at most, up to the protocol's hard cap."),
    click.option(
        "--reviewer-prompt",
        metavar="FILE",
        help="The opening of reviewers' prompts: a file of the base, or an absolute path.",
    ),
)
_START: _Options = (
    click.option("--background", is_flag=True, help="Let it run by itself; follow it with 'burnish wait'."),
    click.option("--dry-run", is_flag=True, help="Say what would be done, and touch nothing."),
)
_TERMINAL: _Options = (
    click.option(
        "--terminal",
        type=click.Choice(["tmux"]),
        envvar="BURNISH_TERMINAL",
        help="Show each agent in a tmux session that 'burnish attach' opens.",
    ),
)
_OUTPUT: _Options = (
    click.option("--format", "form", type=click.Choice(list(FORMS)), default="text", help="The form of the result."),
    click.option("--json", "as_json", is_flag=True, help="The same as --format json. Never prompts."),
    click.option("--output", metavar="FILE", help="Write the result to a file instead of the standard output."),
)


def subject_options(command: _Command) -> _Command:
    """Add all of them, in the order of the help."""
    return _with(command, (*_SUBJECT, *_POLICY, *_START, *_TERMINAL, *_OUTPUT))


def output_options(command: _Command) -> _Command:
    """Add those that say what becomes of a result."""
    return _with(command, _OUTPUT)


def terminal_option(command: _Command) -> _Command:
    """Add the one that lets agents be watched."""
    return _with(command, _TERMINAL)


def _with(command: _Command, options: _Options) -> _Command:
    for option in reversed(options):
        command = option(command)
    return command
