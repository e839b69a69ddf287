"""`burnish records`: the files that burnish writes for other tools."""

from pathlib import Path

import click

from burnish.cli.lazy import LazyCommand, LazyGroup
from burnish.cli.output import complain, print_json, say
from burnish.cli.run_answers import RUN_HELP, json_option, latest_argument
from burnish.usecases.rebuilding import rebuild
from burnish.usecases.runs import open_runs

records = LazyGroup(
    "records",
    {"rebuild": LazyCommand("burnish.cli.records:rebuild_command", "Commands", "Write a run's records again.")},
    help_text="The files that burnish writes for people and other tools: findings documents, reports, phase files.",
)

_HELP = f"""Write the records of a run again, from its events alone. The same run always gives the same bytes.

{RUN_HELP}"""


@click.command("rebuild", help=_HELP)
@latest_argument
@json_option
def rebuild_command(reference: str, *, as_json: bool) -> int:
    with open_runs(Path.cwd()) as runs:
        name = runs.resolve(reference)
        written = rebuild(runs.repository, runs.ledger, name)
    for notice in written.notices:
        complain(f"note: {notice.path}: {notice.message} {notice.hint}".rstrip())
    if as_json:
        print_json({"version": 1, "run": name, "written": list(written.paths)})
    else:
        say("\n".join(written.paths) or "Every record is up to date.")
    return 0
