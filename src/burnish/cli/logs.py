"""`burnish logs`: what agents and commands wrote while they worked."""

from collections.abc import Iterable
from pathlib import Path

import click

from burnish.cli.output import print_json, say
from burnish.cli.run_answers import RUN_HELP, json_option, run_argument
from burnish.cli.screen import show_piece
from burnish.usecases.logs import LogFile, LogPiece, chosen_logs, follow_logs, read_logs
from burnish.usecases.retention import LOGS_REMOVED, logs_were_removed
from burnish.usecases.run_view import VERSION
from burnish.usecases.runs import open_runs

_HELP = f"""Print what agents and commands wrote, attempt by attempt.

{RUN_HELP}

What a client of a model says in its own format is told in words: what it did, and its answer. --raw shows the stream.

EFFECT is the beginning of an attempt's name, such as 'review:2' or 'fix'; 'runner' is what a run in the background
said itself."""


@click.command("logs", help=_HELP)
@click.option("-f", "--follow", is_flag=True, help="Go on until the run ends or waits for a person.")
@run_argument
@click.argument("effect", metavar="[EFFECT]", default="")
@click.option("--raw", is_flag=True, help="Show the streams of clients as they are.")
@json_option
def logs(reference: str, effect: str, *, follow: bool, raw: bool, as_json: bool) -> int:
    if follow and as_json:
        raise click.UsageError("--json lists the logs and cannot follow them.")
    with open_runs(Path.cwd()) as runs:
        name = runs.resolve(reference)
        if follow:
            _print(follow_logs(runs, name, effect, raw=raw))
            return 0
        files = chosen_logs(runs, name, effect)
        if as_json:
            removed = logs_were_removed(runs, name)
            print_json({"version": VERSION, "run": name, "removed": removed, "logs": [_view(file) for file in files]})
        elif not _print(read_logs(files, raw=raw)):
            say(LOGS_REMOVED.format(name) if logs_were_removed(runs, name) else f"{name} has no logs yet.")
    return 0


def _view(file: LogFile) -> dict[str, object]:
    return {"effect": file.effect, "path": file.path, "bytes": file.size}


def _print(pieces: Iterable[LogPiece]) -> bool:
    """Write pieces, with a header wherever another log begins to speak. Says whether there was one."""
    current, at_line_start = "", True
    for piece in pieces:
        if piece.effect != current:
            gap = "" if not current else "\n" if at_line_start else "\n\n"
            show_piece(f"{gap}==> {piece.effect} <==\n")
            current = piece.effect
        show_piece(piece.text)
        at_line_start = piece.text.endswith("\n")
    if not at_line_start:
        show_piece("\n")
    return bool(current)
