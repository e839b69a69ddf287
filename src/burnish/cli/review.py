"""`burnish review`: one round of reviews. It changes no code."""

from typing import Any

import click

from burnish.cli.subject_options import subject_options
from burnish.core.events import Mode

_HELP = """Put a branch before its reviewers once. No code is changed; a clean judgement is sealed.

Exit codes: 0 approved, 1 findings remain, 2 usage or configuration, 4 did not run, 5 a budget ran out,
130 interrupted."""


@click.command("review", help=_HELP)
@subject_options
def review(**options: Any) -> int:
    from burnish.cli.running import run_command  # noqa: PLC0415 - whoever asks for help needs no runner

    return run_command(Mode.REVIEW, options)
