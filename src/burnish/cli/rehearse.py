"""`burnish protocol rehearse`: see what a protocol does before it costs anything."""

from pathlib import Path

import click

from burnish.core.events import WorkStarted
from burnish.core.state import Run, Waiting
from burnish.report.account import Account
from burnish.report.json_objects import run_object
from burnish.report.output import print_json, print_line
from burnish.report.words import trail_line
from burnish.usecases.rehearse_protocol import load_script, rehearse

_HELP = """Play SCRIPT, a TOML file with the answers of reviewers, fixers and people, and show every step of the loop.

No agent runs and nothing is written. docs/rehearsals.md describes the script.

The exit codes are those of a real run: 0 approved, accepted or skipped, 1 findings remain, 2 the script or the protocol
is invalid, 3 waiting for a person, 4 did not run, 5 over budget, 6 unproven."""


@click.command("rehearse", help=_HELP)
@click.argument("script", type=click.Path(path_type=Path))
@click.option("--protocol", metavar="P", help="Use this protocol, by name or path, instead of the script's own.")
@click.option("--json", "as_json", is_flag=True, help="Print the run as one JSON object instead of its steps.")
def rehearse_command(script: Path, protocol: str | None, *, as_json: bool) -> int:
    run: Run | None = None
    for before, (event, run) in rehearse(load_script(script), protocol):
        if not as_json and not isinstance(event, WorkStarted):
            print_line(trail_line(event, before, run))
    if run is None:
        return 4
    account = Account(run=run)
    if as_json:
        print_json(run_object(account))
    elif isinstance(run.phase, Waiting):
        for choice in run.phase.choices:
            print_line(f"    {choice.key}) {choice.text}")
    return account.exit_code
