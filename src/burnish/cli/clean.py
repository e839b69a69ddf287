"""`burnish clean`: name and remove what is no longer needed."""

import os
from pathlib import Path
from typing import TypedDict

import click

from burnish.cli.options import json_option
from burnish.report.output import print_json, print_line
from burnish.system import clock
from burnish.usecases.clean_up import clean
from burnish.usecases.runs import open_runs

_HELP = """Remove the prompts, transcripts and logs of runs that ended long ago, and whatever killed runs left behind.

Events, records, decisions, waivers, open blockers and seals stay. burnish lists what it removes. Runs that are active
or waiting for a person keep everything."""
_UNITS = {"h": 1 / 24, "d": 1.0, "w": 7.0}


class CleanObject(TypedDict):
    """What `burnish clean` prints: what it removed, or would remove."""

    version: int
    blobs: int
    """Prompts and transcripts."""
    bytes: int
    """Their size."""
    folders: list[str]
    """Folders of runs."""
    refs: list[str]
    """Leftovers of runs that never started."""


class _Days(click.ParamType[float]):
    """A number of days, also with a unit: `30`, `30d`, `12h`, `2w`."""

    name = "age"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        text = str(value).strip().lower()
        unit = _UNITS.get(text[-1:], 1.0)
        try:
            number = float(text[:-1] if text[-1:] in _UNITS else text)
        except ValueError:
            number = -1.0
        if not 0 <= number < float("inf"):
            self.fail(f"'{value}' is not an age. Use days, or a number with h, d or w: 30, 12h, 30d, 2w.", param, ctx)
        return number * unit


@click.command("clean", help=_HELP)
@click.option(
    "--older-than",
    "days",
    type=_Days(),
    default=30.0,
    show_default="30d",
    metavar="AGE",
    help="Minimum age of an ended run: days, or a number with h, d or w.",
)
@click.option("--dry-run", is_flag=True, help="List what would be removed, and remove nothing.")
@json_option
def clean_command(*, days: float, dry_run: bool, as_json: bool) -> int:
    with open_runs(Path.cwd()) as runs:
        cleaned = clean(runs, os.environ, now=clock.now(), days=days, dry_run=dry_run)
    if as_json:
        folders, refs = list(cleaned.folders), list(cleaned.refs)
        print_json(CleanObject(version=1, blobs=cleaned.blobs, bytes=cleaned.bytes, folders=folders, refs=refs))
        return 0
    word = "would remove" if dry_run else "removed"
    for folder in cleaned.folders:
        print_line(f"{word} {folder}")
    for name in cleaned.refs:
        print_line(f"{word} refs/burnish/kept/{name} (its run never started)")
    prompts = "1 old prompt or transcript" if cleaned.blobs == 1 else f"{cleaned.blobs} old prompts and transcripts"
    print_line(f"{word} {prompts} ({cleaned.bytes:,} bytes)")
    return 0
