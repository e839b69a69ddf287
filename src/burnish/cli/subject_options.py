"""The options that `review` and `fix` share."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Options = Sequence[Callable[[Any], Any]]

FORMATS = ("text", "json", "sarif", "markdown")

_SUBJECT: _Options = (
    click.option("--base", metavar="REF", help="What it would be merged into. Default: origin/HEAD, main, master."),
    click.option("--branch", metavar="REF", help="The branch to look at. Default: the one that is checked out."),
    click.option("--brief", metavar="FILE", default="", help="Requirements and acceptance criteria."),
    click.option("--intent", metavar="TEXT", default="", help="What the change is meant to do, in a sentence."),
    click.option("--story", metavar="ID", default="", help="The story or ticket that the change belongs to."),
)
_POLICY: _Options = (
    click.option("--protocol", metavar="P", help="The rules, by name or path. Default: burnish.toml, else 'default'."),
    click.option(
        "--agent", "agents", metavar="NAME | ROLE=NAME", multiple=True, help="Who reviews, fixes or builds. Repeatable."
    ),
    click.option("--model", metavar="M", help="The model that agents use."),
    click.option("--timeout", metavar="S", type=float, help="Seconds after which an agent is ended."),
    click.option("--max-rounds", metavar="N", type=int, help="Reviews at most, up to the protocol's hard cap."),
)
_OUTPUT: _Options = (
    click.option("--background", is_flag=True, help="Let it run by itself; follow it with 'burnish wait'."),
    click.option("--dry-run", is_flag=True, help="Say what would be done, and touch nothing."),
    click.option("--format", "form", type=click.Choice(FORMATS), default="text", help="The form of the result."),
    click.option("--json", "as_json", is_flag=True, help="The same as --format json. Never prompts."),
    click.option("--output", metavar="FILE", help="Write the result to a file instead of the standard output."),
)


def subject_options(command: _Command) -> _Command:
    """Add all of them, in the order of the help."""
    for option in reversed((*_SUBJECT, *_POLICY, *_OUTPUT)):
        command = option(command)
    return command
