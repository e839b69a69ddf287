"""`burnish clean`: name and remove what is no longer needed."""

import os
from pathlib import Path

import click

from burnish.cli.output import print_json, say
from burnish.system import clock
from burnish.usecases.cleaning import clean
from burnish.usecases.runs import open_runs

_HELP = """Remove prompts, transcripts and logs that are older than some days, and what killed runs left behind.

Events and seals stay. What is removed is named."""


@click.command("clean", help=_HELP)
@click.option(
    "--older-than", "days", type=float, default=30.0, show_default=True, metavar="DAYS", help="Keep the rest."
)
@click.option("--dry-run", is_flag=True, help="Name it, and remove nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def clean_command(*, days: float, dry_run: bool, as_json: bool) -> int:
    with open_runs(Path.cwd()) as runs:
        cleaned = clean(runs, os.environ, now=clock.now(), days=days, dry_run=dry_run)
    if as_json:
        removed = {"folders": list(cleaned.folders), "refs": list(cleaned.refs)}
        print_json({"version": 1, "blobs": cleaned.blobs, "bytes": cleaned.bytes, **removed})
        return 0
    word = "would remove" if dry_run else "removed"
    for folder in cleaned.folders:
        say(f"{word} {folder}")
    for name in cleaned.refs:
        say(f"{word} refs/burnish/kept/{name}, of a run that never began")
    if not dry_run:
        say(f"removed {cleaned.blobs} old prompts and transcripts ({cleaned.bytes:,} bytes)")
    return 0
