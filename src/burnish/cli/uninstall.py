"""`burnish uninstall`: remove burnish from a repository."""

import os
from collections.abc import Iterator
from pathlib import Path

import click

from burnish.report.output import at_terminal, flat, print_error, print_line
from burnish.report.words import number
from burnish.usecases.uninstall import Uninstallation, UninstallError, plan_uninstallation, uninstall

_HELP = """Remove what burnish put into this repository: its state (runs, logs, decisions), its git hooks, and
refs/burnish/*, with all seals that are stored here. A hook that was there before burnish's comes back.

Files that 'burnish init' wrote, the branches that runs left (unless --branches), pushed seals and the program stay.
Everything is listed before you are asked. Without a terminal it needs --yes. It refuses while a run is active.

\b
burnish uninstall --dry-run     list what would be removed
burnish uninstall               list it, ask, remove it

Exit codes: 0 removed, or nothing to remove; 1 you declined; 2 usage, or a run is active."""


@click.command("uninstall", help=_HELP)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="List what would be removed, and remove nothing.")
@click.option("--branches", is_flag=True, help="Also remove the branches burnish/RUN that hold results of runs.")
def uninstall_command(*, yes: bool, dry_run: bool, branches: bool) -> int:
    planned = plan_uninstallation(Path.cwd(), os.environ, branches=branches)
    if planned.is_empty:
        print_line("There is nothing of burnish in this repository.")
        return 0
    for line in _lines(planned, "would remove" if dry_run else "removes"):
        print_line(line)
    if dry_run:
        return 0
    if not yes and not _agreed():
        print_line("Nothing was removed.")
        return 1
    uninstall(planned)
    print_line("Removed.")
    return 0


def _agreed() -> bool:
    if not at_terminal():
        hint = "Look with 'burnish uninstall --dry-run', then: burnish uninstall --yes"
        raise UninstallError("burnish cannot ask: there is no terminal. Nothing was removed.", hint=hint)
    print_error("Remove all of this? It cannot be undone. [y/N]")
    try:
        return input().strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _lines(planned: Uninstallation, word: str) -> Iterator[str]:
    for status in planned.hooks:
        back = "; your own hook comes back" if status.kept is not None else ""
        yield f"{word} the hook {flat(str(status.path))}{back}"
    yield from (f"{word} {flat(str(folder))}" for folder in planned.folders)
    if planned.refs:
        yield f"{word} {number(len(planned.refs), 'ref')} below refs/burnish/"
    yield from (f"{word} branch {flat(name.removeprefix('refs/heads/'))}" for name in planned.branches)
    for name in planned.unfinished:
        yield f"  {name} has not ended: what it has fixed so far is lost"
    yield from (f"keeps {flat(each)}" for each in planned.stays)
