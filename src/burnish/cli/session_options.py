"""What the commands about sessions share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from burnish.usecases.sessions import STEP

_Function = TypeVar("_Function", bound=Callable[..., Any])


def step_argument(function: _Function) -> _Function:
    """The step of the other tool's loop. Only one of them is burnish's."""
    return click.argument("step", type=click.Choice([STEP]), expose_value=False)(function)


def state_file_option(function: _Function) -> _Function:
    """The other tool's own state, which it hands to all of its commands."""
    return click.option(
        "--state-file", metavar="FILE", expose_value=False, help="Accepted and not read: agents are named here."
    )(function)
