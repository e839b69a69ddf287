"""`burnish status`, `show`, `wait`, `logs` and `attach`: look at runs, and change nothing."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from burnish.cli.options import RUN_HELP, at_most, json_option, latest_argument, output_options, split_run
from burnish.core.errors import ErrorKind
from burnish.core.values import replace
from burnish.report.account import Account, RunList
from burnish.report.epics import epic_lines, epic_object, epic_row, epic_row_line
from burnish.report.forms import print_or_save, render
from burnish.report.json_objects import VERSION, list_object, run_object
from burnish.report.json_types import LogObject, LogsObject, ViewObject, ViewsObject
from burnish.report.output import print_error, print_json, print_line, print_lines, print_piece
from burnish.report.text import branch_lines, choice_lines, headline, list_lines, run_lines, status_lines, step_lines
from burnish.report.words import LOGS_REMOVED
from burnish.system import clock
from burnish.system.terminal import attach as attach_view
from burnish.usecases.branch_status import branch_status
from burnish.usecases.clean_up import logs_were_removed
from burnish.usecases.epics import EpicSnapshot, files_in_the_way, find_epic, newest_epics
from burnish.usecases.follow_run import (
    AttachError,
    LogPiece,
    Waited,
    chosen_agent,
    chosen_logs,
    follow_logs,
    read_logs,
    wait_for,
    watchable,
)
from burnish.usecases.list_runs import list_runs, look_at_run
from burnish.usecases.runs import NoRunsError, open_runs
from burnish.usecases.tell_run import tell
from burnish.workspace.errors import NotARepositoryError

_STATUS_HELP = f"""List the runs of this repository, newest first, or show what one RUN is doing.

{RUN_HELP}

A run is 'interrupted' if it has not ended, is not waiting for a person, and no process is driving it.

\b
burnish status                  the newest runs
burnish status latest           what the latest run of this branch is doing"""

_SHOW_HELP = f"""\
Show a run: each round with its reviews, judgement and fix, the findings, what blocks, and the next step.

{RUN_HELP}

\b
burnish show
burnish show --format html --output review.html"""

_WAIT_HELP = f"""Wait until a run has ended or is waiting for a person, and exit with the run's own exit code.

{RUN_HELP}

\b
burnish fix --background && burnish wait

Exit codes: 0 approved, accepted or skipped, 1 findings remain or cancelled, 3 waiting for a person, 4 did not run, is
not active, or the timeout was reached, 5 over budget, 6 unproven."""

_LOGS_HELP = f"""Print what agents and commands wrote, one attempt after the other.

{RUN_HELP}

The JSON stream of a model client is shown as text: what the agent did, and its answer. --raw prints the stream itself.

EFFECT is the beginning of an attempt's name, such as 'review:2' or 'fix'. 'runner' is the log of a run in the
background. With the full name of an attempt, such as 'fix:1:1', -f stops when that attempt ends.

\b
burnish logs                    everything of the latest run
burnish logs review:2           the second round
burnish logs -f                 follow it"""

_ATTACH_HELP = f"""Watch an agent of RUN work, if the run was started with '--terminal tmux'.

{RUN_HELP} It can also be a session of 'burnish session spawn'.

REVIEWER is the agent: the name of a reviewer, or 'fix-1'. Default: the only agent that is running.

The view is read-only. Ctrl-b d leaves it; the agent keeps running.

