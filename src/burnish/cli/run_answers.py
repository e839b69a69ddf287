"""What the commands about runs share: their arguments, who speaks, and how an answer to a person's word is shown."""

import getpass
from collections.abc import Callable
from typing import Any, TypeVar

import click

from burnish.cli.output import complain, print_json
from burnish.cli.run_text import choice_lines, headline
from burnish.cli.screen import Tone, Toned, show_lines
from burnish.contracts.text import clean_text
from burnish.core.state import Ended
from burnish.runtime.trail import phase_words
from burnish.usecases.next_steps import next_step
from burnish.usecases.run_view import view
from burnish.usecases.runs import LATEST, Sighting

_Function = TypeVar("_Function", bound=Callable[..., Any])

RUN_HELP = """RUN is the name of a run, the beginning of one that fits no other, or 'latest'."""


def json_option(function: _Function) -> _Function:
    """`--json`, which is everywhere the same."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(function)


def latest_argument(function: _Function) -> _Function:
    """The run, the latest unless named."""
    return click.argument("reference", metavar="[RUN]", default=LATEST)(function)


def run_argument(function: _Function) -> _Function:
    """The run, which must be named."""
    return click.argument("reference", metavar="RUN")(function)


def words(text: str) -> str:
    """A person's own text as it can be kept: arguments may hold bytes that are no text."""
    return clean_text(text).strip()


def person() -> str:
    """Who gives this command, as the system calls them."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in some containers
        return ""


def show_answer(sighting: Sighting, *, as_json: bool) -> None:
    """The run after a person's word, and what is needed for it to go on."""
    run = sighting.run
    resume = f"Nobody drives it: burnish resume {run.id} continues it."
    if as_json:
        print_json(view(run))
        if sighting.interrupted:
            complain(resume)
    elif sighting.interrupted:
        show_lines([(Toned(run.id, Tone.STRONG), f": {phase_words(run.phase)}"), (resume,)])
    else:
        show_lines([*headline(sighting), *choice_lines(run)])
        if not isinstance(run.phase, Ended):
            show_lines([(f"Next: {next_step(sighting)}",)])
