"""`burnish review`, `fix` and `resume`: the commands that drive a run.

What they do is in `burnish.cli.drive`, which is loaded when one of them is called: its help needs no runner.
"""

from typing import Any

import click

from burnish.cli.options import output_options, subject_options, terminal_option
from burnish.core.events import Mode

_REVIEW_HELP = """Put a branch before its reviewers once. No code is changed; a clean judgement is sealed.

Exit codes: 0 approved, 1 findings remain, 2 usage or configuration, 4 did not run, 5 a budget ran out,
130 interrupted."""

_FIX_HELP = """Review a branch, have the findings fixed, and review again, until the gate passes.

With --build the change itself is made first, from --brief or --intent, on a branch that may still be empty.

burnish commits fixes on a separate ref and fast-forwards your branch once, if the run succeeds. With --uncommitted
the fixes are written into your working tree instead: all of them, or none where a file has changed meanwhile.

Exit codes: 0 approved or accepted, 1 findings remain, 2 usage or configuration, 3 waiting for a person, 4 did not run,
5 a budget ran out, 130 interrupted."""

_RESUME_HELP = """Go on with RUN (default: the newest that has not ended). No review that has a result is made again.

Exit codes are those of 'burnish fix'."""


@click.command("review", help=_REVIEW_HELP)
@subject_options
def review(**options: Any) -> int:
    from burnish.cli.drive import start  # noqa: PLC0415 - see above

    return start(Mode.REVIEW, options)


@click.command("fix", help=_FIX_HELP)
@click.option(
    "--unsafe-fixes", is_flag=True, help="Let the embedded analysers make fixes that may change what the code does."
)
@click.option("--build", is_flag=True, help="Have the change made first, by the agent of the role 'build'.")
@click.option(
    "--review/--no-review",
    default=True,
    help="With --build, whether what was built is reviewed. Without a review nothing is approved or sealed.",
)
@click.option(
    "--review-max-fix-attempts",
    "fix_attempts",
    metavar="N",
    type=click.IntRange(min=0),
    help="Fixes at most: the same as --max-rounds N+1.",
)
@click.option(
    "--developer-prompt",
    metavar="FILE",
    help="The opening of the builder's prompt: a file of the base, or an absolute path.",
)
@click.option(
    "--one-round", is_flag=True, help="Stop after one review and its fix; the same command goes on with the next."
)
@click.option(
    "--supersede",
    is_flag=True,
    help="End a run of this branch that waits for a person, or was interrupted. Its rounds count.",
)
@subject_options
def fix(**options: Any) -> int:
    from burnish.cli.drive import start  # noqa: PLC0415 - see above

    return start(Mode.FIX, options)


@click.command("resume", help=_RESUME_HELP)
@click.argument("run", required=False)
@terminal_option
@output_options
def resume(run: str | None, **options: Any) -> int:
    from burnish.cli.drive import resume as go_on  # noqa: PLC0415 - see above

    return go_on(run, options)
