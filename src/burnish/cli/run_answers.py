"""What the commands about runs share: their arguments, who speaks, and how an answer to a person's word is shown."""

import getpass
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import click

from burnish.cli.output import complain, print_json
from burnish.cli.run_text import choice_lines, headline
from burnish.cli.screen import Line, Tone, Toned, show_lines
from burnish.core.text import clean_text
from burnish.runtime.trail import phase_words
from burnish.usecases.decisions import Spoken
from burnish.usecases.next_steps import Step, next_steps
from burnish.usecases.run_view import view
from burnish.usecases.runs import LATEST, Runs, Sighting

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


def show_answer(runs: Runs, spoken: Spoken, *, as_json: bool) -> None:
    """The run after a person's word, and what is needed for it to go on."""
    for notice in spoken.notices:
        complain(f"note: {notice}")
    steps = next_steps(runs.repository, spoken.sighting)
    if as_json:
        print_json(view(spoken.sighting.run, steps))
        for sentence in _consequences(spoken, steps):
            complain(sentence)
    else:
        show_lines([*_state_lines(spoken.sighting), *((sentence,) for sentence in _consequences(spoken, steps))])


def _state_lines(sighting: Sighting) -> Iterator[Line]:
    if sighting.interrupted:
        yield Toned(sighting.run.id, Tone.STRONG), f": {phase_words(sighting.run.phase)}"
    else:
        yield from headline(sighting)
        yield from choice_lines(sighting.run)


def _consequences(spoken: Spoken, steps: Sequence[Step]) -> Iterator[str]:
    """Where the result is, and what can be done now."""
    if spoken.landing is not None:
        yield spoken.landing.words
    if spoken.sighting.interrupted:
        yield "The run is not active."
    yield from (line for step in steps for line in step.lines)