\b
burnish attach latest fix-1"""


@click.command("status", help=_STATUS_HELP)
@click.argument("reference", metavar="[RUN]", required=False)
@click.option("--all", "everything", is_flag=True, help="List all runs, not only the newest twenty.")
@json_option
def status(reference: str | None, *, everything: bool, as_json: bool) -> int:
    if reference is not None and (found := find_epic(Path.cwd(), reference)) is not None:
        _show_epic(found, as_json=as_json)
        return 0
    try:
        with open_runs(Path.cwd()) as runs:
            if reference is None:
                listed = list_runs(runs, everything=everything)
            else:
                listed = RunList(rows=(look_at_run(runs, reference),))
    except NoRunsError:
        if reference is not None:
            raise
        listed = RunList()
    epics = newest_epics(Path.cwd()) if reference is None else []
    if as_json:
        print_json(list_object(listed, [epic_row(epic, driver=driver) for epic, driver in epics]))
        return 0
    print_lines(epic_row_line(epic, driver=driver) for epic, driver in epics)
    if not listed.rows:
        print_line(f"{NoRunsError().message} {NoRunsError().hint}")
    elif reference is None:
        print_lines(list_lines(listed))
    else:
        print_lines(line for row in listed.rows if isinstance(row, Account) for line in status_lines(row))
    return 0


def alone(context: click.Context) -> int:
    """`burnish` without a command: where this branch stands."""
    try:
        status = branch_status(Path.cwd())
    except NotARepositoryError:
        print_line(context.get_help())
        return 0
    print_lines(branch_lines(status))
    return 0


@click.command("show", help=_SHOW_HELP)
@latest_argument
@output_options
def show(reference: str, *, form: str, as_json: bool, output: str | None) -> int:
    form = "json" if as_json else form
    if (found := find_epic(Path.cwd(), reference)) is not None:
        _show_epic(found, as_json=form == "json")
        return 0
    with open_runs(Path.cwd()) as runs:
        name = runs.resolve(reference)
        account = tell(runs.repository, runs.snapshot(name))
        account = replace(account, logs_removed=logs_were_removed(runs, name))
    if form == "text" and output is None:
        print_lines(run_lines(account))
    else:
        print_or_save(render(account, form), output)
    return 0


@click.command("wait", help=_WAIT_HELP)
@latest_argument
@click.option(
    "--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="Stop waiting after this many seconds."
)
@json_option
def wait(reference: str, *, timeout: float | None, as_json: bool) -> int:
    if (found := find_epic(Path.cwd(), reference)) is not None:
        return _wait_for_epic(found.epic.id, timeout, as_json=as_json)
    with open_runs(Path.cwd()) as runs:
        waited = wait_for(runs, runs.resolve(reference), timeout)
        account = tell(runs.repository, waited.snapshot)
    if as_json:
        print_json(run_object(account))
    else:
        print_lines([*headline(account), *choice_lines(account)])
        print_lines(step_lines(account.steps) if account.at_rest else ())
    _explain(waited)
    return account.exit_code


def _wait_for_epic(name: str, timeout: float | None, *, as_json: bool) -> int:
    from burnish.usecases.run_epic import exit_code, wait_for_epic  # noqa: PLC0415 - few runs are epics

    epic = wait_for_epic(Path.cwd(), name, timeout)
    found = find_epic(Path.cwd(), name)
    if found is not None:
        _show_epic(found, as_json=as_json)
    if epic is None:
        print_error("Timed out; the epic is still active.")
        print_error(f"hint: wait again with: burnish wait {name}")
        return ErrorKind.INFRASTRUCTURE.exit_code
    is_at_rest = epic.end is not None or epic.waiting or epic.paused
    return exit_code(epic) if is_at_rest else ErrorKind.INFRASTRUCTURE.exit_code


def _show_epic(found: EpicSnapshot, *, as_json: bool) -> None:
    in_the_way = files_in_the_way(Path.cwd(), found.epic, found.runs)
    if as_json:
        print_json(epic_object(found.epic, found.runs, driver=found.driven, in_the_way=in_the_way))
    else:
        now = clock.now()
        print_lines(epic_lines(found.epic, found.runs, driver=found.driven, now=now, in_the_way=in_the_way))


def _explain(waited: Waited) -> None:
    """Why the command ends although the run has not."""
    name, session = waited.snapshot.run.id, waited.snapshot.run.started.session
    if waited.timed_out:
        print_error("Timed out; the run is still active.")
        print_error(f"hint: wait again with: burnish wait {name}")
    elif waited.snapshot.interrupted:
        resume = "/burnish:fix, in your session" if session else f"burnish resume {name}"
        print_error(f"The run is not active. Continue it with: {resume}")


@click.command("logs", help=_LOGS_HELP)
@click.option(
    "-f", "--follow", is_flag=True, help="Follow the logs until the run has ended or is waiting for a person."
)
@click.argument("words", metavar="[RUN] [EFFECT]", nargs=-1)
@click.option("--raw", is_flag=True, help="Print the streams of clients unchanged.")
@json_option
def logs(words: tuple[str, ...], *, follow: bool, raw: bool, as_json: bool) -> int:
    if follow and as_json:
        raise click.UsageError("--json lists the logs; it cannot follow them.")
    at_most(words, 2)
    with open_runs(Path.cwd()) as runs:
        reference, effect = split_run(words, runs.names())
        name = runs.resolve(reference)
        if follow:
            _print_logs(follow_logs(runs, name, effect, raw=raw))
            return 0
        files = chosen_logs(runs, name, effect)
        removed = logs_were_removed(runs, name)
        if as_json:
            listed = [LogObject(effect=file.effect, path=file.path, bytes=file.size) for file in files]
            print_json(LogsObject(version=VERSION, run=name, removed=removed, logs=listed))
        elif not _print_logs(read_logs(files, raw=raw)):
            print_line(LOGS_REMOVED.format(name) if removed else f"{name} has no logs yet.")
    return 0


def _print_logs(pieces: Iterable[LogPiece]) -> bool:
    """Write pieces, with a header wherever another log begins. Says whether there was one."""
    current, at_line_start = "", True
    for piece in pieces:
        if piece.effect != current:
            gap = "" if not current else "\n" if at_line_start else "\n\n"
            print_piece(f"{gap}==> {piece.effect} <==\n")
            current = piece.effect
        print_piece(piece.text)
        at_line_start = piece.text.endswith("\n")
    if not at_line_start:
        print_piece("\n")
    return bool(current)


@click.command("attach", help=_ATTACH_HELP)
@latest_argument
@click.argument("reviewer", metavar="[REVIEWER]", default="")
@json_option
def attach(reference: str, reviewer: str, *, as_json: bool) -> int:
    run, there = watchable(Path.cwd(), reference)
    if as_json:
        agents = [ViewObject(name=view.name, session=view.session) for view in there]
        print_json(ViewsObject(version=VERSION, run=run, agents=agents))
        return 0
    view = chosen_agent(run, there, reviewer)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise AttachError(
            "There is no terminal here to show it in.", hint=f"`burnish logs -f {run}` follows what agents write."
        )
    return attach_view(view, os.environ)
