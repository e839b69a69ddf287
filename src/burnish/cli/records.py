"""`burnish records`: the files that burnish writes for other tools."""

from pathlib import Path
from typing import Annotated, NotRequired, TypedDict

import click
from msgspec import to_builtins

from burnish.cli.lazy import LazyCommand, LazyGroup
from burnish.cli.options import RUN_HELP, json_option, latest_argument
from burnish.core.protocol import RecordLayout
from burnish.report.output import print_error, print_json, print_line
from burnish.usecases.epics import find_epic
from burnish.usecases.runs import open_runs
from burnish.usecases.write_epic_records import rebuild_epic_records
from burnish.usecases.write_records import Rebuilt, rebuild

records = LazyGroup(
    "records",
    {"rebuild": LazyCommand("burnish.cli.records:rebuild_command", "Commands", "Rebuild the records of a run.")},
    help_text=(
        "Rebuild the files that burnish writes for people and other tools: findings documents, reports, phase files."
    ),
)

_HELP = f"""Rebuild the records of a run from its events. The same run always gives the same bytes.

{RUN_HELP} It can also be an epic, by its id."""


class NoticeObject(TypedDict):
    path: str
    message: str
    hint: NotRequired[str]


class RecordsObject(TypedDict):
    """What `burnish records rebuild` prints."""

    version: int
    run: str
    layout: Annotated[str, RecordLayout]
    written: list[str]
    removed: list[str]
    notices: list[NoticeObject]
    """Files that were left as they are, and why."""
    newer_run: str | None
    """The newer run whose records the checkout keeps."""


@click.command("rebuild", help=_HELP)
@latest_argument
@json_option
def rebuild_command(reference: str, *, as_json: bool) -> int:
    found = find_epic(Path.cwd(), reference)
    with open_runs(Path.cwd()) as runs:
        if found is not None:
            name = found.epic.id
            epic = rebuild_epic_records(runs.repository, runs.ledger, name)
            rebuilt = Rebuilt(layout=RecordLayout.TICKET, written=epic.written, newer=epic.newer)
        else:
            name = runs.resolve(reference)
            rebuilt = rebuild(runs.repository, runs.ledger, name)
    written = rebuilt.written
    for notice in written.notices:
        print_error(f"note: {notice.path}: {notice.message} {notice.hint}".rstrip())
    if as_json:
        print_json(
            RecordsObject(
                version=1,
                run=name,
                layout=rebuilt.layout.value,
                written=list(written.paths),
                removed=list(written.removed),
                notices=[to_builtins(notice) for notice in written.notices],
                newer_run=rebuilt.newer or None,
            )
        )
    else:
        print_line("\n".join(_lines(name, rebuilt)))
    return 0


def _lines(name: str, rebuilt: Rebuilt) -> list[str]:
    written = rebuilt.written
    lines = [*(f"removed {path}" for path in written.removed), *written.paths]
    if rebuilt.layout is RecordLayout.NONE:
        return [*lines, f"The protocol of {name} writes no records."]
    if rebuilt.newer:
        what = f"The checkout has the records of {rebuilt.newer}, which is newer; burnish did not change them."
        return [*lines, what, f"The records of {name} are up to date in its own folder."]
    if lines or written.notices:
        return lines
    return ["Every record is up to date."]
