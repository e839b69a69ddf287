"""`burnish review`, `fix` and `resume`: the commands that drive a run.

What they do is in `burnish.cli.drive`, which is loaded when one of them is called: its help needs no runner.
"""

from pathlib import Path
from typing import Any

import click

from burnish.cli.options import (
    developer_prompt_option,
    output_options,
    progress_options,
    subject_options,
    terminal_option,
)
from burnish.core.events import Mode

_REVIEW_HELP = """Review a branch once. No code is changed; a clean judgement is sealed.

WHAT is a branch (default: the one that is checked out), a commit (review what came after it), a range A..B, or files
and folders (review only these; never sealed).

\b
burnish review                  the branch that is checked out, against its base
burnish review HEAD~3           what came after that commit
burnish review --staged         what is staged
burnish review src/app.py       only this file
burnish review --whole          all files as they are; 'burnish review --whole src' only those
burnish review --agent NAME     with one more reviewer, a model

Exit codes: 0 approved, 1 findings remain, 2 usage or configuration, 4 did not run, 5 over budget, 6 unproven,
130 interrupted."""

_FIX_HELP = """Review a branch, have the findings fixed, and review again, until the gate passes.

With --build, an agent first makes the change from --brief or --intent, on a branch that may be empty.

burnish commits fixes on a separate ref and fast-forwards your branch once, if the run succeeds. With --uncommitted, it
writes the fixes to your working tree instead: all of them, or none if a file has changed in the meantime.

\b
burnish fix
burnish fix --agent NAME        a model reviews and fixes, too
burnish fix --uncommitted       fix the working tree
burnish fix --background        then: burnish wait

Exit codes: 0 approved or accepted, 1 findings remain, 2 usage or configuration, 3 waiting for a person, 4 did not run,
5 over budget, 6 unproven, 130 interrupted."""

_RESUME_HELP = """Continue RUN (default: the newest one that has not ended). Reviews with a result are not repeated.

RUN may also be an epic, by its id. An epic that has not ended comes before single runs.

\b
burnish resume
burnish resume 20261115-0815
burnish resume my-epic

Exit codes are those of 'burnish fix'."""


@click.command("review", help=_REVIEW_HELP)
@click.argument("what", metavar="[WHAT]...", nargs=-1)
@click.option("--staged", "--cached", "staged", is_flag=True, help="Review what is staged, against the last commit.")
@click.option(
    "--whole", is_flag=True, help="Review files as they are, not a change: all, or those named. Runs no tests."
)
@subject_options
def review(**options: Any) -> int:
    from burnish.cli.drive import start  # noqa: PLC0415 - see above

    return start(Mode.REVIEW, options)


@click.command("fix", help=_FIX_HELP)
@click.argument("what", metavar="[WHAT]", nargs=-1)
@click.option(
    "--unsafe-fixes", is_flag=True, help="Allow the embedded analysers to make fixes that may change behaviour."
)
@click.option("--build", is_flag=True, help="First have the agent of the role 'build' make the change.")
@click.option(
    "--review/--no-review",
    default=True,
    help="With --build: whether to review the result. Without a review, nothing is approved or sealed.",
)
@click.option(
    "--review-max-fix-attempts",
    "fix_attempts",
    metavar="N",
    type=click.IntRange(min=0),
    help="Maximum number of fixes: same as --max-rounds N+1.",
)
@developer_prompt_option
@click.option(
    "--one-round", is_flag=True, help="Stop after one review and its fix; run the same command again to continue."
)
@click.option(
    "--supersede",
    is_flag=True,
    help="End a run of this branch that is waiting or interrupted. Its rounds count.",
)
@subject_options
def fix(**options: Any) -> int:
    from burnish.cli.drive import start  # noqa: PLC0415 - see above

    return start(Mode.FIX, options)


@click.command("resume", help=_RESUME_HELP)
@click.argument("run", required=False)
@terminal_option
@progress_options
@output_options
def resume(run: str | None, **options: Any) -> int:
    from burnish.usecases.epics import find_epic, unfinished_epic  # noqa: PLC0415 - see above

    found = find_epic(Path.cwd(), run) if run else None
    epic = found.epic.id if found is not None else None if run else unfinished_epic(Path.cwd())
    if epic is not None:
        from burnish.cli.drive_epic import resume as go_on_with_epic  # noqa: PLC0415 - see above

        return go_on_with_epic(epic, options)
    from burnish.cli.drive import resume as go_on  # noqa: PLC0415 - see above

    return go_on(run, options)
