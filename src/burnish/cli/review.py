"""`burnish review`: one round of reviews. It changes no code."""

from typing import Any

import click

from burnish.cli.subject_options import subject_options
from burnish.core.events import Mode

_HELP = """Put a branch before its reviewers once. No code is changed; a clean judgement is sealed.

Exit codes: 0 approved, 1 findings remain, 2 usage or configuration, 4 did not run, 5 a budget ran out,
130 interrupted."""


@click.command("review", help=_HELP)
@click.option(
    "--uncommitted", "--dirty", "uncommitted", is_flag=True, help="Review the working tree as it is, committed or not."
)
@subject_options
def review(*, uncommitted: bool, **options: Any) -> int:
    from burnish.cli.running import run_command  # noqa: PLC0415 - whoever asks for help needs no runner

    return run_command(Mode.REVIEW, options, uncommitted=uncommitted)
