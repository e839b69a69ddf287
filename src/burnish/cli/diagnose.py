"""`burnish diagnose`: a bundle for a bug report."""

import os
from pathlib import Path

import click

from burnish.report.output import print_line
from burnish.usecases.diagnose import diagnose

_HELP = """Write a bundle for a bug report: versions, what 'burnish doctor' finds, settings, and the last runs.

It holds no code, diffs, prompts, answers of agents, names of files, branches or users, and no secrets: only numbers and
words that burnish itself knows. Nothing is sent anywhere. Read it before you attach it to a report.

\b
burnish diagnose
burnish diagnose --output report.zip"""


@click.command("diagnose", help=_HELP)
@click.option("--output", metavar="FILE", help="The file to write; it must not exist. Default: a new one here.")
def diagnose_command(*, output: str | None) -> int:
    bundle = diagnose(Path.cwd(), os.environ, output)
    for name, holds in bundle.parts.items():
        print_line(f"{name:<14} {holds}")
    print_line(f"wrote {bundle.path}")
    return 0
